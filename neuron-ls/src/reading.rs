//! Where an inventory comes from. The only file that knows about sources; the
//! views see [`Inventory`] alone.

use std::path::PathBuf;

use neuron_core::model::Inventory;
use neuron_core::sample::Wanted;
use neuron_core::source::{self, Source, Spec};
use neuron_core::{Error, Result};

/// An open source and what is read from it.
#[derive(Debug)]
pub(crate) struct Reading {
    source: Box<dyn Source>,
    wanted: Wanted,
    /// The recording that is played.
    recording: Option<PathBuf>,
}

impl Reading {
    /// Opens the source that `--source` names. `thorough` also asks for serial
    /// numbers, which firmware answers and which can take seconds on a device
    /// in trouble, and for the tags of applications.
    ///
    /// # Errors
    ///
    /// When the text names no source, or there is nothing to read.
    pub(crate) fn open(spec: &str, thorough: bool) -> Result<Self> {
        let spec: Spec = spec.parse()?;
        let wanted = Wanted {
            processes: true,
            datastores: thorough,
            firmware: thorough,
            ..Wanted::default()
        };
        let source = source::open(&spec)?;
        let recording = match spec {
            Spec::Replay { file, .. } => Some(file),
            _ => None,
        };
        Ok(Self { source, wanted, recording })
    }

    /// A source that is open already.
    #[cfg(test)]
    pub(crate) fn of(source: Box<dyn Source>) -> Self {
        let wanted = Wanted { processes: true, ..Wanted::default() };
        Self { source, wanted, recording: None }
    }

    /// Reads once.
    ///
    /// # Errors
    ///
    /// When there is nothing to show at all.
    pub(crate) fn inventory(&mut self) -> Result<Inventory> {
        Ok(Inventory::of(&self.source.sample(self.wanted)?))
    }

    /// What is wrong when a reading has no device.
    pub(crate) fn empty(&self) -> Error {
        match &self.recording {
            Some(file) => Error::content(file, "the sample has no Neuron device"),
            None => Error::NoDevices(String::from("no Neuron devices here")),
        }
    }

    /// Files whose change is worth a new reading.
    pub(crate) fn watch_paths(&self) -> Vec<PathBuf> {
        self.source.watch_paths()
    }

    /// Whether some changes show in no file.
    pub(crate) fn needs_polling(&self) -> bool {
        self.source.needs_polling()
    }
}
