//! Files of runs, which anybody may have written: regular ones only, gzip or
//! not, bounded.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use neuron_core::Error;
use rustix::fs::{Mode, OFlags};

/// First bytes of a gzip member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes of a file of operators at most, unpacked (our choice: some 400,000
/// operators).
pub const OPERATORS: u64 = 64 << 20;

/// Bytes of a timeline at most, unpacked (our choice: some five million slices).
pub const TIMELINE: u64 = 1 << 30;

/// Opens a file that must be one: no link, no pipe, no device.
///
/// # Errors
///
/// What is not a regular file, or cannot be opened.
pub fn regular(path: &Path) -> Result<File, Error> {
    // NONBLOCK: a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty());
    let file = File::from(opened.map_err(|error| Error::io("open", path)(error.into()))?);
    let meta = file.metadata().map_err(Error::io("look at", path))?;
    if !meta.is_file() {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(Error::io("read", path)(why));
    }
    Ok(file)
}

/// A reader that fails behind so many bytes, and counts them.
#[derive(Debug)]
pub struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let long = u64::try_from(read).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(long).ok_or_else(|| {
            let most = self.most >> 20;
            io::Error::other(format!("it has more than {most} MiB; neuron-profile view shows it"))
        })?;
        Ok(read)
    }
}

/// Opens a file for reading, unpacked where it is compressed.
///
/// # Errors
///
/// As for [`regular`].
pub fn open(path: &Path, most: u64) -> Result<Bounded<Box<dyn Read + Send>>, Error> {
    let mut file = regular(path)?;
    let mut first = [0; 2];
    let mut have = 0;
    while let Some(rest) = first.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match file.read(rest).map_err(Error::io("read", path))? {
            0 => break,
            more => have += more,
        }
    }
    let begin = io::Cursor::new(first).take(u64::try_from(have).unwrap_or(0));
    let whole = BufReader::with_capacity(1 << 16, begin.chain(file));
    let inner: Box<dyn Read + Send> =
        if first == GZIP { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    Ok(Bounded { inner, left: most, most })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn text(path: &Path, most: u64) -> Result<String, String> {
        let mut text = String::new();
        let mut reader = open(path, most).map_err(|error| error.to_string())?;
        reader.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn packed_or_not_but_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("a.json");
        std::fs::write(&plain, "hello").unwrap();
        assert_eq!(text(&plain, 5).unwrap(), "hello");
        assert!(text(&plain, 4).unwrap_err().contains("more than 0 MiB"));
        let packed = dir.path().join("a.json.gz");
        let mut out = flate2::write::GzEncoder::new(
            File::create(&packed).unwrap(),
            flate2::Compression::fast(),
        );
        out.write_all(&vec![b' '; 1 << 20]).unwrap();
        out.finish().unwrap();
        assert_eq!(text(&packed, 1 << 20).unwrap().len(), 1 << 20);
        assert!(text(&packed, (1 << 20) - 1).is_err());
        std::fs::write(&plain, "x").unwrap();
        assert_eq!(text(&plain, 9).unwrap(), "x");
        std::fs::write(&plain, "").unwrap();
        assert_eq!(text(&plain, 9).unwrap(), "");
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "no").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let pipe = dir.path().join("pipe");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for path in [&link, &pipe, &dir.path().to_path_buf(), &dir.path().join("gone")] {
            assert!(text(path, 10).is_err(), "{path:?}");
        }
    }
}
