//! Whether a state file is still the one that was read.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

/// What tells one state file from the next: writers put a new one in its
/// place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    size: i64,
    modified: (i64, i64),
}

/// How old a file must be, seconds, for its stamp to tell: two files that are
/// written within a tick of the kernel's clock can have the same.
const SETTLED: i64 = 1;

impl Stamp {
    /// Of a file.
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            file: (stat.st_dev, stat.st_ino),
            size: stat.st_size,
            modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }

    /// Of a file that was not written just now, nor in what the clock calls
    /// the future.
    pub(super) fn settled(stat: &Stat) -> Option<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_secs()).ok()?;
        (now.checked_sub(stat.st_mtime)? > SETTLED).then(|| Self::of(stat))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::fs::fstat;

    use super::*;

    #[test]
    fn another_file_in_its_place_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        std::fs::write(&path, "one").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        assert_eq!(Stamp::settled(&fstat(&file).unwrap()), None);
        file.set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
        let stamp = Stamp::settled(&fstat(&file).unwrap()).unwrap();
        assert_eq!(Stamp::of(&fstat(&file).unwrap()), stamp);
        file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
        assert_eq!(Stamp::settled(&fstat(&file).unwrap()), None);
        let draft = dir.path().join("draft");
        std::fs::write(&draft, "two").unwrap();
        std::fs::rename(&draft, &path).unwrap();
        let other = std::fs::File::open(&path).unwrap();
        assert_ne!(Stamp::of(&fstat(&other).unwrap()), stamp);
    }
}
