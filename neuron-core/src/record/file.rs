//! A recording in a file that grows, and is put aside when it has grown large.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Encoder, Header, header};
use crate::sample::Sample;
use crate::{Error, Result};

/// How often what was written is forced to the disk.
const SYNC: Duration = Duration::from_secs(10);

/// When a recording is put aside, and how many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Size from which a new file is begun, bytes.
    pub size: u64,
    /// Files kept beside the one that grows: `FILE.1` is the newest.
    pub keep: u32,
}

/// A recording that is appended to. What was written is whole up to the last
/// line, whatever happens; at most [`SYNC`] of it is lost with the machine.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    size: u64,
    encoder: Encoder,
    rotation: Rotation,
    synced: Instant,
}

impl RecordFile {
    /// Begins a recording or goes on with one. A line that was cut by a crash
    /// is taken off.
    ///
    /// # Errors
    ///
    /// A file that is no recording, of another form or cannot be written.
    pub fn open(path: &Path, rotation: Rotation) -> Result<Self> {
        let fail = |error| Error::io("write", path)(error);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
        let mut size = file.metadata().map_err(fail)?.len();
        if size > 0 {
            check_header(&mut file, path)?;
            size = whole_lines(&mut file, size).map_err(fail)?;
            file.set_len(size).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(size)).map_err(fail)?;
        if size == 0 {
            file.write_all(&header()).map_err(fail)?;
            size = header().len() as u64;
        }
        let (path, encoder) = (path.to_owned(), Encoder::default());
        Ok(Self { path, file, size, encoder, rotation, synced: Instant::now() })
    }

    /// Appends a sample.
    ///
    /// # Errors
    ///
    /// When the file cannot be written or put aside.
    pub fn write(&mut self, sample: &Sample) -> Result<()> {
        let line = self.encoder.line(sample).map_err(Error::io("write", &self.path))?;
        let fail = |error| Error::io("write", &self.path)(error);
        if let Err(error) = self.file.write_all(&line) {
            // Half a line would spoil what follows.
            let _ = self.file.set_len(self.size);
            let _ = self.file.seek(SeekFrom::Start(self.size));
            self.encoder = Encoder::default();
            return Err(fail(error));
        }
        self.size = self.size.saturating_add(line.len() as u64);
        if self.synced.elapsed() >= SYNC {
            self.file.sync_data().map_err(fail)?;
            self.synced = Instant::now();
        }
        if self.size >= self.rotation.size {
            self.put_aside()?;
        }
        Ok(())
    }

    /// Renames `FILE` to `FILE.1`, `FILE.1` to `FILE.2` and so on, and begins
    /// anew.
    fn put_aside(&mut self) -> Result<()> {
        let fail = |error| Error::io("rename", &self.path)(error);
        self.file.sync_all().map_err(fail)?;
        let numbered = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..self.rotation.keep).rev() {
            let from = numbered(number);
            if from.exists() {
                std::fs::rename(&from, numbered(number + 1)).map_err(fail)?;
            }
        }
        if self.rotation.keep > 0 {
            std::fs::rename(&self.path, numbered(1)).map_err(fail)?;
        } else {
            std::fs::remove_file(&self.path).map_err(fail)?;
        }
        *self = Self::open(&self.path, self.rotation)?;
        Ok(())
    }

    /// Forces everything to the disk.
    ///
    /// # Errors
    ///
    /// Those of the disk.
    pub fn finish(self) -> Result<()> {
        self.file.sync_all().map_err(Error::io("write", &self.path))
    }
}

fn check_header(file: &mut File, path: &Path) -> Result<()> {
    let mut start = Vec::new();
    (&*file).take(64).read_to_end(&mut start).map_err(Error::io("read", path))?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Header>(line) {
        Ok(found) if found.neuron_recording == super::FORMAT => Ok(()),
        Ok(found) => Err(Error::content(
            path,
            format!(
                "recording of form {}, to which form {} cannot be added; choose another file",
                found.neuron_recording,
                super::FORMAT
            ),
        )),
        Err(_) => Err(Error::content(path, "exists and is no recording; choose another file")),
    }
}

/// Length of the file up to its last newline.
fn whole_lines(file: &mut File, size: u64) -> std::io::Result<u64> {
    const STEP: u64 = 64 << 10;
    let mut end = size;
    let mut chunk = Vec::new();
    while end > 0 {
        let begin = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(begin))?;
        chunk.clear();
        (&*file).take(end - begin).read_to_end(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::ReplaySource;
    use crate::sample::Wanted;
    use crate::source::Source as _;
    use crate::units::Timestamp;

    const LARGE: Rotation = Rotation { size: 1 << 30, keep: 1 };

    fn sample(at: u64) -> Sample {
        Sample { taken: Timestamp::from_unix_nanos(at), ..Sample::default() }
    }

    fn times(path: &Path) -> Vec<u64> {
        let mut source = ReplaySource::open(path, None).unwrap();
        let mut times: Vec<u64> = Vec::new();
        loop {
            let at = source.sample(Wanted::default()).unwrap().taken.unix_nanos();
            if times.last() == Some(&at) {
                return times;
            }
            times.push(at);
        }
    }

    #[test]
    fn a_recording_goes_on_where_a_crash_cut_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rec");
        let mut file = RecordFile::open(&path, LARGE).unwrap();
        (1..=3).for_each(|at| file.write(&sample(at)).unwrap());
        file.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() - 30 {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let mut file = RecordFile::open(&path, LARGE).unwrap();
            file.write(&sample(9)).unwrap();
            file.finish().unwrap();
            let found = times(&path);
            assert_eq!(found.last(), Some(&9), "cut {cut}");
            assert!(found[..found.len() - 1].iter().zip(1..).all(|(at, n)| *at == n), "{found:?}");
        }
    }

    #[test]
    fn files_are_put_aside_by_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rec");
        let mut file = RecordFile::open(&path, Rotation { size: 400, keep: 2 }).unwrap();
        (1..=200).for_each(|at| file.write(&sample(at)).unwrap());
        file.finish().unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.rec", "a.rec.1", "a.rec.2"]);
        let mut all = times(&dir.path().join("a.rec.2"));
        all.extend(times(&dir.path().join("a.rec.1")));
        assert!(all.is_sorted() && all.len() > 2, "{all:?}");
        assert!(all.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{all:?}");
    }

    #[test]
    fn other_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for text in ["my diary\n", "{\"neuron_recording\":1}\n{}\n", "{\"neuron_recording\":9}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(RecordFile::open(&path, LARGE).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    /// What changes little takes little.
    #[test]
    fn like_samples_are_small() {
        let mut encoder = Encoder::default();
        let mut big = sample(1);
        big.problems = (0..100)
            .map(|n| crate::sample::Problem { device: Some(n), text: String::from("is in reset") })
            .collect();
        let first = encoder.line(&big).unwrap().len();
        big.taken = Timestamp::from_unix_nanos(2);
        let second = encoder.line(&big).unwrap();
        assert!(first > 3000 && second.len() < 40, "{first} {second:?}");
    }
}
