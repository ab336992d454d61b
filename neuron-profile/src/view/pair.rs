//! A NEFF and its trace as a file of tables or as metrics, with nothing stored.

use std::convert::Infallible;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use neuron_core::neff::{self, Neff, Options as NeffOptions, Report};
use neuron_core::sys::file_map::FileBytes;
use profile_engine::summary::summary;
use profile_engine::{Capture, Metric, Nothing, Options, Outcome, Parts, RunError, Sink, run};

use super::files::{self, Trace};
use super::{Args, end, ingest, stem};
use crate::export::{Names, Profile, json};
use crate::output::{self, Exit};
use crate::tensorboard::ops::Tables;
use crate::tensorboard::times::Times;

fn execution(args: &Args) -> anyhow::Result<Options> {
    let execution = usize::try_from(args.execution)?.saturating_sub(1);
    Ok(Options { execution, ..Options::default() })
}

fn lenient() -> NeffOptions {
    NeffOptions::new(neff::Mode::Lenient).without_digest()
}

/// Writes all tables to a file, `-` for stdout.
pub(super) fn tables(
    args: &Args,
    (neff_path, session_file): (&Path, &Path),
    to: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let trace = Trace::open(session_file)?;
    let bytes = FileBytes::open(neff_path)?;
    let name = neff_path.display().to_string();
    let neff = Neff::open(&bytes, &lenient()).with_context(|| name.clone())?;
    let mut report = Report::new(neff::Mode::Lenient);
    let parts = Parts { usage: !args.without_usage()? };
    let mut profile = Profile::read(&neff, &trace.file, execution(args)?, parts, &mut report)
        .with_context(|| trace.name.clone())?;
    args.ignored.leave_out(&mut profile);
    let own = args.display_name.clone().unwrap_or_else(|| stem(&trace.name));
    let names = Names { profile: own, trace: trace.name.clone() };
    let pretty = args.json_pretty_print;
    if to.as_os_str() == "-" {
        json::write(&mut BufWriter::new(out), &profile, &names, pretty)?;
    } else {
        files::replace(to, |file| json::write(file, &profile, &names, pretty))?;
    }
    let exit = end(&trace.name, &profile.capture, &profile.outcome.totals.unmatched);
    output::tell(&name, report.warnings().iter().map(ToString::to_string));
    Ok(exit)
}

/// Id and metrics.
pub(super) fn metrics(
    args: &Args,
    pair: (&Path, &Path),
) -> anyhow::Result<(String, Vec<Metric>, Exit)> {
    passed(args, pair, &mut Nothing, |capture, outcome, _| summary(capture, &outcome.totals))
}

/// Id and operator tables.
pub(super) fn operators(
    args: &Args,
    pair: (&Path, &Path),
) -> anyhow::Result<(String, Tables, Exit)> {
    let name = args.display_name.clone().unwrap_or_else(|| stem(&pair.1.display().to_string()));
    let times = &mut Times::default();
    passed(args, pair, times, |capture, _, times| times.tables(name, &capture.cores))
}

/// One pass over a trace, and what is made of it.
fn passed<K: Sink<Error = Infallible>, T>(
    args: &Args,
    (neff_path, session_file): (&Path, &Path),
    sink: &mut K,
    made: impl FnOnce(&Capture<'_, File>, &Outcome, &mut K) -> T,
) -> anyhow::Result<(String, T, Exit)> {
    let trace = Trace::open(session_file)?;
    let bytes = FileBytes::open(neff_path)?;
    let name = neff_path.display().to_string();
    let neff = Neff::open(&bytes, &lenient()).with_context(|| name.clone())?;
    let mut report = Report::new(neff::Mode::Lenient);
    let options = execution(args)?;
    let capture = Capture::open(&neff, &trace.file, options, &mut report)
        .with_context(|| trace.name.clone())?;
    let outcome = match run(&capture, Parts { usage: false }, sink) {
        Ok(outcome) => outcome,
        Err(RunError::Trace(error)) => return Err(error).with_context(|| trace.name.clone()),
        Err(RunError::Taker(never)) => match never {},
    };
    let value = made(&capture, &outcome, sink);
    let id = ingest::id(&bytes, &trace.name, &trace.file, u32::try_from(options.execution)?)?;
    let exit = end(&trace.name, &capture, &outcome.totals.unmatched);
    output::tell(&name, report.warnings().iter().map(ToString::to_string));
    Ok((id, value, exit))
}
