//! Figures of neuron-monitor: of the machine, of each application, of the
//! program itself.
//!
//! The labels are those beyond the instance's, which every metric has
//! ([`INSTANCE_LABELS`]). A row stands for a whole family: the keys of a
//! breakdown are values of its last label.

use super::row::{Kind, Metric, Unit, rows};

/// Labels of the EC2 instance on every exported metric (sys-tools.md §5.2).
pub const INSTANCE_LABELS: &[&str] =
    &["instance_name", "instance_id", "instance_type", "availability_zone", "region", "subnet_id"];

rows! {
    SYSTEM_MEMORY_TOTAL: "system.memory_total", "memory_total_bytes", Level Bytes, &[],
        "sys-tools.md §4.10", "Memory of the host", original("system_memory_total_bytes", "System memory total_bytes bytes");
    SYSTEM_MEMORY_USED: "system.memory_used", "memory_used_bytes", Level Bytes, &[],
        "sys-tools.md §4.10", "Memory of the host that is not available to new programs", original("system_memory_used_bytes", "System memory used_bytes bytes");
    SYSTEM_SWAP_TOTAL: "system.swap_total", "swap_total_bytes", Level Bytes, &[],
        "sys-tools.md §4.10", "Swap of the host", original("system_swap_total_bytes", "System swap total_bytes bytes");
    SYSTEM_SWAP_USED: "system.swap_used", "swap_used_bytes", Level Bytes, &[],
        "sys-tools.md §4.10", "Swap of the host in use", original("system_swap_used_bytes", "System swap used_bytes bytes");
    SYSTEM_ECC_EVENTS: "system.ecc_events", "neuron_hw_counters", Counter Number, &["event_type", "neuron_device_index"],
        "sys-tools.md §4.11", "ECC events of a device by memory and outcome", original("hardware_ecc_events_total", "Hardware ecc events total");
    SYSTEM_VCPU_COUNT: "system.vcpu_count", "usage_data", Level Number, &[],
        "sys-tools.md §5.3", "vCPUs of the host", original("system_vcpu_count", "System vCPU count");
    SYSTEM_VCPU_USAGE: "system.vcpu_usage", "average_usage", Level Ratio, &["usage_type"],
        "sys-tools.md §4.9", "CPU time of the host: user with nice, system with waiting for disks and interrupts", original("system_vcpu_usage_ratio", "System CPU utilization ratio");
    INSTANCE_INFO: "system.instance_info", "instance_info", Level One, &[],
        "sys-tools.md §4.12", "The EC2 instance, in the labels that every metric has", original("instance_info", "EC2 instance information");
    HARDWARE_INFO: "system.hardware_info", "neuron_hardware_info", Level One, &["neuron_device_count", "neuroncore_per_device_count", "neuron_device_memory_size"],
        "sys-tools.md §4.13", "How many devices of what size", original("neuron_hardware_info", "Neuron Hardware Information");
    DEVICE_KIND_INFO: "system.device_kind", "neuron_device_type", Level One, &["neuron_device_type", "neuron_device_version", "neuroncore_version", "logical_neuroncore_config"],
        "sys-tools.md §5.4", "What kind of devices, and how many physical cores a logical one has", prometheus("neuron_device_kind_info");
    SYSTEM_VCPU_EACH: "system.vcpu_each", "vcpu", Level Ratio, &["vcpu", "usage_type"],
        "sys-tools.md §5.4", "CPU time of one vCPU: user with nice, system with waiting for disks and interrupts", prometheus("system_vcpu_core_usage_ratio");
    SYSTEM_CONTEXT_SWITCHES: "system.context_switches", "context_switch_count", Counter Number, &[],
        "sys-tools.md §5.4", "Context switches of the host", prometheus("system_context_switches_total");
    SYSTEM_ECC_REPAIRABLE: "system.ecc_repairable", "mem_ecc_repairable_uncorrected", Counter Number, &["neuron_device_index"],
        "driver.md §6.3", "Uncorrected but repairable ECC errors of device memory since the driver was loaded", prometheus("hardware_ecc_repairable_events_total");
    SYSTEM_POWER: "system.power", "power", Level Ratio, &["neuron_device_index", "statistic"],
        "sys-tools.md §12", "Power of a device over the last full minute, of the most it takes", prometheus("hardware_power_utilization_ratio");
    SYSTEM_UNHEALTHY: "system.unhealthy", "unhealthy_components", Level One, &["neuron_device_index", "component"],
        "driver.md §6.3", "A component that firmware calls unhealthy", prometheus("hardware_unhealthy_component");
    APPLICATION_ERRORS: "application.errors", "error_summary", Counter Number, &["runtime_tag", "error_type"],
        "sys-tools.md §4.7", "Errors of executions by kind", original("execution_errors_total", "Execution errors total");
    APPLICATION_STATUS: "application.status", "execution_summary", Counter Number, &["runtime_tag", "status_type"],
        "sys-tools.md §4.7", "Executions by outcome", original("execution_status_total", "Execution status total");
    APPLICATION_LATENCY: "application.latency", "total_latency", Level Seconds, &["runtime_tag", "percentile"],
        "sys-tools.md §4.7", "Time from the request to the result", original("execution_latency_seconds", "Execution latency in seconds");
    APPLICATION_MEMORY: "application.memory", "neuron_runtime_used_bytes", Level Bytes, &["runtime_tag", "memory_location"],
        "sys-tools.md §4.8", "Memory of the application", original("neuron_runtime_memory_used_bytes", "Runtime memory used bytes");
    APPLICATION_CORE_CONSTANTS: "application.core.constants", "constants", Level Bytes, &["runtime_tag", "neuroncore", "memory_location"],
        "sys-tools.md §4.8", "Device memory of the application on a core: constants", original("neuroncore_memory_usage_constants", "NeuronCore memory utilization for constants");
    APPLICATION_CORE_MODEL_CODE: "application.core.model_code", "model_code", Level Bytes, &["runtime_tag", "neuroncore", "memory_location"],
        "sys-tools.md §4.8", "Device memory of the application on a core: code", original("neuroncore_memory_usage_model_code", "NeuronCore memory utilization for model_code");
    APPLICATION_CORE_MODEL_SHARED_SCRATCHPAD: "application.core.model_shared_scratchpad", "model_shared_scratchpad", Level Bytes, &["runtime_tag", "neuroncore", "memory_location"],
        "sys-tools.md §4.8", "Device memory of the application on a core: scratchpads", original("neuroncore_memory_usage_model_shared_scratchpad", "NeuronCore memory utilization for model_shared_scratchpad");
    APPLICATION_CORE_RUNTIME_MEMORY: "application.core.runtime_memory", "runtime_memory", Level Bytes, &["runtime_tag", "neuroncore", "memory_location"],
        "sys-tools.md §4.8", "Device memory of the application on a core: the runtime itself", original("neuroncore_memory_usage_runtime_memory", "NeuronCore memory utilization for runtime_memory");
    APPLICATION_CORE_TENSORS: "application.core.tensors", "tensors", Level Bytes, &["runtime_tag", "neuroncore", "memory_location"],
        "sys-tools.md §4.8", "Device memory of the application on a core: tensors", original("neuroncore_memory_usage_tensors", "NeuronCore memory utilization for tensors");
    APPLICATION_VCPU: "application.vcpu", "neuron_runtime_vcpu_usage", Level Ratio, &["runtime_tag", "usage_type"],
        "sys-tools.md §4.9", "CPU time of the application, of all vCPUs", original("neuron_runtime_vcpu_usage_ratio", "Runtime vCPU utilization ratio");
    APPLICATION_CORE_UTILIZATION: "application.core.utilization", "neuroncore_utilization", Level Ratio, &["runtime_tag", "neuroncore"],
        "sys-tools.md §4.6", "Share of the time in which the application kept the core busy", original("neuroncore_utilization_ratio", "NeuronCore utilization ratio");
    APPLICATION_CORE_FLOPS: "application.core.flops", "effective_flops", Level FlopsPerSecond, &["runtime_tag", "neuroncore"],
        "sys-tools.md §5.4", "Floating-point operations per second of the application on a core", prometheus("neuroncore_effective_flops");
    APPLICATION_CORE_PHYSICAL: "application.core.physical", "v3d", Level Ratio, &["runtime_tag", "neuroncore", "physical_core"],
        "sys-tools.md §5.4", "Share of the time in which the application kept a physical core of a logical one busy", prometheus("neuroncore_physical_utilization_ratio");
    APPLICATION_DEVICE_LATENCY: "application.device_latency", "device_latency", Level Seconds, &["runtime_tag", "percentile"],
        "sys-tools.md §5.4", "Time on the device", prometheus("execution_device_latency_seconds");
    APPLICATION_HOST_MEMORY: "application.host_memory", "host", Level Bytes, &["runtime_tag", "category"],
        "sys-tools.md §5.4", "Host memory of the application by category", prometheus("neuron_runtime_host_memory_bytes");
    APPLICATION_MODEL_MEMORY: "application.model_memory", "loaded_models", Level Bytes, &["runtime_tag", "model_id", "model_name", "subgraph", "neuron_device_index", "neuroncore_within_device", "memory_location"],
        "sys-tools.md §5.4", "Memory of a loaded model", prometheus("neuron_model_memory_used_bytes");
    APPLICATION_MODEL_RUNNING: "application.model_running", "is_running", Level Number, &["runtime_tag", "model_id", "model_name", "model_uuid"],
        "sys-tools.md §5.4", "Whether a loaded model is started: 1 or 0", prometheus("neuron_model_running");
    APPLICATION_INFO: "application.info", "pid", Level One, &["runtime_tag", "pid", "runtime_version"],
        "sys-tools.md §5.4", "The application: its process and the version of its runtime", prometheus("neuron_runtime_info");
    MONITOR_INFO: "monitor.info", "version", Level One, &["version", "simulated"],
        "sys-tools.md §5.4", "The exporter, and the simulated instance that it looks at if it does", prometheus("neuron_monitor_build_info");
    MONITOR_TIMESTAMP: "monitor.timestamp", "timestamp", Level Seconds, &[],
        "sys-tools.md §12", "When the newest record was read, Unix time", prometheus("neuron_monitor_last_record_timestamp_seconds");
    MONITOR_PERIOD: "monitor.period", "period", Level Seconds, &["group"],
        "sys-tools.md §5.4", "The time that the newest figures of a group are of", prometheus("neuron_monitor_period_seconds");
    MONITOR_GROUP_ERROR: "monitor.group_error", "error", Level Number, &["group"],
        "sys-tools.md §5.4", "Applications or devices for which the newest figures of a group could not be read", prometheus("neuron_monitor_group_errors");
    MONITOR_RECORDS: "monitor.records", "records", Counter Number, &[],
        "sys-tools.md §12", "Records that were read", prometheus("neuron_monitor_records_total");
    MONITOR_BAD_RECORDS: "monitor.bad_records", "bad_records", Counter Number, &[],
        "sys-tools.md §5.4", "Lines that were no record", prometheus("neuron_monitor_bad_records_total");
    MONITOR_DROPPED: "monitor.dropped", "dropped_records", Counter Number, &[],
        "sys-tools.md §12", "Records that were dropped because the reader was too slow", prometheus("neuron_monitor_dropped_records_total");
    MONITOR_LATE: "monitor.late", "late_records", Counter Number, &[],
        "sys-tools.md §12", "Records that were late by a period or more", prometheus("neuron_monitor_late_records_total");
    MONITOR_COLLECTION: "monitor.collection", "collection_seconds", Level Seconds, &["group"],
        "sys-tools.md §12", "Duration of the newest reading of a group; one reading serves all groups that are due", prometheus("neuron_monitor_collection_seconds");
    PROCESS_CPU: "monitor.cpu", "cpu_seconds", Counter Seconds, &[],
        "sys-tools.md §5.3", "CPU time of the exporter", original("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
    PROCESS_MEMORY: "monitor.memory", "resident_memory_bytes", Level Bytes, &[],
        "sys-tools.md §5.3", "Resident memory of the exporter", original("process_resident_memory_bytes", "Resident memory size in bytes.");
    PROCESS_START: "monitor.start", "start", Level Seconds, &[],
        "sys-tools.md §5.3", "When the exporter was started, Unix time", original("process_start_time_seconds", "Start time of the process since unix epoch in seconds.");
}
