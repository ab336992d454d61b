//! A directory that ends with the command, also when a signal ends that.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

/// How often a directory is removed that others still write to. Each of them
/// fails at its next file, so a few times are enough.
const TRIES: u32 = 200;

/// Between two of these.
const PAUSE: Duration = Duration::from_millis(5);

/// A directory for the time being. SIGINT and SIGTERM end the program as they
/// would have, and the directory with it.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    dir: Shared,
    handle: Handle,
}

/// Whoever takes the directory out removes it. At a signal the lock is never
/// given back: a command that is done waits there for its end.
type Shared = Arc<Mutex<Option<TempDir>>>;

fn lock(dir: &Shared) -> MutexGuard<'_, Option<TempDir>> {
    dir.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Temporary {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// A place for temporary files that cannot be written; signals that cannot
    /// be caught.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot catch signals")?;
        let handle = signals.handle();
        let dir = Shared::default();
        let shared = Arc::clone(&dir);
        let wait = move || {
            for signal in signals.forever() {
                let mut held = lock(&shared);
                // Who writes there fails now, and shall not tell of it.
                let _quiet = std::io::stderr().lock();
                if let Some(dir) = held.take() {
                    remove(&dir.keep());
                }
                let _ = emulate_default_handler(signal);
            }
        };
        let thread = std::thread::Builder::new().name(String::from("signals"));
        thread.spawn(wait).context("cannot make threads")?;
        // A signal from here on waits until the directory is known.
        let mut held = lock(&dir);
        let fresh = tempfile::tempdir().context("cannot make a directory for the time being")?;
        let path = fresh.path().to_owned();
        *held = Some(fresh);
        drop(held);
        Ok(Self { path, dir, handle })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory alone, when others take care of signals.
    pub(crate) fn released(self) -> Option<TempDir> {
        lock(&self.dir).take()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let gone = lock(&self.dir).take();
        drop(gone);
        self.handle.close();
    }
}

/// Removes a directory that other threads write to: what it had is moved out of
/// their way, and what they make anew in its place is removed as well.
fn remove(dir: &Path) {
    let away = dir.with_extension("gone");
    for _ in 0..TRIES {
        if !away.exists() {
            let _ = std::fs::rename(dir, &away);
        }
        let _ = std::fs::remove_dir_all(&away);
        if !away.exists() && !dir.exists() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_its_holder() {
        let one = Temporary::create().unwrap();
        let path = one.path().to_owned();
        std::fs::write(path.join("a"), "a").unwrap();
        drop(one);
        assert!(!path.exists());
        let one = Temporary::create().unwrap();
        let path = one.path().to_owned();
        let dir = one.released().unwrap();
        assert_eq!(dir.path(), path);
        drop(dir);
        assert!(!path.exists());
    }

    /// Files and directories are made all the while, as an ingest does.
    #[test]
    fn writers_cannot_keep_it() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("store");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let profiles = dir.join("profiles");
                std::fs::create_dir_all(&profiles).unwrap();
                scope.spawn(move || {
                    let write = |file: u32| {
                        let folder = profiles.join(format!("{thread}-{file}"));
                        std::fs::create_dir(&folder)?;
                        std::fs::write(folder.join("a"), "a")
                    };
                    while (0..100).all(|file| write(file).is_ok()) {
                        for file in 0..100 {
                            let folder = profiles.join(format!("{thread}-{file}"));
                            let _ = std::fs::remove_dir_all(folder);
                        }
                    }
                });
            }
            while !dir.join("profiles/3-50").exists() {
                std::thread::yield_now();
            }
            remove(&dir);
        });
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
