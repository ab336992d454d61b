//! The recording source: samples from a file, in the order they were taken.

mod samples;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use crate::sample::{Sample, Wanted};
use crate::source::Source;
use crate::{Error, Result};
pub(crate) use samples::Samples;

/// Plays a recording: each reading is the next sample, or the one of its time
/// where a speed is given; after the last one it is the last again. A line
/// that was cut by a crash ends the recording.
#[derive(Debug)]
pub struct ReplaySource {
    samples: Samples<BufReader<File>>,
    last: Option<Sample>,
    /// Read ahead: its time has not come.
    next: Option<Sample>,
    /// How many recorded seconds pass in one second.
    speed: Option<f64>,
    /// When the first sample was shown, and its time.
    began: Option<(Instant, u64)>,
}

impl ReplaySource {
    /// Opens a recording. With a speed it plays in time, 1.0 as fast as it was
    /// recorded; without, each reading is the next sample.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no recording of a form known here.
    pub fn open(path: &Path, speed: Option<f64>) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let samples = Samples::of(BufReader::new(file), path)?;
        Ok(Self { samples, last: None, next: None, speed, began: None })
    }

    /// Goes on to the sample whose time has come.
    fn keep_time(&mut self, speed: f64) -> Result<()> {
        loop {
            let next = match self.next.take() {
                Some(next) => next,
                None => match self.samples.next()? {
                    Some(next) => next,
                    None => return Ok(()),
                },
            };
            let at = next.taken.unix_nanos();
            let (began, first) = *self.began.get_or_insert_with(|| (Instant::now(), at));
            let due = std::time::Duration::from_nanos(at.saturating_sub(first)).as_secs_f64();
            if self.last.is_some() && due > began.elapsed().as_secs_f64() * speed {
                self.next = Some(next);
                return Ok(());
            }
            self.last = Some(next);
        }
    }
}

impl Source for ReplaySource {
    fn sample(&mut self, _wanted: Wanted) -> Result<Sample> {
        match self.speed {
            Some(speed) => self.keep_time(speed)?,
            None => self.last = self.samples.next()?.or(self.last.take()),
        }
        self.last.clone().ok_or_else(|| Error::content(&self.samples.path, "holds no sample"))
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
            let mut source = ReplaySource::open(&path, None).unwrap();
            assert_eq!(source.sample(Wanted::default()).unwrap(), sample(1));
            let second = source.sample(Wanted::default()).unwrap();
            assert_eq!(second, sample(if cut == 0 { 2 } else { 1 }));
            assert_eq!(source.sample(Wanted::default()).unwrap(), second);
        }
    }

    #[test]
    fn a_speed_plays_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        let mut bytes = Vec::new();
        let mut recorder = Recorder::new(&mut bytes).unwrap();
        // An hour between samples.
        (0..5).for_each(|hour| recorder.write(&sample(hour * 3_600_000_000_000)).unwrap());
        std::fs::write(&path, &bytes).unwrap();
        let hour = |source: &mut ReplaySource| {
            source.sample(Wanted::default()).unwrap().taken.unix_seconds() / 3600
        };
        let mut slow = ReplaySource::open(&path, Some(1.0)).unwrap();
        assert_eq!((hour(&mut slow), hour(&mut slow)), (0, 0));
        let mut fast = ReplaySource::open(&path, Some(36_000.0)).unwrap();
        assert_eq!(hour(&mut fast), 0);
        let begin = Instant::now();
        let mut seen = Vec::new();
        while seen.last() != Some(&4) {
            seen.push(hour(&mut fast));
            assert!(begin.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(seen.is_sorted() && begin.elapsed().as_millis() >= 350, "{seen:?}");
    }

    /// Recordings of the first form: each line a sample.
    #[test]
    fn the_first_form_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "{\"neuron_recording\":1}\n{\"taken\":7}\n").unwrap();
        let mut source = ReplaySource::open(&path, None).unwrap();
        assert_eq!(source.sample(Wanted::default()).unwrap(), sample(7));
    }

    #[test]
    fn other_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for bad in ["", "{}\n", "x", "{\"neuron_recording\":3}\n"] {
            std::fs::write(&path, bad).unwrap();
            let text = ReplaySource::open(&path, None).unwrap_err().to_string();
            assert!(text.starts_with(&path.display().to_string()), "{text}");
        }
        std::fs::write(&path, "{\"neuron_recording\":1}\n").unwrap();
        let text = ReplaySource::open(&path, None).unwrap().sample(Wanted::default()).unwrap_err();
        assert!(text.to_string().contains("no sample"));
        std::fs::write(&path, "{\"neuron_recording\":1}\n{]\n").unwrap();
        let text = ReplaySource::open(&path, None).unwrap().sample(Wanted::default()).unwrap_err();
        assert!(text.to_string().contains("line 2"), "{text}");
    }
}
