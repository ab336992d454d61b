//! NTFF: the trace file format of the Neuron profiler.
