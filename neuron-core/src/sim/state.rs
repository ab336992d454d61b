//! The state of a simulated instance: what its one state file holds.
//!
//! Only what differs from an idle instance is written, so that the file of an
//! idle 16-device instance is a few hundred bytes and is read in microseconds.
//!
//! NeuronCores owned by processes (`CRWL_NC_RANGE_MARK`) belong to the host as
//! a whole, so they stand beside the devices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::instance::{Chip, InstanceType};
use crate::sample::{CounterValue, DeviceState};

/// Version of this file's form; a program refuses a newer one.
pub(super) const FORMAT: u32 = 1;

/// Driver that a simulated instance stands for: the one the recordings were
/// made with.
pub const DRIVER_VERSION: &str = "2.24.7.0";

/// A simulated instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// Name of the instance.
    pub name: String,
    /// Instance type, a name of [`crate::instance::TYPES`].
    pub instance_type: String,
    /// Instance id.
    pub instance_id: String,
    /// Creation time, seconds since the Unix epoch; the driver's load time.
    pub created: u64,
    /// Devices by index.
    pub devices: Vec<Device>,
    /// Owner of each marked core: host-wide core index to pid and start time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<u32, ProcessId>,
}

/// A process of the host. The start time tells a reused pid apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot (`/proc/PID/stat` field 22).
    pub start: u64,
    /// Its pid namespace, by inode: elsewhere the pid means somebody else.
    pub namespace: u64,
}

/// One simulated device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// `None` is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<DeviceState>,
    /// A device that has vanished: no node, no sysfs directory.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// ECC counters, zero on an idle device.
    #[serde(skip_serializing_if = "Ecc::is_zero")]
    pub ecc: Ecc,
    /// Attached processes in the order of attaching.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Attached>,
    /// Host memory by category; absent means idle.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub host_memory: BTreeMap<String, Meter>,
    /// Cores that were ever used, by physical index.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cores: BTreeMap<u32, Core>,
    /// Last memory handle given out.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_handle: u64,
}

/// ECC counters of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ecc {
    /// On-chip SRAM, uncorrected.
    pub sram_uncorrected: u64,
    /// Device memory, uncorrected.
    pub mem_uncorrected: u64,
    /// Device memory, uncorrected but repairable.
    pub mem_repairable_uncorrected: u64,
}

impl Ecc {
    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// A process that holds a device open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attached {
    /// The process.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Opens that were not closed yet.
    pub opens: u32,
    /// Whether it has acquired its datastore.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub datastore: bool,
    /// Memory it holds, in the order of allocation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<Allocation>,
}

/// One allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Handle, never 0.
    pub handle: u64,
    /// Size after rounding to pages, bytes.
    pub size: u64,
    /// Whether it is host memory.
    pub host: bool,
    /// Core it is charged to; may be one that the chip does not have.
    pub core: u32,
    /// Category as the caller gave it (driver.md §3.5).
    pub category: u32,
}

/// A running level with its last change and its highest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Meter {
    /// In use, bytes.
    pub total: u64,
    /// Size of the last change, bytes.
    pub present: u64,
    /// Highest total, bytes.
    pub peak: u64,
}

impl Meter {
    /// A level that was filled in pages by the driver itself when it loaded.
    pub const fn idle(total: u64) -> Self {
        Self { total, present: if total == 0 { 0 } else { PAGE }, peak: total }
    }

    /// Charges `size` bytes.
    pub fn add(&mut self, size: u64) {
        self.total = self.total.wrapping_add(size);
        self.present = size;
        self.peak = self.peak.max(self.total);
    }

    /// Gives `size` bytes back. Wraps below zero as the driver's does when a
    /// level was cleared while memory was in use.
    pub fn sub(&mut self, size: u64) {
        self.total = self.total.wrapping_sub(size);
        self.present = size;
    }
}

/// What was charged to or counted on one physical core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Core {
    /// Counters of ended processes by datastore id (driver.md §5.5).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<u32, CounterValue>,
    /// Resets asked for; the driver itself asks for one when it loads.
    #[serde(default = "one_reset")]
    pub reset_requests: CounterValue,
    /// Resets that failed.
    #[serde(default)]
    pub reset_failures: CounterValue,
    /// Host memory.
    pub host_memory: Meter,
    /// Device memory.
    #[serde(default)]
    pub device_memory: Meter,
    /// Device memory by category leaf.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device_memory_by: BTreeMap<String, Meter>,
}

const fn one_reset() -> CounterValue {
    CounterValue { total: 1, present: 1 }
}

