//! One reading of a machine.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::device;
use super::discover::{Found, Visible, discover};
use super::files::Files;
use super::firmware;
use super::leaf::{Missing, keep, text};
use super::nodes::{FreeNode, Nodes};
use super::users::{Asking, Users, advice};
use super::{counters, leaf};
use crate::Result;
use crate::instance::{Arch, Chip, Identity};
use crate::sample::{Device, DeviceState, Host, Origin, Problem, Sample, Wanted};
use crate::units::{Bdf, Timestamp};

/// How long a reading waits for what can block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For attaching to all devices together.
    pub attach: Duration,
    /// For the leaves that firmware answers, all devices together.
    pub firmware: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { attach: Duration::from_secs(3), firmware: Duration::from_secs(2) }
    }
}

/// What is known about a machine beside its files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setting {
    /// What kind of thing is read.
    pub origin: Origin,
    /// Whether a tree without device nodes is a machine too: true for a
    /// captured tree, false where nodes decide what a container may use.
    pub sysfs_will_do: bool,
    /// Physical cores per logical NeuronCore as the user configured it.
    pub logical_nc_config: Option<u32>,
    /// Deadlines.
    pub deadlines: Deadlines,
}

/// A machine that can be read through its files and nodes.
#[derive(Debug)]
pub struct Machine {
    files: Arc<dyn Files>,
    nodes: Arc<dyn Nodes>,
    setting: Setting,
    users: Users,
}

impl Machine {
    /// A machine of these files and nodes.
    pub fn new(files: Arc<dyn Files>, nodes: Arc<dyn Nodes>, setting: Setting) -> Self {
        Self { files, nodes, setting, users: Users::default() }
    }

    /// Replaces files and nodes, as for a later moment of a simulated
    /// instance.
    pub fn replace(&mut self, files: Arc<dyn Files>, nodes: Arc<dyn Nodes>) {
        self.files = files;
        self.nodes = nodes;
        self.users = Users::default();
    }

