//! Why something of the store failed, in one line with what to do.

use std::io;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk is full, or a quota is used up.
    #[error(
        "cannot {operation} {}: {}; free some space, or store elsewhere with --data-path",
        path.display(), plain(cause)
    )]
    Full {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A file or directory failed.
    #[error("cannot {operation} {}: {}", path.display(), plain(cause))]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Files of a profile do not say what they should.
    #[error("{} is damaged: {what}; ingest the profile again with --force", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Written by a newer version.
    #[error("{} has layout {found}, this version reads {known}; use a newer neuron-profile", path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// What it says.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// No such profile.
    #[error("no profile {name:?} in {}; `neuron-profile list` shows all", dir.display())]
    Missing {
        /// As it was asked for.
        name: String,
        /// Where profiles are.
        dir: PathBuf,
    },
    /// More than one profile has that name.
    #[error("{count} profiles are named {name:?}; give the id")]
    Ambiguous {
        /// The display name.
        name: String,
        /// How many have it.
        count: usize,
    },
    /// It is stored already.
    #[error("profile {0} is stored already; --force replaces it")]
    Exists(String),
    /// Not an id of a profile.
    #[error("{0:?} is no id of a profile: n_ and 40 hex digits")]
    BadId(String),
    /// A table that the profile does not have.
    #[error("the profile has no table {0}")]
    NoTable(String),
    /// A column that the table does not have.
    #[error("table {table} has no column {column}")]
    NoColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A row that the table does not have.
    #[error("table {table} has {rows} rows, no row {row}")]
    NoRow {
        /// The table.
        table: String,
        /// The row asked for.
        row: u64,
        /// How many it has.
        rows: u64,
    },
    /// A range that ends before it begins, or a width of no column.
    #[error("nothing can be shown of {start}..{end} ns in {width} columns")]
    BadRange {
        /// From.
        start: u64,
        /// To.
        end: u64,
        /// Columns.
        width: u32,
    },
    /// Nobody waits for the answer any more (see [`crate::stop`]).
    #[error("given up: nobody waits for it any more")]
    Stopped,
    /// A query that has no meaning for its column.
    #[error("{0}")]
    Query(String),
    /// The trace.
    #[error(transparent)]
    Trace(#[from] profile_engine::Error),
    /// Parquet.
    #[error("{}: {cause}", path.display())]
    Parquet {
        /// The table.
        path: PathBuf,
        /// What the reader or writer said.
        cause: parquet::errors::ParquetError,
    },
}

impl Error {
    /// What to do with a failure of the system.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| match cause.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { operation, path, cause },
            _ => Self::Io { operation, path, cause },
        }
    }

    /// What to do with a failure of a table.
    pub fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self {
        let path = path.to_owned();
        move |cause| Self::Parquet { path, cause }
    }

    /// A file that does not say what it should.
    pub fn damaged(path: &Path, what: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.to_string() }
    }
}

/// An error of the system without its number, as the other tools tell it.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" (os error ").map_or(text.as_str(), |(text, _)| text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
