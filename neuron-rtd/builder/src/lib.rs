//! Lowers small operator graphs to NEFFs for the software NeuronCore.
//!
//! A [`Graph`] is built operator by operator, lowered to five instruction
//! streams and transfers, and packed into a NEFF. Records have the layouts that
//! are public; the file says `npu-sim` as its target and who made it, so that
//! no real loader takes it. The bytes depend on the graph only.
//!
//! Nothing here opens a file or reads a clock.
#![allow(clippy::indexing_slicing, reason = "fields of own tables; nothing here is outside input")]

mod array;
mod emit;
mod error;
mod graph;
mod lower;
mod model;
pub mod models;
mod package;
mod space;

pub use array::{Array, ElementType};
pub use emit::{Line, Part, Queue, Streams};
pub use error::{BuildError, Result};
pub use graph::*;
pub use lower::{CoreProgram, Variable, VariableKind, lower};
pub use model::{CpuNode, HostNode, HostTensor, Model, NeuronNode, Ports};
pub use package::{Built, PRODUCER};
pub use space::Space;
