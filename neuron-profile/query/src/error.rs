//! Why a query failed, in one line.

use datafusion::error::DataFusionError;

/// See the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The SQL is wrong, or asks for something that is not there.
    #[error("{0}")]
    Sql(String),
    /// A profile is damaged, or the disk failed.
    #[error("{0}")]
    Read(String),
    /// More memory than allowed.
    #[error("{0}; allow more memory, or ask for less")]
    Memory(String),
    /// A profile that is not in the store.
    #[error(transparent)]
    Store(#[from] profile_store::Error),
}

/// A text of several lines on one.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        let text = line(&error.strip_backtrace());
        match error.find_root() {
            DataFusionError::ResourcesExhausted(text) => Self::Memory(line(text)),
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Configuration(_)
            | DataFusionError::Diagnostic(..) => Self::Sql(text),
            _ => Self::Read(text),
        }
    }
}
