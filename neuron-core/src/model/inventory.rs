//! The inventory: devices, links, logical cores and users. What neuron-ls shows.

use super::layout::{configured_lnc, cores_of};
use super::printable;
use super::problems::told;
use crate::instance::{Arch, Chip};
use crate::sample::{Device, DeviceState, Origin, Problem, Sample};
use crate::units::{Bdf, Bytes};

/// The devices of a machine and who uses them.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    /// What was read.
    pub origin: Origin,
    /// EC2 instance type, where known.
    pub instance_type: Option<String>,
    /// EC2 instance id, where known.
    pub instance_id: Option<String>,
    /// Version of the loaded driver, where known.
    pub driver_version: Option<String>,
    /// Physical cores per logical NeuronCore, on parts where that can be
    /// configured (Trainium2 and later); `None` on all others.
    pub logical_nc_config: Option<u32>,
    /// Ascending by index.
    pub devices: Vec<DeviceRow>,
    /// What could not be read; the text names the device.
    pub problems: Vec<Problem>,
}

/// One device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    /// Index as this process sees it.
    pub index: u32,
    /// Index on the host.
    pub host_index: u32,
    /// Generation, where known.
    pub arch: Option<Arch>,
    /// Product, where known.
    pub chip: Option<Chip>,
    /// State, where known.
    pub state: Option<DeviceState>,
    /// Logical NeuronCores; `None` when neither the driver nor a table of
    /// the generation tells.
    pub core_count: Option<u32>,
    /// Ids of the logical NeuronCores, global over the visible devices.
    pub core_ids: Vec<u32>,
    /// Device memory.
    pub memory: Option<Bytes>,
    /// Host indices of connected devices in the driver's order; `None` when
    /// not known.
    pub connected: Option<Vec<u32>>,
    /// PCI address.
    pub bdf: Option<Bdf>,
    /// CPUs near the device, kernel list format.
    pub cpu_affinity: Option<String>,
    /// NUMA node, -1 for none.
    pub numa_node: Option<i32>,
    /// Serial number, where it was asked for.
    pub serial_number: Option<String>,
    /// Attached processes, ascending by pid; `None` when the device could
    /// not be asked.
    pub processes: Option<Vec<ProcessRow>>,
}

/// One process on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRow {
    /// Process id, host namespace.
    pub pid: u32,
    /// Command line, arguments joined by single spaces; empty when `/proc`
    /// does not show the process.
    pub command: String,
    /// Version of the Neuron runtime in the process, `2.27.23`; `None` for a
    /// process without one (shown as `NA`, and only when all processes are
    /// asked for).
    pub runtime_version: Option<String>,
    /// Host memory charged to it on this device.
    pub host_memory: Option<Bytes>,
    /// Device memory charged to it on this device.
    pub device_memory: Option<Bytes>,
    /// Application tag, where the runtime is ours.
    pub tag: Option<String>,
}

impl Inventory {
    /// Derives the inventory of a sample. Texts come out [`printable()`].
    pub fn of(sample: &Sample) -> Self {
        let configured = configured_lnc(sample);
        let lnc = configured.unwrap_or(1);
        let mut problems = sample.problems.clone();
        let mut devices: Vec<DeviceRow> =
            sample.devices.iter().map(|device| row(device, lnc, &mut problems)).collect();
        devices.sort_by_key(|d| d.index);
        Self {
            origin: match &sample.origin {
                Origin::Kernel => Origin::Kernel,
                Origin::Root(root) => Origin::Root(printable(root)),
                Origin::Simulated(name) => Origin::Simulated(printable(name)),
            },
            instance_type: clean(&sample.host.instance_type),
            instance_id: clean(&sample.host.instance_id),
            driver_version: clean(&sample.host.driver_version),
            logical_nc_config: configured,
            devices,
            problems: told(&sample.devices, &problems),
        }
    }
}

fn clean(text: &Option<String>) -> Option<String> {
    text.as_deref().map(printable)
}

fn row(device: &Device, lnc: u32, problems: &mut Vec<Problem>) -> DeviceRow {
    let arch = device.arch.or(device.chip.map(Chip::arch));
    let cores = cores_of(device, lnc);
    let memory = device.chip.map(Chip::memory).or_else(|| arch?.memory());
    let mut unknown = |text: String| {
        problems.push(Problem { device: Some(device.host_index), text });
    };
    if let Err(reason) = &cores {
        unknown(format!("NeuronCores unknown: {reason}"));
    }
    if memory.is_none() {
        unknown(String::from("memory unknown: nothing tells the generation"));
    }
    let core_count = cores.as_ref().ok().and_then(|ids| u32::try_from(ids.len()).ok());
    DeviceRow {
        index: device.index,
        host_index: device.host_index,
        arch,
        chip: device.chip,
        state: device.state,
        core_count,
        core_ids: cores.unwrap_or_default().iter().map(|core| core.index).collect(),
        memory,
        connected: device.connected.clone(),
        bdf: device.bdf,
        cpu_affinity: clean(&device.cpu_affinity),
        numa_node: device.numa_node,
        serial_number: clean(&device.serial_number),
        processes: device.processes.as_ref().map(|list| list.iter().map(ProcessRow::of).collect()),
    }
}

impl ProcessRow {
    fn of(process: &crate::sample::Process) -> Self {
        use crate::uapi::nds::device_counter::RUNTIME_VERSION;
        use crate::units::PackedVersion;
        let store = process.datastore.as_ref();
        Self {
            pid: process.pid,
            command: clean(&process.command).unwrap_or_default(),
            runtime_version: store.map(|store| {
                let word = store.device.get(&RUNTIME_VERSION).copied().unwrap_or(0);
                PackedVersion::from_packed(word)
                    .map_or_else(|| String::from("0.0.0"), |v| v.to_string())
            }),
            host_memory: process.host_memory.map(Bytes::from_bytes),
            device_memory: process.device_memory.map(Bytes::from_bytes),
            tag: store.and_then(|store| clean(&store.tag)),
        }
    }
}
