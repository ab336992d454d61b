//! Messages to the service manager (sd_notify), without its library.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Sends a state such as `READY=1`; nothing where nobody asked for it.
pub fn notify_service_manager(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        // a manager that is gone cannot be told
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}

/// How often the manager wants to hear from this process: half of its limit.
pub fn watchdog_period() -> Option<Duration> {
    let micros: u64 = std::env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    let ours = std::env::var("WATCHDOG_PID").ok();
    if ours.is_some_and(|pid| pid != std::process::id().to_string()) {
        return None;
    }
    (micros > 0).then(|| Duration::from_micros(micros / 2))
}
