//! SQL over stored profiles, named reports, and rules that say what limits a
//! profile.
//!
//! * [`Session`]: one profile, or several at once; it runs SQL that reads.
//! * [`report`]: named questions, as SQL that a user can read and change.
//! * [`compare`]: what differs between two profiles.
//! * [`findings()`]: what limits a profile, with the rows that show it;
//!   [`rules`] are its pure part.
//! * [`describe`]: which tables and columns there are, with units.
//!
//! Names of tables and columns are those of the public schema (profiler.md
//! §2.2); case does not matter. Nothing but the profiles can be read: no other
//! files, no statement that changes something.
//!
//! Left out: writing results down; that is the caller's.

mod catalog;
pub mod compare;
mod dataset;
pub mod describe;
mod error;
mod facts;
mod findings;
mod limits;
mod nearest;
pub mod report;
pub mod rules;
mod session;

pub use datafusion::arrow;
pub use datafusion::parquet;
pub use dataset::Dataset;
pub use error::Error;
pub use findings::{EvidenceRow, Judged, findings, judge_all};
pub use limits::{Limits, Stop};
pub use session::{Rows, Session};
