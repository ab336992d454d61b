//! The record: one line of the stream, as a document.
//!
//! The shape is that of real outputs of the original (sys-tools.md §4); keys
//! of our own stand only at record, application, group or device level, where
//! its readers bear them. It is written by the stream and read by the exporters,
//! which also take the original's records: a key that is missing there has its
//! default, one that is not known is passed over.

mod application;
mod system;

use serde::{Deserialize, Serialize};

pub use application::{
    Application, CoreCounters, CoreMemory, CoreUse, DeviceCategories, DeviceUse, ErrorSummary,
    ExecutionStats, ExecutionSummary, HostCategories, LatencyStats, LoadedModel, MemoryUsed,
    ModelBreakdown, Percentiles, PhysicalCore, Report, RuntimeBreakdown, RuntimeVcpu, Subgraph,
    Totals, UsedBytes, VcpuShare,
};
pub use system::{
    CpuShares, EccTotals, HardwareInfo, HwCounters, HwDevice, InstanceInfo, K8sInfo, MemoryInfo,
    MonitorInfo, Pod, Power, SelfStats, SystemData, VcpuUsage,
};

/// One record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Each application that passes a filter.
    pub neuron_runtime_data: Vec<Application>,
    /// Groups of the machine that are due.
    pub system_data: SystemData,
    /// The EC2 instance.
    pub instance_info: InstanceInfo,
    /// The devices.
    pub neuron_hardware_info: HardwareInfo,
    /// Pods of cores and devices, where Kubernetes is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neuron_k8s_info: Option<K8sInfo>,
    /// This program (a key of our own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neuron_monitor: Option<MonitorInfo>,
}

impl Record {
    /// The record as one line, or over many for people; a newline at the end.
    ///
    /// # Errors
    ///
    /// None that a record can cause; serde's interface has one.
    pub fn to_line(&self, pretty: bool) -> serde_json::Result<Vec<u8>> {
        let mut line =
            if pretty { serde_json::to_vec_pretty(self)? } else { serde_json::to_vec(self)? };
        line.push(b'\n');
        Ok(line)
    }
}

/// For keys that are left out when they are empty.
fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_record_has_what_every_record_has() {
        let line = String::from_utf8(Record::default().to_line(false).unwrap()).unwrap();
        assert!(line.starts_with("{\"neuron_runtime_data\":[],\"system_data\":{},"), "{line}");
        assert!(line.ends_with("}\n") && line.lines().count() == 1);
        for key in ["instance_info", "neuron_hardware_info"] {
            assert!(line.contains(&format!("\"{key}\":{{")), "{line}");
        }
        for key in ["neuron_k8s_info", "neuron_monitor\"", "null"] {
            assert!(!line.contains(key), "{line}");
        }
    }

    /// Names of the guide and of old versions, unknown keys, missing keys.
    #[test]
    fn records_of_other_versions_are_read() {
        let line = r#"{"neuron_runtime_data":[{"pid":1,"address":"","neuron_runtime_tag":"1","error":"",
            "report":{"neuroncore_counters":{"period":1.5,"neuroncores_in_use":{"0":{"neuroncore_utilization":2,"flops":7}},"error":""},
            "execution_stats":{"error_summary":{"numeric":3,"generic":1},"latency_stats":{"total_latency":null}}}}],
            "system_data":{"neuron_hw_counters":{"neuron_devices":null}},"new":{"a":[1]},
            "neuron_hardware_info":{"neuron_device_count":4}}"#;
        let record: Record = serde_json::from_str(line).unwrap();
        let report = &record.neuron_runtime_data[0].report;
        let cores = report.neuroncore_counters.as_ref().unwrap();
        assert_eq!(cores.neuroncores_in_use[&0].effective_flops, Some(7));
        let errors = report.execution_stats.as_ref().unwrap().error_summary;
        assert_eq!((errors.numerical, errors.generic), (3, Some(1)));
        assert_eq!(record.neuron_hardware_info.neuron_device_count, 4);
        assert_eq!(record.neuron_hardware_info.logical_neuroncore_config, 0);
    }
}
