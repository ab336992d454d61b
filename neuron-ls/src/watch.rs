//! Waits until a new reading is worth while.
//!
//! Files that the source names are watched through the kernel (inotify); where
//! the source says that some changes show in no file, or the kernel refuses a
//! watch, time alone decides. Reading opens files, which is an event as well:
//! only events that change something count.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Signals that something may have changed.
pub(crate) struct Changes {
    watcher: Option<RecommendedWatcher>,
    events: Receiver<notify::Result<Event>>,
    watched: BTreeSet<PathBuf>,
    complete: bool,
    interval: Duration,
}

impl Changes {
    /// Readings are at least `interval` apart.
    pub(crate) fn every(interval: Duration) -> Self {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).ok();
        Self { watcher, events, watched: BTreeSet::new(), complete: false, interval }
    }

    /// Watches these files and directories from now on. Called before each
    /// reading, so that no change falls between reading and watching; anew
    /// each time, because a file that was replaced is another file.
    pub(crate) fn watch(&mut self, paths: Vec<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for path in std::mem::take(&mut self.watched) {
            // A file that is gone took its watch with it.
            let _ = watcher.unwatch(&path);
        }
        self.complete = !paths.is_empty();
        for path in paths {
            match watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(path)),
                Err(_) => self.complete = false,
            }
        }
    }

    /// Returns when a new reading is worth while. `polling` says that changes
    /// may show in no file.
    pub(crate) fn wait(&self, polling: bool) {
        let started = Instant::now();
        let left = || self.interval.saturating_sub(started.elapsed());
        loop {
            let event = if polling || !self.complete {
                match self.events.recv_timeout(left()) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => return,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            } else {
                match self.events.recv() {
                    Ok(event) => event,
                    Err(_) => break,
                }
            };
            if is_change(&event) {
                break;
            }
        }
        std::thread::sleep(left());
        // What happened meanwhile is seen by the reading that follows.
        while self.events.try_recv().is_ok() {}
    }
}

/// An error of the watch (a queue that overflowed) also asks for a reading.
fn is_change(event: &notify::Result<Event>) -> bool {
    match event {
        Err(_) => true,
        Ok(event) => match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
            EventKind::Access(_) => false,
            _ => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn a_write_ends_the_wait_and_reading_does_not() {
        let dir = std::env::temp_dir().join(format!("neuron-ls-watch-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("state");
        std::fs::write(&file, "1").unwrap();
        let mut changes = Changes::every(SHORT);
        changes.watch(vec![dir.clone()]);
        assert!(changes.complete, "{changes_watched:?}", changes_watched = changes.watched);

        // Reads alone: nothing that counts arrives.
        for _ in 0..3 {
            std::fs::read(&file).unwrap();
        }
        std::thread::sleep(SHORT);
        let seen: Vec<_> = changes.events.try_iter().collect();
        assert!(!seen.iter().any(is_change), "{seen:?}");

        // Without polling only the write can end the wait.
        let writer = std::thread::spawn(move || {
            std::thread::sleep(SHORT * 2);
            std::fs::write(&file, "2").unwrap();
        });
        let started = Instant::now();
        changes.wait(false);
        assert!(started.elapsed() >= SHORT);
        writer.join().unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn without_files_time_decides() {
        let mut changes = Changes::every(SHORT);
        changes.watch(Vec::new());
        let started = Instant::now();
        changes.wait(false);
        assert!(started.elapsed() >= SHORT);
    }
}
