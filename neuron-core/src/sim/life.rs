//! Whether a process is alive, from `/proc`.

use std::io::Read as _;

use super::state::ProcessId;

impl ProcessId {
    /// This process.
    ///
    /// # Errors
    ///
    /// When `/proc` is not mounted.
    pub fn own() -> std::io::Result<Self> {
        let pid = std::process::id();
        let start = start_time(pid).ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::NotFound, "/proc does not show this process")
        })?;
        Ok(Self { pid, start })
    }

    /// Whether the process still runs. One that has exited but was not waited
    /// for is dead: the kernel has closed its descriptors by then.
    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start)
    }
}

/// Start time of a running process in clock ticks since boot.
fn start_time(pid: u32) -> Option<u64> {
    // One read: the line is short, and the kernel makes it anew for each.
    let mut line = [0; 1024];
    let length = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse_stat(line.get(..length)?)
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
        assert!(own.is_alive());
        assert!(!ProcessId { start: own.start + 1, ..own }.is_alive());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = ProcessId { pid: child.id(), start: start_time(child.id()).unwrap() };
        assert!(id.is_alive());
        child.kill().unwrap();
        // A zombie is dead: wait for the kill to arrive, then look before reaping it.
        while parse_stat(&std::fs::read(format!("/proc/{}/stat", id.pid)).unwrap()).is_some() {
            std::thread::yield_now();
        }
        assert!(!id.is_alive());
        child.wait().unwrap();
        assert!(!id.is_alive());
    }
}
