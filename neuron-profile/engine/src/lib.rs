//! From a NEFF and an NTFF to the events, tables and metrics of a profile.
//!
//! [`Capture::open`] joins the two files; [`run()`] reads the records once, in
//! order of time over all cores, hands each row to a [`Sink`] when it is whole
//! and keeps sums; [`summary()`] turns the sums into metrics. Nothing here opens
//! a file, knows a path or reads a clock, and memory does not grow with the
//! records (one part does, and can be left out: [`run::Parts::usage`]).
//!
//! # How the rules were settled
//!
//! The oracle are four vendor exports (viewer 2.28.23) of captures of Trn2. Each
//! module says which rule it follows and on how many rows or samples it was
//! found equal; `neuron-profile`'s test `oracle` compares every field of every
//! table again. Where several rules fit, the simplest stands and its limits are
//! named; where none is known, the choice is marked.
//!
//! # What is left out
//!
//! Collectives and TopSP records, of which no real file was found: their tables
//! are absent. Names of the variables of DMA packets, which need the
//! notifications of descriptor generation; [`dram`] has those of instructions.

pub mod about;
pub mod capture;
pub mod chip;
pub mod cores;
mod covered;
pub mod debug;
pub mod dram;
pub mod error;
mod instructions;
pub mod kernels;
pub mod layer;
pub mod operand;
mod packets;
pub mod program;
pub mod row;
pub mod run;
pub mod source;
mod stream;
pub mod summary;
pub mod system;
pub mod tensors;
mod throughput;
pub mod totals;
mod union;
pub mod usage;
pub mod waits;

pub use capture::{Capture, Options};
pub use cores::Core;
pub use error::Error;
pub use row::{Nothing, Sink};
pub use run::{Outcome, Parts, RunError, run};
pub use source::ReadAt;
pub use stream::ReadCounts;
pub use summary::{Metric, Value, summary};
pub use totals::Totals;
