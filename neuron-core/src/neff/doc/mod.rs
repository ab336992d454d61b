//! The JSON members as values (sheet section 5).
//!
//! Each type reads what all known producers write and writes back what it
//! read: an absent key stays absent. Keys that a type does not know become
//! warnings of rule `json-unknown-key`.

mod definition;
mod engine;
mod graph;
mod info;
mod json;
mod kelf;
mod kernel;
mod tensor_map;
mod ucode;

pub use crate::engine::Engine;
pub(crate) use definition::QUEUE_TYPES;
pub use definition::{Definition, QueueSet, VarKind, Variable};
pub use engine::{DmaBlock, EngineJson, Transfer};
pub use graph::{Executor, Graph, GraphAttrs, KELF_FUNCTION, Names, Node};
pub use info::{Info, KernelDebugFile, KernelDebugInfo, Metric};
pub(crate) use json::{Budget, parse};
pub use kelf::{Kelf, KelfGraph, Target};
pub use kernel::{KernelFrame, KernelIteration, KernelLine, KernelLines};
pub use tensor_map::{Alias, MappedTensor, TensorMap};
pub use ucode::{UcodeFunction, UcodeLibrary};
