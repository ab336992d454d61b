//! Recordings of samples: JSON Lines, a header line and a line per sample.
//!
//! The header is `{"neuron_recording":2}`; a program refuses a higher number.
//! A line is `[0,SAMPLE]` or, where the sample is like the one before it,
//! `[1,PATCH]` with what changed. Every [`EVERY`]th sample stands whole, so
//! that a reader who comes late need not go far back. In form 1 each line is a
//! sample. Samples are written as read, so that a better formula improves what
//! an old recording shows.

mod file;
pub mod fuzz;
mod patch;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sample::Sample;
pub use file::{RecordFile, Rotation};

/// Version of the form.
pub const FORMAT: u32 = 2;

/// A sample of so many is written whole.
const EVERY: u32 = 256;

/// The first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote the recording.
    pub neuron_recording: u32,
}

/// Makes the lines of a recording.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    before: Option<Value>,
    since_whole: u32,
}

impl Encoder {
    /// The line of a sample, with its newline.
    pub(crate) fn line(&mut self, sample: &Sample) -> io::Result<Vec<u8>> {
        let document = serde_json::to_value(sample).map_err(io::Error::other)?;
        let patch = match &self.before {
            Some(before) if self.since_whole < EVERY => Some(
                patch::diff(before, &document).unwrap_or_else(|| Value::Object(Default::default())),
            ),
            _ => None,
        };
        let mut line = match &patch {
            Some(patch) => serde_json::to_vec(&(1, patch)),
            None => serde_json::to_vec(&(0, &document)),
        }
        .map_err(io::Error::other)?;
        line.push(b'\n');
        self.since_whole = if patch.is_some() { self.since_whole + 1 } else { 1 };
        self.before = Some(document);
        Ok(line)
    }
}

/// Reads the lines of a recording.
#[derive(Debug)]
pub(crate) struct Decoder {
    format: u32,
    document: Option<Value>,
}

impl Decoder {
    /// For lines of a form, [`Header::neuron_recording`].
    pub(crate) fn of(format: u32) -> Self {
        Self { format, document: None }
    }

    /// The sample of a line.
    pub(crate) fn sample(&mut self, line: &[u8]) -> Result<Sample, String> {
        let told = |error: serde_json::Error| error.to_string();
        if self.format < 2 {
            return serde_json::from_slice(line).map_err(told);
        }
        let (kind, value): (u8, Value) = serde_json::from_slice(line).map_err(told)?;
        let document = match (kind, self.document.take()) {
            (0, _) => value,
            (1, Some(mut document)) => {
                patch::apply(&mut document, value);
                document
            }
            (1, None) => return Err(String::from("a change without a sample before it")),
            _ => return Err(format!("kind {kind} is unknown")),
        };
        let sample = Sample::deserialize(&document).map_err(told);
        self.document = Some(document);
        sample
    }
}

/// Writes a recording, a line at a time, so that what is written is whole up
/// to the last line whatever happens next.
#[derive(Debug)]
pub struct Recorder<W> {
    output: W,
    encoder: Encoder,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&header())?;
        output.flush()?;
        Ok(Self { output, encoder: Encoder::default() })
    }

    /// Appends a sample.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write(&mut self, sample: &Sample) -> io::Result<()> {
        let line = self.encoder.line(sample)?;
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

/// The first line of a recording.
pub(crate) fn header() -> Vec<u8> {
    format!("{{\"neuron_recording\":{FORMAT}}}\n").into_bytes()
}
