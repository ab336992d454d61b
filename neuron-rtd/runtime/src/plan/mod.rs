//! What a loaded NEFF does for one request: steps, and the values between them.
//!
//! A value is an entry of the host graph. A step is a node: on NeuronCores, or
//! an operator on the host. Steps stand in the order of the graph, which is
//! one in which each step's inputs come before it.

mod bind;
mod outline;
mod part;

pub(crate) use bind::bind;
pub(crate) use outline::Outline;

use crate::backend::Node;
use crate::cpu::CpuOp;

/// An input or output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Name.
    pub name: String,
    /// Whether it is an output.
    pub output: bool,
    /// Bytes.
    pub bytes: u64,
    /// Data type word, where the file has one.
    pub dtype: Option<String>,
    /// Shape, where the file has one.
    pub shape: Option<Vec<i64>>,
}

/// A tensor of the model and the value that it is.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) info: TensorInfo,
    pub(crate) value: usize,
    /// Of an input: some step or output takes it. Others may be left out.
    pub(crate) used: bool,
}

/// What runs a step.
#[derive(Debug)]
pub(crate) enum Work {
    /// Cores, from the first one on, and how many physical ones its program has.
    Neuron { node: Box<dyn Node>, first_core: u32, cores: u32, physical: u32 },
    /// The host.
    Cpu(CpuOp),
}

/// A node of the host graph.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) work: Work,
    /// Inputs: name at the node, value, bytes.
    pub(crate) takes: Vec<(String, usize, u64)>,
    /// Outputs: name at the node, value.
    pub(crate) gives: Vec<(String, usize)>,
}

/// The whole.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// Count of values.
    pub(crate) values: usize,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    /// Steps that take each value; a step that takes it twice is there twice.
    pub(crate) takers: Vec<Vec<usize>>,
}

impl Plan {
    /// First core of the first step on NeuronCores: where outcomes are counted.
    pub(crate) fn home(&self) -> Option<u32> {
        self.steps.iter().find_map(|step| match step.work {
            Work::Neuron { first_core, .. } => Some(first_core),
            Work::Cpu(_) => None,
        })
    }
}
