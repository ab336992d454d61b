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

/// How long at most nobody looks whether the reader of the output has gone.
const TICK: Duration = Duration::from_millis(250);

/// Signals that something may have changed.
pub(crate) struct Changes {
    watcher: Option<RecommendedWatcher>,
    events: Receiver<notify::Result<Event>>,
    watched: BTreeSet<PathBuf>,
    complete: bool,
    interval: Duration,
    /// When the last reading began.
    read: Instant,
}

impl Changes {
    /// Readings are at least `interval` apart.
    pub(crate) fn every(interval: Duration) -> Self {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).ok();
        Self {
            watcher,
            events,
            watched: BTreeSet::new(),
            complete: false,
            interval,
            read: Instant::now(),
        }
    }

    /// Watches these files and directories from now on. Called before each
    /// reading, so that no change falls between reading and watching; anew
    /// each time, because a file that was replaced is another file.
    pub(crate) fn watch(&mut self, paths: Vec<PathBuf>) {
        self.read = Instant::now();
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

    /// Returns true when a new reading is worth while: at a change once the
    /// last reading began `interval` ago, otherwise when time is up. `polling`
    /// says that changes may show in no file. False as soon as `gone`, which
    /// is asked several times a second.
    pub(crate) fn wait(&self, polling: bool, gone: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        let by_time = polling || !self.complete;
        let mut changed = false;
        loop {
            if gone() {
                return false;
            }
            let left = match (changed, by_time) {
                (true, _) => self.interval.saturating_sub(self.read.elapsed()),
                (false, true) => self.interval.saturating_sub(began.elapsed()),
                (false, false) => TICK,
            };
            if left.is_zero() {
                break;
            }
            match self.events.recv_timeout(left.min(TICK)) {
                Ok(event) => changed |= is_change(&event),
                Err(RecvTimeoutError::Timeout) => {}
                // No watch could be made, so `by_time` holds.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(TICK)),
            }
        }
        // What happened meanwhile is seen by the reading that follows.
        while self.events.try_recv().is_ok() {}
        true
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
        assert!(changes.wait(false, || false));
        assert!(started.elapsed() >= SHORT);
        writer.join().unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_change_counts_at_once_when_the_last_reading_is_old() {
        const LONG: Duration = Duration::from_secs(20);
        let dir = std::env::temp_dir().join(format!("neuron-ls-old-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut changes = Changes::every(LONG);
        changes.watch(vec![dir.clone()]);
        // A reading that took longer than the interval.
        let Some(read) = changes.read.checked_sub(LONG) else { return };
        changes.read = read;
        std::fs::write(dir.join("state"), "2").unwrap();
        for polling in [false, true] {
            let started = Instant::now();
            std::fs::write(dir.join("state"), "2").unwrap();
            assert!(changes.wait(polling, || false));
            assert!(started.elapsed() < LONG / 2, "{:?}", started.elapsed());
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_reader_that_is_gone_ends_the_wait() {
        let mut changes = Changes::every(Duration::from_secs(20));
        changes.watch(Vec::new());
        let started = Instant::now();
        let gone = || started.elapsed() > SHORT;
        assert!(!changes.wait(true, gone));
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn without_files_time_decides() {
        let mut changes = Changes::every(SHORT);
        changes.watch(Vec::new());
        let started = Instant::now();
        assert!(changes.wait(false, || false));
        assert!(started.elapsed() >= SHORT);
    }
}
