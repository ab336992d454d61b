//! What runs Neuron nodes, behind one trait.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;

use crate::failure::{Code, Failure, Subtype};
use crate::job::Value;

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

/// Inputs of a node by name, wherever their bytes are.
#[derive(Debug)]
pub struct Inputs<'a>(pub(crate) Vec<(&'a str, Value)>);

impl Inputs<'_> {
    /// The bytes.
    ///
    /// # Errors
    ///
    /// An input that cannot be read.
    pub fn into_tensors(self) -> Result<Tensors, NodeFault> {
        let bytes = |(name, value): (&str, Value)| match value.into_bytes() {
            Ok(bytes) => Ok((name.to_owned(), bytes)),
            Err(reason) => Err(NodeFault::input(format!("input {name}: {reason}"))),
        };
        self.0.into_iter().map(bytes).collect()
    }
}

/// What a run of a node gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeRun {
    /// Outputs by name.
    pub outputs: Tensors,
    /// Time on the device in nanoseconds; `None` where the backend has no clock.
    pub device_nanos: Option<u64>,
}

/// What every run of a node costs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeCosts {
    /// Time on the device in nanoseconds.
    pub nanos: u64,
    /// By physical core of the node.
    pub cores: Vec<CoreCosts>,
}

/// What every run costs one physical core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreCosts {
    /// Multiplications with an addition in the array.
    pub macs: u64,
    /// Instructions of PE, ACT, POOL, DVE and SP.
    pub instructions: [u64; 5],
}

/// What a profile says about its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileOrigin {
    /// Name of the model.
    pub name: String,
    /// UUID of the model.
    pub uuid: [u8; 16],
    /// Instance type.
    pub instance: String,
    /// Simulated time of the device before the run, ns.
    pub before: u64,
}

/// A run of a node and its profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiled {
    /// How it ended.
    pub run: Result<NodeRun, NodeFault>,
    /// Its NTFF; of a run that stopped, up to then, where the backend can.
    pub trace: Option<Vec<u8>>,
}

impl Profiled {
    /// A run that failed and left nothing.
    pub const fn failed(fault: NodeFault) -> Self {
        Self { run: Err(fault), trace: None }
    }
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

impl NodeFault {
    /// An input or output that is not what it should be.
    pub(crate) fn input(text: String) -> Self {
        Self { code: Code::BadInput, subtype: Subtype::None, text, fatal: false }
    }
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

    /// As [`Self::run`]; ends early once `cancel` is set, where the backend can.
    ///
    /// # Errors
    ///
    /// What stopped it.
    fn run_until(&self, inputs: &Tensors, _cancel: &AtomicBool) -> Result<NodeRun, NodeFault> {
        self.run(inputs)
    }

    /// As [`Self::run_until`]; a backend that takes inputs from where they are
    /// saves a copy.
    ///
    /// # Errors
    ///
    /// What stopped it, or an input that cannot be read.
    fn run_from(&self, inputs: Inputs<'_>, cancel: &AtomicBool) -> Result<NodeRun, NodeFault> {
        self.run_until(&inputs.into_tensors()?, cancel)
    }

    /// What every run costs, where the backend knows.
    fn costs(&self) -> Option<&NodeCosts> {
        None
    }

    /// As [`Self::run_until`], with an NTFF of the run.
    fn profile(
        &self,
        _inputs: &Tensors,
        _origin: &ProfileOrigin,
        _cancel: &AtomicBool,
    ) -> Profiled {
        Profiled::failed(NodeFault {
            code: Code::Fail,
            subtype: Subtype::Runtime,
            text: "this backend makes no profiles".to_owned(),
            fatal: false,
        })
    }
}

/// Makes nodes ready.
pub trait Backend: Send + Sync + fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// Name and version of what it stands on, if that has a version of its own.
    fn version(&self) -> Option<String> {
        None
    }

    /// Makes a node ready.
    ///
    /// # Errors
    ///
    /// A program that it cannot run.
    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn Node>, Failure>;
}
