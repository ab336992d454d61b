//! Ctrl-C ends a query, which removes its temporary files; then the program
//! ends as if the signal had not been caught.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use anyhow::Context as _;
use profile_query::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::temporary::Shared;

/// Catches signals as long as it lives.
#[derive(Debug)]
pub(crate) struct Interrupt {
    got: Arc<AtomicI32>,
    handle: signal_hook::iterator::Handle,
}

impl Interrupt {
    /// Stops `stop` at the first signal; the second ends the program at once.
    ///
    /// # Errors
    ///
    /// When signals cannot be caught.
    pub(crate) fn catch(stop: &Stop) -> anyhow::Result<Self> {
        Self::catch_with(stop, Shared::default())
    }

    /// The same; the second signal removes `temporary` first.
    ///
    /// # Errors
    ///
    /// When signals cannot be caught.
    pub(crate) fn catch_with(stop: &Stop, temporary: Shared) -> anyhow::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot catch signals")?;
        let handle = signals.handle();
        let got = Arc::new(AtomicI32::new(0));
        let (seen, stop) = (Arc::clone(&got), stop.clone());
        std::thread::Builder::new()
            .name(String::from("signals"))
            .spawn(move || {
                for signal in signals.forever() {
                    if seen.swap(signal, Relaxed) != 0 {
                        temporary.end(signal);
                    }
                    stop.stop();
                }
            })
            .context("cannot make threads")?;
        Ok(Self { got, handle })
    }

    /// Ends the program as the signal would have; returns where there was none.
    pub(crate) fn end(&self) {
        let signal = self.got.load(Relaxed);
        if signal != 0 {
            let _ = emulate_default_handler(signal);
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.handle.close();
    }
}
