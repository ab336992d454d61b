//! What a record tells, as CloudWatch metrics: names, units, dimensions.
//!
//! Names and units are those of Container Insights without its prefixes
//! (sys-tools.md §6.2); what the original's script sends is not published.

use crate::wire::{Application, Record};

/// A metric of one thing at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Datum {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) value: f64,
}

/// Metrics with the same dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    /// Name and value of each dimension.
    pub(super) dimensions: Vec<(&'static str, String)>,
    pub(super) data: Vec<Datum>,
}

/// When a record was read, seconds since the Unix epoch; now for a record of
/// the original, which does not say it.
pub(super) fn taken(record: &Record) -> f64 {
    let now = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.unwrap_or_default().as_secs_f64()
    };
    record.neuron_monitor.as_ref().map_or_else(now, |monitor| monitor.timestamp)
}

/// Everything that a record tells, by dimensions.
pub(super) fn blocks(record: &Record) -> Vec<Block> {
    let instance = || vec![("InstanceId", record.instance_info.instance_id.clone())];
    let mut blocks = Vec::new();
    let mut push = |dimensions: Vec<(&'static str, String)>, data: Vec<Datum>| {
        if !data.is_empty() {
            // A dimension without a value is refused by the service.
            let dimensions = dimensions.into_iter().filter(|(_, value)| !value.is_empty());
            blocks.push(Block { dimensions: dimensions.collect(), data });
        }
    };
    push(instance(), of_instance(record));
    let hardware = record.system_data.neuron_hw_counters.as_ref().filter(|hw| hw.error.is_empty());
    for device in hardware.and_then(|hw| hw.neuron_devices.as_ref()).into_iter().flatten() {
        let counts = [
            ("mem_ecc_corrected", device.mem_ecc_corrected),
            ("mem_ecc_uncorrected", device.mem_ecc_uncorrected),
            ("sram_ecc_corrected", device.sram_ecc_corrected),
            ("sram_ecc_uncorrected", device.sram_ecc_uncorrected),
        ];
        let mut data: Vec<Datum> = counts
            .iter()
            .map(|(name, count)| counted(format!("neurondevice_hw_ecc_events_{name}"), *count))
            .collect();
        let total = counts.iter().map(|(_, count)| count).sum();
        data.push(counted(String::from("neurondevice_hw_ecc_events_total"), total));
        let mut dimensions = instance();
        dimensions.push(("NeuronDevice", device.neuron_device_index.to_string()));
        push(dimensions, data);
    }
    let per_device = record.neuron_hardware_info.neuroncore_per_device_count.max(1);
    for application in &record.neuron_runtime_data {
        let tag = ("RuntimeTag", application.neuron_runtime_tag.clone());
        let mut dimensions = instance();
        dimensions.push(tag.clone());
        push(dimensions, of_application(application));
        for (core, data) in of_cores(application) {
            let mut dimensions = instance();
            dimensions.push(tag.clone());
            dimensions.push(("NeuronDevice", (core / per_device).to_string()));
            dimensions.push(("NeuronCore", core.to_string()));
            push(dimensions, data);
        }
    }
    blocks
}

fn datum(name: impl Into<String>, unit: &'static str, value: f64) -> Datum {
    Datum { name: name.into(), unit, value }
}

#[allow(clippy::cast_precision_loss)]
fn counted(name: String, count: u64) -> Datum {
    datum(name, "Count", count as f64)
}

#[allow(clippy::cast_precision_loss)]
fn bytes(name: impl Into<String>, bytes: u64) -> Datum {
    datum(name, "Bytes", bytes as f64)
}

