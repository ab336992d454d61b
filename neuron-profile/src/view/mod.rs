//! `neuron-profile view`: a NEFF and its trace as tables or metrics.
//!
//! Flags are those of the vendor's tools. Without a NEFF it serves what is
//! stored.

mod files;
mod folder;
pub(crate) mod ingest;
mod many;
mod system;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use neuron_core::neff::{self, Neff, Options as NeffOptions, Report};
use profile_engine::summary::summary;
use profile_engine::{Capture, Nothing, Options, Parts, RunError, run};

use crate::export::{Names, Profile, json, metrics};
use crate::output::{self, Exit};
use crate::profiles::Place;
use crate::serve::{Listen, serve};
pub(crate) use files::{Trace, replace};

/// Show profiles: store one and serve it, or write its tables or metrics; without files serve what is stored
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// The NEFF that was running; given more than once, one for each trace
    #[arg(short, long, value_name = "FILE", alias = "neff")]
    neff_path: Vec<PathBuf>,

    /// The trace of it; - reads stdin; may be given more than once, the ranks of a NEFF for instance
    #[arg(short, long, value_name = "FILE", requires = "neff_path")]
    session_file: Vec<PathBuf>,

    /// A folder: what the runtime wrote of a run, or traces of the ranks of a NEFF
    #[arg(short = 'd', long, value_name = "FOLDER", conflicts_with_all = ["neff_path", "session_file"])]
    session_dir: Option<PathBuf>,

    /// Leave out the traces of devices in a folder
    #[arg(long, requires = "session_dir")]
    ignore_device_profile: bool,

    /// Leave out the events of the runtime in a folder
    #[arg(long, requires = "session_dir")]
    ignore_system_profile: bool,

    #[command(flatten)]
    together: many::Together,

    /// What is written; parquet goes to the store
    #[arg(long, value_enum, default_value_t)]
    output_format: Format,

    /// Store the profile and end, serve nothing
    #[arg(long, alias = "disable-ui")]
    ingest_only: bool,

    /// Ingest again what is stored already
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    place: Place,

    /// Tag of the stored profile; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Where json goes; - is stdout
    #[arg(long, value_name = "FILE", default_value = "ntff.json")]
    output_file: PathBuf,

    /// Name of the profile; that of the trace if left out
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,

    /// Break the lines of json
    #[arg(long)]
    json_pretty_print: bool,

    /// Leave out how full the memories of a core are, which takes memory with
    /// the length of a trace
    #[arg(long)]
    ignore_nc_buf_usage: bool,

    /// Where sources of NKI kernels are: those that instructions name are kept with the profile
    #[arg(long, value_name = "DIR")]
    nki_source_root: Option<PathBuf>,

    /// Where sources of the framework's program are, in the same way
    #[arg(long, value_name = "DIR")]
    framework_source_root: Option<PathBuf>,

    /// Which execution of the trace, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    execution: u32,

    #[command(flatten)]
    listen: Listen,
}

/// Forms of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Tables in the store
    #[default]
    Parquet,
    /// A file of all tables
    Json,
    /// Metrics, name and value
    SummaryText,
    /// Metrics on one line, by the profile's id
    SummaryJson,
}

