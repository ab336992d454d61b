//! Files that were uploaded and wait for a job.
//!
//! They lie in a directory of this server below the data path. It is removed
//! with the server; one that a killed server left is removed by the next, which
//! sees that nobody holds its lock.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::answer::Trouble;

/// Files that wait at most.
const MOST: usize = 64;

/// How long a file waits.
const WAITS: Duration = Duration::from_secs(3600);

/// Letters of a name at most.
const LETTERS: usize = 255;

/// A file that was uploaded, whole. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) path: PathBuf,
    /// Its name where it came from, without folders.
    pub(super) name: String,
    pub(super) bytes: u64,
    at: Instant,
}

impl Drop for Upload {
    fn drop(&mut self) {
        // The directory goes with the server.
        let _ = fs::remove_file(&self.path);
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    file: File,
    upload: Upload,
    limit: u64,
}

/// The directory; locked as long as the server lives.
#[derive(Debug)]
struct Place {
    dir: tempfile::TempDir,
    lock: PathBuf,
    _held: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.lock);
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Uploads {
    root: PathBuf,
    /// Bytes of a file at most.
    limit: u64,
    place: Mutex<Option<Place>>,
    waiting: Mutex<HashMap<String, Upload>>,
}

fn trouble(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Trouble {
    let text = format!("cannot {what} {}", path.display());
    move |error| {
        let full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
        let reason = neuron_core::error::io_reason(&error);
        Trouble::new(if full { 507 } else { 500 }, format!("{text}: {reason}"))
    }
}

/// The name of a file without folders, for people.
fn plain(name: &str) -> Result<String, Trouble> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() || last.chars().count() > LETTERS || last.chars().any(char::is_control) {
        return Err(Trouble::request(format!("name is that of a file: 1 to {LETTERS} letters")));
    }
    Ok(last.to_owned())
}

impl Uploads {
    /// Uploads below the data path `root`; removes what killed servers left.
    pub(super) fn new(root: &Path, limit: u64) -> Self {
        let root = root.join("uploads");
        // What cannot be removed now may be by the next server.
        let _ = clean(&root);
        Self { root, limit, place: Mutex::default(), waiting: Mutex::default() }
    }

    /// The directory, made when it is needed.
    fn dir(&self) -> Result<PathBuf, Trouble> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = &*place {
            return Ok(place.dir.path().to_owned());
        }
        fs::create_dir_all(&self.root).map_err(trouble("make", &self.root))?;
        let dir = tempfile::Builder::new().prefix("u").tempdir_in(&self.root);
        let dir = dir.map_err(trouble("make a directory in", &self.root))?;
        let lock = dir.path().with_extension("lock");
        let held = File::create(&lock).map_err(trouble("make", &lock))?;
        held.lock().map_err(trouble("lock", &lock))?;
        let path = dir.path().to_owned();
        *place = Some(Place { dir, lock, _held: held });
        Ok(path)
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, Upload>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes files that waited too long.
    pub(super) fn expire(&self) {
        self.waiting().retain(|_, upload| upload.at.elapsed() < WAITS);
    }

    /// Begins a file.
    pub(super) fn begin(&self, name: &str) -> Result<Writing, Trouble> {
        let name = plain(name)?;
        self.expire();
        if self.waiting().len() >= MOST {
            let text = format!("{MOST} uploads wait already; start their jobs, or delete some");
            return Err(Trouble::new(507, text));
        }
        let mut bytes = [0; 8];
        let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        random.map_err(trouble("read", Path::new("/dev/urandom")))?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.dir()?.join(digits);
        let file = File::options().write(true).create_new(true).open(&path);
        let file = file.map_err(trouble("make", &path))?;
        let upload = Upload { path, name, bytes: 0, at: Instant::now() };
        Ok(Writing { file, upload, limit: self.limit })
    }

    /// A file is whole; its id.
    pub(super) fn finish(&self, writing: Writing) -> String {
        let upload = writing.upload;
        let id = upload.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let id = id.unwrap_or_default();
        self.waiting().insert(id.clone(), upload);
        id
    }

    /// Takes a file away from here.
    pub(super) fn take(&self, id: &str) -> Result<Upload, Trouble> {
        let taken = self.waiting().remove(id);
        taken.ok_or_else(|| Trouble::new(404, format!("there is no upload {id:?}")))
    }

    /// Takes two files, both or none.
    pub(super) fn take_pair(&self, neff: &str, ntff: &str) -> Result<(Upload, Upload), Trouble> {
        if neff == ntff {
            return Err(Trouble::request("neff and ntff are two uploads"));
        }
        let first = self.take(neff)?;
        match self.take(ntff) {
            Ok(second) => Ok((first, second)),
            Err(trouble) => {
                self.waiting().insert(neff.to_owned(), first);
                Err(trouble)
            }
        }
    }
}

impl Writing {
    /// Appends bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.upload.bytes = self.upload.bytes.saturating_add(bytes.len() as u64);
        if self.upload.bytes > self.limit {
            let most = self.limit >> 20;
            let text = format!("an upload has at most {most} MiB; --upload-limit allows more");
            return Err(Trouble::new(413, text));
        }
        self.file.write_all(bytes).map_err(trouble("write", &self.upload.path))
    }

    /// Bytes so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.upload.bytes
    }

    /// Its name for people.
    pub(super) fn name(&self) -> &str {
        &self.upload.name
    }
}

/// Removes directories whose lock nobody holds.
fn clean(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.extension().is_some() {
            continue;
        }
        let lock = path.with_extension("lock");
        // One that is being made has no lock yet for a moment.
        let fresh = path.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| {
            at.elapsed().is_ok_and(|age| age < Duration::from_secs(5)) && !lock.exists()
        });
        let free = match File::open(&lock) {
            Ok(file) => file.try_lock().is_ok(),
            Err(_) => !fresh,
        };
        if free {
            fs::remove_dir_all(&path)?;
            let _ = fs::remove_file(&lock);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_wait_and_go() {
        let root = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(root.path(), 10);
        let mut writing = uploads.begin("C:\\dir/a.neff").unwrap();
        assert_eq!(writing.name(), "a.neff");
        writing.write(b"12345").unwrap();
        writing.write(b"67890").unwrap();
        assert!(writing.write(b"x").is_err());
        let path = writing.upload.path.clone();
        assert!(path.starts_with(root.path().join("uploads")));
        drop(writing);
        assert!(!path.exists());
        let id = uploads.finish(uploads.begin("b").unwrap());
        assert!(uploads.take_pair(&id, "nothing").is_err());
        assert!(uploads.take_pair(&id, &id).is_err());
        let upload = uploads.take(&id).unwrap();
        assert!(upload.path.exists() && uploads.take(&id).is_err());
        drop(upload);
        for bad in ["", "a/", "a\nb", &"x".repeat(300)] {
            assert!(uploads.begin(bad).is_err(), "{bad:?}");
        }
        for _ in 0..MOST {
            uploads.finish(uploads.begin("c").unwrap());
        }
        assert!(uploads.begin("one more").is_err());
    }

    #[test]
    fn what_a_killed_server_left_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let left = root.path().join("uploads/uleft");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.with_extension("lock"), b"").unwrap();
        let living = Uploads::new(root.path(), 10);
        assert!(!left.exists());
        let id = living.finish(living.begin("a").unwrap());
        // Another server leaves what is in use alone.
        let other = Uploads::new(root.path(), 10);
        let upload = living.take(&id).unwrap();
        assert!(upload.path.exists());
        drop((upload, living, other));
        assert_eq!(fs::read_dir(root.path().join("uploads")).unwrap().count(), 0);
    }
}
