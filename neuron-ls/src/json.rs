//! The devices as JSON.
//!
//! `-j` is the original's document: a plain array, four blanks of indent, no
//! newline at the end, these keys in this order (sys-tools.md §2.6). `-o json`
//! has keys of our own behind the original's. A text of the original that is
//! not known is the empty string. A number that is not known is `null` in our
//! own document, and 0 in the original's: its readers declare plain integers
//! (the exit code and stderr tell that it is not known). Our own values are
//! `null` then. All keys are those of the catalogue.

use neuron_core::catalog as key;
use neuron_core::model::{DeviceRow, Inventory, ProcessRow};
use neuron_core::units::Bytes;
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::ser::PrettyFormatter;

use crate::facts;

/// What of an inventory is written.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    /// Also processes without a runtime.
    pub all_processes: bool,
    /// Also keys of our own.
    pub extended: bool,
}

/// The document, without a newline at the end.
///
/// # Errors
///
/// None that a value of an inventory can cause; serde's interface has one.
pub fn render(inventory: &Inventory, content: Content) -> serde_json::Result<String> {
    let mut bytes = Vec::with_capacity(1024 * inventory.devices.len());
    let formatter = PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    Listing { inventory, content }.serialize(&mut serializer)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

struct Listing<'a> {
    inventory: &'a Inventory,
    content: Content,
}

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.inventory.devices.iter().map(|device| Device {
            device,
            inventory: self.inventory,
            content: self.content,
        }))
    }
}

struct Device<'a> {
    device: &'a DeviceRow,
    inventory: &'a Inventory,
    content: Content,
}

impl Serialize for Device<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { device, inventory, content } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(key::INSTANCE_TYPE.json, text(&inventory.instance_type))?;
        map.serialize_entry(key::INSTANCE_ID.json, text(&inventory.instance_id))?;
        map.serialize_entry(key::DEVICE_INDEX.json, &device.index)?;
        map.serialize_entry(
            key::DEVICE_BDF.json,
            &device.bdf.map_or_else(String::new, |b| b.to_string()),
        )?;
        map.serialize_entry(key::DEVICE_CPU_AFFINITY.json, text(&device.cpu_affinity))?;
        let node = device.numa_node.map_or_else(String::new, |node| node.to_string());
        map.serialize_entry(key::DEVICE_NUMA_NODE.json, &node)?;
        let connected = device.connected.as_ref().filter(|list| !list.is_empty());
        map.serialize_entry(key::DEVICE_CONNECTED.json, &connected)?;
        let cores = number(device.core_count, content.extended, 0);
        map.serialize_entry(key::DEVICE_CORES.json, &cores)?;
        if let Some(config) = inventory.logical_nc_config {
            map.serialize_entry(key::LOGICAL_NC_CONFIG.json, &config)?;
        }
        let memory = number(device.memory, content.extended, Bytes::from_bytes(0));
        map.serialize_entry(key::DEVICE_MEMORY.json, &memory)?;
        map.serialize_entry(key::DEVICE_CORE_IDS.json, &device.core_ids)?;
        let processes = facts::shown(device, content.all_processes);
        map.serialize_entry(
            key::DEVICE_PROCESSES.json,
            &Processes { processes, extended: content.extended },
        )?;
        if content.extended {
            map.serialize_entry(
                key::DEVICE_TYPE.json,
                &device.chip.map(|chip| chip.device_type()),
            )?;
            map.serialize_entry(key::DEVICE_ARCH.json, &device.arch)?;
            map.serialize_entry(key::DEVICE_HOST_INDEX.json, &device.host_index)?;
            map.serialize_entry(key::DEVICE_STATE.json, &device.state.map(facts::state))?;
            if let Some(serial) = &device.serial_number {
                map.serialize_entry(key::DEVICE_SERIAL_NUMBER.json, serial)?;
            }
            map.serialize_entry(key::DRIVER_VERSION.json, &inventory.driver_version)?;
            map.serialize_entry(key::SOURCE.json, &facts::source(&inventory.origin))?;
        }
        map.end()
    }
}

struct Processes<'a> {
    processes: Option<Vec<&'a ProcessRow>>,
    extended: bool,
}

/// The original always has an array here, and its readers walk it; only our
/// own document says `null` for a device that could not be asked.
impl Serialize for Processes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.processes.is_none() && self.extended {
            return serializer.serialize_none();
        }
        let list = self.processes.as_deref().unwrap_or_default();
        let mut seq = serializer.serialize_seq(Some(list.len()))?;
        for process in list {
            seq.serialize_element(&Process { process, extended: self.extended })?;
        }
        seq.end()
    }
}

struct Process<'a> {
    process: &'a ProcessRow,
    extended: bool,
}

impl Serialize for Process<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let process = self.process;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(key::PROCESS_PID.json, &process.pid)?;
        map.serialize_entry(key::PROCESS_COMMAND.json, &process.command)?;
        map.serialize_entry(key::PROCESS_RUNTIME_VERSION.json, facts::runtime_version(process))?;
        if self.extended {
            map.serialize_entry(key::PROCESS_HOST_MEMORY.json, &process.host_memory)?;
            map.serialize_entry(key::PROCESS_DEVICE_MEMORY.json, &process.device_memory)?;
            map.serialize_entry(key::PROCESS_TAG.json, &process.tag)?;
        }
        map.end()
    }
}

fn number<T>(value: Option<T>, extended: bool, unknown: T) -> Option<T> {
    value.or((!extended).then_some(unknown))
}

fn text(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or_default()
}