/// Runs the command.
///
/// # Errors
///
/// Files that cannot be read, do not belong together, or cannot be written.
pub fn run_view(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.session_dir {
        return run_folder(args, folder, out);
    }
    match (args.neff_path.is_empty(), args.output_format == Format::Parquet) {
        (false, _) => {}
        (true, false) => bail!("--output-format needs a profile: add -n NEFF -s NTFF"),
        (true, true) if args.ingest_only => {
            bail!("--ingest-only needs a profile: add -n NEFF -s NTFF, or -d FOLDER");
        }
        (true, true) => {
            serve(args.place.store()?, &args.listen, None, out)?;
            return Ok(Exit::Done);
        }
    }
    let pairs = many::paired(&args.neff_path, &args.session_file)?;
    if args.output_format == Format::Parquet {
        return run_pairs(args, &pairs, out);
    }
    let [(neff_path, session_file)] = pairs.as_slice() else {
        bail!("--output-format json and summaries are of one profile: name one NEFF and one trace");
    };
    let trace = Trace::open(session_file)?;
    let bytes = neuron_core::sys::file_map::FileBytes::open(neff_path)?;
    let neff_name = neff_path.display().to_string();
    let options = NeffOptions::new(neff::Mode::Lenient).without_digest();
    let neff = Neff::open(&bytes, &options).with_context(|| neff_name.clone())?;
    let mut report = Report::new(neff::Mode::Lenient);
    let execution = usize::try_from(args.execution)?.saturating_sub(1);
    let options = Options { execution, ..Options::default() };
    let exit = match args.output_format {
        Format::Json => {
            let parts = Parts { usage: !args.ignore_nc_buf_usage };
            let profile = Profile::read(&neff, &trace.file, options, parts, &mut report)
                .with_context(|| trace.name.clone())?;
            let name = args.display_name.clone().unwrap_or_else(|| stem(&trace.name));
            let names = Names { profile: name, trace: trace.name.clone() };
            let pretty = args.json_pretty_print;
            if args.output_file.as_os_str() == "-" {
                json::write(&mut BufWriter::new(out), &profile, &names, pretty)?;
            } else {
                files::replace(&args.output_file, |file| {
                    json::write(file, &profile, &names, pretty)
                })?;
            }
            end(&trace.name, &profile.capture, &profile.outcome.totals.unmatched)
        }
        _ => {
            let capture = Capture::open(&neff, &trace.file, options, &mut report)
                .with_context(|| trace.name.clone())?;
            let outcome = match run(&capture, Parts { usage: false }, &mut Nothing) {
                Ok(outcome) => outcome,
                Err(RunError::Trace(error)) => {
                    return Err(error).with_context(|| trace.name.clone());
                }
                Err(RunError::Taker(never)) => match never {},
            };
            let list = summary(&capture, &outcome.totals);
            let mut out = BufWriter::new(out);
            if args.output_format == Format::SummaryText {
                metrics::text(&mut out, &list)?;
            } else {
                let execution = u32::try_from(options.execution)?;
                let id = ingest::id(&bytes, &trace.name, &trace.file, execution)?;
                let line = serde_json::json!({ id: metrics::object(&list) });
                serde_json::to_writer(&mut out, &line)?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
            end(&trace.name, &capture, &outcome.totals.unmatched)
        }
    };
    output::tell(&neff_name, report.warnings().iter().map(ToString::to_string));
    Ok(exit)
}

/// Stores what is in a folder.
fn run_folder(args: &Args, folder: &Path, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.output_format != Format::Parquet {
        bail!("with -d FOLDER only --output-format parquet; then use neuron-profile export");
    }
    let mut found = folder::look(folder)?;
    if args.ignore_device_profile {
        found.pairs.clear();
    }
    if args.ignore_system_profile {
        found.runs.clear();
    }
    let name = folder.display().to_string();
    output::tell(&name, found.notes.iter().map(|note| format!("note: {note}")));
    if found.runs.is_empty() && found.pairs.is_empty() {
        bail!("{name}: no device or system profiles found");
    }
    let mut exit = if found.notes.is_empty() { Exit::Done } else { Exit::Partial };
    let stored = many::run(args, &found.pairs)?;
    let failed = stored.iter().filter(|done| done.is_none()).count();
    let mut devices = Vec::new();
    for (done, (neff_path, session_file)) in stored.into_iter().zip(&found.pairs) {
        let Some(done) = done else { continue };
        if done.exit != Exit::Done {
            exit = done.exit;
        }
        let device = system::device(done.id, neff_path, session_file, done.start);
        devices.push((session_file, device));
    }
    let mut ids = Vec::new();
    for run in &found.runs {
        let own = devices.iter().filter(|(trace, _)| trace.starts_with(run));
        let own = own.map(|(_, device)| device.clone()).collect();
        let (id, whole) = system::run(args, run, own)?;
        if !whole {
            exit = Exit::Partial;
        }
        ids.push(id);
    }
    ids.extend(devices.into_iter().map(|(_, device)| device.id));
    show(args, &ids, (failed, found.pairs.len()), out)?;
    Ok(exit)
}

/// Stores pairs of the command line.
fn run_pairs(
    args: &Args,
    pairs: &[(PathBuf, PathBuf)],
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.display_name.is_some() && pairs.len() > 1 {
        bail!("--display-name is of one profile; name several with neuron-profile tag");
    }
    let stored = many::run(args, pairs)?;
    let failed = stored.iter().filter(|done| done.is_none()).count();
    let done: Vec<many::Done> = stored.into_iter().flatten().collect();
    let partial = done.iter().find(|done| done.exit != Exit::Done);
    let exit = partial.map_or(Exit::Done, |done| done.exit);
    let ids: Vec<String> = done.into_iter().map(|done| done.id).collect();
    show(args, &ids, (failed, pairs.len()), out)?;
    Ok(exit)
}

/// Says what is stored, or serves it. `failed` of how many were told before.
fn show(
    args: &Args,
    ids: &[String],
    (failed, all): (usize, usize),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if args.ingest_only {
        for id in ids {
            writeln!(out, "Profile \"{id}\" is ready to view")?;
        }
        out.flush()?;
    } else if let Some(first) = ids.first() {
        serve(args.place.store()?, &args.listen, Some(first), out)?;
    }
    if failed > 0 {
        bail!("{failed} of {all} profiles could not be stored");
    }
    Ok(())
}

/// Tells what is not shown and why.
fn end<S: ?Sized + profile_engine::ReadAt>(
    name: &str,
    capture: &Capture<'_, S>,
    unmatched: &profile_engine::totals::Unmatched,
) -> Exit {
    let (lines, exit) = told(capture, unmatched);
    output::tell(name, lines);
    exit
}

/// The same as lines.
fn told<S: ?Sized + profile_engine::ReadAt>(
    capture: &Capture<'_, S>,
    unmatched: &profile_engine::totals::Unmatched,
) -> (Vec<String>, Exit) {
    let (findings, _) = capture.findings().list();
    let mut lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let read = &unmatched.read;
    let told = [
        (read.missing_bytes, "bytes of records are missing: the file ends before them"),
        (read.late, "records came too late to be put in order"),
        (unmatched.instruction_ends, "ends of instructions have no start"),
        (unmatched.packet_ends, "ends of DMA packets have no start"),
        (unmatched.overflow, "starts were given up: too many were under way"),
        (unmatched.packets_left_out, "packets of ring 14 are left out: one was under way before"),
        (unmatched.resident, "instructions are outside every captured program"),
        (unmatched.unknown_records, "records are of no known kind"),
        (read.loss_marks, "records have the mark that others of their ring are lost"),
    ];
    let some = told.iter().filter(|(count, _)| *count > 0);
    lines.extend(some.map(|(count, what)| format!("note: {count} {what}")));
    let partial = capture.findings().damaged() || read.missing_bytes > 0;
    (lines, if partial { Exit::Partial } else { Exit::Done })
}

/// The name of a file without folder and ending.
pub(crate) fn stem(name: &str) -> String {
    Path::new(name)
        .file_stem()
        .map_or_else(|| String::from("profile"), |stem| stem.display().to_string())
}
