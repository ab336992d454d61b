//! What a record says of one application (sys-tools.md §4.5 to §4.9).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::is_empty;

/// One application.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Application {
    /// Process id, host namespace.
    pub pid: u32,
    /// `NEURON_PROCESS_TAG`, else the pid as text.
    pub neuron_runtime_tag: String,
    /// Version of its runtime, where known (a key of our own).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub neuron_runtime_version: String,
    /// What could not be read of it; empty when all is well.
    pub error: String,
    /// The groups that are due.
    pub report: Report,
}

/// The groups of an application.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Outcomes, errors, latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_stats: Option<ExecutionStats>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<MemoryUsed>,
    /// CPU time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neuron_runtime_vcpu_usage: Option<RuntimeVcpu>,
    /// Utilisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neuroncore_counters: Option<CoreCounters>,
}

/// `execution_stats`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionStats {
    /// Seconds that the counts are of.
    pub period: f64,
    /// Errors by kind, in the period.
    pub error_summary: ErrorSummary,
    /// Executions by outcome, in the period.
    pub execution_summary: ExecutionSummary,
    /// Latency of executions that ended in the period.
    pub latency_stats: LatencyStats,
    /// Counts since the application was started (a key of our own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// Errors by kind. `generic` is in records of old versions only; here it is
/// among the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorSummary {
    /// Of no other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generic: Option<u64>,
    /// Of the device.
    pub hardware: u64,
    /// A bad model.
    pub model: u64,
    /// NaN was produced. The guide writes `numeric`.
    #[serde(alias = "numeric")]
    pub numerical: u64,
    /// Of the runtime.
    pub runtime: u64,
    /// Recoverable.
    pub transient: u64,
}

/// Executions by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionSummary {
    /// Completed.
    pub completed: u64,
    /// Completed with an error other than a numerical one.
    pub completed_with_err: u64,
    /// Completed with a numerical error.
    pub completed_with_num_err: u64,
    /// Refused by the queue.
    pub failed_to_queue: u64,
    /// Not started because of the input.
    pub incorrect_input: u64,
    /// Over the time limit.
    pub timed_out: u64,
}

/// Counts since the application was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Errors by kind, `generic` with them.
    pub error_summary: ErrorSummary,
    /// Executions by outcome.
    pub execution_summary: ExecutionSummary,
}

/// Latency; `null` when nothing ran or the runtime does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyStats {
    /// On the device.
    pub device_latency: Option<Percentiles>,
    /// From the request to the result.
    pub total_latency: Option<Percentiles>,
}

/// Percentiles, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Percentiles {
    pub p0: f64,
    pub p1: f64,
    pub p100: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p99: f64,
}

impl Percentiles {
    /// The percentiles with their names, ascending.
    pub const fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("p0", self.p0),
            ("p1", self.p1),
            ("p25", self.p25),
            ("p50", self.p50),
            ("p75", self.p75),
            ("p99", self.p99),
            ("p100", self.p100),
        ]
    }
}

/// `memory_used`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUsed {
    /// Seconds since it was read before.
    pub period: f64,
    /// Bytes in use.
    pub neuron_runtime_used_bytes: UsedBytes,
    /// Loaded models.
    pub loaded_models: Vec<LoadedModel>,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// Memory of an application, bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UsedBytes {
    /// Of the host.
    pub host: u64,
    /// Of the devices.
    pub neuron_device: u64,
    /// By category.
    pub usage_breakdown: RuntimeBreakdown,
}

/// Memory of an application by category.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuntimeBreakdown {
    /// Of the host.
    pub host: HostCategories,
    /// Of devices, by logical core.
    pub neuroncore_memory_usage: BTreeMap<u32, CoreMemory>,
}

/// Host memory by category, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostCategories {
    /// Of the runtime itself.
    pub application_memory: u64,
    /// Constants.
    pub constants: u64,
    /// Code and DMA buffers.
    pub dma_buffers: u64,
    /// Tensors.
    pub tensors: u64,
}

/// Memory on a core by category, bytes. No key may be added: readers add up
/// whatever they find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreMemory {
    /// Constants.
    pub constants: u64,
    /// Code.
    pub model_code: u64,
    /// Scratchpads.
    pub model_shared_scratchpad: u64,
    /// Of the runtime itself.
    pub runtime_memory: u64,
    /// Tensors.
    pub tensors: u64,
}

/// A loaded model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedModel {
    /// Name.
    pub name: String,
    /// UUID, 32 hexadecimal digits.
    pub uuid: String,
    /// The runtime's id.
    pub model_id: u64,
    /// Whether it is started.
    pub is_running: bool,
    /// `sg_00` and so on.
    pub subgraphs: BTreeMap<String, Subgraph>,
}

/// A part of a model on one core.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Subgraph {
    /// Memory.
    pub memory_used_bytes: DeviceUse,
    /// Logical core within the device.
    pub neuroncore_index: u32,
    /// Index of the device.
    pub neuron_device_index: u32,
    /// The core by generation, `nc_v2.0`, on parts of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v2: Option<String>,
}

/// Memory of a subgraph, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceUse {
    /// Of the host.
    pub host: u64,
    /// Of the device.
    pub neuron_device: u64,
    /// By category.
    pub usage_breakdown: ModelBreakdown,
}

/// Memory of a subgraph by category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelBreakdown {
    /// Of the host.
    pub host: HostCategories,
    /// Of the device.
    pub neuron_device: DeviceCategories,
}

/// Device memory of a subgraph by category, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceCategories {
    /// Constants.
    pub constants: u64,
    /// Code.
    pub model_code: u64,
    /// Of the runtime itself.
    pub runtime_memory: u64,
    /// Tensors.
    pub tensors: u64,
}

/// `neuron_runtime_vcpu_usage`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuntimeVcpu {
    /// Seconds that the shares are of.
    pub period: f64,
    /// Shares.
    pub vcpu_usage: VcpuShare,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// CPU time of an application, percent of all vCPUs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VcpuShare {
    /// In the kernel.
    pub system: f64,
    /// In user mode.
    pub user: f64,
}

/// `neuroncore_counters`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreCounters {
    /// Seconds that the shares are of.
    pub period: f64,
    /// Every logical core of the instance; those of others are at 0.
    pub neuroncores_in_use: BTreeMap<u32, CoreUse>,
    /// The cores that the application holds (a key of our own).
    #[serde(skip_serializing_if = "is_empty")]
    pub neuroncores_owned: Vec<u32>,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// One logical core as one application uses it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreUse {
    /// Floating-point operations per second; not on Inferentia. The guide
    /// writes `flops`.
    #[serde(alias = "flops", skip_serializing_if = "Option::is_none")]
    pub effective_flops: Option<u64>,
    /// Share of the period in which it was executing, percent.
    pub neuroncore_utilization: f64,
    /// Its physical cores on Trainium2, `nc_v3.N`, where it has two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v3d: Option<BTreeMap<String, PhysicalCore>>,
    /// Its physical cores on Trainium3, `nc_v4.N`, where it has two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v4d: Option<BTreeMap<String, PhysicalCore>>,
}

/// One physical core.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhysicalCore {
    /// Share of the period in which it was executing, percent.
    pub neuroncore_utilization: f64,
}
