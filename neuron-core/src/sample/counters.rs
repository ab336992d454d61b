//! Counters and memory levels that sysfs reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A running counter with the size of its last change.
///
/// Up to driver 2.25 both move only when the owning process ends or releases
/// its datastore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CounterValue {
    /// Sum since the driver was loaded or the leaf was cleared.
    pub total: u64,
    /// Size of the last change.
    pub present: u64,
}

/// A level of memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Level {
    /// In use now. `None` when the leaf held 2^63 or more: clearing a level
    /// while memory is in use makes the driver count below zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Size of the last change; after a free, the freed size.
    pub present: u64,
    /// Highest total seen.
    pub peak: u64,
}

/// Memory levels by category name, as the sysfs directories spell them.
pub type MemoryLevels = BTreeMap<String, Level>;

/// Host memory charged to a device, by category; the device level has no
/// total of its own.
pub type HostMemory = MemoryLevels;

/// What sysfs reports of one physical NeuronCore.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Core {
    /// Physical index within the device.
    pub index: u32,
    /// `stats/status` and `stats/other_info`, by leaf name.
    pub counters: BTreeMap<String, CounterValue>,
    /// `stats/memory_usage/host_mem`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<Level>,
    /// `stats/memory_usage/device_mem`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_memory: Option<Level>,
    /// `stats/memory_usage/device_mem/<category>`.
    pub device_memory_by: MemoryLevels,
    /// Tensor Engine activity by row group: matrix multiply active, weight
    /// load active, idle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tensor_engine: Vec<[u64; 3]>,
}

/// ECC counters and health of a device; a field is `None` where the driver
/// or the chip has no such leaf or it did not answer in time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Hardware {
    /// On-chip SRAM, uncorrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sram_ecc_uncorrected: Option<u64>,
    /// On-chip SRAM, corrected (driver 2.30.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sram_ecc_corrected: Option<u64>,
    /// Device memory, uncorrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_uncorrected: Option<u64>,
    /// Device memory, corrected (driver 2.30.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_corrected: Option<u64>,
    /// Device memory, uncorrected but repairable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_repairable_uncorrected: Option<u64>,
    /// Components that firmware calls unhealthy; empty when healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy_components: Option<Vec<String>>,
}

/// Power of a device over one minute, in percent of its maximum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// Whether the figures hold (`POWER_STATUS_VALID`).
    pub valid: bool,
    /// End of the minute, seconds since the Unix epoch.
    pub epoch_seconds: u64,
    /// Lowest, percent.
    pub min: f64,
    /// Highest, percent.
    pub max: f64,
    /// Mean, percent.
    pub avg: f64,
}
