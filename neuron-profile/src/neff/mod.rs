//! `neuron-profile neff`: look into a NEFF, take it apart, put it together.

pub mod disasm;
