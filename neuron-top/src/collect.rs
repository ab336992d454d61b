//! The thread that reads: at its pace, whatever the screen does. The screen
//! never waits for it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::events::Event;
use crate::reading::{Reading, Watch};

/// Longest time from the first reading to the second, with which rates begin.
const SECOND: Duration = Duration::from_millis(250);

/// The threads end when this does.
#[derive(Debug)]
pub(crate) struct Collector {
    _stop: [Sender<()>; 2],
}

/// Starts reading: `reading` every period, `watch` every so often.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn start(
    mut reading: Reading,
    watch: Option<Watch>,
    period: Duration,
    sender: Sender<Event>,
) -> io::Result<Collector> {
    let (stop, stopped) = channel();
    let (stop_watch, watch_stopped) = channel();
    if let Some(mut watch) = watch {
        Builder::new().name(String::from("health")).spawn(move || {
            loop {
                watch.ask();
                if wait(&watch_stopped, Watch::PERIOD) {
                    return;
                }
            }
        })?;
    }
    Builder::new().name(String::from("collector")).spawn(move || {
        let mut gone = Gone(Some(sender));
        let mut next = Instant::now();
        for number in 0_u64.. {
            let event = match reading.frame() {
                Ok(frame) => Event::Frame(Arc::new(frame)),
                Err(error) => Event::Failed(error),
            };
            let ends = matches!(event, Event::Failed(_));
            let Some(Ok(())) = gone.0.as_ref().map(|sender| sender.send(event)) else { break };
            if ends {
                break;
            }
            next += if number == 0 { period.min(SECOND) } else { period };
            // After a reading that took longer than a period: at once, and
            // then on from there.
            let now = Instant::now();
            next = next.max(now);
            if wait(&stopped, next - now) {
                break;
            }
        }
        // An end as it was meant to be.
        gone.0 = None;
    })?;
    Ok(Collector { _stop: [stop, stop_watch] })
}

/// Tells that the thread has panicked.
struct Gone(Option<Sender<Event>>);

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(Event::CollectorDied);
        }
    }
}

/// Waits; whether it is to end.
fn wait(stopped: &Receiver<()>, time: Duration) -> bool {
    !matches!(stopped.recv_timeout(time), Err(RecvTimeoutError::Timeout))
}
