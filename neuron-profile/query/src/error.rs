//! Why a query failed, in one line.

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;

use crate::nearest::hint;

/// See the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The SQL is wrong, asks for something that is not there, or changes
    /// something.
    #[error("{0}")]
    Sql(String),
    /// A profile is damaged, or the disk failed.
    #[error("{0}")]
    Read(String),
    /// A cluster that cannot be reached, or that could not answer.
    #[error("{0}")]
    Cluster(String),
    /// More memory than allowed.
    #[error("{0}; allow more memory, or ask for less")]
    Memory(String),
    /// Longer than allowed.
    #[error("the query took more than {} s", .0.as_secs_f64())]
    Late(std::time::Duration),
    /// Ended from elsewhere.
    #[error("the query was ended")]
    Stopped,
    /// A profile that is not in the store.
    #[error(transparent)]
    Store(#[from] profile_store::Error),
}

impl Error {
    /// Whether a profile was named that is not there.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Store(profile_store::Error::Missing { .. }))
    }
}

/// A text of several lines on one.
pub(crate) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What DataFusion puts before its sentences.
const PREFIXES: [&str; 11] = [
    "Error during planning: ",
    "SQL error: ParserError(\"",
    "SQL error: TokenizerError(\"",
    "SQL error: ",
    "Schema error: ",
    "This feature is not implemented: ",
    "Execution error: ",
    "Arrow error: ",
    "External error: ",
    "Optimizer rule ",
    "Resources exhausted: ",
];

/// A sentence of DataFusion without what it says about itself.
fn plain(text: &str) -> String {
    let mut text = text;
    let (mut prefix, mut quoted) = (true, false);
    while prefix {
        let found = PREFIXES.iter().find_map(|prefix| Some((text.strip_prefix(prefix)?, *prefix)));
        prefix = found.is_some();
        if let Some((rest, prefix)) = found {
            quoted |= prefix.ends_with('"');
            text = rest;
        }
    }
    line(if quoted { text.trim_end_matches(")").trim_end_matches('"') } else { text })
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        let root = error.find_root();
        match root {
            DataFusionError::ResourcesExhausted(text) => Self::Memory(plain(text)),
            DataFusionError::SchemaError(of, _) => Self::Sql(match of.as_ref() {
                SchemaError::FieldNotFound { field, valid_fields } => {
                    let names = valid_fields.iter().map(|field| field.name.as_str());
                    let table = field.relation.as_ref().map(|table| format!("{table}."));
                    let (table, name) = (table.unwrap_or_default(), &field.name);
                    let hint = hint(name, names, "see --describe TABLE");
                    format!("no column {table}{name}{hint}")
                }
                other => plain(&other.to_string()),
            }),
            DataFusionError::SQL(of, _) if matches!(**of, ParserError::RecursionLimitExceeded) => {
                Self::Sql(String::from("the statement is nested more than 50 levels deep"))
            }
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Configuration(_) => Self::Sql(plain(&root.strip_backtrace())),
            DataFusionError::External(inner) => match inner.downcast_ref::<Self>() {
                Some(Self::Sql(text)) => Self::Sql(text.clone()),
                Some(other) => Self::Read(other.to_string()),
                None => Self::Read(plain(&error.strip_backtrace())),
            },
            DataFusionError::Execution(_) | DataFusionError::ArrowError(..) => {
                Self::Sql(plain(&root.strip_backtrace()))
            }
            _ => Self::Read(plain(&error.strip_backtrace())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_lose_what_they_say_about_themselves() {
        let error = DataFusionError::Plan("Error during planning: a\n  b".into());
        assert_eq!(Error::from(error).to_string(), "a b");
        let error = DataFusionError::ResourcesExhausted("too much".into());
        assert_eq!(
            Error::from(error.context("while sorting")).to_string(),
            "too much; allow more memory, or ask for less"
        );
        assert_eq!(
            plain("SQL error: ParserError(\"Expected: an expression\")"),
            "Expected: an expression"
        );
    }
}
