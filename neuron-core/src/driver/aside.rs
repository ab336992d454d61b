//! Threads for calls that may not return.
//!
//! A process may be out of threads (`EAGAIN`: `RLIMIT_NPROC`, a container's
//! pids limit), and `std::thread::spawn` panics then.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Does the work in a thread of its own. When there is none to be had, the
/// work is dropped undone, here.
///
/// # Errors
///
/// That of the system.
pub(crate) fn aside(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    #[cfg(test)]
    if refusing::now() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Builder::new().spawn(work)
}

/// What a reading says about a device that got no thread.
pub(crate) fn no_thread(error: &io::Error) -> String {
    format!("no thread could be started to ask it: {error}; raise the limit of processes")
}

/// Lets [`aside`] fail in the calling thread.
#[cfg(test)]
pub(crate) mod refusing {
    use std::cell::Cell;

    thread_local! {
        static REFUSING: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn set(on: bool) {
        REFUSING.set(on);
    }

    pub(super) fn now() -> bool {
        REFUSING.get()
    }
}
