//! The directory of profiles: who may write, and what is visible.
//!
//! A profile appears by one rename of a directory whose files are synced, and
//! is replaced by an exchange of two names where the file system can. An ingest
//! holds the lock of its id; a directory that is left by a killed one is
//! removed by the next ingest that can take its lock.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::manifest::{LAYOUT, Labels, Manifest};
use crate::read::Profile;

/// Begin of the name of a directory that is being filled.
const NEW: &str = ".new-";

/// Begin of the name of one that was replaced, where names cannot be exchanged.
const OLD: &str = ".old-";

/// A directory of profiles.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A profile in the list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is.
    pub manifest: Manifest,
    /// What a person calls it.
    pub labels: Labels,
}

impl Store {
    /// The store in a directory, which need not be there yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The place by the XDG rules: `$XDG_DATA_HOME/neuron-profile`, else
    /// `$HOME/.local/share/neuron-profile`; `None` without either.
    pub fn default_root(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        absolute("XDG_DATA_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local/share")))
            .map(|data| data.join("neuron-profile"))
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the profiles are.
    pub fn profiles(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// All profiles, latest first. One that cannot be read is left out and told.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read; none at all is an empty list.
    pub fn list(&self) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        let dir = self.profiles();
        let (mut found, mut bad) = (Vec::new(), Vec::new());
        for id in names(&dir)?.into_iter().filter(|name| is_id(name)) {
            match self.entry(&id) {
                Ok(entry) => found.push(entry),
                // Deleted since the directory was read.
                Err(Error::Missing { .. }) => {}
                Err(error) => bad.push(error),
            }
        }
        found.sort_by(|a, b| {
            let key = |entry: &Entry| entry.manifest.written_at_ns;
            key(b).cmp(&key(a)).then_with(|| a.manifest.id.cmp(&b.manifest.id))
        });
        Ok((found, bad))
    }

    /// Manifest and labels of an id.
    ///
    /// # Errors
    ///
    /// No such profile, or a damaged one.
    pub fn entry(&self, id: &str) -> Result<Entry, Error> {
        let dir = self.dir(id)?;
        if !dir.join("manifest.json").exists() {
            return Err(self.missing(id));
        }
        entry_in(&dir)
    }

    /// The id of an id, of a display name that only one profile has, or of the
    /// begin of an id (`n_` and at least four digits) that fits one.
    ///
    /// # Errors
    ///
    /// None or several.
    pub fn find(&self, name: &str) -> Result<String, Error> {
        if is_id(name) && self.dir(name)?.join("manifest.json").exists() {
            return Ok(name.to_owned());
        }
        let (list, _) = self.list()?;
        let short = name.len() >= 6 && name.starts_with("n_");
        let mut fitting = list
            .iter()
            .filter(|e| e.labels.display_name == name || (short && e.manifest.id.starts_with(name)))
            .map(|entry| entry.manifest.id.clone());
        let first = fitting.next().ok_or_else(|| self.missing(name))?;
        match fitting.count() {
            0 => Ok(first),
            more => Err(Error::Ambiguous { name: name.to_owned(), count: more + 1 }),
        }
    }

    /// Opens a profile for reading; `name` as for [`find`](Self::find).
    ///
    /// # Errors
    ///
    /// No such profile, or a damaged one.
    pub fn open(&self, name: &str) -> Result<Profile, Error> {
        let id = self.find(name)?;
        let Entry { manifest, labels } = self.entry(&id)?;
        Profile::open(self.dir(&id)?, manifest, labels)
    }

    /// Starts an ingest: waits for another one of the same id, removes what
    /// killed ones left, and makes an empty directory.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when it is stored and `force` is off.
    pub fn begin(&self, id: &str, force: bool) -> Result<Draft, Error> {
        let target = self.dir(id)?;
        let lock = self.lock(id)?;
        self.clean(Some(id))?;
        if target.exists() && !force {
            return Err(Error::Exists(id.to_owned()));
        }
        let dir = self.profiles().join(format!("{NEW}{id}"));
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(Error::io("remove", &dir))?;
        }
        fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        Ok(Draft { id: id.to_owned(), dir, target, _lock: lock, done: false })
    }

    /// Removes a profile; `name` as for [`find`](Self::find). Gives its id.
    ///
    /// # Errors
    ///
    /// No such profile, or a directory that cannot be removed.
    pub fn delete(&self, name: &str) -> Result<String, Error> {
        let id = self.find(name)?;
        let _lock = self.lock(&id)?;
        let dir = self.dir(&id)?;
        // It disappears at once; what a crash leaves is removed by the next ingest.
        let gone = self.profiles().join(format!("{NEW}{id}"));
        if gone.exists() {
            fs::remove_dir_all(&gone).map_err(Error::io("remove", &gone))?;
        }
        fs::rename(&dir, &gone).map_err(Error::io("remove", &dir))?;
        fs::remove_dir_all(&gone).map_err(Error::io("remove", &gone))?;
        Ok(id)
    }

    /// Changes name and tags; `name` as for [`find`](Self::find). Gives what
    /// they are now.
    ///
    /// # Errors
    ///
    /// No such profile, or a file that cannot be replaced.
    pub fn label(&self, name: &str, change: impl FnOnce(&mut Labels)) -> Result<Entry, Error> {
        let id = self.find(name)?;
        let _lock = self.lock(&id)?;
        let mut entry = self.entry(&id)?;
        change(&mut entry.labels);
        entry.labels.tags.sort();
        entry.labels.tags.dedup();
        let dir = self.dir(&id)?;
        let fresh = dir.join(".labels.json");
        write_json(&fresh, &entry.labels)?;
        let path = dir.join("labels.json");
        fs::rename(&fresh, &path).map_err(Error::io("replace", &path))?;
        sync_dir(&dir)?;
        Ok(entry)
    }

    fn dir(&self, id: &str) -> Result<PathBuf, Error> {
        if is_id(id) { Ok(self.profiles().join(id)) } else { Err(Error::BadId(id.to_owned())) }
    }

    fn missing(&self, name: &str) -> Error {
        Error::Missing { name: name.to_owned(), dir: self.profiles() }
    }

    fn lock_file(&self, id: &str) -> Result<(PathBuf, File), Error> {
        let dir = self.root.join("locks");
        fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        let path = dir.join(id);
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        Ok((path, file))
    }

    /// Waits for the lock of an id.
    fn lock(&self, id: &str) -> Result<File, Error> {
        let (path, file) = self.lock_file(id)?;
        file.lock().map_err(Error::io("lock", &path))?;
        Ok(file)
    }

    /// Removes what killed ingests left. `held` is locked by the caller.
    fn clean(&self, held: Option<&str>) -> Result<(), Error> {
        let dir = self.profiles();
        for name in names(&dir)? {
            let new = name.strip_prefix(NEW);
            let Some(id) = new.or_else(|| name.strip_prefix(OLD)).filter(|id| is_id(id)) else {
                continue;
            };
            let mut lock = None;
            if held != Some(id) {
                let (path, file) = self.lock_file(id)?;
                match file.try_lock() {
                    Ok(()) => lock = Some(file),
                    Err(TryLockError::WouldBlock) => continue,
                    Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
                }
            }
            let left = dir.join(&name);
            let target = dir.join(id);
            if new.is_none() && !target.exists() {
                // Killed between the two renames of a replacement.
                fs::rename(&left, &target).map_err(Error::io("restore", &target))?;
            } else if left.exists() {
                fs::remove_dir_all(&left).map_err(Error::io("remove", &left))?;
            }
            drop(lock);
        }
        Ok(())
    }
}

