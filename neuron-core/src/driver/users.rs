//! The processes of each device, which only an attached process is told.
//!
//! An open of a device in reset spins in the kernel until the reset ends and
//! no signal handler interrupts it (FINDINGS 6). So every device is asked by a
//! thread of its own, with a deadline; a device that does not answer is
//! reported as in reset and asked again only when its answer has come. What
//! was attached stays so until the source is dropped: closing costs up to a
//! second (FINDINGS 23), and is then done for all devices at once.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::files::Files;
use super::nodes::{AttachedNode, Nodes};
use crate::sample::{CoreLock, Datastore, Device, DeviceState, Problem, Process};
use crate::uapi::arg::AppInfo;
use crate::uapi::nds_ext::Block;
use crate::uapi::{Malformed, nds};

type Attached = Arc<Mutex<Box<dyn AttachedNode>>>;

/// What one device said.
#[derive(Debug)]
struct Answer {
    attached: Option<Attached>,
    read: io::Result<Read>,
}

#[derive(Debug)]
struct Read {
    connected: Option<Vec<u32>>,
    users: Vec<(AppInfo, Option<Vec<u8>>)>,
}

/// The devices this process is attached to, by node number.
#[derive(Debug, Default)]
pub(crate) struct Users {
    attached: BTreeMap<u32, Attached>,
    /// Asked, not yet answered.
    pending: BTreeMap<u32, Receiver<Answer>>,
    /// Whether they are devices of a driver, slow to close.
    slow: bool,
}

/// How to ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    /// Whether whole datastores are wanted, or just their headers.
    pub(crate) datastores: bool,
    /// When to give up.
    pub(crate) deadline: Duration,
}

impl Users {
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
        let can_hang = self.slow;
        for (node, device) in &*devices {
            if may_be_asked(device) && !self.pending.contains_key(node) {
                let (sender, receiver) = channel();
                let (nodes, node, known) =
                    (Arc::clone(nodes), *node, self.attached.get(node).cloned());
                let links = device.connected.is_none();
                let ask = move || {
                    let length = if asking.datastores { nds::SIZE } else { nds::HEAD };
                    // Nobody listens any more when the source was dropped.
                    let _ = sender.send(ask(&*nodes, node, known, links, length));
                };
                if can_hang {
                    std::thread::spawn(ask);
                } else {
                    ask();
                }
                self.pending.insert(node, receiver);
            }
        }
        let end = Instant::now() + asking.deadline;
        let mut commands = BTreeMap::new();
        for (node, device) in devices {
            let Some(receiver) = self.pending.get(node) else { continue };
            let Ok(answer) = receiver.recv_timeout(end.saturating_duration_since(Instant::now()))
            else {
                device.state.get_or_insert(DeviceState::Reset);
                let text = format!(
                    "did not open within {:.1} s: it is in reset, its processes are unknown",
                    asking.deadline.as_secs_f64()
                );
                problems.push(Problem { device: Some(device.host_index), text });
                continue;
            };
            self.pending.remove(node);
            if let Some(attached) = answer.attached {
                self.attached.insert(*node, attached);
            }
            match answer.read {
                Ok(read) => fill(files, device, read, &mut commands, problems),
                Err(error) => problems.push(Problem {
                    device: Some(device.host_index),
                    text: format!("cannot ask for its processes: {}", advice(&error)),
                }),
            }
        }
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        if !self.slow {
            return;
        }
        let attached = std::mem::take(&mut self.attached);
        let closing: Vec<_> =
            attached.into_values().map(|node| std::thread::spawn(move || drop(node))).collect();
        for thread in closing {
            let _ = thread.join();
        }
    }
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
    links: bool,
    length: usize,
) -> Answer {
    let attached = match known {
        Some(attached) => attached,
        None => match nodes.attach(node) {
            Ok(attached) => Arc::new(Mutex::new(attached)),
            Err(error) => return Answer { attached: None, read: Err(error) },
        },
    };
    let read = {
        // A thread that panicked while asking leaves nothing half done.
        let device = attached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ask_attached(&**device, links, length)
    };
    Answer { attached: Some(attached), read }
}

fn ask_attached(device: &dyn AttachedNode, links: bool, length: usize) -> io::Result<Read> {
    let connected = links.then(|| device.connected().ok()).flatten();
    let users = device
        .users()?
        .into_iter()
        .map(|user| {
            // A process can end between the two questions; then it has no
            // datastore any more and is shown as it was listed.
            let datastore = device.datastore(user.pid, length).ok().flatten();
            (user, datastore)
        })
        .collect();
    Ok(Read { connected, users })
}

fn fill(
    files: &dyn Files,
    device: &mut Device,
    read: Read,
    commands: &mut BTreeMap<u32, Option<String>>,
    problems: &mut Vec<Problem>,
) {
    if device.connected.is_none() {
        device.connected = read.connected;
    }
    let cores = device.core_count.unwrap_or(0);
    let mut processes = Vec::with_capacity(read.users.len());
    for (user, bytes) in read.users {
        let command = commands.entry(user.pid).or_insert_with(|| command(files, user.pid));
        let datastore = bytes.and_then(|bytes| match datastore(&bytes, cores) {
            Ok(store) => store,
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
            command: command.clone(),
            host_memory: Some(user.host_memory),
            device_memory: Some(user.device_memory),
            locks: user
                .locks
                .iter()
                .map(|lock| CoreLock { core: lock.core, model_uuid: hex(&lock.uuid.value) })
                .collect(),
            datastore,
        });
    }
    processes.sort_by_key(|process| process.pid);
    device.processes = Some(processes);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The datastore in these bytes; `None` for one that was released meanwhile.
/// The tag is in a block that only our runtime writes.
fn datastore(bytes: &[u8], cores: u32) -> Result<Option<Datastore>, Malformed> {
    let nds::Entry::InUse(store) = nds::parse(bytes, cores)? else { return Ok(None) };
    let mut store = Datastore::from(store);
    if bytes.len() >= nds::SIZE {
        store.tag = Block::decode(bytes)?.map(|block| block.tag).filter(|tag| !tag.is_empty());
    }
    Ok(Some(store))
}

/// Command line of a process, arguments joined by blanks. The driver's pids
/// are the host's, so without the host's pid namespace there is none: the
/// same number may be somebody else in here.
fn command(files: &dyn Files, pid: u32) -> Option<String> {
    if !files.shows_host_processes() {
        return None;
    }
    let bytes = files.read(&format!("proc/{pid}/cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // Control characters would break the table, and terminals.
    let clean = |arg: &str| arg.replace(|c: char| c.is_control(), " ");
    let args: Vec<String> = text.trim_end_matches('\0').split('\0').map(clean).collect();
    Some(args.join(" ")).filter(|command| !command.is_empty())
}

/// The reason of a failed open with what to do about it.
pub(crate) fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => String::from(
            "permission denied; run as root or install the udev rule that opens /dev/neuron*",
        ),
        io::ErrorKind::ResourceBusy => {
            String::from("busy: 16 processes are attached to it already")
        }
        io::ErrorKind::InvalidInput => {
            String::from("the device has failed (EINVAL); reset it or reload the driver")
        }
        _ => error.to_string(),
    }
}