    /// Its files.
    pub fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Reads the machine.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NoDevices`]. Everything else that goes wrong is in
    /// [`Sample::problems`], and the rest of the sample holds.
    pub fn sample(&mut self, wanted: Wanted, identity: &Identity) -> Result<Sample> {
        let taken = Timestamp::from_system_time(SystemTime::now());
        let files = Arc::clone(&self.files);
        let files = &*files;
        let visible = discover(files, self.setting.sysfs_will_do)?;
        // Before this process opens any node itself.
        let nobody = wanted.processes && opens(files) == Some(0);

        let mut problems = Vec::new();
        let free = self.open_any(&visible, &mut problems);
        let chip = self.chip(&visible, free.as_ref(), &mut problems);
        let mut devices: Vec<(u32, Device)> = visible
            .devices
            .iter()
            .map(|found| {
                let mut device = device::facts(files, *found, chip, &visible, &mut problems);
                problems.extend(trouble(&device));
                device.bdf = self.bdf(*found, free.as_ref(), &mut problems);
                device::place(files, &mut device, &mut problems);
                (found.node, device)
            })
            .collect();
        drop(free);

        if nobody {
            for (_, device) in &mut devices {
                device.processes = Some(Vec::new());
            }
        } else if wanted.processes {
            let asking =
                Asking { datastores: wanted.datastores, deadline: self.setting.deadlines.attach };
            let mut asked: Vec<(u32, &mut Device)> =
                devices.iter_mut().map(|(node, device)| (*node, device)).collect();
            self.users.read(files, &self.nodes, &mut asked, asking, &mut problems);
        }
        let mut devices: Vec<Device> = devices.into_iter().map(|(_, device)| device).collect();
        if wanted.counters {
            for device in &mut devices {
                counters::read(files, device, &mut problems);
            }
        }
        if wanted.firmware {
            let deadline = self.setting.deadlines.firmware;
            firmware::read(&self.files, &mut devices, deadline, &mut problems);
        }
        let host = Host {
            instance_type: identity.instance_type.clone(),
            instance_id: identity.instance_id.clone(),
            driver_version: text(files, "sys/module/neuron/version").ok(),
            logical_nc_config: self.setting.logical_nc_config,
        };
        let problems = grouped(problems);
        Ok(Sample { taken, origin: self.setting.origin.clone(), host, devices, problems })
    }

    /// Opens the first node that lets itself be opened without attaching: it
    /// answers for those behind it too.
    fn open_any(
        &self,
        visible: &Visible,
        problems: &mut Vec<Problem>,
    ) -> Option<(Found, Box<dyn FreeNode>)> {
        for found in &visible.devices {
            match self.nodes.open_free(found.node) {
                Ok(node) => return Some((*found, node)),
                Err(error) => problems.push(Problem {
                    device: Some(found.host),
                    text: format!("PCI address unknown: {}", advice(&error)),
                }),
            }
        }
        None
    }

    /// The product, which is the same for all devices of a host: from sysfs,
    /// else from the generation and the PCI function.
    fn chip(
        &self,
        visible: &Visible,
        free: Option<&(Found, Box<dyn FreeNode>)>,
        problems: &mut Vec<Problem>,
    ) -> Option<Chip> {
        for found in &visible.devices {
            match device::chip(&*self.files, found.host) {
                Ok(Some(chip)) => return Some(chip),
                Ok(None) => {}
                Err(wrong) => {
                    keep::<()>(problems, found.host, Err(wrong));
                    break;
                }
            }
        }
        let (_, node) = free?;
        let arch = Arch::from_driver(node.arch().ok()?)?;
        let id = node.bdf(0).ok().and_then(|bdf| {
            let id = text(&*self.files, &format!("sys/bus/pci/devices/{bdf}/device")).ok()?;
            u16::from_str_radix(id.strip_prefix("0x")?, 16).ok()
        });
        let by_id = id.and_then(Chip::from_pci_device).filter(|chip| chip.arch() == arch);
        // Only the second generation has two products; without its PCI id the
        // choice would be a guess.
        let mut of_arch = Chip::ALL.into_iter().filter(|chip| chip.arch() == arch);
        by_id.or(match (of_arch.next(), of_arch.next()) {
            (only, None) => only,
            _ => None,
        })
    }

    /// PCI address of a device: asked of the open node, else of its own.
    fn bdf(
        &self,
        found: Found,
        free: Option<&(Found, Box<dyn FreeNode>)>,
        problems: &mut Vec<Problem>,
    ) -> Option<Bdf> {
        let (first, node) = free?;
        let answer = match found.host.checked_sub(first.host) {
            Some(ahead) => node.bdf(ahead),
            None => self.nodes.open_free(found.node).and_then(|node| node.bdf(0)),
        };
        let wrong = |error| Missing::Wrong(format!("PCI address unknown: {}", advice(&error)));
        keep(problems, found.host, answer.map_err(wrong))
    }
}

/// What is wrong with a device that cannot be used.
fn trouble(device: &Device) -> Option<Problem> {
    let text = match device.state? {
        DeviceState::Ready => return None,
        DeviceState::Reset => "is in reset: it can be used again when that has ended",
        DeviceState::Invalid | DeviceState::Unresponsive => {
            "failed its last reset: reset it again, or reload the driver"
        }
    };
    Some(Problem { device: Some(device.host_index), text: text.to_owned() })
}

/// Open descriptors of all device nodes on the host: the driver module's
/// reference count. `None` when it cannot be read.
fn opens(files: &dyn Files) -> Option<u64> {
    leaf::value(files, "sys/module/neuron/refcnt").ok()
}

/// One line for devices that have the same problem: `neuron0 to neuron15`.
fn grouped(problems: Vec<Problem>) -> Vec<Problem> {
    let mut groups: Vec<(String, Vec<Option<u32>>)> = Vec::new();
    for problem in problems {
        match groups.iter_mut().find(|(text, _)| *text == problem.text) {
            Some((_, devices)) => devices.push(problem.device),
            None => groups.push((problem.text, vec![problem.device])),
        }
    }
    groups
        .into_iter()
        .map(|(text, devices)| match devices.as_slice() {
            [device] => Problem { device: *device, text },
            many => {
                let names: Vec<String> =
                    many.iter().flatten().map(|n| format!("neuron{n}")).collect();
                match (names.first(), names.last()) {
                    (Some(first), Some(last)) => Problem {
                        device: None,
                        text: format!("{} devices ({first} to {last}): {text}", names.len()),
                    },
                    _ => Problem { device: None, text },
                }
            }
        })
        .collect()
}
