//! The samples of a recording, one after the other.

use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use crate::record::{Decoder, FORMAT, Header};
use crate::sample::Sample;
use crate::{Error, Result};

/// Longest line that is read: the sample of a 16-device instance with full
/// counters is below 2 MiB.
const LIMIT: u64 = 64 << 20;

/// Reads a recording. A line that was cut by a crash ends it.
#[derive(Debug)]
pub(crate) struct Samples<R> {
    /// For messages.
    pub(super) path: PathBuf,
    lines: R,
    number: u64,
    decoder: Decoder,
}

impl<R: BufRead> Samples<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// What cannot be read, is no recording or of a form that is not known.
    pub(crate) fn of(lines: R, path: &Path) -> Result<Self> {
        let mut samples = Self { path: path.to_owned(), lines, number: 0, decoder: Decoder::of(0) };
        let line = samples.line()?.unwrap_or_default();
        match serde_json::from_slice::<Header>(&line) {
            Ok(header) if header.neuron_recording <= FORMAT => {
                samples.decoder = Decoder::of(header.neuron_recording);
                Ok(samples)
            }
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

    /// The next sample; `None` at the end.
    ///
    /// # Errors
    ///
    /// A line that is no sample, by its number.
    pub(crate) fn next(&mut self) -> Result<Option<Sample>> {
        let Some(line) = self.line()? else { return Ok(None) };
        match self.decoder.sample(&line) {
            Ok(sample) => Ok(Some(sample)),
            // The last line, cut while it was written.
            Err(_) if !line.ends_with(b"\n") => Ok(None),
            Err(error) => {
                let reason = format!("line {} is not a sample: {error}", self.number);
                Err(Error::content(&self.path, reason))
            }
        }
    }

    /// The next line with its newline; `None` at the end.
    fn line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = self.lines.by_ref().take(LIMIT);
        limited.read_until(b'\n', &mut line).map_err(Error::io("read", &self.path))?;
        self.number += 1;
        Ok((!line.is_empty()).then_some(line))
    }
}
