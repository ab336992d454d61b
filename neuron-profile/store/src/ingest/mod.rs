//! From a capture to the files of a profile, in one pass and bounded memory.
//!
//! One thread reads the trace and gathers rows by lane; the other encodes what
//! is full. Neither waits long for the other: a lane is handed over whole.

mod allocations;
mod dram;
mod facts;
mod gather;
mod lane;
mod restore;
mod small;
mod stacks;
mod system;
mod tables;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod timeline;
mod write;

use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

use profile_engine::{Capture, Outcome, Parts, ReadAt, RunError, Totals};

use crate::disk::Draft;
use crate::error::Error;
use crate::manifest::{LAYOUT, Labels, Manifest};
use crate::read::Profile;
use crate::schema;
use gather::Gather;
pub(crate) use lane::join as join_sums;
pub use restore::Restore;
pub use system::{DeviceProfile, SystemRun, ingest_system};
pub use timeline::{Timeline, TimelineLane, TimelineRow, ingest_timeline};
use write::Writer;

/// How a profile is ingested, and what the files themselves do not say.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Path of the NEFF as it was given.
    pub neff: String,
    /// Path of the trace as it was given.
    pub trace: String,
    /// Which execution, from 0.
    pub execution: u32,
    /// Name and tags.
    pub labels: Labels,
    /// Samples of SBUF and PSUM, which take memory with the length of a trace.
    pub usage: bool,
    /// The program is of the software NeuronCore.
    pub simulated: bool,
}

/// How far an ingest is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Instructions and packets so far.
    pub events: u64,
    /// Time of the latest one, ns.
    pub time_ns: u64,
    /// Length of the execution, ns.
    pub total_ns: u64,
}

/// What an ingest gives.
#[derive(Debug)]
pub struct Ingested {
    /// The manifest that was stored.
    pub manifest: Manifest,
    /// Sums of the trace, from which metrics follow.
    pub totals: Totals,
}

/// Rows that the two threads hand over.
enum Job {
    Ran(usize, Vec<gather::Ran>),
    Moved(usize, Vec<gather::Moved>),
    Part(tables::Part),
}

/// Reads a capture into a draft and commits it. `progress` is called every
/// 65,536 events.
///
/// # Errors
///
/// A trace that cannot be read, or a disk that cannot be written; then nothing
/// is visible.
pub fn ingest<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    draft: Draft,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ingested, Error> {
    let (send, jobs) = mpsc::sync_channel::<Job>(1);
    let cores = &capture.cores;
    let chip = capture.chip;
    let dir = draft.dir();
    let (ran, written) = std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            let mut writer = Writer::new(dir, cores, chip)?;
            for job in jobs {
                writer.job(job)?;
            }
            Ok::<_, Error>(writer)
        });
        let mut gather = Gather::new(cores, send, progress, capture.total_ps() / 1000);
        let parts = Parts { usage: settings.usage };
        let ran = profile_engine::run(capture, parts, &mut gather).and_then(|outcome| {
            gather.finish().map_err(RunError::Taker)?;
            Ok(outcome)
        });
        drop(gather);
        (ran, writing.join())
    });
    // A writer that failed is why the rows could not be handed over.
    let writer: Writer<'_> = match written {
        Ok(written) => written?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(RunError::Trace(error)) => return Err(error.into()),
        Err(RunError::Taker(gather::Stopped)) => {
            return Err(Error::damaged(draft.dir(), "the writer stopped early"));
        }
    };
    let Outcome { totals, .. } = &outcome;
    let mut manifest = Manifest {
        simulated: settings.simulated,
        execution: settings.execution,
        total_ns: capture.total_ps() / 1000,
        notes: small::notes(totals),
        ..begun(&draft, settings)
    };
    writer.finish(capture, &outcome, settings, &mut manifest)?;
    let written = Profile::open(draft.dir().to_owned(), manifest.clone(), Labels::default())?;
    crate::series::build(&written, chip.peak())?;
    drop(written);
    draft.commit(&mut manifest, &settings.labels)?;
    Ok(Ingested { manifest, totals: outcome.totals })
}

/// What of a manifest is known before anything was read.
fn begun(draft: &Draft, settings: &Settings) -> Manifest {
    Manifest {
        layout: LAYOUT,
        id: draft.id().to_owned(),
        schema_version: schema::VERSION.to_owned(),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        written_at_ns: now(),
        neff: settings.neff.clone(),
        trace: settings.trace.clone(),
        ..Manifest::default()
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
