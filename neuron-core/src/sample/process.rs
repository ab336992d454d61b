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
