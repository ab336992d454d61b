//! What the main loop is woken for: signals, a reader that has gone, a
//! configuration that has changed.
//!
//! Each comes from a thread of its own over one channel, so that the loop can
//! sleep until the next reading is due.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread::Builder;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::wire::Record;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// SIGINT or SIGTERM: end after the line that is being written.
    Stop,
    /// SIGHUP.
    HangUp,
    /// Nobody reads the output any more.
    ReaderGone,
    /// The output failed in another way.
    OutputFailed(io::Error),
    /// The configuration file may have changed.
    ConfigTouched,
    /// Another monitor's record came on stdin.
    Record(Box<Record>),
}

/// Catches signals.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn watch_signals(sender: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    Builder::new().name(String::from("signals")).spawn(move || {
        for signal in signals.forever() {
            let event = if signal == SIGHUP { Event::HangUp } else { Event::Stop };
            if sender.send(event).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// Tells when the reader of stdout goes away while nothing is written.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn watch_reader(sender: Sender<Event>) -> io::Result<()> {
    Builder::new().name(String::from("reader")).spawn(move || {
        let stdout = io::stdout();
        loop {
            // Errors and hang-ups are reported whatever is asked for.
            let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut asked, None) {
                Ok(_) if asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
        // The loop may have ended already.
        let _ = sender.send(Event::ReaderGone);
    })?;
    Ok(())
}

/// Watches a configuration file. Its directory is watched, because files are
/// replaced by renaming, and ConfigMaps of Kubernetes by a link.
///
/// # Errors
///
/// When the kernel gives no watch.
pub(crate) fn watch_file(path: &Path, sender: Sender<Event>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let touched = event.is_ok_and(|event| !event.kind.is_access());
        if touched {
            let _ = sender.send(Event::ConfigTouched);
        }
    })?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.map_or_else(|| PathBuf::from("."), Path::to_owned);
    watcher.watch(&directory, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
