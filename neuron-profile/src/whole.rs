//! A file that appears whole or not at all: however the program ends, also by
//! a signal that cannot be caught, no part of it stays.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use neuron_core::Error;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

/// A file that is being written. Dropped before [`Whole::keep`] it is gone.
#[derive(Debug)]
pub(crate) struct Whole {
    path: PathBuf,
    file: File,
    how: How,
}

/// What makes it appear.
#[derive(Debug)]
enum How {
    /// It has no name yet: the kernel removes it with the process.
    Nameless,
    /// The file system has no files without name; it is renamed.
    Named(tempfile::TempPath),
    /// No file but a device or a pipe, which is written to.
    Device,
}

impl Whole {
    /// Begins a file. The umask decides who may read it.
    ///
    /// # Errors
    ///
    /// A folder that is not there or cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let found = std::fs::metadata(path);
        if found.as_ref().is_ok_and(|meta| !meta.is_file()) {
            let file = File::options().write(true).open(path).map_err(Error::io("open", path))?;
            return Ok(Self { path: path.to_owned(), file, how: How::Device });
        }
        let folder = folder(path);
        let readable = Mode::from_raw_mode(0o666);
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let linkable = Path::new("/proc/self/fd").exists();
        if linkable && let Ok(file) = open(folder, flags, readable) {
            return Ok(Self { path: path.to_owned(), file: file.into(), how: How::Nameless });
        }
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let fresh = tempfile::Builder::new().permissions(permissions).tempfile_in(folder);
        let (file, named) = fresh.map_err(Error::io("create", path))?.into_parts();
        Ok(Self { path: path.to_owned(), file, how: How::Named(named) })
    }

    /// What is written to.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Lets it appear, in the place of what was there.
    ///
    /// # Errors
    ///
    /// A disk that is full, or a folder that cannot be written.
    pub(crate) fn keep(self) -> Result<(), Error> {
        let Self { path, file, how } = self;
        if matches!(how, How::Device) {
            return Ok(());
        }
        file.sync_all().map_err(Error::io("write", &path))?;
        match how {
            How::Device => Ok(()),
            How::Named(named) => {
                named.persist(&path).map_err(|error| Error::io("write", &path)(error.error))
            }
            How::Nameless => name(&file, &path).map_err(Error::io("write", &path)),
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives a file its name. A link takes no other's place, so where there is one
/// it is made beside it and renamed.
fn name(file: &File, path: &Path) -> std::io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |to: &Path| linkat(CWD, nameless.as_str(), CWD, to, AtFlags::SYMLINK_FOLLOW);
    match link(path) {
        Err(rustix::io::Errno::EXIST) => {}
        done => return Ok(done?),
    }
    let beside = tempfile::Builder::new().make_in(folder(path), |place| Ok(link(place)?))?;
    let (_, beside) = beside.into_parts();
    beside.persist(path).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn it_appears_when_it_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        for text in ["one", "two"] {
            let before = count();
            let whole = Whole::create(&path).unwrap();
            whole.file().write_all(text.as_bytes()).unwrap();
            assert_eq!(count(), before);
            whole.keep().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(count(), 1);
        }
        drop(Whole::create(&dir.path().join("b")).unwrap());
        assert_eq!(count(), 1);
        assert!(Whole::create(&dir.path().join("none/b")).is_err());
    }

    #[test]
    fn a_device_stays_one() {
        let whole = Whole::create(Path::new("/dev/null")).unwrap();
        whole.file().write_all(b"x").unwrap();
        whole.keep().unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}
