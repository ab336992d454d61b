//! What a query may take, and how it is ended from elsewhere.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// What a query may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for sorts, groups and joins; what is larger goes to
    /// temporary files where the operation can.
    pub memory: usize,
    /// Bytes of temporary files.
    pub spill: u64,
    /// Threads that work; 0 for one of each processor.
    pub threads: usize,
    /// How long a query may take; `None` for as long as it wants.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// 1 GiB, 100 GB of temporary files, all processors, any time (our choice).
    fn default() -> Self {
        Self { memory: 1 << 30, spill: 100_000_000_000, threads: 0, time: None }
    }
}

/// Ends the queries of a session from another thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Ends what runs, and what is asked later.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// It was used.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is used.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + use<> {
        let mut seen = self.0.subscribe();
        let keep = Arc::clone(&self.0);
        async move {
            // The sender lives as long as this future, so this ends by a stop.
            let _ = seen.wait_for(|stopped| *stopped).await;
            drop(keep);
        }
    }
}
