//! The processes of each device, which only an attached process is told.
//!
//! An open of a device in reset spins in the kernel until the reset ends and
//! no signal handler interrupts it (FINDINGS 6). So every device is asked by a
//! thread of its own, with a deadline; a device that does not answer is
//! reported as in reset and asked again only when its answer has come.
//!
//! Between readings this process stays attached where others are too. Where
//! it is alone it detaches, so that the driver's use count can return to 0 and
//! the next reading need not attach at all. Closing costs 20 ms, and is done
//! for all devices at once in the background. On Inferentia it costs a second
//! each time (FINDINGS 23): there it stays attached until the source is
//! dropped.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::text::hex;

use super::aside::{aside, no_thread};
use super::files::Files;
use super::machine::cannot_open;
use super::nodes::{AttachedNode, Nodes};
use super::process::{Before, Processes, datastore};
use crate::instance::Arch;
use crate::sample::{CoreLock, Datastore, Device, DeviceState, Problem, Process};
use crate::uapi::Malformed;
use crate::uapi::arg::AppInfo;
use crate::uapi::nds_ext::Extent;
use crate::units::Bdf;

type Attached = Arc<Mutex<Box<dyn AttachedNode>>>;

/// What one device said.
#[derive(Debug)]
struct Answer {
    /// Kept open, or why it could not be opened.
    attached: io::Result<Attached>,
    read: Read,
}

/// Which answers are missing so far.
#[derive(Debug, Clone, Copy)]
struct Missing {
    connected: bool,
    bdf: bool,
}

/// A process's datastore, where it has one.
type Store = Option<Result<Datastore, Malformed>>;

#[derive(Debug)]
struct Read {
    connected: Option<Vec<u32>>,
    bdf: Option<Bdf>,
    users: io::Result<Vec<(AppInfo, Store)>>,
}

/// The devices this process is attached to, by node number.
#[derive(Debug, Default)]
pub(crate) struct Users {
    attached: BTreeMap<u32, Attached>,
    /// Asked, not yet answered.
    pending: BTreeMap<u32, Receiver<Answer>>,
    /// Closes under way.
    closing: Vec<JoinHandle<()>>,
    /// Whether they are devices of a driver, slow to close.
    slow: bool,
    /// What `/proc` said before.
    before: Before,
}

/// How to ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    /// Whether whole datastores are wanted, or just their headers.
    pub(crate) datastores: bool,
    /// Whether the CPU time of each process is wanted.
    pub(crate) usage: bool,
    /// When to give up.
    pub(crate) deadline: Duration,
}

impl Users {
    /// Devices of another moment are other devices; the processes may be the
    /// same.
    pub(crate) fn forget_devices(&mut self) {
        let before = std::mem::take(&mut self.before);
        *self = Self::default();
        self.before = before;
    }

    /// Fills in the processes of the devices, given as pairs of node number
    /// and device.
    pub(crate) fn read(
        &mut self,
        files: &dyn Files,
        nodes: &Arc<dyn Nodes>,
        devices: &mut [(u32, &mut Device)],
        asking: Asking,
        problems: &mut Vec<Problem>,
    ) {
        self.slow = nodes.can_hang();
        self.closed();
        for (node, device) in &*devices {
            if may_be_asked(device) && !self.pending.contains_key(node) {
                match self.start(nodes, *node, device, asking.datastores) {
                    Ok(receiver) => drop(self.pending.insert(*node, receiver)),
                    Err(error) => problems.push(Problem {
                        device: Some(device.host_index),
                        text: format!("its processes are unknown: {}", no_thread(&error)),
                    }),
                }
            }
        }
        let known: Vec<u32> = devices.iter().map(|(node, _)| *node).collect();
        let end = Instant::now() + asking.deadline;
        let mut before = std::mem::take(&mut self.before);
        let mut known_processes = Processes { asking, seen: BTreeMap::new(), before: &mut before };
        let mut needless = Vec::new();
        for (node, device) in devices {
            let Some(receiver) = self.pending.get(node) else { continue };
            let Ok(answer) = receiver.recv_timeout(end.saturating_duration_since(Instant::now()))
            else {
                problems.push(silent(device, self.attached.contains_key(node), asking.deadline));
                continue;
            };
            self.pending.remove(node);
            let attached = match answer.attached {
                Ok(attached) => attached,
                Err(error) => {
                    let text = format!("cannot ask for its processes: {}", advice(&error));
                    problems.push(Problem { device: Some(device.host_index), text });
                    continue;
                }
            };
            if device.arch != Some(Arch::V1) && is_alone(files, &answer.read) {
                self.attached.remove(node);
                needless.push(attached);
            } else {
                self.attached.insert(*node, attached);
            }
            fill(files, device, answer.read, &mut known_processes, problems);
        }
        let Processes { seen, .. } = known_processes;
        before.keep(&seen);
        self.before = before;
        // Devices that have gone.
        let gone: Vec<u32> = self.attached.keys().copied().filter(|n| !known.contains(n)).collect();
        needless.extend(gone.iter().filter_map(|node| self.attached.remove(node)));
        self.detach(needless);
    }

