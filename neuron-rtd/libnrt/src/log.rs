//! Lines for people: `NEURON_RT_LOG_LOCATION` and `NEURON_RT_LOG_LEVEL`
//! (neuron-rtd.md §4.5), read when the first line is written.

use std::io::Write as _;
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;

/// How urgent a line is, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Error,
    Warning,
    Info,
    Debug,
    Trace,
}

#[derive(Debug)]
struct Log {
    /// The least urgent level that is written; `None` for silence.
    most: Option<Level>,
    syslog: Option<UnixDatagram>,
}

impl Log {
    fn from_env() -> Self {
        let read = |name: &str| std::env::var(name).unwrap_or_default().trim().to_uppercase();
        let most = match read("NEURON_RT_LOG_LEVEL").as_str() {
            "QUIET" => None,
            "WARN" | "WARNING" => Some(Level::Warning),
            "INFO" => Some(Level::Info),
            "DEBUG" => Some(Level::Debug),
            "TRACE" => Some(Level::Trace),
            // the default, also for what nobody knows
            _ => Some(Level::Error),
        };
        let syslog = (read("NEURON_RT_LOG_LOCATION") == "SYSLOG").then(|| {
            let socket = UnixDatagram::unbound().ok()?;
            socket.connect("/dev/log").ok().map(|()| socket)
        });
        Self { most, syslog: syslog.flatten() }
    }
}

/// Writes a line `nrt[PID]: [PLACE] text` if its level is asked for.
pub(crate) fn line(level: Level, place: &str, text: &str) {
    static LOG: OnceLock<Log> = OnceLock::new();
    let log = LOG.get_or_init(Log::from_env);
    if log.most.is_none_or(|most| level > most) {
        return;
    }
    let line = format!("nrt[{}]: [{place}] {text}", std::process::id());
    // a log that nobody takes is not an error of the program
    match &log.syslog {
        Some(socket) => {
            // facility user, severities of syslog
            let severity = match level {
                Level::Error => 3,
                Level::Warning => 4,
                Level::Info => 6,
                Level::Debug | Level::Trace => 7,
            };
            let _ = socket.send(format!("<{}>{line}", 8 + severity).as_bytes());
        }
        None => {
            let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// The runtime's lines.
#[derive(Debug)]
pub(crate) struct Lines;

impl rtd_runtime::Journal for Lines {
    fn line(&self, level: rtd_runtime::Level, place: &str, text: &str) {
        let level = match level {
            // the call that fails writes it, too
            rtd_runtime::Level::Error | rtd_runtime::Level::Debug => Level::Debug,
            rtd_runtime::Level::Warning => Level::Warning,
            rtd_runtime::Level::Info => Level::Info,
            rtd_runtime::Level::Trace => Level::Trace,
        };
        line(level, place, text);
    }
}
