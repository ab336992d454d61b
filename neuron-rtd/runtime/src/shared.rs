//! Shared memory of clients: a descriptor, read and written at offsets.
//!
//! Nothing is mapped: a client that truncates its object makes a copy fail
//! here and nothing else. The object is opened once, when the client maps it,
//! because clients remove the name right after that (neuron-rtd.md §1.5).

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags as Open;
use rustix::io::Errno;
use rustix::shm::{Mode, OFlags};

use crate::failure::{Code, Failure};

/// Bits of `mmap_prot`.
pub(crate) const READ: u32 = 1;
pub(crate) const WRITE: u32 = 2;

const PLACE: &str = "NRTD:shm_map";

/// A client's shared memory object.
#[derive(Debug)]
pub struct SharedBuffer {
    path: String,
    file: File,
    size: u64,
    prot: u32,
}

impl SharedBuffer {
    /// Opens the object of a POSIX name, `/NAME`.
    ///
    /// # Errors
    ///
    /// A name of another form, one that does not exist here, an object that
    /// may not be opened.
    pub fn open(path: &str, prot: u32) -> Result<Self, Failure> {
        let wrong = |text: &str| {
            Failure::new(Code::Invalid, PLACE, format!("shared memory {path:?}: {text}"))
        };
        if prot & (READ | WRITE) == 0 || prot & !7 != 0 {
            return Err(wrong(&format!("protection {prot} is none of read, write")));
        }
        let name = path.strip_prefix('/').filter(|name| {
            !name.is_empty() && !name.contains(['/', '\0']) && *name != "." && *name != ".."
        });
        if name.is_none() || path.len() > 255 {
            return Err(wrong("the name must be / and up to 254 characters without /"));
        }
        let access = if prot & WRITE != 0 { OFlags::RDWR } else { OFlags::RDONLY };
        // a link would lead to files of others, a pipe would keep us waiting
        let careful = OFlags::from_bits_retain((Open::NOFOLLOW | Open::NONBLOCK).bits());
        let opened = rustix::shm::open(path, access | careful, Mode::empty());
        let file = File::from(opened.map_err(|errno| match io::Error::from(errno) {
            error if error.kind() == io::ErrorKind::NotFound => {
                wrong("does not exist here; client and daemon must share /dev/shm")
            }
            _ if errno == Errno::LOOP => wrong("is a link and no shared memory object"),
            error => wrong(&error.to_string()),
        })?);
        let facts = file.metadata().map_err(|error| wrong(&error.to_string()))?;
        if !facts.is_file() {
            return Err(wrong("is no shared memory object"));
        }
        Ok(Self { path: path.to_owned(), file, size: facts.len(), prot })
    }

    /// The name it was opened by.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Writes an output from the first byte on.
    ///
    /// # Errors
    ///
    /// Too short, not mapped to write, or the copy failed.
    pub fn put(&self, name: &str, data: &[u8]) -> Result<(), String> {
        self.check(name, u64::try_from(data.len()).unwrap_or(u64::MAX), true)?;
        self.write(data)
    }

    /// Copies the first bytes of another object here; nothing when it is the
    /// same one.
    ///
    /// # Errors
    ///
    /// As [`Self::put`], for either.
    pub fn copy_from(&self, other: &Self, bytes: u64) -> Result<(), String> {
        if self.same(other) {
            return Ok(());
        }
        self.put(&self.path, &other.read(bytes)?)
    }

    /// Whether two are one object.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let id = |file: &File| file.metadata().ok().map(|facts| (facts.dev(), facts.ino()));
        id(&self.file) == id(&other.file)
    }

    /// Whether it may be used so, and holds this many bytes.
    pub(crate) fn check(&self, name: &str, bytes: u64, write: bool) -> Result<(), String> {
        let wanted = if write { WRITE } else { READ };
        if self.prot & wanted == 0 {
            let how = if write { "write" } else { "read" };
            return Err(format!("{name}: shared memory {} is not mapped to {how}", self.path));
        }
        if self.size < bytes {
            let (path, size) = (&self.path, self.size);
            return Err(format!("{name}: shared memory {path} has {size} bytes, expected {bytes}"));
        }
        Ok(())
    }

    /// The first `bytes` bytes.
    pub(crate) fn read(&self, bytes: u64) -> Result<Vec<u8>, String> {
        let length = usize::try_from(bytes).map_err(|_| format!("{bytes} bytes do not fit"))?;
        let mut data = Vec::new();
        data.try_reserve_exact(length).map_err(|error| format!("{bytes} bytes: {error}"))?;
        // into memory that nobody had to clear before
        while data.len() < length {
            let at = u64::try_from(data.len()).unwrap_or(u64::MAX);
            match rustix::io::pread(&self.file, spare_capacity(&mut data), at) {
                Ok(0) => return Err(self.told("read", &io::ErrorKind::UnexpectedEof.into())),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(self.told("read", &errno.into())),
            }
        }
        data.truncate(length);
        Ok(data)
    }

    /// Reads from an offset on.
    pub(crate) fn read_at(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        self.file.read_exact_at(into, at).map_err(|error| self.told("read", &error))
    }

    /// Writes from the first byte on. A file that has become shorter is not
    /// made longer.
    pub(crate) fn write(&self, data: &[u8]) -> Result<(), String> {
        let length = u64::try_from(data.len()).unwrap_or(u64::MAX);
        let now = self.file.metadata().map_err(|error| self.told("write", &error))?.len();
        if now < length {
            let path = &self.path;
            return Err(format!("shared memory {path} has {now} bytes now, expected {length}"));
        }
        self.file.write_all_at(data, 0).map_err(|error| self.told("write", &error))
    }

    fn told(&self, action: &str, error: &io::Error) -> String {
        format!("cannot {action} shared memory {}: {error}; was it truncated?", self.path)
    }
}