    /// Lets a device be asked.
    fn start(
        &self,
        nodes: &Arc<dyn Nodes>,
        node: u32,
        device: &Device,
        datastores: bool,
    ) -> io::Result<Receiver<Answer>> {
        let (sender, receiver) = channel();
        let (nodes, known) = (Arc::clone(nodes), self.attached.get(&node).cloned());
        let missing = Missing { connected: device.connected.is_none(), bdf: device.bdf.is_none() };
        let cores = device.core_count.unwrap_or(0);
        let extent = if datastores { Extent::Used { cores } } else { Extent::Head };
        let ask = move || {
            // Nobody listens any more when the source was dropped.
            let _ = sender.send(ask(&*nodes, node, known, missing, extent));
        };
        if self.slow {
            aside(ask)?;
        } else {
            ask();
        }
        Ok(receiver)
    }

    /// Closes in the background. Without a thread to be had it is done here:
    /// what was to be dropped there is dropped with the thread's closure.
    fn detach(&mut self, nodes: Vec<Attached>) {
        if self.slow {
            let closing = nodes.into_iter().filter_map(|node| aside(move || drop(node)).ok());
            self.closing.extend(closing);
        }
    }

    /// Waits for the closes under way: until then the use count is too high.
    fn closed(&mut self) {
        for thread in self.closing.drain(..) {
            // A close that panicked has closed all the same.
            let _ = thread.join();
        }
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        let attached = std::mem::take(&mut self.attached).into_values().collect();
        self.detach(attached);
        self.closed();
    }
}

/// Whether this process is the only one that is attached. The driver lists it
/// by its pid on the host, which is not known in a pid namespace; but since it
/// is on the list, it is alone when nobody else is.
fn is_alone(files: &dyn Files, read: &Read) -> bool {
    let Ok(users) = &read.users else { return false };
    match users.as_slice() {
        [] => true,
        [(only, _)] => only.pid == std::process::id() || !files.shows_host_processes(),
        _ => false,
    }
}

/// A device that did not answer in time: one that is not attached to yet hangs
/// in the open, which is how a reset shows.
fn silent(device: &mut Device, attached: bool, deadline: Duration) -> Problem {
    let seconds = deadline.as_secs_f64();
    let (state, text) = if attached {
        let text = format!("did not answer within {seconds:.1} s: its processes are unknown");
        (DeviceState::Unresponsive, text)
    } else {
        let text = format!(
            "did not open within {seconds:.1} s: it is in reset, its processes are unknown"
        );
        (DeviceState::Reset, text)
    };
    // What the leaf said was read before.
    device.state = Some(state);
    Problem { device: Some(device.host_index), text }
}

/// Whether an attaching open makes sense. The caller says what is wrong with a
/// device that is not asked.
fn may_be_asked(device: &Device) -> bool {
    !matches!(device.state, Some(DeviceState::Reset | DeviceState::Invalid))
}

