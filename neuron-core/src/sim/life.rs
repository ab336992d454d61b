//! Whether a process is alive, from `/proc`.
//!
//! A wrong "dead" would take a living process off its devices for good, so
//! whatever cannot be decided counts as alive: a process of another pid
//! namespace, and one that `/proc` hides from this user.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};

use super::state::ProcessId;

impl ProcessId {
    /// This process.
    ///
    /// # Errors
    ///
    /// When `/proc` is not mounted.
    pub fn own() -> io::Result<Self> {
        let pid = std::process::id();
        let start = start_time(pid)?.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "/proc does not show this process")
        })?;
        Ok(Self { pid, start, namespace: own_namespace()? })
    }
}

/// Who can tell living processes from dead ones: somebody in the same pid
/// namespace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    namespace: Option<u64>,
}

impl Witness {
    /// This process as a witness.
    pub(super) fn new() -> Self {
        Self { namespace: own_namespace().ok() }
    }

    /// Whether the pids of a process mean the same here.
    pub(super) fn knows(self, id: ProcessId) -> bool {
        self.namespace == Some(id.namespace)
    }

    /// Whether a process is certain to have ended. One that has exited but was
    /// not waited for has: the kernel has closed its descriptors by then.
    pub(super) fn is_dead(self, id: ProcessId) -> bool {
        if !self.knows(id) {
            return false;
        }
        match start_time(id.pid) {
            Ok(start) => start != Some(id.start),
            Err(error) if gone(&error) => {
                // With `hidepid` other users' processes are not in /proc; a
                // signal that may not be sent still tells that they exist.
                let pid = i32::try_from(id.pid).ok().and_then(Pid::from_raw);
                pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
            }
            Err(_) => false,
        }
    }
}

/// Processes that were alive, and whether they still are: by descriptors of
/// their own, all asked in one call.
#[derive(Debug)]
pub(super) struct Watch {
    processes: Vec<OwnedFd>,
}

impl Watch {
    /// Begins to watch. `None` when one cannot be watched: it has ended, or is
    /// not to be seen from here.
    pub(super) fn of(processes: impl Iterator<Item = ProcessId>) -> Option<Self> {
        let witness = Witness::new();
        let mut watched = Vec::new();
        for id in processes {
            // Of another namespace: never certain to have ended.
            if !witness.knows(id) {
                continue;
            }
            let pid = Pid::from_raw(i32::try_from(id.pid).ok()?)?;
            watched.push(pidfd_open(pid, PidfdFlags::empty()).ok()?);
            // Only now: the descriptor is that of who has the pid.
            if start_time(id.pid).ok()?? != id.start {
                return None;
            }
        }
        Some(Self { processes: watched })
    }

    /// Whether all of them are alive.
    pub(super) fn all_alive(&self) -> bool {
        let mut asked: Vec<PollFd<'_>> =
            self.processes.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        // Readable when the process has ended.
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        asked.is_empty() || poll(&mut asked, Some(&none)) == Ok(0)
    }
}

fn gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::SRCH)
}

/// The pid namespace of this process, by inode.
fn own_namespace() -> io::Result<u64> {
    Ok(std::fs::metadata("/proc/self/ns/pid")?.ino())
}

/// Start time of a process in clock ticks since boot; `None` for a zombie.
fn start_time(pid: u32) -> io::Result<Option<u64>> {
    // One read: the line is short, and the kernel makes it anew for each.
    let mut line = [0; 1024];
    let length = std::fs::File::open(format!("/proc/{pid}/stat"))?.read(&mut line)?;
    Ok(parse_stat(line.get(..length).unwrap_or_default()))
}

/// Field 22 of a `/proc/PID/stat` line, `None` for a zombie or a bad line.
/// The command in field 2 may hold blanks and parentheses, so fields are
/// counted from its last `)`.
fn parse_stat(text: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(text);
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    match fields.next()? {
        "Z" | "X" | "x" => None,
        _ => fields.nth(18)?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_parentheses_do_not_shift_fields() {
        let tail = " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 10 5";
        assert_eq!(parse_stat(format!("42 (a) b) c) S{tail}").as_bytes()), Some(777));
        assert_eq!(parse_stat(format!("42 (sleep) Z{tail}").as_bytes()), None);
        assert_eq!(parse_stat(b"42 (sleep"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn this_process_lives_and_a_reused_pid_does_not() {
        let own = ProcessId::own().unwrap();
        let witness = Witness::new();
        assert!(!witness.is_dead(own));
        assert!(witness.is_dead(ProcessId { start: own.start + 1, ..own }));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let start = start_time(child.id()).unwrap().unwrap();
        let id = ProcessId { pid: child.id(), start, ..own };
        assert!(!witness.is_dead(id));
        let watch = Watch::of([own, id].into_iter()).unwrap();
        assert!(watch.all_alive());
        assert!(Watch::of([ProcessId { start: start + 1, ..id }].into_iter()).is_none());
        child.kill().unwrap();
        let begin = std::time::Instant::now();
        while watch.all_alive() {
            assert!(begin.elapsed().as_secs() < 20);
        }
        // A zombie is dead: wait for the kill to arrive, then look before reaping it.
        while start_time(id.pid).unwrap().is_some() {
            std::thread::yield_now();
        }
        assert!(witness.is_dead(id));
        child.wait().unwrap();
        assert!(witness.is_dead(id));
    }

    /// The same number is somebody else in another namespace.
    #[test]
    fn processes_of_another_namespace_are_left_alone() {
        let own = ProcessId::own().unwrap();
        let other = ProcessId { namespace: own.namespace + 1, start: own.start + 1, ..own };
        assert!(!Witness::new().is_dead(other));
        assert!(!Witness { namespace: None }.is_dead(ProcessId { start: 1, ..own }));
    }
}
