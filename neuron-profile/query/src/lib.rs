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
//! Profiles lie in directories or, with the feature `s3`, in an object store.
//! This process answers or, with the feature `cluster`, a Ballista cluster
//! ([`Engine`]): the same statements, the same answers.
//!
//! Left out: writing results down; that is the caller's.

mod catalog;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "no_cluster.rs"]
mod cluster;
mod columns;
pub mod compare;
mod dataset;
pub mod describe;
mod engine;
mod environment;
mod error;
mod facts;
mod findings;
mod folder;
mod format;
mod joined;
mod limits;
mod nearest;
#[cfg(feature = "s3")]
mod objects;
mod place;
pub mod report;
pub mod rules;
mod session;

pub use datafusion::arrow;
pub use datafusion::parquet;
pub use dataset::Dataset;
pub use engine::{Engine, Scheduler};
pub use error::Error;
pub use findings::{EvidenceRow, Judged, findings, judge_all};
pub use limits::{Limits, Stop};
pub use place::Place;
pub use session::{Rows, Session};
