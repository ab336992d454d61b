//! The bytes of a file that is only read: in memory where it is small, mapped
//! where it is large.
//!
//! A NEFF may have gigabytes of weights that a tool never looks at; a map costs
//! the pages that are touched, and members are borrowed from it. Reading parts
//! with `pread` would copy every weight that is looked at.
//!
//! The caveat of any map: if another process truncates the file meanwhile, the
//! next touch of a lost page ends this process with SIGBUS. Small files are
//! therefore read (no map, no risk), and nothing is mapped that a client hands
//! over (see `npu` shared memory, which is copied with `pread`).

use crate::error::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

/// Regular files up to this size are read.
const READ_UP_TO: u64 = 16 << 20;

/// Most that is read of what cannot be mapped (pipes): beyond it the file is
/// refused.
const MOST_READ: u64 = 1 << 30;

/// The bytes of a file.
#[derive(Debug)]
pub struct FileBytes(Bytes);

#[derive(Debug)]
enum Bytes {
    Read(Vec<u8>),
    Mapped(Map),
}

/// A private, read-only map of a whole file.
#[derive(Debug)]
struct Map {
    address: NonNull<c_void>,
    length: usize,
}

// SAFETY: the map is read-only and is unmapped only by its one owner.
unsafe impl Send for Map {}
// SAFETY: shared references only read.
unsafe impl Sync for Map {}

impl FileBytes {
    /// The bytes of the file at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(File::open(path).map_err(Error::io("open", path))?, path)
    }

    /// The bytes of an open file from its start, or of a pipe from where it is,
    /// at most 1 GiB of them; `path` is its name in errors.
    pub fn of(file: File, path: &Path) -> Result<Self> {
        let about = file.metadata().map_err(Error::io("read", path))?;
        if about.is_dir() {
            return Err(Error::content(path, "it is a directory, give a file"));
        }
        if about.is_file() && about.len() > READ_UP_TO {
            let map = Map::of(&file, about.len());
            return Ok(Self(Bytes::Mapped(map.map_err(Error::io("map", path))?)));
        }
        let mut bytes = Vec::new();
        let limit = if about.is_file() { READ_UP_TO } else { MOST_READ };
        let read = file.take(limit + 1).read_to_end(&mut bytes);
        let read = read.map_err(Error::io("read", path))?;
        if u64::try_from(read).is_ok_and(|read| read > limit) {
            return Err(Error::content(path, format!("it gives more than {limit} bytes")));
        }
        Ok(Self(Bytes::Read(bytes)))
    }
}

impl Map {
    fn of(file: &File, length: u64) -> std::io::Result<Self> {
        let length = usize::try_from(length).map_err(std::io::Error::other)?;
        let (protection, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
        // SAFETY: a new map at an address of the kernel's choice; no memory of
        // this process is replaced. `length` is not 0 and the descriptor is open.
        let address = unsafe { rustix::mm::mmap(null_mut(), length, protection, flags, file, 0) }?;
        let address = NonNull::new(address)
            .ok_or_else(|| std::io::Error::other("the kernel mapped address 0"))?;
        Ok(Self { address, length })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the map, and no slice of it
        // outlives its owner. An error leaves the map in place, which is harmless.
        let _ = unsafe { rustix::mm::munmap(self.address.as_ptr(), self.length) };
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Read(bytes) => bytes,
            // SAFETY: the map is `length` readable bytes and lives as long as
            // `self`. Its pages may change if the file is written meanwhile;
            // readers of outside bytes must hold against any content anyway.
            Bytes::Mapped(map) => unsafe {
                std::slice::from_raw_parts(map.address.as_ptr().cast::<u8>(), map.length)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn small_files_are_read_and_large_ones_mapped() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(&*FileBytes::open(file.path()).unwrap(), b"");
        file.write_all(b"small").unwrap();
        let small = FileBytes::open(file.path()).unwrap();
        assert!(matches!(small.0, Bytes::Read(_)));
        assert_eq!(&*small, b"small");

        file.seek(SeekFrom::Start(READ_UP_TO)).unwrap();
        file.write_all(b"end").unwrap();
        let large = FileBytes::open(file.path()).unwrap();
        assert!(matches!(large.0, Bytes::Mapped(_)));
        assert_eq!(&large[..6], b"small\0");
        assert_eq!(&large[large.len() - 3..], b"end");
    }

    #[test]
    fn refusals_name_the_path() {
        let error = FileBytes::open(Path::new("/nonexistent/a.neff")).unwrap_err().to_string();
        assert_eq!(error, "cannot open /nonexistent/a.neff: no such file or directory");
        let folder = tempfile::tempdir().unwrap();
        let error = FileBytes::open(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("it is a directory, give a file"), "{error}");
    }
}
