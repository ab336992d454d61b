//! Processes attached to a device and what they report in their datastore.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A process that is attached to a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Process id in the host's pid namespace.
    pub pid: u32,
    /// Arguments joined by single spaces; `None` when `/proc` does not show
    /// the process, as in a container with its own pid namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Host memory charged to the process on this device, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<u64>,
    /// Device memory charged to the process on this device, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_memory: Option<u64>,
    /// Core locks held; the driver reports cores 0 to 3 only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<CoreLock>,
    /// The process's datastore on this device; `None` for a process without
    /// a Neuron runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datastore: Option<Datastore>,
    /// `NEURON_PROCESS_TAG` in the environment that the process was started
    /// with; `None` when it is not set or this user may not look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// CPU time used; `None` when not asked for or not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why there is no [`Self::usage`] although it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_error: Option<String>,
}

/// CPU time that a process has used since it was started, all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// In user mode, clock ticks of 10 ms.
    pub user: u64,
    /// In the kernel, clock ticks of 10 ms.
    pub system: u64,
    /// When it was started, clock ticks since boot; tells a reused pid apart.
    pub started: u64,
}

/// A reader/writer lock that a process holds on a physical core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreLock {
    /// Physical core within the device.
    pub core: u32,
    /// UUID of the model that the lock was taken for, 64 hexadecimal digits.
    pub model_uuid: String,
}

/// What a runtime writes about itself (NDS, driver.md §5). Counters are kept
/// by number, so that counters of newer runtimes are not lost; zero counters
/// are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Datastore {
    /// Version of the layout.
    pub version: i32,
    /// Device counters by id (driver.md §5.4).
    pub device: BTreeMap<u32, u64>,
    /// Counters of each physical core of the device.
    pub cores: Vec<DatastoreCore>,
    /// Application tag, where the runtime is ours; the vendor's runtime keeps
    /// it in an undocumented area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Loaded models, where the runtime is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<LoadedModel>>,
    /// Latencies of cores that have any, where the runtime is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Vec<CoreLatency>>,
}

/// A model that a process has loaded on a core.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedModel {
    /// The runtime's id.
    pub id: u32,
    /// Which of the model's nodes (subgraphs) this is.
    pub node: u32,
    /// First physical core within the device.
    pub core: u32,
    /// Whether it is started.
    pub running: bool,
    /// Name.
    pub name: String,
    /// UUID, 32 hexadecimal digits.
    pub uuid: String,
    /// Host memory.
    pub host: ModelMemory,
    /// Device memory.
    pub device: ModelMemory,
}

/// Memory of a model at one location, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelMemory {
    /// Code.
    pub code: u64,
    /// Tensors.
    pub tensors: u64,
    /// Constants.
    pub constants: u64,
    /// Scratchpad.
    pub scratchpad: u64,
    /// Everything else.
    pub misc: u64,
}

/// Latencies that a process has counted on one physical core.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreLatency {
    /// Physical index within the device.
    pub core: u32,
    /// From the request to the result.
    pub total: Latency,
    /// On the device.
    pub device: Latency,
}

/// Counts of latencies since the process was started. Bucket `b` counts those
/// from 2^b to below 2^(b+1) ns, bucket 0 also those of 0; empty ones are left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// Counts by bucket.
    pub buckets: BTreeMap<u32, u64>,
    /// Sum of all latencies, ns; wraps.
    pub sum: u64,
}

/// Counters of one physical core as one process reports them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatastoreCore {
    /// Physical index within the device.
    pub index: u32,
    /// Counters by id (driver.md §5.5).
    pub counters: BTreeMap<u32, u64>,
}
