//! Profiles on disk: Parquet tables, zoom levels, and what a viewer asks of them.
//!
//! # The pieces
//!
//! * [`Store`]: a directory of profiles. List, find, open, delete, name and tag them; [`Store::begin`]
//!   starts an ingest and gives a [`Draft`].
//! * [`ingest()`]: reads a capture through `profile-engine` once and fills a draft; [`Draft::commit`]
//!   makes it visible, whole or not at all.
//! * [`Profile`]: a stored profile, open for reading. [`Profile::viewport`] (busy share, count and main
//!   name of each lane and column), [`Profile::row`] (one event with all fields), [`Profile::search`],
//!   [`Profile::selection`] (sums of a range), [`Profile::table`] (the path of a Parquet table for SQL),
//!   [`Profile::batches`] (the same as Arrow record batches).
//!
//! # On disk
//!
//! ```text
//! ROOT/profiles/n_<40 hex>/manifest.json      what it is: counts, versions, tables, what is absent
//!                          labels.json        display name and tags; the one file that changes later
//!                          <Table>.parquet    one for each table that has rows
//!                          lanes.json         index of the lanes: blocks of rows, zoom levels
//!                          kinds.json         what events of a kind have in common
//!                          series.json        index of the series
//!                          series             zoom levels of the series
//!                          tiles              zoom levels, and where the pages of a block lie
//! ROOT/locks/n_<40 hex>                       held by an ingest, and while a profile is changed
//! ROOT/profiles/.new-n_<40 hex>               an ingest that is under way, or was killed
//! ```
//!
//! Tables have the names, units and types of the public schema (profiler.md §2.2); `SchemaFields` in
//! every profile and the metadata of each file tell them. A row group holds one lane alone, in order of
//! time, and row groups are listed by lane and time, so statistics prune both.
//!
//! Times are whole nanoseconds from the start of the execution.
//!
//! # What is left out
//!
//! SQL, servers and databases: they take [`Profile::table`] and [`Profile::batches`].

pub mod carried;
pub mod disk;
pub mod encode;
pub mod error;
pub mod ingest;
pub mod kinds;
pub mod lanes;
pub mod manifest;
pub mod read;
pub mod schema;
pub mod series;
pub mod tiles;

pub use carried::{Carried, CarriedTable};
pub use disk::{Draft, Store};
pub use error::Error;
pub use ingest::{
    DeviceProfile, Progress, Restore, Settings, SystemRun, Timeline, TimelineLane, TimelineRow,
    ingest, ingest_system, ingest_timeline,
};
pub use lanes::{Lane, LaneKind};
pub use manifest::{Labels, Manifest};
pub use read::Profile;
pub use series::Series;
