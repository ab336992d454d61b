//! The file system as the readers see it.
//!
//! The kernel source reads `/sys`, `/dev` and `/proc` through [`Files`]; a
//! simulated instance answers the same paths from its state. So there is one
//! reading code, and a captured tree is a third way to feed it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use crate::{Error, Result};

/// Longest file that is read; every file of interest is far below it.
const LIMIT: usize = 256 * 1024;

/// Opens for reading without waiting for the other end of a FIFO. Files of
/// sysfs and of disks do not know the difference.
pub(super) const NEVER_WAITING: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// A FIFO without a writer reads as empty and `/dev/zero` without end. Asked
/// only then: it costs a call.
fn refuse_other_than_file(file: &OwnedFd) -> io::Result<()> {
    match FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is no regular file")),
    }
}

/// Read-only access to a tree. Paths are relative to its root and use `/`,
/// for instance `sys/module/neuron/version`.
pub trait Files: Debug + Send + Sync {
    /// The whole content of a file.
    ///
    /// # Errors
    ///
    /// The error of the system, unchanged: callers tell `ENOENT` (this driver
    /// has no such leaf) from `EACCES` and `EIO`.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// As [`Self::read`], of a file of `proc` that is read again and again.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    fn read_often(&self, path: &str) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// Names in a directory, in no particular order.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    fn list(&self, path: &str) -> io::Result<Vec<String>>;

    /// Minor number when `path` is a character device, `None` for any other
    /// kind of file.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    fn minor(&self, path: &str) -> io::Result<Option<u32>>;

    /// Whether `proc` shows processes by the pids that the driver uses, those
    /// of the host.
    fn shows_host_processes(&self) -> bool {
        true
    }

    /// Whether no read can block, so that no thread has to be set aside for
    /// one that might.
    fn answers_at_once(&self) -> bool {
        false
    }

    /// Whether everything that it shows below `sys` and `dev` stays as it is,
    /// so that what was read once need not be read again.
    fn stays(&self) -> bool {
        false
    }

    /// The path as an error message should name it.
    fn display(&self, path: &str) -> PathBuf;
}

/// A tree of the host's file system.
#[derive(Debug)]
pub struct HostFiles {
    root: PathBuf,
    dir: OwnedFd,
    /// Files that are read often: opening one costs as much as reading it.
    open: Mutex<BTreeMap<String, OwnedFd>>,
}

/// Files that are kept open at most.
const OPEN: usize = 64;

impl HostFiles {
    /// Opens the root of the tree.
    ///
    /// # Errors
    ///
    /// When `root` is not a directory that can be opened.
    pub fn open(root: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(CWD, root, flags, Mode::empty())
            .map_err(|errno| Error::io("open", root)(errno.into()))?;
        Ok(Self { root: root.to_owned(), dir, open: Mutex::default() })
    }
}

impl Files for HostFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let file = rustix::fs::openat(&self.dir, path, NEVER_WAITING, Mode::empty())?;
        content(&file)
    }

    fn read_often(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(path) {
            // Of a file in whose place another was put nothing is told; a
            // process that has ended gives an error, and another may have its
            // pid by now.
            match content(file) {
                Ok(content) if rustix::fs::fstat(file)?.st_nlink > 0 => return Ok(content),
                Ok(_) | Err(_) => drop(open.remove(path)),
            }
        }
        let file = rustix::fs::openat(&self.dir, path, NEVER_WAITING, Mode::empty())?;
        let content = content(&file)?;
        if open.len() >= OPEN {
            open.clear();
        }
        open.insert(path.to_owned(), file);
        Ok(content)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(&self.dir, path, flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(dir)? {
            // A name that is not UTF-8 is none of the driver's.
            if let Ok(name) = String::from_utf8(entry?.file_name().to_bytes().to_vec())
                && name != "."
                && name != ".."
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn minor(&self, path: &str) -> io::Result<Option<u32>> {
        let stat = rustix::fs::statat(&self.dir, path, AtFlags::empty())?;
        let device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        Ok(device.then(|| rustix::fs::minor(stat.st_rdev)))
    }

    fn shows_host_processes(&self) -> bool {
        // The initial pid namespace has this inode in every kernel. Another
        // root carries the `proc` that somebody chose to put there.
        self.root != Path::new("/")
            || rustix::fs::readlinkat(&self.dir, "proc/self/ns/pid", Vec::new())
                .is_ok_and(|link| link.as_bytes() == b"pid:[4026531836]")
    }

    fn display(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// Everything in a file, from its beginning.
fn content(file: &OwnedFd) -> io::Result<Vec<u8>> {
    // sysfs reports a size of 4096 for every leaf and fills one read; a
    // short read is therefore the end, and saves a second call.
    let mut content = vec![0; 4096];
    let mut filled = 0;
    loop {
        let space = content.get_mut(filled..).unwrap_or_default();
        let room = space.len();
        let got = rustix::io::retry_on_intr(|| read_at(file, &mut *space, filled))?;
        filled += got;
        if got < room || filled >= LIMIT {
            if filled == 0 || filled >= LIMIT {
                refuse_other_than_file(file)?;
            }
            content.truncate(filled);
            return Ok(content);
        }
        content.resize(content.len() * 2, 0);
    }
}

/// Reads from an offset; what has none, such as a pipe, from where it is.
fn read_at(file: &OwnedFd, space: &mut [u8], at: usize) -> rustix::io::Result<usize> {
    let offset = u64::try_from(at).unwrap_or(u64::MAX);
    match rustix::io::pread(file, &mut *space, offset) {
        Err(rustix::io::Errno::SPIPE) => rustix::io::read(file, space),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("device")).unwrap();
        let files = HostFiles::open(dir.path()).unwrap();
        for name in ["fifo", "socket", "device"] {
            let error = files.read(name).unwrap_err();
            assert_ne!(error.kind(), io::ErrorKind::NotFound, "{name}: {error}");
        }
        // With a writer that says nothing.
        let _writer = std::fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
        assert_eq!(files.read("fifo").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn reads_short_long_and_empty_files() {
        let dir = tempfile::tempdir().unwrap();
        for (name, length) in [("empty", 0), ("short", 5), ("page", 4096), ("long", 70_000)] {
            std::fs::write(dir.path().join(name), vec![b'x'; length]).unwrap();
        }
        let files = HostFiles::open(dir.path()).unwrap();
        for (name, length) in [("empty", 0), ("short", 5), ("page", 4096), ("long", 70_000)] {
            assert_eq!(files.read(name).unwrap().len(), length, "{name}");
        }
        assert_eq!(files.read("none").unwrap_err().kind(), io::ErrorKind::NotFound);
        // What is read often is read anew each time, and opened anew when it is another.
        assert_eq!(files.read_often("short").unwrap(), b"xxxxx");
        std::fs::write(dir.path().join("short"), "yy").unwrap();
        assert_eq!(files.read_often("short").unwrap(), b"yy");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let path = format!("{}/stat", child.id());
        let proc = HostFiles::open(Path::new("/proc")).unwrap();
        assert!(!proc.read_often(&path).unwrap().is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(proc.read_often(&path).is_err());
        let mut names = files.list("").or_else(|_| files.list(".")).unwrap();
        names.sort();
        assert_eq!(names, ["empty", "long", "page", "short"]);
        assert_eq!(files.minor("short").unwrap(), None);
        assert_eq!(HostFiles::open(Path::new("/dev")).unwrap().minor("null").unwrap(), Some(3));
    }
}
