//! One reading of a machine.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::device::{self, Product};
use super::discover::{Found, Visible, discover};
use super::files::Files;
use super::firmware::Firmware;
use super::leaf::{keep, text};
use super::nodes::{FreeNode, Nodes};
use super::users::{Asking, Users};
use super::{counters, leaf, system};
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
    firmware: Firmware,
    /// The devices of files that stay as they are.
    known: Option<Known>,
}

/// What is known of the devices before anybody is asked who uses them.
#[derive(Debug, Clone)]
struct Known {
    devices: Vec<(u32, Device)>,
    problems: Vec<Problem>,
    unplaced: Vec<Problem>,
}

impl Machine {
    /// A machine of these files and nodes.
    pub fn new(files: Arc<dyn Files>, nodes: Arc<dyn Nodes>, setting: Setting) -> Self {
        let (users, firmware) = (Users::default(), Firmware::default());
        Self { files, nodes, setting, users, firmware, known: None }
    }

    /// Replaces files and nodes, as for a later moment of a simulated
    /// instance.
    pub fn replace(&mut self, files: Arc<dyn Files>, nodes: Arc<dyn Nodes>) {
        self.files = files;
        self.nodes = nodes;
        self.users.forget_devices();
        self.firmware = Firmware::default();
        self.known = None;
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
        let uptime = uptime();
        let files = Arc::clone(&self.files);
        let files = &*files;
        // Before this process opens any node itself.
        let nobody = wanted.processes && opens(files) == Some(0);
        let Known { mut devices, mut problems, unplaced } = match &self.known {
            Some(known) => known.clone(),
            None => {
                let known = self.look(files)?;
                if files.stays() {
                    self.known = Some(known.clone());
                }
                known
            }
        };

        if nobody {
            for (_, device) in &mut devices {
                device.processes = Some(Vec::new());
            }
        } else if wanted.processes {
            let asking = Asking {
                datastores: wanted.datastores,
                usage: wanted.usage,
                deadline: self.setting.deadlines.attach,
            };
            let mut asked: Vec<(u32, &mut Device)> =
                devices.iter_mut().map(|(node, device)| (*node, device)).collect();
            let without: Vec<bool> = asked.iter().map(|(_, device)| device.bdf.is_none()).collect();
            self.users.read(files, &self.nodes, &mut asked, asking, &mut problems);
            for ((_, device), without) in asked.iter_mut().zip(without) {
                if without {
                    device::place(files, device, &mut problems);
                }
            }
        }
        let mut devices: Vec<Device> = devices.into_iter().map(|(_, device)| device).collect();
        let placed = |problem: &Problem| {
            devices.iter().any(|d| Some(d.host_index) == problem.device && d.bdf.is_some())
        };
        problems.extend(unplaced.into_iter().filter(|problem| !placed(problem)));
        if wanted.counters {
            for device in &mut devices {
                counters::read(files, device, &mut problems);
            }
        }
        if wanted.firmware {
            let deadline = self.setting.deadlines.firmware;
            self.firmware.read(&self.files, &mut devices, deadline, &mut problems);
        }
        let system = system::read(files, wanted);
        let host = self.host(identity);
        let origin = self.setting.origin.clone();
        Ok(Sample { taken, uptime, origin, host, system, devices, problems })
    }

    /// Finds the devices, and what files and nodes tell of each without
    /// attaching.
    fn look(&self, files: &dyn Files) -> Result<Known> {
        let visible = discover(files, self.setting.sysfs_will_do)?;
        let mut problems = Vec::new();
        let free = self.open_any(&visible, &mut problems);
        let product = self.product(&visible, free.as_ref(), &mut problems);
        problems.extend(visible.missing.iter().map(|host| missing(files, *host)));
        // Kept apart until it is clear that nothing else gives the address.
        let mut unplaced: Vec<Problem> = Vec::new();
        let devices = visible
            .devices
            .iter()
            .map(|found| {
                let mut device = device::facts(files, *found, product, &visible, &mut problems);
                problems.extend(trouble(&device));
                device.bdf = self.bdf(*found, free.as_ref(), &mut unplaced);
                device::place(files, &mut device, &mut problems);
                (found.node, device)
            })
            .collect();
        Ok(Known { devices, problems, unplaced })
    }

    /// What can be read without devices.
    pub fn bare(&self, wanted: Wanted, identity: &Identity) -> Sample {
        let files = &*self.files;
        Sample {
            taken: Timestamp::from_system_time(SystemTime::now()),
            uptime: uptime(),
            origin: self.setting.origin.clone(),
            host: self.host(identity),
            system: system::read(files, wanted),
            ..Sample::default()
        }
    }

