//! Numerical errors of a run, which the device counts and does not stop for.

use std::io::{self, Write};

use npu::errors::Errors;
use npu::{At, Observer};
use serde_json::{Value, json};

/// Counts by physical core.
pub(super) struct Counts(pub(super) Vec<Errors>);

impl Counts {
    /// None on so many cores.
    pub(super) fn none(cores: usize) -> Self {
        Self(vec![Errors::default(); cores])
    }

    /// A line for each core that has some.
    pub(super) fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (core, errors) in self.0.iter().enumerate().filter(|(_, errors)| !errors.is_none()) {
            let Errors { nan, infinity, overflow, underflow } = errors;
            writeln!(
                out,
                "core {core}: numerical errors: NaN {nan}, infinity {infinity}, overflow \
                 {overflow}, underflow {underflow}"
            )?;
        }
        Ok(())
    }

    /// The counts of every core, in order.
    pub(super) fn document(&self) -> Value {
        let counts = self.0.iter().map(|errors| {
            json!({
                "nan": errors.nan,
                "infinity": errors.infinity,
                "overflow": errors.overflow,
                "underflow": errors.underflow,
            })
        });
        counts.collect()
    }
}

impl Observer for Counts {
    fn errors(&mut self, at: At, errors: &Errors) {
        if let Some(counts) = self.0.get_mut(at.core) {
            counts.add(errors);
        }
    }
}
