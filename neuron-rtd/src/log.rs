//! Log lines `nrtd[PID]: [MODULE:function] text`, to syslog and, if asked, to
//! the console (neuron-rtd.md §2.7).
//!
//! Level 5 is the default: 3 error, 4 warning, 5 info, 6 debug, 7 trace. A
//! journal that reads stderr gets its priority in front of each line.

use std::io::Write as _;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use neuron_core::cli::rfc3339;
use neuron_core::model::printable;
use neuron_core::units::Timestamp;
use rtd_runtime::{Journal, Level};

/// Where syslog listens.
const SYSLOG: &str = "/dev/log";

/// syslog's facility "daemon".
const FACILITY: u8 = 3;

/// Writes log lines.
#[derive(Debug)]
pub(crate) struct Log {
    level: AtomicU8,
    console: Option<Console>,
    syslog: Mutex<Option<UnixDatagram>>,
    errors: AtomicU64,
    warnings: AtomicU64,
}

/// How lines look on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Console {
    /// With the time.
    Plain,
    /// With a journal's priority.
    Journal,
}

impl Log {
    /// A log that keeps lines up to `level`.
    pub(crate) fn new(level: u8, console: bool) -> Self {
        // systemd says so when stderr is a pipe to its journal
        let journal = std::env::var_os("JOURNAL_STREAM").is_some();
        let console = match (console, journal) {
            (_, true) => Some(Console::Journal),
            (true, false) => Some(Console::Plain),
            (false, false) => None,
        };
        // the journal has the lines already
        let syslog = (!journal).then(connect).flatten();
        Self {
            level: AtomicU8::new(level),
            console,
            syslog: Mutex::new(syslog),
            errors: AtomicU64::new(0),
            warnings: AtomicU64::new(0),
        }
    }

    /// Sets the highest level that is kept.
    pub(crate) fn set_level(&self, level: u8) {
        self.level.store(level, Relaxed);
    }

    /// Opens the way to syslog anew.
    pub(crate) fn reopen(&self) {
        let mut syslog = self.syslog.lock().unwrap_or_else(PoisonError::into_inner);
        if self.console != Some(Console::Journal) {
            *syslog = connect();
        }
    }

    /// Lines of a level so far, written or not.
    pub(crate) fn count(&self, level: Level) -> u64 {
        match level {
            Level::Error => self.errors.load(Relaxed),
            Level::Warning => self.warnings.load(Relaxed),
            _ => 0,
        }
    }

    /// A line `[place] text`.
    pub(crate) fn line(&self, level: Level, place: &str, text: &str) {
        self.body(level, &format!("[{place}] {text}"));
    }

    /// A line whose place is in it.
    pub(crate) fn body(&self, level: Level, body: &str) {
        match level {
            Level::Error => self.errors.fetch_add(1, Relaxed),
            Level::Warning => self.warnings.fetch_add(1, Relaxed),
            _ => 0,
        };
        if level.number() > self.level.load(Relaxed) {
            return;
        }
        let line = format!("nrtd[{}]: {}", std::process::id(), printable(body));
        // the journal's own priorities; ours start two higher
        let severity = match level {
            Level::Error => 3,
            Level::Warning => 4,
            Level::Info => 6,
            Level::Debug | Level::Trace => 7,
        };
        let text = match self.console {
            None => None,
            Some(Console::Journal) => Some(format!("<{severity}>{line}\n")),
            Some(Console::Plain) => {
                let now = Timestamp::from_system_time(SystemTime::now());
                Some(format!("{} {line}\n", rfc3339(now)))
            }
        };
        if let Some(text) = text {
            // a console that is gone is no reason to stop
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
        let syslog = self.syslog.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(syslog) = syslog.as_ref() {
            let priority = FACILITY * 8 + severity;
            let _ = syslog.send(format!("<{priority}>{line}").as_bytes());
        }
    }
}

impl Journal for Log {
    fn line(&self, level: Level, place: &str, text: &str) {
        self.line(level, place, text);
    }
}

fn connect() -> Option<UnixDatagram> {
    let socket = UnixDatagram::unbound().ok()?;
    socket.connect(SYSLOG).ok()?;
    // a full queue must not hold the daemon up
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}