    fn host(&self, identity: &Identity) -> Host {
        Host {
            instance_type: identity.instance_type.clone(),
            instance_id: identity.instance_id.clone(),
            driver_version: text(&*self.files, "sys/module/neuron/version").ok(),
            logical_nc_config: self.setting.logical_nc_config,
        }
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
                    text: format!("PCI address unknown: {}", cannot_open(&error)),
                }),
            }
        }
        None
    }

    /// The product, which is the same for all devices of a host: from sysfs,
    /// else from the generation and the PCI function. At least the generation
    /// where the product is not told.
    fn product(
        &self,
        visible: &Visible,
        free: Option<&(Found, Box<dyn FreeNode>)>,
        problems: &mut Vec<Problem>,
    ) -> Product {
        for found in &visible.devices {
            match device::chip(&*self.files, found.host) {
                Ok(Some(chip)) => return Product::of(chip),
                Ok(None) => {}
                Err(wrong) => {
                    keep::<()>(problems, found.host, Err(wrong));
                    break;
                }
            }
        }
        // Why no node is open has been said.
        let Some((_, node)) = free else { return Product::default() };
        let mut unknown = |text: String| problems.push(Problem { device: None, text });
        let arch = match node.arch() {
            Ok(number) => match Arch::from_driver(number) {
                Some(arch) => arch,
                None => {
                    unknown(format!(
                        "the driver says generation {number}, which this version does not know"
                    ));
                    return Product::default();
                }
            },
            Err(error) => {
                unknown(format!("generation unknown: request DEVICE_BASIC_INFO failed: {error}"));
                return Product::default();
            }
        };
        let id = node.bdf(0).ok().and_then(|bdf| {
            let id = text(&*self.files, &format!("sys/bus/pci/devices/{bdf}/device")).ok()?;
            u16::from_str_radix(id.strip_prefix("0x")?, 16).ok()
        });
        let by_id = id.and_then(Chip::from_pci_device).filter(|chip| chip.arch() == arch);
        // Only the second generation has two products; without its PCI id the
        // choice would be a guess.
        let mut of_arch = Chip::ALL.into_iter().filter(|chip| chip.arch() == arch);
        let chip = by_id.or(match (of_arch.next(), of_arch.next()) {
            (only, None) => only,
            _ => None,
        });
        if chip.is_none() {
            unknown(format!(
                "product unknown: generation v{} has several, and neither sysfs nor a PCI id \
                 tells which this is",
                arch.number()
            ));
        }
        Product { arch: Some(arch), chip }
    }

    /// PCI address of a device: asked of the open node, else of its own.
    fn bdf(
        &self,
        found: Found,
        free: Option<&(Found, Box<dyn FreeNode>)>,
        problems: &mut Vec<Problem>,
    ) -> Option<Bdf> {
        let (first, node) = free?;
        let failed = |error: std::io::Error| format!("request DEVICE_BDF_EXT failed: {error}");
        let answer = match found.host.checked_sub(first.host) {
            Some(ahead) => node.bdf(ahead).map_err(failed),
            None => match self.nodes.open_free(found.node) {
                Ok(node) => node.bdf(0).map_err(failed),
                Err(error) => Err(cannot_open(&error)),
            },
        };
        match answer {
            Ok(bdf) => Some(bdf),
            Err(reason) => {
                let text = format!("PCI address unknown: {reason}");
                problems.push(Problem { device: Some(found.host), text });
                None
            }
        }
    }
}

/// A device of the host without a node.
fn missing(files: &dyn Files, host: u32) -> Problem {
    let node = files.display(&format!("dev/neuron{host}"));
    let text = format!(
        "in sysfs but {} is missing; reload the driver, or let udev make it",
        node.display()
    );
    Problem { device: Some(host), text }
}

/// The reason of a failed open with what to do about it.
pub(super) fn cannot_open(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => String::from(
            "permission denied; run as root or install the udev rule that opens /dev/neuron*",
        ),
        _ => error.to_string(),
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

/// Nanoseconds since boot, time asleep included.
fn uptime() -> Option<u64> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).ok()?.checked_mul(1_000_000_000)?;
    seconds.checked_add(u64::try_from(now.tv_nsec).ok()?)
}

/// Open descriptors of all device nodes on the host: the driver module's
/// reference count. `None` when it cannot be read.
fn opens(files: &dyn Files) -> Option<u64> {
    leaf::value(files, "sys/module/neuron/refcnt").ok()
}
