//! A NEFF and its trace into the store: for the command line, and for jobs of
//! the server.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use neuron_core::neff::doc::Target;
use neuron_core::neff::{self, Neff, Report};
use neuron_core::ntff::messages::NtffInfo;
use npu::time::SIMULATED;
use profile_engine::{Capture, Options, ReadAt};
use profile_store::disk::content_id;
use profile_store::{Error, Labels, Progress, Settings, Store, ingest};

use super::{Args, stem, told};
use crate::output::{self, Exit, Verbosity};
use crate::sources::{Sources, attach};

/// Traces up to this size get samples of SBUF and PSUM without being asked:
/// they keep 16 bytes for each change (our choice: some 150 MiB at most).
pub(super) const SAMPLED: u64 = 256 << 20;

/// What is ingested, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// Name of the NEFF for people.
    pub(crate) neff: String,
    /// Name of the trace.
    pub(crate) trace: String,
    /// Bytes of the trace.
    pub(crate) size: u64,
    /// Which execution, from 0.
    pub(crate) execution: u32,
    /// Name that was given.
    pub(crate) display_name: Option<String>,
    /// Tags to add.
    pub(crate) tags: Vec<String>,
    /// Replace what is stored.
    pub(crate) force: bool,
    /// Samples of SBUF and PSUM are left out.
    pub(crate) no_usage: bool,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The profile.
    pub(crate) id: String,
    /// Findings for people: about which file, and what.
    pub(crate) lines: Vec<(String, String)>,
    /// Whether it is whole.
    pub(crate) exit: Exit,
}

/// A trace whose reading can be stopped.
#[derive(Debug)]
pub(crate) struct Stoppable<'f, S: ?Sized> {
    /// The trace.
    pub(crate) inner: &'f S,
    /// Set by who wants it to stop.
    pub(crate) stop: &'f AtomicBool,
}

impl<S: ReadAt + ?Sized> ReadAt for Stoppable<'_, S> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        self.inner.read_at(offset, buffer)
    }
}

impl Given {
    /// What the command line says of every profile.
    pub(super) fn of(args: &Args) -> anyhow::Result<Self> {
        Ok(Self {
            display_name: args.display_name.clone(),
            tags: args.tags.clone(),
            force: args.force,
            no_usage: args.without_usage()?,
            ..Self::default()
        })
    }

    pub(super) fn label(&self, labels: &mut Labels) {
        if let Some(name) = &self.display_name {
            labels.display_name.clone_from(name);
        }
        labels.tags.extend(self.tags.iter().cloned());
        labels.tags.sort();
        labels.tags.dedup();
    }
}

/// Stores a pair; `progress` is told the events and the share of the trace.
///
/// # Errors
///
/// Files that cannot be read or do not belong together, a disk that cannot be
/// written.
pub(crate) fn store_pair<S: ReadAt + ?Sized>(
    store: &Store,
    given: &Given,
    (bytes, neff): (&[u8], &Neff<'_>),
    trace: &S,
    options: Options,
    progress: &mut dyn FnMut(Progress),
) -> anyhow::Result<Stored> {
    let id = id(bytes, &given.trace, trace, given.execution)?;
    let draft = match store.begin(&id, given.force) {
        Ok(draft) => draft,
        Err(Error::Exists(_)) => {
            store.label(&id, |labels| given.label(labels))?;
            let note = String::from("note: stored already; --force ingests again");
            let lines = vec![(given.trace.clone(), note)];
            return Ok(Stored { id, lines, exit: Exit::Done });
        }
        Err(error) => return Err(error.into()),
    };
    let mut report = Report::new(neff::Mode::Lenient);
    let options = Options { call_stacks: true, ..options };
    let capture =
        Capture::open(neff, trace, options, &mut report).with_context(|| given.trace.clone())?;
    let mut lines = Vec::new();
    let usage = given.size <= SAMPLED && !given.no_usage;
    if !usage && !given.no_usage {
        let note = "note: the trace is large, so SbufUsage and PsumUsage are left out";
        lines.push((given.trace.clone(), note.to_owned()));
    }
    let mut labels = Labels { display_name: stem(&given.trace), tags: Vec::new() };
    given.label(&mut labels);
    let settings = Settings {
        neff: given.neff.clone(),
        trace: given.trace.clone(),
        execution: given.execution,
        labels,
        usage,
        simulated: simulated(neff, &capture.info),
    };
    let from = Instant::now();
    let done = ingest(&capture, draft, &settings, progress);
    let done = done.with_context(|| given.trace.clone())?;
    if output::tells(Verbosity::Steps) {
        let bytes: u64 = done.manifest.tables.values().map(|table| table.bytes).sum();
        let (events, time) = (done.manifest.events, from.elapsed().as_secs_f64());
        let line = format!("{events} events stored in {time:.2} s, tables of {bytes} bytes");
        lines.push((given.trace.clone(), line));
    }
    let (told, exit) = told(&capture, &done.totals.unmatched);
    lines.extend(told.into_iter().map(|line| (given.trace.clone(), line)));
    lines.extend(report.warnings().iter().map(|text| (given.neff.clone(), text.to_string())));
    Ok(Stored { id, lines, exit })
}

/// The share of the trace that is read: its length is known in time, not in
/// events.
pub(crate) fn share(at: Progress) -> u64 {
    let share = u128::from(at.time_ns) * 100 / u128::from(at.total_ns.max(1));
    u64::try_from(share).unwrap_or(100).min(100)
}

/// Keeps the sources that the profile names, where directories are given.
pub(super) fn attach_sources(args: &Args, id: &str) -> anyhow::Result<()> {
    let roots = [&args.nki_source_root, &args.framework_source_root];
    let roots: Vec<PathBuf> = roots.into_iter().flatten().cloned().collect();
    if roots.is_empty() {
        return Ok(());
    }
    let store = args.place.store()?;
    let profile = store.open(id)?;
    let done = attach(&profile, &Sources::of(store.root(), id), &roots)?;
    let mut lines = vec![format!("note: {} sources are kept with the profile", done.kept)];
    lines.extend(done.refused.iter().map(|text| format!("note: not kept: {text}")));
    if let Some(first) = done.missing.first() {
        let count = done.missing.len();
        lines.push(format!("note: {count} sources were not found, the first is {first:?}"));
    }
    output::tell(&profile.labels().display_name, lines);
    Ok(())
}

/// The program is of the software NeuronCore, or the trace.
fn simulated(neff: &Neff<'_>, info: &NtffInfo) -> bool {
    if info.neuron_runtime_version.as_ref().is_some_and(|v| v.git_hash == SIMULATED) {
        return true;
    }
    let mut report = Report::new(neff::Mode::Lenient);
    let model = neff::Model::read(neff, &mut report);
    model.is_ok_and(|model| model.target() == Some(Target::Simulator))
}

/// The id of the pair.
pub(super) fn id<S: ReadAt + ?Sized>(
    neff: &[u8],
    name: &str,
    trace: &S,
    execution: u32,
) -> anyhow::Result<String> {
    let mut at = 0;
    content_id(neff, execution, |piece| -> anyhow::Result<()> {
        piece.resize(1 << 18, 0);
        let read = trace.fill_at(at, piece);
        let have = read.map_err(neuron_core::Error::io("read", name))?;
        piece.truncate(have);
        at += u64::try_from(have)?;
        Ok(())
    })
}
