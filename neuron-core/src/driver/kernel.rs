//! The driver of this machine, or what lies below another root.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::HostFiles;
use super::machine::{Machine, Setting};
use super::nodes::{AttachedNode, FreeNode, Nodes, invalid};
use super::recorded::RecordedNodes;
use crate::instance::{self, Identity};
use crate::sample::{Origin, Sample, Wanted};
use crate::source::Source;
use crate::sys::{Attached, FreeAccess, refuse_positive};
use crate::uapi::arg::{AppInfo, DeviceBasicInfo, DeviceBdf, DeviceBdfExt, DeviceInfo};
use crate::uapi::nds_ext::Extent;
use crate::uapi::request;
use crate::units::Bdf;
use crate::{Error, Result};

/// Reads a machine through its kernel driver.
#[derive(Debug)]
pub struct KernelSource {
    machine: Machine,
    identity: Option<Identity>,
    /// Only this machine has a metadata service to ask.
    own_machine: bool,
    root: PathBuf,
    watch: Vec<PathBuf>,
}

impl KernelSource {
    /// The driver of this machine.
    ///
    /// # Errors
    ///
    /// When the root directory cannot be opened.
    pub fn open(logical_nc_config: Option<u32>) -> Result<Self> {
        let root = Path::new("/");
        let setting = Setting { logical_nc_config, ..Setting::default() };
        let files = Arc::new(HostFiles::open(root)?);
        let nodes = Arc::new(HostNodes { root: root.to_owned() });
        Ok(Self {
            machine: Machine::new(files, nodes, setting),
            identity: None,
            own_machine: true,
            root: root.to_owned(),
            // Devices come and go here; sysfs does not tell inotify of changes.
            watch: vec![PathBuf::from("/dev")],
        })
    }

    /// Files and nodes below another root: the host as a container mounts it,
    /// or a captured tree, with recorded answers beside it or without.
    ///
    /// # Errors
    ///
    /// When the root cannot be opened or its recorded answers are garbled.
    pub fn below(root: &Path, logical_nc_config: Option<u32>) -> Result<Self> {
        let files = Arc::new(HostFiles::open(root)?);
        let nodes: Arc<dyn Nodes> = match RecordedNodes::open(root)? {
            Some(recorded) => Arc::new(recorded),
            None => Arc::new(HostNodes { root: root.to_owned() }),
        };
        let setting = Setting {
            origin: Origin::Root(root.display().to_string()),
            sysfs_will_do: true,
            logical_nc_config,
            ..Setting::default()
        };
        Ok(Self {
            machine: Machine::new(files, nodes, setting),
            identity: None,
            own_machine: false,
            root: root.to_owned(),
            watch: vec![root.to_owned()],
        })
    }

    fn identify(&self) -> Identity {
        let identity = instance::identity_of(self.machine.files());
        #[cfg(feature = "imds")]
        if self.own_machine {
            return identity.completed_by_imds();
        }
        identity
    }
}

impl Source for KernelSource {
    fn sample(&mut self, wanted: Wanted) -> Result<Sample> {
        // Asked once: an instance does not change its type while it runs. Not
        // before there is a device, so that a machine without one fails fast.
        let identity = self.identity.clone().unwrap_or_default();
        let mut sample = self.machine.sample(wanted, &identity).map_err(|error| match error {
            Error::NoDevices(reason) if !self.own_machine => {
                Error::Empty { place: self.root.clone(), reason }
            }
            other => other,
        })?;
        if self.identity.is_none() {
            let identity = self.identify();
            sample.host.instance_type.clone_from(&identity.instance_type);
            sample.host.instance_id.clone_from(&identity.instance_id);
            self.identity = Some(identity);
        }
        Ok(sample)
    }

    fn bare(&mut self, wanted: Wanted) -> Sample {
        let identity = self.identity.clone().unwrap_or_default();
        self.machine.bare(wanted, &identity)
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.watch.clone()
    }
}

/// Device nodes asked by ioctl.
#[derive(Debug)]
struct HostNodes {
    root: PathBuf,
}

impl HostNodes {
    /// The path of a node. A captured tree has empty files in the place of
    /// nodes, or nothing; they are told apart here, because a request on one
    /// would fail with an errno that means nothing to a reader. The text names
    /// no node, so that it is said once for all devices.
    fn path(&self, node: u32) -> io::Result<PathBuf> {
        let path = self.root.join(format!("dev/neuron{node}"));
        let is_device = match std::fs::metadata(&path) {
            Ok(meta) => meta.file_type().is_char_device(),
            Err(error) if self.root == Path::new("/") => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if !is_device {
            let root = self.root.display();
            let text = format!("no device node and no recorded answers (ioctl.json) below {root}");
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        Ok(path)
    }
}

impl Nodes for HostNodes {
    fn open_free(&self, node: u32) -> io::Result<Box<dyn FreeNode>> {
        Ok(Box::new(HostFree(FreeAccess::open(&self.path(node)?)?)))
    }

    fn attach(&self, node: u32) -> io::Result<Box<dyn AttachedNode>> {
        Ok(Box::new(HostAttached(Attached::open(&self.path(node)?)?)))
    }
}

fn out_of_range() -> io::Error {
    invalid("the driver gave a PCI address out of range")
}

#[derive(Debug)]
struct HostFree(FreeAccess);

impl FreeNode for HostFree {
    fn arch(&self) -> io::Result<u32> {
        let mut arg = DeviceBasicInfo::default();
        refuse_positive(self.0.call(request::DEVICE_BASIC_INFO.number(), &mut arg)?)?;
        Ok(arg.architecture)
    }

    fn bdf(&self, ahead: u32) -> io::Result<Bdf> {
        let mut arg = DeviceBdfExt { nd_index: ahead, ..DeviceBdfExt::default() };
        refuse_positive(self.0.call(request::DEVICE_BDF_EXT.number(), &mut arg)?)?;
        arg.bdf().ok_or_else(out_of_range)
    }
}

#[derive(Debug)]
struct HostAttached(Attached);

impl AttachedNode for HostAttached {
    fn connected(&self) -> io::Result<Vec<u32>> {
        let mut arg = DeviceInfo::default();
        refuse_positive(self.0.call(request::DEVICE_INFO.number(), &mut arg)?)?;
        Ok(arg.connected().to_vec())
    }

    fn bdf(&self) -> io::Result<Bdf> {
        let mut arg = DeviceBdf::default();
        refuse_positive(self.0.call(request::DEVICE_BDF.number(), &mut arg)?)?;
        arg.bdf().ok_or_else(out_of_range)
    }

    fn users(&self) -> io::Result<Vec<AppInfo>> {
        self.0.processes()
    }

    fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool> {
        self.0.datastore(pid, extent, bytes)
    }
}
