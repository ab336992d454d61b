//! NEFF: the executable file format of the Neuron compiler.