/// A profile that is being written. Dropped without a commit, it is removed.
#[derive(Debug)]
pub struct Draft {
    id: String,
    dir: PathBuf,
    target: PathBuf,
    _lock: File,
    done: bool,
}

impl Draft {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The directory to fill.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes manifest and labels, syncs all files and makes the profile
    /// visible.
    ///
    /// # Errors
    ///
    /// Files that cannot be written; then nothing is visible.
    pub fn commit(mut self, manifest: &mut Manifest, labels: &Labels) -> Result<(), Error> {
        write_json(&self.dir.join("labels.json"), labels)?;
        manifest.bytes = 0;
        for name in names(&self.dir)? {
            let path = self.dir.join(name);
            let file = File::open(&path).map_err(Error::io("open", &path))?;
            file.sync_all().map_err(Error::io("write", &path))?;
            let meta = file.metadata().map_err(Error::io("look at", &path))?;
            manifest.bytes = manifest.bytes.saturating_add(meta.len());
        }
        write_json(&self.dir.join("manifest.json"), manifest)?;
        sync_dir(&self.dir)?;
        let parent = self.target.parent().unwrap_or(&self.target).to_owned();
        if self.target.exists() {
            self.replace(&parent)?;
        } else {
            fs::rename(&self.dir, &self.target).map_err(Error::io("create", &self.target))?;
        }
        self.done = true;
        sync_dir(&parent)
    }

