//! Lists Neuron devices, how they are connected and who uses them.
