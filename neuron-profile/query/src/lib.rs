//! SQL over stored profiles, and named reports.
//!
//! * [`Session`]: one profile, or several as one dataset; it runs SQL that
//!   reads. With several, every table has a column `profile` with the id.
//! * [`report`]: named questions, as SQL that a user can read and change.
//! * [`bottlenecks`]: rules that say what limits a profile, with the rows that
//!   show it.
//!
//! Names of tables and columns are those of the public schema; case does not
//! matter. Nothing but the profiles can be read: no other files, no statements
//! that change something.
//!
//! Left out: writing results down; that is the caller's.

pub mod bottlenecks;
mod catalog;
mod error;
pub mod report;
mod session;

pub use catalog::Dataset;
pub use datafusion::arrow;
pub use datafusion::parquet;
pub use error::Error;
pub use session::{Limits, Rows, Session};
