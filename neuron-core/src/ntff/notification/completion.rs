//! Explicit records of the inference status rings (ntff.md §6.5). No real
//! file stores such a ring.

use serde::Serialize;

use super::bits::half;
use crate::ntff::Record;

/// What the status ring tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// An execution began.
    ExecutionStart,
    /// An execution ended.
    ExecutionEnd,
    /// Something that the program reports.
    Custom(Custom),
    /// Collectives began.
    CollectivesStart,
    /// Collectives ended.
    CollectivesEnd,
}

/// What a program reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Custom {
    /// Codes 0 and 1: an embedding index is out of bounds.
    EmbeddingBounds,
    /// Codes 2 and 3: scatter-gather is out of bounds.
    ScatterGatherBounds,
    /// Codes 4 and 5: descriptor generation is out of bounds.
    DescriptorBounds,
    /// Code 6: a value for debugging.
    DebugValue,
    /// Code 7: a tensor is complete.
    TensorCompleted,
    /// Code 8: a tensor for debugging was read.
    DebugTensorRead,
    /// Codes 9 and 10: transposing descriptor generation is out of bounds.
    TransposeBounds,
    /// Any other code.
    Unknown(u16),
}

impl Completion {
    /// Of a record of an inference status ring; `None` for other codes.
    pub fn decode(record: Record) -> Option<Self> {
        let word = record.word;
        Some(match half(word, 48) {
            2 => Self::ExecutionStart,
            3 => Self::ExecutionEnd,
            6 => Self::Custom(match half(word, 32) {
                0 | 1 => Custom::EmbeddingBounds,
                2 | 3 => Custom::ScatterGatherBounds,
                4 | 5 => Custom::DescriptorBounds,
                6 => Custom::DebugValue,
                7 => Custom::TensorCompleted,
                8 => Custom::DebugTensorRead,
                9 | 10 => Custom::TransposeBounds,
                other => Custom::Unknown(other),
            }),
            7 => Self::CollectivesStart,
            8 => Self::CollectivesEnd,
            _ => return None,
        })
    }
}
