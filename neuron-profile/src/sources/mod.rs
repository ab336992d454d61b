//! Source files that are kept beside a profile, so that a viewer shows the lines
//! that its instructions name.
//!
//! They lie in `ROOT/sources/ID/HASH`, the name on the first line: a name may
//! be longer than a file's. A profile that is stored anew keeps them; one that
//! is deleted does not.

mod attach;

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

pub use attach::{Attached, attach};

/// Bytes of a file at most.
pub const BYTES: usize = 8 << 20;

/// Files of a profile at most.
pub const FILES: usize = 1000;

/// Bytes of a name at most.
const NAME: usize = 4096;

/// Why a file is not kept, or not there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that none can have.
    #[error("the name of a source has 1 to {NAME} bytes and no control letters")]
    Name,
    /// Larger than [`BYTES`].
    #[error("a source has at most {} MiB", BYTES >> 20)]
    Large,
    /// Not a text.
    #[error("a source is a text in UTF-8")]
    Text,
    /// More than [`FILES`].
    #[error("there are {FILES} sources already; delete some")]
    Many,
    /// It is not kept.
    #[error("the source is not stored: upload it, or ingest with --nki-source-root")]
    Missing,
    /// The disk.
    #[error("cannot {operation} {}: {}", path.display(), neuron_core::error::io_reason(cause))]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl Error {
    fn io(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { operation, path, cause }
    }
}

/// A file in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Bytes of its text.
    pub bytes: u64,
}

/// The sources of a profile.
#[derive(Debug, Clone)]
pub struct Sources {
    dir: PathBuf,
}

impl Sources {
    /// Those of a profile of the store at `root`.
    pub fn of(root: &Path, id: &str) -> Self {
        Self { dir: root.join("sources").join(id) }
    }

    fn file(&self, name: &str) -> Result<PathBuf, Error> {
        if name.is_empty() || name.len() > NAME || name.chars().any(char::is_control) {
            return Err(Error::Name);
        }
        let hash = Sha256::digest(name.as_bytes());
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(self.dir.join(digits))
    }

    /// All files by name.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read; none at all is an empty list.
    pub fn list(&self) -> Result<Vec<Kept>, Error> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::io("read", &self.dir))?,
        };
        let mut out = Vec::new();
        for entry in entries {
            let path = entry.map_err(Error::io("read", &self.dir))?.path();
            // A file that is being written has another name.
            if path.extension().is_some() {
                continue;
            }
            let file = match fs::File::open(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                file => file.map_err(Error::io("open", &path))?,
            };
            let all = file.metadata().map_err(Error::io("look at", &path))?.len();
            let mut name = String::new();
            let mut head = BufReader::new(std::io::Read::take(file, (NAME + 1) as u64));
            if head.read_line(&mut name).is_err() || name.pop() != Some('\n') {
                continue;
            }
            let bytes = all.saturating_sub(u64::try_from(name.len() + 1).unwrap_or(0));
            out.push(Kept { name, bytes });
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// A file that is not kept, or cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.file(name)?;
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::Missing),
            bytes => bytes.map_err(Error::io("read", &path))?,
        };
        let begin = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        Ok(bytes.get(begin..).unwrap_or_default().to_vec())
    }

    /// Keeps a file, in place of another one of its name; whole or not at all.
    ///
    /// # Errors
    ///
    /// A name or text that cannot be kept, too many files, a disk that cannot
    /// be written.
    pub fn write(&self, name: &str, text: &[u8]) -> Result<(), Error> {
        let path = self.file(name)?;
        if text.len() > BYTES {
            return Err(Error::Large);
        }
        if std::str::from_utf8(text).is_err() {
            return Err(Error::Text);
        }
        if !path.exists() && self.list()?.len() >= FILES {
            return Err(Error::Many);
        }
        fs::create_dir_all(&self.dir).map_err(Error::io("make", &self.dir))?;
        let fresh = tempfile::Builder::new().suffix(".new").tempfile_in(&self.dir);
        let mut fresh = fresh.map_err(Error::io("write in", &self.dir))?;
        let parts = [name.as_bytes(), b"\n", text];
        let written = parts.iter().try_for_each(|part| fresh.write_all(part));
        let written = written.and_then(|()| fresh.as_file().sync_all());
        written.map_err(Error::io("write", &path))?;
        fresh.persist(&path).map_err(|error| Error::io("replace", &path)(error.error))?;
        Ok(())
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// A file that is not kept, or cannot be removed.
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        let path = self.file(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Missing),
            done => done.map_err(Error::io("remove", &path)),
        }
    }

    /// Removes all files.
    ///
    /// # Errors
    ///
    /// A directory that cannot be removed.
    pub fn forget(&self) -> Result<(), Error> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done.map_err(Error::io("remove", &self.dir)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_by_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Sources::of(dir.path(), "n_1");
        assert_eq!(kept.list().unwrap(), []);
        let long = format!("/home/user/{}.py", "x".repeat(1000));
        for name in ["a.py", "../../etc/passwd", "ä b/c", &long] {
            kept.write(name, b"line\n\nother").unwrap();
            assert_eq!(kept.read(name).unwrap(), b"line\n\nother");
        }
        kept.write("a.py", b"").unwrap();
        assert_eq!(kept.read("a.py").unwrap(), b"");
        let list = kept.list().unwrap();
        assert_eq!(list.len(), 4);
        assert!(list.contains(&Kept { name: String::from("a.py"), bytes: 0 }));
        assert!(list.contains(&Kept { name: long, bytes: 11 }));
        assert!(matches!(kept.write("", b""), Err(Error::Name)));
        assert!(matches!(kept.write("a\nb", b""), Err(Error::Name)));
        assert!(matches!(kept.write("a", &[0xff]), Err(Error::Text)));
        assert!(matches!(kept.write("a", &vec![b' '; BYTES + 1]), Err(Error::Large)));
        kept.delete("a.py").unwrap();
        assert!(matches!(kept.delete("a.py"), Err(Error::Missing)));
        assert!(matches!(kept.read("a.py"), Err(Error::Missing)));
        kept.forget().unwrap();
        kept.forget().unwrap();
        assert_eq!(kept.list().unwrap(), []);
    }
}
