//! The time by which readings are due. A test can hurry it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::events::Event;

/// The clock.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// How far it is ahead of the real one, nanoseconds; it does not wait then.
    #[cfg(test)]
    pub(crate) ahead: Option<std::sync::Arc<std::sync::atomic::AtomicU64>>,
}

impl Clock {
    pub(crate) fn now(&self) -> Instant {
        #[cfg(test)]
        if let Some(ahead) = &self.ahead {
            let ahead = ahead.load(std::sync::atomic::Ordering::Relaxed);
            return Instant::now() + Duration::from_nanos(ahead);
        }
        Instant::now()
    }

    /// Waits for an event.
    pub(crate) fn wait(
        &self,
        events: &Receiver<Event>,
        time: Duration,
    ) -> Result<Event, RecvTimeoutError> {
        #[cfg(test)]
        if let Some(ahead) = &self.ahead {
            let time = u64::try_from(time.as_nanos()).unwrap();
            ahead.fetch_add(time, std::sync::atomic::Ordering::Relaxed);
            return events.try_recv().map_err(|_| RecvTimeoutError::Timeout);
        }
        events.recv_timeout(time)
    }
}
