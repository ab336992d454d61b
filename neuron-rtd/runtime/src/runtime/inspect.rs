//! Inspection of a runtime: begun and ended while it runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::inspect::{InspectOptions, Inspection, Recorder};

const PLACE: &str = "NRT:inspect";

/// What is recorded now, if anything.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    /// Quick to see that nothing is.
    on: AtomicBool,
    now: RwLock<Now>,
}

#[derive(Debug, Clone, Default)]
struct Now {
    recorder: Option<Arc<Recorder>>,
    inspection: Option<Inspection>,
}

impl Tracing {
    fn now(&self) -> Now {
        if !self.on.load(Relaxed) {
            return Now::default();
        }
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What takes events.
    pub(crate) fn recorder(&self) -> Option<Arc<Recorder>> {
        self.now().recorder
    }

    /// What keeps files.
    pub(crate) fn inspection(&self) -> Option<Inspection> {
        self.now().inspection
    }

    fn set(&self, change: impl FnOnce(&mut Now) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut now)?;
        self.on.store(now.recorder.is_some() || now.inspection.is_some(), Relaxed);
        Ok(())
    }
}

fn under_way() -> Failure {
    Failure::new(Code::Invalid, PLACE, "a recording of events is under way already")
}

impl Runtime {
    /// Begins to write what the runtime does into files; `instance` is part of
    /// the name of their folder, which is given.
    ///
    /// # Errors
    ///
    /// One is under way; a folder that cannot be written.
    pub fn inspect(&self, options: InspectOptions, instance: &str) -> Result<PathBuf, Failure> {
        let shared = self.shared();
        let journal = Arc::clone(&shared.journal);
        let mut folder = PathBuf::new();
        shared.tracing.set(|now| {
            if now.inspection.is_some() || now.recorder.is_some() {
                return Err(under_way());
            }
            let begun = Inspection::begin(options, self.cores(), instance, journal)?;
            folder = begun.folder().to_owned();
            now.recorder = begun.recorder();
            now.inspection = Some(begun);
            Ok(())
        })?;
        Ok(folder)
    }

    /// Ends it; gives the folder, `None` when nothing was under way.
    ///
    /// # Errors
    ///
    /// Files that could not be written.
    pub fn end_inspect(&self) -> Result<Option<PathBuf>, Failure> {
        let mut ended = None;
        self.shared().tracing.set(|now| {
            ended = now.inspection.take();
            if ended.is_some() {
                now.recorder = None;
            }
            Ok(())
        })?;
        ended.map(|inspection| inspection.end()).transpose()
    }

    /// Begins to keep events in memory, to be taken with [`Recorder::take`].
    ///
    /// # Errors
    ///
    /// A recording is under way.
    pub fn record(&self, options: &InspectOptions) -> Result<Arc<Recorder>, Failure> {
        let recorder = Arc::new(Recorder::new(options));
        self.shared().tracing.set(|now| {
            if now.recorder.is_some() {
                return Err(under_way());
            }
            now.recorder = Some(Arc::clone(&recorder));
            Ok(())
        })?;
        Ok(recorder)
    }

    /// Ends what [`Self::record`] began; events that nobody took are gone.
    ///
    /// # Errors
    ///
    /// Nothing is kept in memory.
    pub fn end_record(&self) -> Result<(), Failure> {
        self.shared().tracing.set(|now| {
            if now.inspection.is_some() || now.recorder.take().is_none() {
                let text = "no recording into memory is under way";
                return Err(Failure::new(Code::Invalid, PLACE, text));
            }
            Ok(())
        })
    }

    /// What takes events now, for those that callers tell themselves.
    pub fn recorder(&self) -> Option<Arc<Recorder>> {
        self.shared().tracing.recorder()
    }
}