    fn replace(&self, parent: &Path) -> Result<(), Error> {
        let cwd = rustix::fs::CWD;
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        if rustix::fs::renameat_with(cwd, &self.dir, cwd, &self.target, flags).is_err() {
            let old = parent.join(format!("{OLD}{}", self.id));
            fs::rename(&self.target, &old).map_err(Error::io("replace", &self.target))?;
            fs::rename(&self.dir, &self.target).map_err(Error::io("create", &self.target))?;
            return fs::remove_dir_all(&old).map_err(Error::io("remove", &old));
        }
        fs::remove_dir_all(&self.dir).map_err(Error::io("remove", &self.dir))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.done {
            // The next ingest removes what stays.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Manifest and labels of the profile in a directory, wherever that is.
///
/// # Errors
///
/// Files that are not there or damaged.
pub fn entry_in(dir: &Path) -> Result<Entry, Error> {
    let path = dir.join("manifest.json");
    let manifest: Manifest = read_json(&path)?;
    if manifest.layout > LAYOUT {
        return Err(Error::Newer { path, found: manifest.layout, known: LAYOUT });
    }
    Ok(Entry { manifest, labels: read_json(&dir.join("labels.json"))? })
}

/// `n_` and 40 hex digits.
pub fn is_id(text: &str) -> bool {
    text.strip_prefix("n_").is_some_and(|digits| {
        digits.len() == 40 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The id of a pair of files: it depends on their content alone, and on the
/// execution where it is not the first. 40 digits are those of the vendor's
/// tool, whose hash is not known (profiler.md §8); ours is SHA-256, cut. `read`
/// gives the bytes of the trace piece by piece, an empty one at the end.
///
/// # Errors
///
/// Those of `read`.
pub fn content_id<E>(
    neff: &[u8],
    execution: u32,
    mut read: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<String, E> {
    let mut hash = Sha256::new();
    hash.update(u64::try_from(neff.len()).unwrap_or(u64::MAX).to_le_bytes());
    hash.update(neff);
    let mut piece = Vec::new();
    loop {
        read(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        hash.update(&piece);
    }
    if execution > 0 {
        hash.update(execution.to_le_bytes());
    }
    let digits =
        hash.finalize().iter().take(20).map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(format!("n_{digits}"))
}

/// Names in a directory; none when it is not there.
fn names(dir: &Path) -> Result<Vec<String>, Error> {
    let list = match fs::read_dir(dir) {
        Ok(list) => list,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", dir)(error)),
    };
    let mut out = Vec::new();
    for entry in list {
        let entry = entry.map_err(Error::io("read", dir))?;
        out.extend(entry.file_name().into_string());
    }
    out.sort();
    Ok(out)
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::damaged(path, error))
}

/// On several lines where people may look at it.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let large = ["lanes.json", "kinds.json", "series.json"];
    let small = path.file_name().is_none_or(|name| !large.iter().any(|large| name == *large));
    let bytes = if small { serde_json::to_vec_pretty(value) } else { serde_json::to_vec(value) };
    let mut bytes = bytes.map_err(|error| Error::damaged(path, error))?;
    bytes.push(b'\n');
    let mut file = File::create(path).map_err(Error::io("create", path))?;
    file.write_all(&bytes).map_err(Error::io("write", path))?;
    file.sync_all().map_err(Error::io("write", path))
}

fn sync_dir(dir: &Path) -> Result<(), Error> {
    let file = File::open(dir).map_err(Error::io("open", dir))?;
    file.sync_all().map_err(Error::io("sync", dir))
}
