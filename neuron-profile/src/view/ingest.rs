//! A NEFF and its trace into the store.

use std::path::Path;

use anyhow::Context as _;
use neuron_core::neff::doc::Target;
use neuron_core::neff::{self, Neff, Report};
use neuron_core::ntff::messages::NtffInfo;
use npu::time::SIMULATED;
use profile_engine::{Capture, Options};
use profile_store::disk::content_id;
use profile_store::{Error, Labels, Settings, ingest};

use super::files::Trace;
use super::{Args, end, stem};
use crate::output::{self, Exit};

/// Traces up to this size get samples of SBUF and PSUM without being asked:
/// they keep 16 bytes for each change (our choice: some 150 MiB at most).
const SAMPLED: u64 = 256 << 20;

/// Ingests; gives the id.
pub(super) fn run(
    args: &Args,
    (neff_path, trace): (&Path, &Trace),
    bytes: &[u8],
    neff: &Neff<'_>,
    options: Options,
) -> anyhow::Result<(String, Exit)> {
    let execution = u32::try_from(options.execution)?;
    let id = id(bytes, trace, execution)?;
    let store = args.place.store()?;
    let draft = match store.begin(&id, args.force) {
        Ok(draft) => draft,
        Err(Error::Exists(_)) => {
            store.label(&id, |labels| label(args, labels))?;
            output::tell(
                &trace.name,
                [String::from("note: stored already; --force ingests again")],
            );
            return Ok((id, Exit::Done));
        }
        Err(error) => return Err(error.into()),
    };
    let mut report = Report::new(neff::Mode::Lenient);
    let capture = Capture::open(neff, &trace.file, options, &mut report)
        .with_context(|| trace.name.clone())?;
    let size = trace.file.metadata().map_or(u64::MAX, |meta| meta.len());
    let usage = size <= SAMPLED && !args.ignore_nc_buf_usage;
    if !usage && !args.ignore_nc_buf_usage {
        let note = "note: the trace is large, so SbufUsage and PsumUsage are left out";
        output::tell(&trace.name, [note.to_owned()]);
    }
    let mut labels = Labels { display_name: stem(&trace.name), tags: Vec::new() };
    label(args, &mut labels);
    let settings = Settings {
        neff: neff_path.display().to_string(),
        trace: trace.name.clone(),
        execution,
        labels,
        usage,
        simulated: simulated(neff, &capture.info),
    };
    // The length of the trace is known in time, not in events.
    let bar = output::progress("ingest", 100, false);
    let done = ingest(&capture, draft, &settings, &mut |at| {
        let share = u128::from(at.time_ns) * 100 / u128::from(at.total_ns.max(1));
        bar.set_position(u64::try_from(share).unwrap_or(100));
        bar.set_message(format!("{} events", at.events));
    });
    bar.finish_and_clear();
    let done = done.with_context(|| trace.name.clone())?;
    let exit = end(&trace.name, &capture, &done.totals.unmatched);
    output::tell(&settings.neff, report.warnings().iter().map(ToString::to_string));
    Ok((id, exit))
}

/// What the command line says about name and tags.
pub(super) fn label(args: &Args, labels: &mut Labels) {
    if let Some(name) = &args.display_name {
        labels.display_name.clone_from(name);
    }
    labels.tags.extend(args.tags.iter().cloned());
    labels.tags.sort();
    labels.tags.dedup();
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
pub(super) fn id(neff: &[u8], trace: &Trace, execution: u32) -> anyhow::Result<String> {
    use profile_engine::ReadAt as _;
    let mut at = 0;
    content_id(neff, execution, |piece| -> anyhow::Result<()> {
        piece.resize(1 << 18, 0);
        let read = trace.file.fill_at(at, piece);
        let have = read.map_err(neuron_core::Error::io("read", &trace.name))?;
        piece.truncate(have);
        at += u64::try_from(have)?;
        Ok(())
    })
}
