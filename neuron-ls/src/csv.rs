//! The devices as comma-separated values (RFC 4180): a header with the
//! catalogue's keys, one row for each process on each device, one row for a
//! device without processes. Lists are joined by blanks; what is not known is
//! an empty field. The columns are the same on every machine.

use neuron_core::catalog::{self, Metric};
use neuron_core::model::{DeviceRow, Inventory, ProcessRow};

use crate::facts;

/// The columns in order.
pub const COLUMNS: [&Metric; 24] = [
    &catalog::INSTANCE_TYPE,
    &catalog::INSTANCE_ID,
    &catalog::DEVICE_INDEX,
    &catalog::DEVICE_BDF,
    &catalog::DEVICE_CPU_AFFINITY,
    &catalog::DEVICE_NUMA_NODE,
    &catalog::DEVICE_CONNECTED,
    &catalog::DEVICE_CORES,
    &catalog::LOGICAL_NC_CONFIG,
    &catalog::DEVICE_MEMORY,
    &catalog::DEVICE_CORE_IDS,
    &catalog::DEVICE_TYPE,
    &catalog::DEVICE_ARCH,
    &catalog::DEVICE_HOST_INDEX,
    &catalog::DEVICE_STATE,
    &catalog::DEVICE_SERIAL_NUMBER,
    &catalog::DRIVER_VERSION,
    &catalog::SOURCE,
    &catalog::PROCESS_PID,
    &catalog::PROCESS_COMMAND,
    &catalog::PROCESS_RUNTIME_VERSION,
    &catalog::PROCESS_HOST_MEMORY,
    &catalog::PROCESS_DEVICE_MEMORY,
    &catalog::PROCESS_TAG,
];

/// The document; every line ends with CR and LF.
pub fn render(inventory: &Inventory, all_processes: bool) -> String {
    let mut out = String::new();
    line(COLUMNS.iter().map(|metric| metric.json.to_owned()), &mut out);
    for device in &inventory.devices {
        let processes = facts::shown(device, all_processes).unwrap_or_default();
        let device = device_fields(inventory, device);
        if processes.is_empty() {
            line(device.iter().cloned().chain(process_fields(None)), &mut out);
        }
        for process in processes {
            line(device.iter().cloned().chain(process_fields(Some(process))), &mut out);
        }
    }
    out
}

fn device_fields(inventory: &Inventory, device: &DeviceRow) -> [String; 18] {
    [
        inventory.instance_type.clone().unwrap_or_default(),
        inventory.instance_id.clone().unwrap_or_default(),
        device.index.to_string(),
        known(device.bdf),
        device.cpu_affinity.clone().unwrap_or_default(),
        known(device.numa_node),
        device.connected.as_ref().map_or_else(String::new, |list| facts::joined(list, " ")),
        known(device.core_count),
        known(inventory.logical_nc_config),
        known(device.memory.map(|memory| memory.get())),
        facts::joined(&device.core_ids, " "),
        known(device.chip.map(|chip| chip.device_type())),
        known(device.arch.map(|arch| format!("v{}", arch.number()))),
        device.host_index.to_string(),
        known(device.state.map(facts::state)),
        device.serial_number.clone().unwrap_or_default(),
        inventory.driver_version.clone().unwrap_or_default(),
        facts::source(&inventory.origin),
    ]
}

fn process_fields(process: Option<&ProcessRow>) -> [String; 6] {
    let Some(process) = process else { return Default::default() };
    [
        process.pid.to_string(),
        process.command.clone(),
        facts::runtime_version(process).to_owned(),
        known(process.host_memory.map(|memory| memory.get())),
        known(process.device_memory.map(|memory| memory.get())),
        process.tag.clone().unwrap_or_default(),
    ]
}

fn known(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn line(fields: impl Iterator<Item = String>, out: &mut String) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push_str(&format!("\"{}\"", field.replace('"', "\"\"")));
        } else {
            out.push_str(&field);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        let mut out = String::new();
        let fields = ["plain", "a,b", "say \"x\"", "two\nlines", ""];
        line(fields.iter().map(|field| (*field).to_owned()), &mut out);
        assert_eq!(out, "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
    }
}
