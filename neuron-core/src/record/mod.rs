//! Recordings of samples: JSON Lines, a header line and a line per sample.
//!
//! The header is `{"neuron_recording":1}`; a program refuses a higher number.
//! Samples are written as read, so that a better formula improves what an old
//! recording shows.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::sample::Sample;

/// Version of the form.
pub const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote the recording.
    pub neuron_recording: u32,
}

/// Writes a recording, a line at a time, so that what is written is whole up
/// to the last line whatever happens next.
#[derive(Debug)]
pub struct Recorder<W> {
    output: W,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn new(mut output: W) -> io::Result<Self> {
        write_line(&mut output, &Header { neuron_recording: FORMAT })?;
        Ok(Self { output })
    }

    /// Appends a sample.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write(&mut self, sample: &Sample) -> io::Result<()> {
        write_line(&mut self.output, sample)
    }
}

fn write_line(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
