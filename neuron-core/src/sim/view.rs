//! A moment of a simulated instance as the readers see it: files and nodes.

use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::instance::Sim;
use super::life::{Watch, Witness};
use super::stamp::Stamp;
use super::state::{Device, ProcessId, State};
use super::tree::{self, Entry};
use crate::driver::{AttachedNode, Files, FreeNode, HostFiles, Nodes, open_file, read_entry};
use crate::sample::DeviceState;
use crate::uapi::arg::AppInfo;
use crate::uapi::nds_ext::Extent;
use crate::units::Bdf;

/// The state at one moment, answering paths below `sys` and `dev`. Paths
/// below `proc` are the host's own: the processes are real.
#[derive(Debug, Clone)]
pub struct View {
    sim: Sim,
    state: Arc<State>,
    host: Arc<HostFiles>,
    shared: Arc<Shared>,
}

/// What is known of a moment beside its state.
#[derive(Debug)]
struct Shared {
    /// Attached processes that `/proc` of this process shows, by pid.
    known: BTreeSet<String>,
    /// The file that the state was read from, and its living processes.
    source: Option<(Stamp, Watch)>,
    /// Datastores that were read: they stay the same files.
    datastores: Mutex<BTreeMap<(u32, u32), Arc<OwnedFd>>>,
}

impl View {
    /// The instance as it is now.
    ///
    /// # Errors
    ///
    /// When its state cannot be read.
    pub fn now(sim: &Sim) -> crate::Result<Self> {
        let (state, stamp) = sim.snapshot_of()?;
        Self::new(sim, state, stamp)
    }

    /// The instance in a state that was just read.
    pub(super) fn of(sim: &Sim, state: State) -> crate::Result<Self> {
        Self::new(sim, state, None)
    }

    fn new(sim: &Sim, state: State, stamp: Option<Stamp>) -> crate::Result<Self> {
        let host = Arc::new(HostFiles::open(Path::new("/"))?);
        let witness = Witness::new();
        let attached: BTreeSet<ProcessId> =
            state.devices.iter().flat_map(|d| &d.processes).map(|p| p.id).collect();
        let known = attached.iter().filter(|id| witness.knows(**id));
        let known = known.map(|id| id.pid.to_string()).collect();
        let all: BTreeSet<ProcessId> =
            attached.iter().chain(state.marks.values()).copied().collect();
        let source = stamp.and_then(|stamp| Some((stamp, Watch::of(all.into_iter())?)));
        let shared = Arc::new(Shared { known, source, datastores: Mutex::default() });
        Ok(Self { sim: sim.clone(), state: Arc::new(state), host, shared })
    }

    /// Whether the instance is certain to be as it was then.
    pub(super) fn is_current(&self) -> bool {
        self.shared
            .source
            .as_ref()
            .is_some_and(|(stamp, watch)| self.sim.is_still(*stamp) && watch.all_alive())
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The entry of a path.
    ///
    /// # Errors
    ///
    /// `ENOENT`.
    pub fn entry(&self, path: &str) -> io::Result<Entry> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        Ok(tree::find(&self.state, &parts).ok_or(Errno::NOENT)?)
    }

    /// Names and entries of a directory.
    ///
    /// # Errors
    ///
    /// `ENOENT`.
    pub fn entries(&self, path: &str) -> io::Result<Vec<(String, Entry)>> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        Ok(tree::list(&self.state, &parts).ok_or(Errno::NOENT)?)
    }

    fn device(&self, node: u32) -> io::Result<&Device> {
        let device = usize::try_from(node).ok().and_then(|at| self.state.devices.get(at));
        Ok(device.filter(|device| !device.gone).ok_or(Errno::NXIO)?)
    }
}

