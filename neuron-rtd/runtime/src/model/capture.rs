//! A profile of one inference: an NTFF for each node on NeuronCores.
//!
//! One capture of a model at a time (neuron-rtd.md §4.6). It takes the first
//! inference that is posted after it was begun, writes its files when that one
//! has ended, and stays until it is asked for or the next one begins.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{MutexGuard, PoisonError};

use super::Model;
use crate::failure::{Code, Failure};
use crate::journal::Level;

const PLACE: &str = "NMGR:profile";

/// A capture under way or done.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Its file; nodes beyond the first have their number in the name.
    path: PathBuf,
    /// Inferences with lower cookies were posted before.
    after: u64,
    /// The inference.
    chosen: Option<u64>,
    traces: Vec<Vec<u8>>,
    written: Option<Result<Vec<PathBuf>, String>>,
}

impl Model {
    fn capture(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Captures the next inference into this file.
    pub(crate) fn begin_capture(&self, path: PathBuf) {
        let after = self.shared.cookies.last();
        let (chosen, traces, written) = (None, Vec::new(), None);
        *self.capture() = Some(Capture { path, after, chosen, traces, written });
        self.capturing.store(true, Release);
    }

    /// Ends a capture; gives the files that it has written.
    pub(crate) fn end_capture(&self) -> Result<Vec<PathBuf>, Failure> {
        self.capturing.store(false, Release);
        let capture = self.capture().take().ok_or_else(|| {
            let text = format!("no profile of model ({}) was started", self.id);
            Failure::new(Code::Invalid, PLACE, text)
        })?;
        match capture.written {
            Some(Ok(files)) => Ok(files),
            Some(Err(reason)) => Err(Failure::new(Code::Fail, PLACE, reason)),
            None => {
                let text = format!("no inference of model ({}) has ended since", self.id);
                Err(Failure::new(Code::Invalid, PLACE, text))
            }
        }
    }

    /// Whether a step of an inference shall be profiled.
    pub(super) fn is_captured(&self, cookie: u64) -> bool {
        if !self.capturing.load(Acquire) {
            return false;
        }
        let mut capture = self.capture();
        let Some(capture) = capture.as_mut() else { return false };
        cookie > capture.after && *capture.chosen.get_or_insert(cookie) == cookie
    }

    /// A step of the captured inference has its trace.
    pub(super) fn add_trace(&self, cookie: u64, trace: Vec<u8>) {
        // one that was given up goes on, and another capture may have begun
        let mut capture = self.capture();
        let its =
            |capture: &&mut Capture| capture.chosen == Some(cookie) && capture.written.is_none();
        if let Some(capture) = capture.as_mut().filter(its) {
            capture.traces.push(trace);
        }
    }

    /// An inference has ended: writes the files if it is the captured one, once.
    pub(super) fn finish_capture(&self, cookie: u64) {
        if !self.capturing.load(Acquire) {
            return;
        }
        let mut guard = self.capture();
        let Some(capture) = guard.as_mut().filter(|capture| capture.chosen == Some(cookie)) else {
            return;
        };
        let traces = std::mem::take(&mut capture.traces);
        let written = if traces.is_empty() {
            Err(format!("the inference to be profiled, cookie {cookie:#x}, left no trace"))
        } else {
            write_all(&capture.path, &traces)
        };
        let (level, text) = match &written {
            Ok(files) => {
                let names: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                (Level::Info, format!("Profile of model ({}): {}", self.id, names.join(", ")))
            }
            Err(reason) => (Level::Error, reason.clone()),
        };
        capture.written = Some(written);
        drop(guard);
        self.capturing.store(false, Release);
        self.say(level, PLACE, &text);
    }
}

fn write_all(path: &Path, traces: &[Vec<u8>]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let file = match number {
            0 => path.to_owned(),
            _ => path.with_extension(format!("{number}.ntff")),
        };
        whole(&file, trace)
            .map_err(|error| format!("cannot write profile {}: {error}", file.display()))?;
        files.push(file);
    }
    Ok(files)
}

/// Writes a file that appears whole or not at all.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension("ntff.part");
    let write = || {
        let mut file = fs::File::create(&part)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().inspect_err(|_| {
        // it would keep a full disk full
        let _ = fs::remove_file(&part);
    })
}
