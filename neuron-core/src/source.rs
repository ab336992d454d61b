//! Sources of samples: the kernel driver, a simulated instance, a recording.

use std::path::PathBuf;

use crate::Result;
use crate::sample::{Sample, Wanted};

/// Something that can be read.
pub trait Source: std::fmt::Debug {
    /// Reads once.
    ///
    /// # Errors
    ///
    /// Only when there is nothing to show at all. What a part of the machine
    /// refused is in [`Sample::problems`].
    fn sample(&mut self, wanted: Wanted) -> Result<Sample>;

    /// Files and directories whose change means that a new reading is worth
    /// while. Empty when the source can only be polled.
    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether changes can happen that no file of [`Self::watch_paths`] shows.
    fn needs_polling(&self) -> bool {
        true
    }
}
