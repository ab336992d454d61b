//! What was read at one moment: plain data, `None` for what was not reported.
//!
//! A value that a device, a driver version or a permission does not give is
//! `None`, never 0. A recording is a series of these, so a live machine, a
//! simulated one and a recording are the same thing to [`crate::model`].
//! Fields are only ever added, each with a default, so that old recordings
//! stay readable.

mod counters;
mod process;
mod system;

pub use counters::{Core, CounterValue, Hardware, HostMemory, Level, MemoryLevels, Power};
pub use process::{
    CoreLatency, CoreLock, Datastore, DatastoreCore, Latency, LoadedModel, ModelMemory, Process,
    Usage,
};
pub use system::{CpuTimes, Cpus, Ram, System};

use serde::{Deserialize, Serialize};

use crate::instance::{Arch, Chip};
use crate::units::{Bdf, Timestamp};

/// Everything that one reading of a machine gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// When the reading began.
    pub taken: Timestamp,
    /// The same moment on a clock that nobody sets: nanoseconds since the
    /// host was booted, time asleep included. `None` in recordings made
    /// before there was this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime: Option<u64>,
    /// What was read.
    pub origin: Origin,
    /// Facts of the machine as a whole.
    pub host: Host,
    /// CPUs and memory of the host; `None` when not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// The devices, ascending by [`Device::index`].
    pub devices: Vec<Device>,
    /// What could not be read, one line each; the rest of the sample holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The kind of thing a sample was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The kernel driver of this machine.
    #[default]
    Kernel,
    /// A tree of files below another root: a captured machine, or the host as
    /// a container sees it.
    Root(String),
    /// A simulated instance, by name.
    Simulated(String),
}

/// Facts of the machine as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// EC2 instance type, `trn1.32xlarge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// EC2 instance id, `i-0123456789abcdef0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// Version of the loaded driver, `2.24.7.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_version: Option<String>,
    /// Physical cores per logical NeuronCore as configured by the user;
    /// `None` where nothing was configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_nc_config: Option<u32>,
}

/// One Neuron device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Index as this process sees it; differs from `host_index` in a container.
    pub index: u32,
    /// Index on the host, the device's minor number.
    pub host_index: u32,
    /// State of the device; `None` where nobody may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<DeviceState>,
    /// Generation of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<Arch>,
    /// The product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chip: Option<Chip>,
    /// Physical NeuronCores of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_count: Option<u32>,
    /// Host indices of the connected devices in the driver's order; empty
    /// when the device has no link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected: Option<Vec<u32>>,
    /// PCI address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bdf: Option<Bdf>,
    /// NUMA node of the PCI function, -1 where the platform has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<i32>,
    /// CPUs near the device in the kernel's list format, `48-95,144-191`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_affinity: Option<String>,
    /// Serial number, 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// Processes attached to the device, ascending by pid; `None` when the
    /// device could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Vec<Process>>,
    /// Counters of each physical core, by core index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<Core>,
    /// Host memory charged to the device, by category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<HostMemory>,
    /// ECC counters and health.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Hardware>,
    /// Power over the last full minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
}

/// State of a device as its `reset` attribute shows it (driver.md §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceState {
    /// A reset is in progress; an attaching open would wait for its end.
    Reset,
    /// Usable.
    Ready,
    /// The last reset failed; an attaching open gives `EINVAL`.
    Invalid,
    /// The device lets itself be attached to and then gives no answer.
    Unresponsive,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Host index of the device, where one device is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// One line: what failed, on which path or device, what to do.
    pub text: String,
}

/// What a reading should contain. Everything costs; a tool asks for what it
/// shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Processes of each device and their datastores. May attach to devices.
    pub processes: bool,
    /// Whole datastores of the processes, not just the runtime version.
    pub datastores: bool,
    /// Counters and memory levels of sysfs.
    pub counters: bool,
    /// Leaves that firmware answers (serial number, ECC, health): they can
    /// block for seconds and are read last, with a deadline. Power comes with
    /// them.
    pub firmware: bool,
    /// CPU time that each process has used.
    pub usage: bool,
    /// CPU times of the host.
    pub cpus: bool,
    /// Memory of the host.
    pub ram: bool,
}

impl Wanted {
    /// What either of two asks for.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            processes: self.processes || other.processes,
            datastores: self.datastores || other.datastores,
            counters: self.counters || other.counters,
            firmware: self.firmware || other.firmware,
            usage: self.usage || other.usage,
            cpus: self.cpus || other.cpus,
            ram: self.ram || other.ram,
        }
    }

    /// Everything, as recordings have it.
    pub const EVERYTHING: Self = Self {
        processes: true,
        datastores: true,
        counters: true,
        firmware: true,
        usage: true,
        cpus: true,
        ram: true,
    };
}
