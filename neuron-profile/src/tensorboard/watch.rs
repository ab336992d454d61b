//! Whether anything happened in a log directory since it was looked at.
//!
//! The kernel tells of what this machine does. What another one does in a shared
//! directory it does not tell, so that a quiet directory is looked at again all
//! the same, only seldom.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Directories that are watched at most; a log directory with more is looked at
/// as if nothing could be watched (our choice: a user may watch 8192 or more).
const MOST: usize = 4096;

/// How old a look may be while nothing was told (our choice).
const QUIET: Duration = Duration::from_secs(10);

/// How old where something was told (our choice): writers write in many pieces.
const TOLD: Duration = Duration::from_millis(250);

/// How old where nothing can be told (our choice).
const BLIND: Duration = Duration::from_secs(1);

/// The directories of the last look.
#[derive(Debug)]
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    happened: Arc<AtomicBool>,
    on: HashSet<PathBuf>,
    /// All of them are watched.
    whole: bool,
}

impl Default for Watch {
    fn default() -> Self {
        let happened = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&happened);
        let told = move |event: notify::Result<Event>| {
            // An error may have swallowed a change; that files were read is none.
            let change = event.map_or(true, |event| {
                let kind = event.kind;
                event.need_rescan() || kind.is_create() || kind.is_modify() || kind.is_remove()
            });
            if change {
                own.store(true, Ordering::Relaxed);
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(told, config).ok();
        Self { watcher, happened, on: HashSet::new(), whole: false }
    }
}

impl Watch {
    /// How old a look may be now.
    pub(super) fn patience(&self) -> Duration {
        match (self.whole, self.happened.load(Ordering::Relaxed)) {
            (false, _) => BLIND,
            (true, false) => QUIET,
            (true, true) => TOLD,
        }
    }

    /// A look begins: what happens from now on asks for another one.
    pub(super) fn begin(&self) {
        self.happened.store(false, Ordering::Relaxed);
    }

    /// A look went through these directories.
    pub(super) fn follow(&mut self, directories: &[PathBuf]) {
        let Some(watcher) = &mut self.watcher else { return };
        if directories.is_empty() || directories.len() > MOST {
            self.whole = false;
            return;
        }
        let now: HashSet<&PathBuf> = directories.iter().collect();
        self.on.retain(|known| {
            let stays = now.contains(known);
            if !stays {
                // One that was removed is not watched any more.
                let _ = watcher.unwatch(known);
            }
            stays
        });
        self.whole = true;
        for directory in directories {
            if self.on.contains(directory) {
                continue;
            }
            match watcher.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.on.insert(directory.clone());
                    // Between the look and the watch nobody was told.
                    self.happened.store(true, Ordering::Relaxed);
                }
                Err(_) => self.whole = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn until(watch: &Watch, patience: Duration) {
        let start = Instant::now();
        while watch.patience() != patience {
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", watch.patience());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn what_happens_asks_for_another_look() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let both = [dir.path().to_owned(), below.clone()];
        let mut watch = Watch::default();
        assert_eq!(watch.patience(), BLIND);
        watch.follow(&both);
        assert_eq!(watch.patience(), TOLD);
        watch.begin();
        watch.follow(&both);
        assert_eq!(watch.patience(), QUIET);
        std::fs::write(below.join("x.ntff"), "a").unwrap();
        until(&watch, TOLD);
        watch.begin();
        watch.follow(&both);
        std::fs::remove_dir_all(&below).unwrap();
        until(&watch, TOLD);
        watch.begin();
        watch.follow(&both[..1]);
        assert_eq!(watch.on.len(), 1);
        std::fs::create_dir(&below).unwrap();
        until(&watch, TOLD);
        watch.begin();
        watch.follow(&both);
        assert_eq!((watch.on.len(), watch.patience()), (2, TOLD));
    }

    #[test]
    fn a_directory_that_cannot_be_watched_is_looked_at_often() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = Watch::default();
        watch.follow(&[dir.path().to_owned(), dir.path().join("none")]);
        assert_eq!(watch.patience(), BLIND);
        watch.follow(&[]);
        assert_eq!(watch.patience(), BLIND);
    }
}
