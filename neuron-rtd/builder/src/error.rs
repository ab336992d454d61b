//! Why a graph cannot become a NEFF.

use neuron_core::neff::{Problem, WriteError};

/// Result of building.
pub type Result<T> = std::result::Result<T, BuildError>;

/// Why a graph cannot become a NEFF.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Shapes or types do not fit an operator.
    #[error("layer {layer}: {reason}")]
    Operator {
        /// Layer of the operator.
        layer: String,
        /// What does not fit.
        reason: String,
    },
    /// A layer does not fit the memories of a core.
    #[error("layer {layer}: {reason}; use smaller tensors or more cores")]
    Memory {
        /// Layer that needs it.
        layer: String,
        /// What does not fit.
        reason: String,
    },
    /// An array cannot be read.
    #[error("array {name}: {reason}")]
    Array {
        /// The array's name or file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Names of a model's tensors or nodes do not fit each other.
    #[error("model {model}: {reason}")]
    Model {
        /// The model.
        model: String,
        /// What does not fit.
        reason: String,
    },
    /// A member of the file is refused.
    #[error("NEFF: {0}")]
    Member(#[from] Problem),
    /// The file cannot be written.
    #[error("NEFF: {0}")]
    Write(#[from] WriteError),
    /// A document cannot be written.
    #[error("NEFF: {0}")]
    Json(#[from] serde_json::Error),
}
