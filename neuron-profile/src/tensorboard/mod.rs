//! Runs in a log directory of TensorBoard: what the plug-in shows, and what
//! `export` and `capture` write for it.
//!
//! # The pieces
//!
//! * [`runs`] finds runs below a log directory, `watch` knows when to look again,
//!   [`files`] opens what is in them;
//! * [`ops`] is the operator table, of the original's files or of a profile, `times`
//!   that of a trace that is not stored;
//! * [`trace`] reads and writes timelines in the Trace Event Format, [`operators`]
//!   derives the one of a profile with [`sweep`];
//! * [`prepare`] makes in the background what takes longer than an answer, `child`
//!   reads traces for it in another process;
//! * [`mod@write`] writes a run, [`host`] has what a capture saw of the host;
//! * [`command`] is `neuron-profile tensorboard`, which the plug-in starts.

mod child;
pub mod command;
pub mod files;
pub mod host;
pub mod operators;
pub mod ops;
pub mod prepare;
pub mod runs;
pub mod sweep;
pub(crate) mod times;
pub mod trace;
mod watch;
pub mod write;