fn ask(
    nodes: &dyn Nodes,
    node: u32,
    known: Option<Attached>,
    missing: Missing,
    extent: Extent,
) -> Answer {
    let attached = match known.map_or_else(|| attach(nodes, node), Ok) {
        Ok(attached) => attached,
        Err(error) => {
            let read = Read { connected: None, bdf: None, users: Ok(Vec::new()) };
            return Answer { attached: Err(error), read };
        }
    };
    let read = {
        // A thread that panicked while asking leaves nothing half done.
        let device = attached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ask_attached(&**device, missing, extent)
    };
    Answer { attached: Ok(attached), read }
}

fn attach(nodes: &dyn Nodes, node: u32) -> io::Result<Attached> {
    Ok(Arc::new(Mutex::new(nodes.attach(node)?)))
}

fn ask_attached(device: &dyn AttachedNode, missing: Missing, extent: Extent) -> Read {
    let connected = missing.connected.then(|| device.connected().ok()).flatten();
    let bdf = missing.bdf.then(|| device.bdf().ok()).flatten();
    let users = device.users().map(|users| {
        users
            .into_iter()
            .map(|user| {
                let datastore = ask_datastore(device, user.pid, extent);
                (user, datastore)
            })
            .collect()
    });
    Read { connected, bdf, users }
}

