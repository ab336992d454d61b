//! Work that nobody waits for any more ends.
//!
//! A timeline that is dragged asks for tiles faster than it can show them, and
//! gives up those that went out of sight. Whoever reads a profile for another
//! runs the reading [`while_wanted`]: each page that is read looks whether it
//! still is.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

thread_local! {
    /// What the work of this thread is told by.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Puts the flag that was there before back.
struct Before(Option<Arc<AtomicBool>>);

impl Drop for Before {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

/// Does something on this thread; reading fails with [`Error::Stopped`] once
/// the flag is set.
pub fn while_wanted<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let _before = Before(STOP.replace(Some(Arc::clone(stop))));
    work()
}

/// What the work of this thread is told by.
pub(crate) fn told() -> Option<Arc<AtomicBool>> {
    STOP.with_borrow(Clone::clone)
}

/// An error if nobody waits for the work of this thread.
///
/// # Errors
///
/// [`Error::Stopped`] then.
pub fn wanted() -> Result<(), Error> {
    let stopped =
        STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)));
    if stopped { Err(Error::Stopped) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_holds_for_its_work_alone() {
        let (inner, outer) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        while_wanted(&outer, || {
            while_wanted(&inner, || assert!(matches!(wanted(), Err(Error::Stopped))));
            assert!(wanted().is_ok());
            outer.store(true, Ordering::Relaxed);
            assert!(wanted().is_err());
        });
        assert!(wanted().is_ok());
    }
}
