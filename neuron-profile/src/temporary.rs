//! A directory that ends with the command, also when SIGINT, SIGTERM or SIGHUP
//! ends that.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

/// How often a directory is removed that others still write to. Each of them
/// fails at its next file, so a few times are enough.
const TRIES: u32 = 200;

/// Between two of these.
const PAUSE: Duration = Duration::from_millis(5);

/// How long the end of a program waits for others to be done with stderr.
const QUIET: Duration = Duration::from_millis(100);

/// A directory for the time being. The signals end the program as they would
/// have, and the directory with it.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    dir: Shared,
    handle: Handle,
}

/// Whoever takes the directory out removes it before the lock is given back: a
/// signal that comes then waits, and a command that is done waits for a signal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Option<TempDir>>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<TempDir>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the directory, and ends the program as the signal would have.
    pub(crate) fn end(&self, signal: i32) {
        let mut held = self.lock();
        if let Some(dir) = held.take() {
            quiet();
            remove(&dir.keep());
        }
        let _ = emulate_default_handler(signal);
    }
}

/// Keeps all others from stderr: who writes to the directory fails now, and shall
/// not tell of it. Somebody who waits there for a reader does not hold the end up.
fn quiet() {
    let (taken, waits) = mpsc::channel();
    let hold = move || {
        let _held = std::io::stderr().lock();
        let _ = taken.send(());
        loop {
            std::thread::park();
        }
    };
    if std::thread::Builder::new().name(String::from("quiet")).spawn(hold).is_ok() {
        let _ = waits.recv_timeout(QUIET);
    }
}

impl Temporary {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// A place for temporary files that cannot be written; signals that cannot
    /// be caught.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
        let mut signals = signals.context("cannot catch signals")?;
        let handle = signals.handle();
        let dir = Shared::default();
        let shared = dir.clone();
        let wait = move || signals.forever().for_each(|signal| shared.end(signal));
        let thread = std::thread::Builder::new().name(String::from("signals"));
        thread.spawn(wait).context("cannot make threads")?;
        // A signal from here on waits until the directory is known.
        let mut held = dir.lock();
        let fresh = tempfile::tempdir().context("cannot make a directory for the time being")?;
        let path = fresh.path().to_owned();
        *held = Some(fresh);
        drop(held);
        Ok(Self { path, dir, handle })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// For others who end the program at signals.
    pub(crate) fn shared(&self) -> Shared {
        self.dir.clone()
    }

    /// Leaves signals to others, who catch them already.
    pub(crate) fn leave_signals(&self) {
        self.handle.close();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Signals are caught on: they end what comes after as they would have.
        let mut held = self.dir.lock();
        drop(held.take());
        drop(held);
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
        one.leave_signals();
        let shared = one.shared();
        assert!(path.exists() && shared.lock().is_some());
        drop(one);
        assert!(!path.exists() && shared.lock().is_none());
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
