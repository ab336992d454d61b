//! The recording source: samples from a file, in the order they were taken.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::record::{FORMAT, Header};
use crate::sample::{Sample, Wanted};
use crate::source::Source;
use crate::{Error, Result};

/// Longest line that is read: the sample of a 16-device instance with full
/// counters is below 2 MiB.
const LIMIT: u64 = 64 << 20;

/// Plays a recording: each reading is the next sample, and after the last one
/// the last again. A line that was cut by a crash ends the recording.
#[derive(Debug)]
pub struct ReplaySource {
    path: PathBuf,
    lines: BufReader<File>,
    number: u64,
    last: Option<Sample>,
}

impl ReplaySource {
    /// Opens a recording.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no recording of a form known here.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let mut source =
            Self { path: path.to_owned(), lines: BufReader::new(file), number: 0, last: None };
        let line = source.line()?.unwrap_or_default();
        match serde_json::from_slice::<Header>(&line) {
            Ok(header) if header.neuron_recording <= FORMAT => Ok(source),
            Ok(header) => Err(Error::content(
                path,
                format!(
                    "recording of form {}; this program knows up to {FORMAT}",
                    header.neuron_recording
                ),
            )),
            Err(_) => Err(Error::content(path, "not a recording: its first line is no header")),
        }
    }

    /// The next line with its newline; `None` at the end.
    fn line(&mut self) -> Result<Option<Vec<u8>>> {
        use std::io::Read as _;
        let mut line = Vec::new();
        let mut limited = self.lines.by_ref().take(LIMIT);
        limited.read_until(b'\n', &mut line).map_err(Error::io("read", &self.path))?;
        self.number += 1;
        Ok((!line.is_empty()).then_some(line))
    }
}

impl Source for ReplaySource {
    fn sample(&mut self, _wanted: Wanted) -> Result<Sample> {
        if let Some(line) = self.line()? {
            match serde_json::from_slice(&line) {
                Ok(sample) => self.last = Some(sample),
                // The last line, cut while it was written.
                Err(_) if !line.ends_with(b"\n") => {}
                Err(error) => {
                    let reason = format!("line {} is not a sample: {error}", self.number);
                    return Err(Error::content(&self.path, reason));
                }
            }
        }
        self.last.clone().ok_or_else(|| Error::content(&self.path, "holds no sample"))
    }

    fn needs_polling(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Recorder;
    use crate::units::Timestamp;

    fn sample(at: u64) -> Sample {
        Sample { taken: Timestamp::from_unix_nanos(at), ..Sample::default() }
    }

    #[test]
    fn what_was_recorded_is_played_and_a_cut_line_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut recorder = Recorder::new(Vec::new()).unwrap();
        assert!(recorder.write(&sample(1)).is_ok() && recorder.write(&sample(2)).is_ok());
        let mut bytes = Vec::new();
        let mut recorder = Recorder::new(&mut bytes).unwrap();
        recorder.write(&sample(1)).unwrap();
        recorder.write(&sample(2)).unwrap();
        for cut in [0, 10] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            let mut source = ReplaySource::open(&path).unwrap();
            assert_eq!(source.sample(Wanted::default()).unwrap(), sample(1));
            let second = source.sample(Wanted::default()).unwrap();
            assert_eq!(second, sample(if cut == 0 { 2 } else { 1 }));
            assert_eq!(source.sample(Wanted::default()).unwrap(), second);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for bad in ["", "{}\n", "x", "{\"neuron_recording\":2}\n"] {
            std::fs::write(&path, bad).unwrap();
            let text = ReplaySource::open(&path).unwrap_err().to_string();
            assert!(text.starts_with(&path.display().to_string()), "{text}");
        }
        std::fs::write(&path, "{\"neuron_recording\":1}\n").unwrap();
        let text = ReplaySource::open(&path).unwrap().sample(Wanted::default()).unwrap_err();
        assert!(text.to_string().contains("no sample"));
        std::fs::write(&path, "{\"neuron_recording\":1}\n{]\n").unwrap();
        let text = ReplaySource::open(&path).unwrap().sample(Wanted::default()).unwrap_err();
        assert!(text.to_string().contains("line 2"), "{text}");
    }
}
