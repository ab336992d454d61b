//! What a record says of the machine (sys-tools.md §4.9 to §4.14, §7).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The groups of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemData {
    /// Memory of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_info: Option<MemoryInfo>,
    /// ECC events of the devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neuron_hw_counters: Option<HwCounters>,
    /// This program's own cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_stats: Option<SelfStats>,
    /// CPU time of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcpu_usage: Option<VcpuUsage>,
}

/// `memory_info`, bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryInfo {
    /// Seconds since it was read before.
    pub period: f64,
    /// Memory.
    pub memory_total_bytes: u64,
    /// Memory in use.
    pub memory_used_bytes: u64,
    /// Swap.
    pub swap_total_bytes: u64,
    /// Swap in use.
    pub swap_used_bytes: u64,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// `vcpu_usage`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VcpuUsage {
    /// Seconds that the shares are of.
    pub period: f64,
    /// All vCPUs together.
    pub average_usage: CpuShares,
    /// Each by its number.
    pub usage_data: BTreeMap<u32, CpuShares>,
    /// Context switches in the period.
    pub context_switch_count: u64,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// Shares of time, percent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct CpuShares {
    pub user: f64,
    pub nice: f64,
    pub system: f64,
    pub idle: f64,
    pub io_wait: f64,
    pub irq: f64,
    pub soft_irq: f64,
}

/// `neuron_hw_counters`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HwCounters {
    /// Seconds that the counts are of.
    pub period: f64,
    /// The devices; `null` when there are none.
    pub neuron_devices: Option<Vec<HwDevice>>,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// ECC events of one device in the period; 0 also where the device or its
/// driver does not tell (the totals tell that apart).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HwDevice {
    /// Index of the device.
    pub neuron_device_index: u32,
    /// Device memory, corrected.
    pub mem_ecc_corrected: u64,
    /// Device memory, uncorrected.
    pub mem_ecc_uncorrected: u64,
    /// On-chip SRAM, corrected.
    pub sram_ecc_corrected: u64,
    /// On-chip SRAM, uncorrected.
    pub sram_ecc_uncorrected: u64,
    /// Counts since the driver was loaded (a key of our own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<EccTotals>,
    /// Power over the last full minute (a key of our own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Components that firmware calls unhealthy (a key of our own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy_components: Option<Vec<String>>,
}

/// ECC events since the driver was loaded; a count that is not known is left
/// out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EccTotals {
    /// Device memory, corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_corrected: Option<u64>,
    /// Device memory, uncorrected but repairable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_repairable_uncorrected: Option<u64>,
    /// Device memory, uncorrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_ecc_uncorrected: Option<u64>,
    /// On-chip SRAM, corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sram_ecc_corrected: Option<u64>,
    /// On-chip SRAM, uncorrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sram_ecc_uncorrected: Option<u64>,
}

/// Power over one minute, percent of the most.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Power {
    /// End of the minute, seconds since the Unix epoch.
    pub time: f64,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
    /// Mean.
    pub avg: f64,
}

/// `self_stats`: the original accepts the group and does not publish its
/// form; this one is our own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SelfStats {
    /// Seconds since it was read before.
    pub period: f64,
    /// CPU time since the start, seconds.
    pub cpu_seconds: f64,
    /// CPU time in the period, percent of one vCPU.
    pub cpu_percent: f64,
    /// Resident memory, bytes.
    pub resident_memory_bytes: u64,
    /// Records that were made.
    pub records: u64,
    /// Records that were dropped because the reader was too slow.
    pub dropped_records: u64,
    /// Records that were late by a period or more.
    pub late_records: u64,
    /// Seconds that the last reading of each group took; one reading serves
    /// all groups that are due.
    pub collection_seconds: BTreeMap<String, f64>,
    /// Why the group is not complete; empty when it is.
    pub error: String,
}

/// `instance_info`; texts that are not known are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstanceInfo {
    /// The instance's Name tag.
    pub instance_name: String,
    /// `i-0123456789abcdef0`.
    pub instance_id: String,
    /// `trn1.32xlarge`.
    pub instance_type: String,
    /// Availability zone.
    pub instance_availability_zone: String,
    /// Id of the availability zone.
    pub instance_availability_zone_id: String,
    /// Region.
    pub instance_region: String,
    /// Machine image.
    pub ami_id: String,
    /// Subnet.
    pub subnet_id: String,
    /// UltraServer; only on its members.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ultraserver_id: String,
    /// Why texts are not known; empty when all is well.
    pub error: String,
}

/// `neuron_hardware_info`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HardwareInfo {
    /// `trainium`, `inferentia2`.
    pub neuron_device_type: String,
    /// `v2`.
    pub neuron_device_version: String,
    /// `v2`, `v3d`.
    pub neuroncore_version: String,
    /// Number of devices.
    pub neuron_device_count: u32,
    /// Memory of a device, bytes.
    pub neuron_device_memory_size: u64,
    /// Logical NeuronCores of a device.
    pub neuroncore_per_device_count: u32,
    /// Physical cores of a logical one.
    pub logical_neuroncore_config: u32,
    /// Why there are no devices; empty when all is well.
    pub error: String,
}

/// `neuron_k8s_info` (sys-tools.md §7).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct K8sInfo {
    /// Seconds since the kubelet was asked before.
    pub period: f64,
    /// Pod of each logical core.
    pub neuroncores_k8s_info: BTreeMap<u32, Pod>,
    /// Pod of each device.
    pub neurondevices_k8s_info: BTreeMap<u32, Pod>,
    /// Why the kubelet could not be asked; empty when all is well.
    pub error: String,
}

/// Who uses a core or a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Name of the pod.
    pub pod_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Containers of it that have the core or device.
    pub container_name: Vec<String>,
}

/// `neuron_monitor`: who wrote the record (a key of our own).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MonitorInfo {
    /// Version of this program.
    pub version: String,
    /// Version of the schema: `neuron-monitor schema`.
    pub schema: u32,
    /// When the record was read, seconds since the Unix epoch.
    pub timestamp: f64,
    /// Number of the record, from 1; one that is missing was dropped.
    pub record: u64,
    /// Name of the simulated instance, where it is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub simulated: String,
}