impl Files for View {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if let Some(rest) = path.strip_prefix("proc/") {
            let pid = rest.split('/').next().unwrap_or_default();
            let of_the_host = !pid.starts_with(|first: char| first.is_ascii_digit());
            return if of_the_host || self.shared.known.contains(pid) {
                self.host.read(path)
            } else {
                Err(Errno::NOENT.into())
            };
        }
        match self.entry(path)? {
            Entry::File(_, Some(text)) => Ok(text.into_bytes()),
            Entry::File(_, None) => Err(Errno::IO.into()),
            Entry::Dir => Err(Errno::ISDIR.into()),
            Entry::Link(_) | Entry::Node(_) => Err(Errno::INVAL.into()),
        }
    }

    fn read_often(&self, path: &str) -> io::Result<Vec<u8>> {
        let Some(rest) = path.strip_prefix("proc/") else { return self.read(path) };
        let pid = rest.split('/').next().unwrap_or_default();
        let of_a_process = pid.starts_with(|first: char| first.is_ascii_digit());
        if of_a_process && !self.shared.known.contains(pid) {
            return Err(Errno::NOENT.into());
        }
        self.host.read_often(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        Ok(self.entries(path)?.into_iter().map(|(name, _)| name).collect())
    }

    fn minor(&self, path: &str) -> io::Result<Option<u32>> {
        match self.entry(path)? {
            Entry::Node(minor) => Ok(Some(minor)),
            _ => Ok(None),
        }
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn stays(&self) -> bool {
        true
    }

    fn display(&self, path: &str) -> PathBuf {
        // The processes are real.
        if path.starts_with("proc/") {
            return PathBuf::from(format!("/{path}"));
        }
        PathBuf::from(format!("sim:{}/{path}", self.sim.name()))
    }
}

impl Nodes for View {
    fn can_hang(&self) -> bool {
        false
    }

    fn open_free(&self, node: u32) -> io::Result<Box<dyn FreeNode>> {
        self.device(node)?;
        Ok(Box::new(SimNode { view: self.clone(), node }))
    }

    fn attach(&self, node: u32) -> io::Result<Box<dyn AttachedNode>> {
        match self.device(node)?.state {
            None | Some(DeviceState::Ready) => Ok(Box::new(SimNode { view: self.clone(), node })),
            Some(DeviceState::Reset) => Err(Errno::AGAIN.into()),
            Some(DeviceState::Invalid | DeviceState::Unresponsive) => Err(Errno::INVAL.into()),
        }
    }
}

#[derive(Debug)]
struct SimNode {
    view: View,
    node: u32,
}

impl SimNode {
    fn kind(&self) -> io::Result<&'static crate::instance::InstanceType> {
        Ok(self.view.state.kind().ok_or(Errno::INVAL)?)
    }
}

impl FreeNode for SimNode {
    fn arch(&self) -> io::Result<u32> {
        Ok(self.kind()?.chip.arch().number())
    }

    fn bdf(&self, ahead: u32) -> io::Result<Bdf> {
        let node = self.node.checked_add(ahead).ok_or(Errno::INVAL)?;
        self.view.device(node).map_err(|_| Errno::INVAL)?;
        Ok(self.kind()?.pci(node).ok_or(Errno::INVAL)?.bdf)
    }
}

impl AttachedNode for SimNode {
    fn connected(&self) -> io::Result<Vec<u32>> {
        Ok(self.kind()?.connected(self.node))
    }

    fn users(&self) -> io::Result<Vec<AppInfo>> {
        let held = |process: &super::state::Attached, host: bool| {
            let mine = process.allocations.iter().filter(|a| a.host == host);
            mine.fold(0, |sum: u64, a| sum.saturating_add(a.size))
        };
        let device = self.view.device(self.node)?;
        Ok(device
            .processes
            .iter()
            .map(|process| AppInfo {
                pid: process.id.pid,
                locks: Vec::new(),
                host_memory: held(process, true),
                device_memory: held(process, false),
            })
            .collect())
    }

    fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let device = self.view.device(self.node)?;
        let process = device.processes.iter().find(|p| p.id.pid == pid && p.datastore);
        let Some(process) = process else { return Ok(false) };
        let datastores = &self.view.shared.datastores;
        let mut open = datastores.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match open.entry((self.node, pid)) {
            Occupied(known) => Arc::clone(known.get()),
            Vacant(place) => {
                let path = self.view.sim.datastore_path(self.node, process.id);
                let Some(file) = open_file(&path)? else { return Ok(false) };
                Arc::clone(place.insert(Arc::new(file)))
            }
        };
        drop(open);
        read_entry(&file, extent, bytes).map(|()| true)
    }
}
