//! Functions of the activation engine by number.
//!
//! The vendor's numbers stand in the table sets of real NEFFs
//! (`profile_meta_data`, isa-layouts.md §3.6); many functions of the public
//! documentation appear in none of them. For those the simulator has numbers
//! of its own, from 0xE0 up, which no real file uses: a record with one runs
//! on the software NeuronCore only.

use std::fmt;

use super::field::newtype_field;

/// Number of a function, as its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Activation(pub u8);
newtype_field!(Activation(u8));

/// Who gave a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It stands in real NEFFs.
    Neff,
    /// The simulator's own (our choice).
    Simulator,
}

/// Number, name and origin of every function known here. Captures print EXP;
/// the other names of real NEFFs are written in that style. Newer viewers
/// print `COPY(scale/bias enabled)` for a COPY (public notes on profiles).
pub const ACTIVATIONS: &[(Activation, &str, Origin)] = {
    use Origin::{Neff, Simulator};
    &[
        (Activation(1), "IDENTITY", Neff),
        (Activation(2), "RELU", Neff),
        (Activation(3), "LEAKY_RELU", Neff),
        (Activation(4), "PARAMETRIC_RELU", Neff),
        (Activation(6), "TANH", Neff),
        (Activation(7), "EXP", Neff),
        (Activation(10), "LN", Neff),
        (Activation(11), "DERIVATIVE_IDENTITY", Neff),
        (Activation(12), "DERIVATIVE_RELU", Neff),
        (Activation(13), "DERIVATIVE_LEAKY_RELU", Neff),
        (Activation(19), "SIN", Neff),
        (Activation(29), "RECIPROCAL_SQRT", Neff),
        (Activation(30), "SQUARE", Neff),
        (Activation(31), "SIGN", Neff),
        (Activation(33), "ABS", Neff),
        (Activation(35), "IS_FINITE", Neff),
        (Activation(36), "SILU", Neff),
        (Activation(128), "COPY", Neff),
        (Activation(130), "MEMSET_ZERO", Neff),
        (Activation(0xe0), "SIGMOID", Simulator),
        (Activation(0xe1), "GELU", Simulator),
        (Activation(0xe2), "GELU_DX", Simulator),
        (Activation(0xe3), "GELU_APPRX_TANH", Simulator),
        (Activation(0xe4), "GELU_APPRX_SIGMOID", Simulator),
        (Activation(0xe5), "GELU_APPRX_SIGMOID_DX", Simulator),
        (Activation(0xe6), "SILU_DX", Simulator),
        (Activation(0xe7), "SOFTPLUS", Simulator),
        (Activation(0xe8), "MISH", Simulator),
        (Activation(0xe9), "ERF", Simulator),
        (Activation(0xea), "ERF_DX", Simulator),
        (Activation(0xeb), "ARCTAN", Simulator),
        (Activation(0xec), "SQRT", Simulator),
        (Activation(0xed), "RECIPROCAL", Simulator),
    ]
};

impl Activation {
    /// Name and origin; `None` for a number that nothing explains.
    pub fn known(self) -> Option<(&'static str, Origin)> {
        ACTIVATIONS
            .iter()
            .find(|(number, ..)| *number == self)
            .map(|(_, name, origin)| (*name, *origin))
    }

    /// The number of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        ACTIVATIONS.iter().find(|(_, known, _)| *known == name).map(|(number, ..)| *number)
    }
}

/// The name, or `FUNC_200`.
impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "FUNC_{}", self.0),
        }
    }
}

impl serde::Serialize for Activation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for (index, (number, name, origin)) in ACTIVATIONS.iter().enumerate() {
            assert_eq!(number.known(), Some((*name, *origin)));
            assert_eq!(Activation::from_name(name), Some(*number));
            assert!(ACTIVATIONS[..index].iter().all(|(other, ..)| other < number));
            assert_eq!(number.0 >= 0xe0, *origin == Origin::Simulator);
        }
    }
}
