//! A frame: everything that the screen shows of one reading.
//!
//! It is made of models alone. What did not change since the frame before is
//! shared with it, so that a long history takes little memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use neuron_core::model::{
    Application, CoreUse, CpuUse, DeviceState, HostMemory, Inventory, MachineFacts, Origin,
    ProcessorShare,
};
use serde::Serialize;

use crate::health::Note;

/// One reading as the screen shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// When it was read, nanoseconds since the Unix epoch.
    pub taken: u64,
    /// Seconds that rates are of; `None` in a first reading, which has none.
    pub span: Option<f64>,
    /// What the machine is.
    pub machine: Arc<Machine>,
    /// Every logical core, device after device, as [`Machine::devices`] says.
    pub cores: Vec<Core>,
    /// The processes with a runtime, ascending by pid.
    pub processes: Vec<Process>,
    /// CPU time of the host: user and system percent, or why it is not known;
    /// `None` in a first reading.
    pub cpu: Option<Result<Share, String>>,
    /// Memory of the host.
    pub ram: Option<HostMemory>,
    /// What is wrong, the worst first.
    pub notes: Arc<Vec<Note>>,
    /// Why there is nothing new: the source failed.
    pub failure: Option<String>,
}

/// What changes seldom or never.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// EC2 instance type.
    pub instance_type: Option<String>,
    /// EC2 instance id.
    pub instance_id: Option<String>,
    /// Name of the simulated instance, if it is one.
    pub simulated: Option<String>,
    /// Generation of the cores, `v2` or `v3d`.
    pub core_version: &'static str,
    /// Physical cores of a logical one.
    pub lnc: u32,
    /// Memory of a device, bytes; 0 when not known.
    pub device_memory: u64,
    /// The devices, ascending by index. One that has gone keeps its place.
    pub devices: Vec<Device>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Index as this process sees it.
    pub index: u32,
    /// Id of its first core.
    pub first_core: u32,
    /// Its logical cores.
    pub cores: u32,
    /// Whether it can be used.
    pub status: Status,
}

/// Whether a device can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As far as is known, yes.
    Ready,
    /// It is being reset.
    Reset,
    /// Its last reset failed.
    Invalid,
    /// It gives no answer.
    Silent,
    /// It was not to be asked who uses it.
    Unknown,
    /// It was there before and is not any more.
    Lost,
}

impl Status {
    /// The word in its place on the screen, at most five letters.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Reset => "reset",
            Self::Invalid => "inval",
            Self::Silent => "mute",
            Self::Unknown => "-",
            Self::Lost => "lost",
        }
    }
}

impl Status {
    /// The same in three letters.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Ready | Self::Unknown => "-",
            Self::Reset => "rst",
            Self::Invalid => "inv",
            Self::Silent => "mut",
            Self::Lost => "los",
        }
    }
}

/// A logical core over all processes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Core {
    /// Busy share of the process that uses it most, percent.
    pub utilization: f64,
    /// Operations per second of all processes.
    pub flops: f64,
}

/// A process with a Neuron runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Who it is and what memory it holds.
    pub application: Arc<Application>,
    /// The cores that it holds, by place in [`Frame::cores`].
    pub cores: BTreeMap<usize, Core>,
    /// Its CPU time, percent of all vCPUs, or why it is not known.
    pub cpu: Option<Result<Share, String>>,
}

/// CPU time, percent of all vCPUs together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Share {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

impl From<ProcessorShare> for Share {
    fn from(share: ProcessorShare) -> Self {
        Self { user: share.user, system: share.system }
    }
}

/// The models that a frame is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) taken: u64,
    pub(crate) span: Option<f64>,
    pub(crate) facts: MachineFacts,
    pub(crate) inventory: Inventory,
    pub(crate) applications: Vec<Application>,
    pub(crate) cores: BTreeMap<u32, Vec<CoreUse>>,
    pub(crate) shares: BTreeMap<u32, Result<ProcessorShare, String>>,
    pub(crate) cpu: Option<Result<CpuUse, String>>,
    pub(crate) ram: Option<HostMemory>,
}

impl Frame {
    /// The frame of a reading; `before` lends what did not change, and tells
    /// which devices there were.
    pub(crate) fn of(parts: Parts, before: Option<&Self>) -> Self {
        let machine = machine(&parts, before.map(|frame| &*frame.machine));
        let machine = match before {
            Some(before) if *before.machine == machine => Arc::clone(&before.machine),
            _ => Arc::new(machine),
        };
        let processes: Vec<Process> = parts
            .applications
            .into_iter()
            .map(|application| {
                let pid = application.pid;
                let known = before.and_then(|frame| frame.process(pid));
                Process {
                    application: match known {
                        Some(known) if *known.application == application => {
                            Arc::clone(&known.application)
                        }
                        _ => Arc::new(application),
                    },
                    cores: held(parts.cores.get(&pid), &machine),
                    cpu: parts.shares.get(&pid).cloned().map(|share| share.map(Share::from)),
                }
            })
            .collect();
        let mut cores = vec![Core::default(); machine.core_count()];
        for (at, core) in processes.iter().flat_map(|process| &process.cores) {
            if let Some(sum) = cores.get_mut(*at) {
                sum.utilization = sum.utilization.max(core.utilization);
                sum.flops += core.flops;
            }
        }
        Self {
            taken: parts.taken,
            span: parts.span,
            machine,
            cores,
            processes,
            cpu: parts.cpu.map(|cpu| cpu.map(|cpu| host_share(&cpu))),
            ram: parts.ram,
            notes: Arc::default(),
            failure: None,
        }
    }

