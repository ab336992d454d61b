//! The Neuron runtime: models, NeuronCore groups, queues, sessions.
//!
//! Synchronous, without gRPC: the daemon, a profiler and a C library stand on
//! the same calls. A [`Runtime`] owns cores ([`Cores`]), loads NEFFs through a
//! [`Backend`] and runs inferences. Each Neuron node of a started model has a
//! thread of its own, so requests that are in different nodes overlap.
//!
//! Numbers of sections are those of the daemon's sheet, neuron-rtd.md. Choices
//! of our own, where it says unknown:
//!
//! * the clock of an inference starts when its first node does, not when it is
//!   posted, so that a deep queue is no reason for a timeout (§3.5);
//! * after a timeout, or when the device reports a deadlock, the model has
//!   failed until it is stopped and started again;
//! * a slot is free again when its inference is done; at most 2 x `ninfer`
//!   results wait to be fetched, then the queue counts as full (§3.4);
//! * stop waits for what has begun and cancels what has not (§3.3);
//! * a group whose session has ended stays while models of others are in it.
//!
//! An [inspection](inspect) tells what it does, event by event.
//!
//! What it leaves out: native code of CPU nodes (`cpu.so`), loops, and memory in
//! huge pages.

#![forbid(unsafe_code)]

pub mod backend;
mod cookies;
mod cores;
mod cpu;
mod deadline;
mod failure;
mod groups;
mod host;
pub mod inspect;
mod job;
mod journal;
mod load;
mod machine;
mod model;
mod plan;
mod request;
mod run;
mod runtime;
mod sessions;
mod shared;
mod stats;

pub use backend::{Backend, Nrt, Software};
pub use cores::{Core, Cores};
pub use cpu::OPERATORS;
pub use failure::{Code, Failure, Subtype};
pub use groups::GroupInfo;
pub use host::{Host, SimHost};
pub use inspect::{DeviceTraces, InspectOptions};
pub use journal::{Journal, Level, Quiet};
pub use load::{LoadParams, cores_needed};
pub use machine::{Machine, Wanted, number};
pub use model::{Mode, ModelInfo, ModelState};
pub use plan::TensorInfo;
pub use request::{Data, Input, Outcome, Request};
pub use runtime::{DeviceMemory, Runtime, Settings};
pub use shared::SharedBuffer;
pub use stats::{Aggregate, CoreSnapshot, Metric, Snapshot};