fn of_instance(record: &Record) -> Vec<Datum> {
    let mut data = Vec::new();
    let system = &record.system_data;
    if let Some(memory) = system.memory_info.as_ref().filter(|group| group.error.is_empty()) {
        data.push(bytes("system_memory_total_bytes", memory.memory_total_bytes));
        data.push(bytes("system_memory_used_bytes", memory.memory_used_bytes));
    }
    if let Some(vcpu) = system.vcpu_usage.as_ref().filter(|group| group.error.is_empty()) {
        let shares = vcpu.average_usage;
        let kernel = shares.system + shares.io_wait + shares.irq + shares.soft_irq;
        data.push(datum("system_vcpu_usage_user", "Percent", shares.user + shares.nice));
        data.push(datum("system_vcpu_usage_system", "Percent", kernel));
    }
    data
}

fn of_application(application: &Application) -> Vec<Datum> {
    let mut data = Vec::new();
    let report = &application.report;
    if let Some(stats) = report.execution_stats.as_ref().filter(|group| group.error.is_empty()) {
        let errors = stats.error_summary;
        let kinds = [
            ("generic", errors.generic.unwrap_or(0)),
            ("numerical", errors.numerical),
            ("transient", errors.transient),
            ("model", errors.model),
            ("runtime", errors.runtime),
            ("hardware", errors.hardware),
        ];
        let total = kinds.iter().map(|(_, count)| count).sum();
        let named =
            kinds.iter().map(|(kind, n)| counted(format!("neuron_execution_errors_{kind}"), *n));
        data.extend(named);
        data.push(counted(String::from("neuron_execution_errors_total"), total));
        let outcomes = stats.execution_summary;
        let kinds = [
            ("completed", outcomes.completed),
            ("completed_with_err", outcomes.completed_with_err),
            ("completed_with_num_err", outcomes.completed_with_num_err),
            ("timed_out", outcomes.timed_out),
            ("incorrect_input", outcomes.incorrect_input),
            ("failed_to_queue", outcomes.failed_to_queue),
        ];
        data.extend(
            kinds.iter().map(|(kind, n)| counted(format!("neuron_execution_status_{kind}"), *n)),
        );
        if let Some(latency) = stats.latency_stats.total_latency {
            data.push(datum("neuron_execution_latency", "Seconds", latency.p50));
        }
    }
    if let Some(memory) = report.memory_used.as_ref().filter(|group| group.error.is_empty()) {
        let used = &memory.neuron_runtime_used_bytes;
        data.push(bytes("neurondevice_runtime_memory_used_bytes", used.neuron_device));
        data.push(bytes("neuron_runtime_host_memory_used_bytes", used.host));
    }
    data
}

/// Of each core that the application holds: the others are at 0, and would
/// cost as much.
fn of_cores(application: &Application) -> Vec<(u32, Vec<Datum>)> {
    let report = &application.report;
    let mut cores: std::collections::BTreeMap<u32, Vec<Datum>> = std::collections::BTreeMap::new();
    if let Some(counters) = report.neuroncore_counters.as_ref().filter(|g| g.error.is_empty()) {
        let owned = |core: &u32| counters.neuroncores_owned.contains(core);
        for (core, used) in &counters.neuroncores_in_use {
            if owned(core) || used.neuroncore_utilization > 0.0 {
                let data = cores.entry(*core).or_default();
                data.push(datum("neuroncore_utilization", "Percent", used.neuroncore_utilization));
            }
        }
    }
    if let Some(memory) = report.memory_used.as_ref().filter(|group| group.error.is_empty()) {
        let breakdown = &memory.neuron_runtime_used_bytes.usage_breakdown;
        for (core, used) in &breakdown.neuroncore_memory_usage {
            let kinds = [
                ("constants", used.constants),
                ("model_code", used.model_code),
                ("model_shared_scratchpad", used.model_shared_scratchpad),
                ("runtime_memory", used.runtime_memory),
                ("tensors", used.tensors),
            ];
            let data = cores.entry(*core).or_default();
            let total = kinds.iter().map(|(_, count)| count).sum();
            data.extend(
                kinds.iter().map(|(kind, n)| bytes(format!("neuroncore_memory_usage_{kind}"), *n)),
            );
            data.push(bytes("neuroncore_memory_usage_total", total));
        }
    }
    cores.into_iter().collect()
}
