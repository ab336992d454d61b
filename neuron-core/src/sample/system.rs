//! What `/proc` says of the host: CPU times, context switches, memory.

use serde::{Deserialize, Serialize};

/// CPUs and memory of the host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// CPU times; `None` when not asked for or not readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Cpus>,
    /// Why there are no [`Self::cpus`] although they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus_error: Option<String>,
    /// Memory; `None` when not asked for or not readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<Ram>,
    /// Why there is no [`Self::ram`] although it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram_error: Option<String>,
}

/// `/proc/stat`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpus {
    /// All CPUs together.
    pub all: CpuTimes,
    /// Each CPU that is online, with its number.
    pub each: Vec<(u32, CpuTimes)>,
    /// Context switches since boot.
    pub context_switches: u64,
}

/// Time since boot by what it was spent on, clock ticks of 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTimes {
    /// User mode.
    pub user: u64,
    /// User mode at low priority.
    pub nice: u64,
    /// Kernel.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do but for disks.
    pub io_wait: u64,
    /// Interrupts.
    pub irq: u64,
    /// Deferred interrupt work.
    pub soft_irq: u64,
}

/// `/proc/meminfo`, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ram {
    /// `MemTotal`.
    pub total: u64,
    /// `MemAvailable`; kernels before 3.14 have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<u64>,
    /// `MemFree`.
    pub free: u64,
    /// `Buffers`.
    pub buffers: u64,
    /// `Cached`.
    pub cached: u64,
    /// `SwapTotal`.
    pub swap_total: u64,
    /// `SwapFree`.
    pub swap_free: u64,
}
