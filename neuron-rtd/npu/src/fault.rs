//! Why an instruction or a transfer cannot run.
//!
//! A fault has no place; [`crate::Stop`] adds core, engine, slot and bytes.

use neuron_core::isa::code::{AluOp, Dtype};

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
    /// A write to PSUM by an engine that has no way to it, or of a type that
    /// PSUM does not take.
    #[error("{0}")]
    Psum(&'static str),
    /// An engine that does not have the opcode.
    #[error("the engine does not have this opcode")]
    Engine,
    /// An operation that the unit does not carry out.
    #[error("operation {op} {reason}")]
    Operation {
        /// The operation.
        op: AluOp,
        /// Why not.
        reason: &'static str,
    },
    /// A semaphore that would leave its range.
    #[error("{0}")]
    Semaphore(String),
    /// Ranks that cannot do a collective together.
    #[error("bad collective: {0}")]
    Collective(String),
}

impl Fault {
    pub(crate) fn unknown(text: impl Into<String>) -> Self {
        Self::NotUnderstood(text.into())
    }

    pub(crate) fn address(text: impl Into<String>) -> Self {
        Self::Address(text.into())
    }

    pub(crate) fn collective(text: impl Into<String>) -> Self {
        Self::Collective(text.into())
    }

    pub(crate) fn shape(text: impl Into<String>) -> Self {
        Self::Shape(text.into())
    }
}
