//! `neuron-profile ntff`: look into an NTFF.