    /// The frame when the source failed: what was there is lost.
    pub(crate) fn failed(before: &Self, reason: String, taken: u64) -> Self {
        let mut machine = Machine::clone(&before.machine);
        machine.devices.iter_mut().for_each(|device| device.status = Status::Lost);
        let machine = if machine == *before.machine {
            Arc::clone(&before.machine)
        } else {
            Arc::new(machine)
        };
        Self {
            taken,
            span: None,
            cores: vec![Core::default(); machine.core_count()],
            machine,
            processes: Vec::new(),
            cpu: None,
            ram: None,
            notes: Arc::default(),
            failure: Some(reason),
        }
    }

    /// A process by its pid.
    pub fn process(&self, pid: u32) -> Option<&Process> {
        let at = self.processes.binary_search_by_key(&pid, |process| process.application.pid);
        at.ok().and_then(|at| self.processes.get(at))
    }

    /// Bytes that the frame takes beside what it shares, roughly.
    pub fn weight(&self) -> usize {
        let of_process = |process: &Process| 160 + process.cores.len() * 48;
        size_of::<Self>()
            + self.cores.len() * size_of::<Core>()
            + self.processes.iter().map(of_process).sum::<usize>()
    }
}

impl Machine {
    /// Number of logical cores.
    pub fn core_count(&self) -> usize {
        self.devices.iter().map(|device| wide(device.cores)).sum()
    }

    /// The devices, each with the place of its first core in [`Frame::cores`].
    pub fn placed(&self) -> impl Iterator<Item = (usize, &Device)> {
        self.devices.iter().scan(0, |next, device| {
            let at = *next;
            *next += wide(device.cores);
            Some((at, device))
        })
    }

    /// The most cores that a device has.
    pub fn widest(&self) -> usize {
        self.devices.iter().map(|device| wide(device.cores)).max().unwrap_or(0)
    }
}

/// An index or count as a place.
pub(crate) fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn machine(parts: &Parts, before: Option<&Machine>) -> Machine {
    let facts = &parts.facts;
    let mut devices: Vec<Device> = parts
        .inventory
        .devices
        .iter()
        .map(|row| Device {
            index: row.index,
            first_core: row.core_ids.first().copied().unwrap_or(0),
            cores: row.core_count.unwrap_or(0),
            status: match row.state {
                Some(DeviceState::Reset) => Status::Reset,
                Some(DeviceState::Invalid) => Status::Invalid,
                Some(DeviceState::Unresponsive) => Status::Silent,
                Some(DeviceState::Ready) | None if row.processes.is_none() => Status::Unknown,
                Some(DeviceState::Ready) | None => Status::Ready,
            },
        })
        .collect();
    for old in before.iter().flat_map(|machine| &machine.devices) {
        match devices.iter_mut().find(|device| device.index == old.index) {
            // A device in trouble may not tell how many it has.
            Some(device) if device.cores == 0 => {
                (device.cores, device.first_core) = (old.cores, old.first_core);
            }
            Some(_) => {}
            None => devices.push(Device { status: Status::Lost, ..old.clone() }),
        }
    }
    devices.sort_by_key(|device| device.index);
    let known = facts.chip.is_some();
    Machine {
        instance_type: facts.instance_type.clone(),
        instance_id: facts.instance_id.clone(),
        simulated: match &facts.origin {
            Origin::Simulated(name) => Some(name.clone()),
            Origin::Kernel | Origin::Root(_) => None,
        },
        core_version: match before {
            Some(before) if !known => before.core_version,
            _ => facts.core_version(),
        },
        lnc: facts.lnc,
        device_memory: match before {
            Some(before) if !known => before.device_memory,
            _ => facts.device_memory,
        },
        devices,
    }
}

/// What a process holds, by place.
fn held(uses: Option<&Vec<CoreUse>>, machine: &Machine) -> BTreeMap<usize, Core> {
    let owned = uses.into_iter().flatten().filter(|usage| usage.owned);
    let placed = owned.filter_map(|usage| {
        let (at, device) = machine.placed().find(|(_, device)| device.index == usage.device)?;
        let within = usage.index.checked_sub(device.first_core)?;
        let core = Core { utilization: usage.utilization, flops: usage.flops };
        (within < device.cores).then(|| (at + wide(within), core))
    });
    placed.collect()
}

/// User with what ran at low priority, system with interrupts. Waiting for
/// disks is no work and is in neither.
fn host_share(cpu: &CpuUse) -> Share {
    let all = &cpu.average;
    Share { user: all.user + all.nice, system: all.system + all.irq + all.soft_irq }
}
