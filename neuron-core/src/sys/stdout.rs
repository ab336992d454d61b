//! Whether the program was started without a stdout.
//!
//! Rust's runtime opens `/dev/null` in the place of a closed descriptor 0, 1
//! or 2 before `main`, so that what is printed there is lost without an error.
//! Whether it was closed can only be asked earlier, from `.init_array`.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether descriptor 1 was closed when the program was started (`>&-`).
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    // SAFETY: the number is only asked about, by a call that answers `EBADF`
    // for one that is not open, and is not kept.
    let stdout = unsafe { BorrowedFd::borrow_raw(1) };
    let closed = rustix::io::fcntl_getfd(stdout) == Err(rustix::io::Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}

// SAFETY: the C library calls each function of this section once, before
// `main` and on the only thread. This one makes a system call and stores to
// an atomic; it needs nothing that Rust's runtime sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(test)]
mod tests {
    #[test]
    fn a_test_has_a_stdout() {
        assert!(!super::stdout_was_closed());
    }
}
