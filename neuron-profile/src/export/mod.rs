//! A profile in the forms that other programs read.

pub mod json;
pub mod metrics;
pub mod page;
pub mod rows;
pub mod stored;
pub mod tables;

use neuron_core::neff::{Neff, Report};
use profile_engine::{Capture, Options, Outcome, Parts, ReadAt, RunError, run};

/// A profile whose rows are in memory.
#[derive(Debug)]
pub struct Profile<'s, S: ?Sized> {
    /// The two files, joined.
    pub capture: Capture<'s, S>,
    /// Its rows.
    pub rows: rows::Rows,
    /// Sums and memory samples.
    pub outcome: Outcome,
}

impl<'s, S: ReadAt + ?Sized> Profile<'s, S> {
    /// Reads a profile into memory.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or that do not belong together.
    pub fn read(
        neff: &Neff<'_>,
        trace: &'s S,
        options: Options,
        parts: Parts,
        report: &mut Report,
    ) -> Result<Self, profile_engine::Error> {
        let capture = Capture::open(neff, trace, options, report)?;
        let mut rows = rows::Rows::default();
        let outcome = match run(&capture, parts, &mut rows) {
            Ok(outcome) => outcome,
            Err(RunError::Trace(error)) => return Err(error),
            Err(RunError::Taker(never)) => match never {},
        };
        Ok(Self { capture, rows, outcome })
    }
}

/// Names that the files themselves do not have.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Name of the profile.
    pub profile: String,
    /// Path of the trace as it was given.
    pub trace: String,
}
