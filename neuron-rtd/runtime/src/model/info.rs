//! A model as people and tools see it.

use super::Model;
use crate::plan::TensorInfo;

/// How the nodes of a model use the cores of its group (neuron-rtd.md §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each node has cores of its own.
    Normal,
    /// All nodes use the same cores, one inference at a time.
    SharedNc,
}

/// State of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// Loaded, not started.
    Loaded,
    /// Started.
    Started,
    /// Stopped by an error that it does not recover from.
    Failed,
}

/// A loaded model, for people and tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Handle, from 10001.
    pub id: u32,
    /// Its group; `None` for a model without cores.
    pub group: Option<u32>,
    /// UUID of the NEFF.
    pub uuid: [u8; 16],
    /// Name out of the NEFF.
    pub name: String,
    /// State.
    pub state: ModelState,
    /// First core, counted over the devices of the runtime.
    pub first_core: u32,
    /// Cores that it uses.
    pub cores: u32,
    /// Load mode.
    pub mode: Mode,
    /// Host memory in bytes.
    pub host_bytes: u64,
    /// Device memory in bytes.
    pub device_bytes: u64,
    /// Inferences that may be in flight.
    pub depth: u32,
    /// Session that loaded it; 0 for none.
    pub session: u64,
    /// Version of the NEFF's format.
    pub version: (u64, u64),
    /// Inputs and outputs.
    pub tensors: Vec<TensorInfo>,
    /// Inferences in flight.
    pub in_flight: usize,
    /// What its inferences have taken on simulated cores, overlaps counted
    /// once, in nanoseconds.
    pub simulated_nanos: u64,
}

impl Model {
    pub(crate) fn info(&self) -> ModelInfo {
        let ports = self.plan.inputs.iter().chain(&self.plan.outputs);
        ModelInfo {
            id: self.id,
            group: self.group,
            uuid: self.uuid,
            name: self.name.clone(),
            state: self.state(),
            first_core: self.first_core,
            cores: self.cores,
            mode: self.mode,
            host_bytes: self.host_bytes,
            device_bytes: self.memory.iter().flat_map(|(_, _, parts)| parts).sum(),
            depth: self.depth,
            session: self.session,
            version: self.version,
            tensors: ports.map(|port| port.info.clone()).collect(),
            in_flight: self.live().jobs.len(),
            simulated_nanos: self.clock.now(),
        }
    }
}