/// The datastore of a process. It can end between the two questions; then it
/// has none any more and is shown as it was listed.
fn ask_datastore(device: &dyn AttachedNode, pid: u32, extent: Extent) -> Store {
    thread_local! {
        // Cleared only where that is needed: clearing costs as much as reading.
        static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    let cores = match extent {
        Extent::Used { cores } => cores,
        Extent::Head | Extent::Whole => 0,
    };
    BYTES.with_borrow_mut(|bytes| match device.datastore(pid, extent, bytes) {
        Ok(true) => datastore(bytes, cores).transpose(),
        Ok(false) | Err(_) => None,
    })
}

fn fill(
    files: &dyn Files,
    device: &mut Device,
    read: Read,
    known: &mut Processes<'_>,
    problems: &mut Vec<Problem>,
) {
    if device.connected.is_none() {
        device.connected = read.connected;
    }
    if device.bdf.is_none() {
        device.bdf = read.bdf;
    }
    let users = match read.users {
        Ok(users) => users,
        Err(error) => {
            let text = format!(
                "request DEVICE_GET_ALL_APPS_INFO failed: {error}; its processes are unknown"
            );
            problems.push(Problem { device: Some(device.host_index), text });
            return;
        }
    };
    let mut processes = Vec::with_capacity(users.len());
    for (user, store) in users {
        let host = known.of(files, user.pid);
        let datastore = store.and_then(|store| match store {
            Ok(store) => Some(store),
            Err(error) => {
                problems.push(Problem {
                    device: Some(device.host_index),
                    text: format!("datastore of process {}: {error}", user.pid),
                });
                None
            }
        });
        processes.push(Process {
            pid: user.pid,
            command: host.command,
            host_memory: Some(user.host_memory),
            device_memory: Some(user.device_memory),
            locks: user
                .locks
                .iter()
                .map(|lock| CoreLock { core: lock.core, model_uuid: hex(&lock.uuid.value) })
                .collect(),
            datastore,
            tag: host.tag,
            usage: host.usage,
            usage_error: host.usage_error,
        });
    }
    processes.sort_by_key(|process| process.pid);
    device.processes = Some(processes);
}

/// The reason of a failed attaching open with what to do about it.
fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ResourceBusy => {
            String::from("busy: 16 processes are attached to it already")
        }
        io::ErrorKind::InvalidInput => {
            String::from("the device has failed (EINVAL); reset it or reload the driver")
        }
        _ => cannot_open(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::aside::refusing;
    use crate::driver::{FreeNode, HostFiles};

    /// Devices that say who is attached, and how many are open.
    #[derive(Debug, Default)]
    struct Listing {
        pids: Vec<u32>,
        refuses_users: bool,
        open: Arc<Mutex<i32>>,
    }

    impl Nodes for Listing {
        fn open_free(&self, _: u32) -> io::Result<Box<dyn FreeNode>> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn attach(&self, _: u32) -> io::Result<Box<dyn AttachedNode>> {
            *self.open.lock().unwrap() += 1;
            let open = Arc::clone(&self.open);
            let (pids, refuses_users) = (self.pids.clone(), self.refuses_users);
            Ok(Box::new(Listed(Self { pids, refuses_users, open })))
        }
    }

    #[derive(Debug)]
    struct Listed(Listing);

    impl Drop for Listed {
        fn drop(&mut self) {
            *self.0.open.lock().unwrap() -= 1;
        }
    }

    impl AttachedNode for Listed {
        fn connected(&self) -> io::Result<Vec<u32>> {
            Ok(vec![3, 1])
        }
        fn users(&self) -> io::Result<Vec<AppInfo>> {
            if self.0.refuses_users {
                return Err(io::Error::other("the driver returned 9"));
            }
            let user = |pid: &u32| AppInfo {
                pid: *pid,
                locks: Vec::new(),
                host_memory: 0,
                device_memory: 0,
            };
            Ok(self.0.pids.iter().map(user).collect())
        }
        fn datastore(&self, _: u32, _: Extent, _: &mut Vec<u8>) -> io::Result<bool> {
            Ok(false)
        }
    }

    const ASKING: Asking =
        Asking { datastores: false, usage: false, deadline: Duration::from_secs(10) };

    fn files() -> HostFiles {
        // A root of its own shows the host's processes, in a namespace too.
        HostFiles::open(std::path::Path::new("/proc")).unwrap()
    }

    fn read(users: &mut Users, nodes: &Arc<dyn Nodes>, device: &mut Device) -> Vec<Problem> {
        let mut problems = Vec::new();
        users.read(&files(), nodes, &mut [(0, device)], ASKING, &mut problems);
        users.closed();
        problems
    }

    /// How many are open after a reading, and after the source is gone.
    fn open_after(pids: Vec<u32>, arch: Arch) -> (i32, i32) {
        let listing = Listing { pids, ..Listing::default() };
        let open = Arc::clone(&listing.open);
        let nodes: Arc<dyn Nodes> = Arc::new(listing);
        let mut users = Users::default();
        let mut device = Device { arch: Some(arch), ..Device::default() };
        assert_eq!(read(&mut users, &nodes, &mut device), []);
        assert!(device.processes.is_some());
        let during = *open.lock().unwrap();
        drop(users);
        let after = *open.lock().unwrap();
        (during, after)
    }

    #[test]
    fn stays_attached_only_where_others_are_or_closing_is_dear() {
        let me = std::process::id();
        assert_eq!(open_after(vec![me], Arch::V2), (0, 0));
        assert_eq!(open_after(vec![], Arch::V2), (0, 0));
        assert_eq!(open_after(vec![me, me + 1], Arch::V2), (1, 0));
        assert_eq!(open_after(vec![me + 1], Arch::V3), (1, 0));
        assert_eq!(open_after(vec![me], Arch::V1), (1, 0));
    }

    #[test]
    fn an_answer_is_kept_when_another_fails() {
        let nodes: Arc<dyn Nodes> = Arc::new(Listing { refuses_users: true, ..Listing::default() });
        let mut device = Device::default();
        let problems = read(&mut Users::default(), &nodes, &mut device);
        assert_eq!(device.connected, Some(vec![3, 1]));
        assert_eq!(device.processes, None);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].text.contains("DEVICE_GET_ALL_APPS_INFO"), "{problems:?}");
    }

    #[test]
    fn without_threads_it_is_said_and_closed_all_the_same() {
        let listing = Listing { pids: vec![1, 2], ..Listing::default() };
        let open = Arc::clone(&listing.open);
        let nodes: Arc<dyn Nodes> = Arc::new(listing);
        let mut users = Users::default();
        assert_eq!(read(&mut users, &nodes, &mut Device::default()), []);
        assert_eq!(*open.lock().unwrap(), 1);
        refusing::set(true);
        let mut device = Device::default();
        let problems = read(&mut users, &nodes, &mut device);
        drop(users);
        refusing::set(false);
        assert_eq!(device.processes, None);
        assert!(problems[0].text.contains("no thread"), "{problems:?}");
        assert_eq!(*open.lock().unwrap(), 0);
    }
}
