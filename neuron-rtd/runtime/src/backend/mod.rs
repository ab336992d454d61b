//! What runs Neuron nodes, behind one trait.

use std::collections::BTreeMap;
use std::fmt;

use crate::failure::{Code, Failure, Subtype};

pub mod nrt;
mod software;

pub use nrt::Nrt;
pub use software::Software;

/// Bytes of tensors by name.
pub type Tensors = BTreeMap<String, Vec<u8>>;

/// One Neuron node, to be made ready.
#[derive(Debug, Clone, Copy)]
pub struct NodeImage<'a> {
    /// Name of the node in the host graph.
    pub name: &'a str,
    /// A NEFF with this node's program only.
    pub neff: &'a [u8],
    /// First core that it runs on, counted over the devices of the runtime.
    pub first_core: u32,
    /// Cores that it runs on.
    pub cores: u32,
}

/// An input or output of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeTensor {
    /// Name.
    pub name: String,
    /// Whether it is an output.
    pub output: bool,
    /// Bytes.
    pub bytes: u64,
}

/// What a run of a node gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeRun {
    /// Outputs by name.
    pub outputs: Tensors,
    /// Time on the device in nanoseconds; `None` where the backend has no clock.
    pub device_nanos: Option<u64>,
}

/// Why a run of a node failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFault {
    /// What the client is told.
    pub code: Code,
    /// What is counted.
    pub subtype: Subtype,
    /// One line.
    pub text: String,
    /// Whether the model cannot go on until it is started anew.
    pub fatal: bool,
}

/// A node made ready, to be run many times, also by several threads.
pub trait Node: Send + Sync + fmt::Debug {
    /// Inputs and outputs.
    fn tensors(&self) -> &[NodeTensor];

    /// Runs once.
    ///
    /// # Errors
    ///
    /// What stopped it.
    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault>;
}

/// Makes nodes ready.
pub trait Backend: Send + Sync + fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// Makes a node ready.
    ///
    /// # Errors
    ///
    /// A program that it cannot run.
    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn Node>, Failure>;
}