/// Smallest unit of memory, bytes.
pub(super) const PAGE: u64 = 4096;

/// Host memory that the idle driver charges to core 0 and to every other core
/// (FINDINGS 17: driver 2.24.7.0, all chips).
const IDLE_HOST: [u64; 2] = [4_530_176, 266_240];

impl Core {
    /// A core on which nothing ever ran.
    pub fn idle(index: u32) -> Self {
        Self {
            counters: BTreeMap::new(),
            reset_requests: one_reset(),
            reset_failures: CounterValue::default(),
            host_memory: Meter::idle(IDLE_HOST[usize::from(index != 0)]),
            device_memory: Meter::default(),
            device_memory_by: BTreeMap::new(),
        }
    }
}

/// Host memory category that the driver's own buffers are charged to.
pub(super) const DRIVER_MEMORY: &str = "driver_memory";

impl Device {
    /// A core's values, idle ones where it was never used.
    pub fn core(&self, index: u32) -> Core {
        self.cores.get(&index).cloned().unwrap_or_else(|| Core::idle(index))
    }

    /// A core's values, to change them.
    pub fn core_mut(&mut self, index: u32) -> &mut Core {
        self.cores.entry(index).or_insert_with(|| Core::idle(index))
    }

    /// Level of a host memory category.
    pub fn host_meter(&self, leaf: &str, chip: Chip) -> Meter {
        self.host_memory.get(leaf).copied().unwrap_or_else(|| idle_host_meter(leaf, chip))
    }

    /// Level of a host memory category, to change it.
    pub fn host_meter_mut(&mut self, leaf: &str, chip: Chip) -> &mut Meter {
        self.host_memory.entry(leaf.to_owned()).or_insert_with(|| idle_host_meter(leaf, chip))
    }

    /// The entry of a process.
    pub fn process(&self, id: ProcessId) -> Option<&Attached> {
        self.processes.iter().find(|p| p.id == id)
    }

    /// The entry of a process, to change it.
    pub fn process_mut(&mut self, id: ProcessId) -> Option<&mut Attached> {
        self.processes.iter_mut().find(|p| p.id == id)
    }

    /// Device memory in use by all processes, bytes.
    pub fn device_memory_in_use(&self) -> u64 {
        self.processes.iter().flat_map(|p| &p.allocations).filter(|a| !a.host).map(|a| a.size).sum()
    }
}

/// On an idle driver all of the cores' host memory is the driver's own.
fn idle_host_meter(leaf: &str, chip: Chip) -> Meter {
    if leaf == DRIVER_MEMORY {
        Meter::idle((0..chip.core_count()).map(|core| Core::idle(core).host_memory.total).sum())
    } else {
        Meter::default()
    }
}

impl State {
    /// A fresh instance.
    pub fn new(name: &str, kind: &InstanceType, created: u64) -> Self {
        let count = usize::try_from(kind.device_count).unwrap_or(0);
        Self {
            format: FORMAT,
            name: name.to_owned(),
            instance_type: kind.name.to_owned(),
            instance_id: instance_id(name),
            created,
            devices: vec![Device::default(); count],
            marks: BTreeMap::new(),
        }
    }

    /// The row of its type.
    pub fn kind(&self) -> Option<&'static InstanceType> {
        InstanceType::find(&self.instance_type)
    }
}

/// An instance id made from the name, of the form that EC2 uses: 17
/// hexadecimal digits, the first five all zero as no real one is known to be
/// (our choice).
fn instance_id(name: &str) -> String {
    format!("i-00000{:012x}", fnv1a(name.as_bytes()) & 0xffff_ffff_ffff)
}

/// FNV-1a, 64 bits: a stable number from a name.
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FINDINGS 17.
    #[test]
    fn idle_driver_memory_is_as_recorded() {
        for (chip, bytes) in [
            (Chip::Trainium1, 4_796_416),
            (Chip::Inferentia2, 4_796_416),
            (Chip::Trainium2, 6_393_856),
            (Chip::Inferentia, 5_328_896),
        ] {
            let meter = Device::default().host_meter(DRIVER_MEMORY, chip);
            assert_eq!((meter.total, meter.present, meter.peak), (bytes, 4096, bytes), "{chip:?}");
        }
    }

    #[test]
    fn an_idle_instance_is_a_small_file() {
        let state = State::new("lab", InstanceType::find("trn2.48xlarge").unwrap(), 1);
        let text = serde_json::to_string(&state).unwrap();
        assert!(text.len() < 1024, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        assert_eq!(state.instance_id.len(), "i-0123456789abcdef0".len());
    }
}
