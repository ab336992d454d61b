//! Why an instruction or a transfer cannot run.
//!
//! A fault has no place; [`crate::Stop`] adds core, engine, slot and bytes.

use neuron_core::isa::code::Dtype;

/// Why an instruction or a transfer cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Something in the record has no meaning here. Nothing is guessed.
    #[error("not understood: {0}")]
    NotUnderstood(String),
    /// An opcode that no engine here runs.
    #[error("the software NeuronCore does not run this opcode")]
    Opcode,
    /// A data type that the operation cannot use.
    #[error("data type {0} is not supported here")]
    Type(Dtype),
    /// An address that leads nowhere, or leaves its memory.
    #[error("bad address: {0}")]
    Address(String),
    /// Operands that do not fit each other or the engine.
    #[error("bad shape: {0}")]
    Shape(String),
    /// A memory that the engine cannot reach.
    #[error("{0}")]
    Reach(&'static str),
}

impl Fault {
    pub(crate) fn unknown(text: impl Into<String>) -> Self {
        Self::NotUnderstood(text.into())
    }

    pub(crate) fn address(text: impl Into<String>) -> Self {
        Self::Address(text.into())
    }

    pub(crate) fn shape(text: impl Into<String>) -> Self {
        Self::Shape(text.into())
    }
}
