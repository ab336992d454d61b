//! `neuron-profile view`: a NEFF and its trace as tables or metrics.
//!
//! Flags are those of the vendor's tools. Without a NEFF it serves what is
//! stored.

mod files;
mod folder;
mod glossary;
mod ignored;
pub(crate) mod ingest;
mod many;
mod pair;
mod perfetto;
mod processed;
mod status;
mod stored;
mod system;
mod system_json;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use clap::ValueEnum;
use profile_engine::Capture;

use crate::export::metrics;
use crate::export::stored::Shape;
use crate::influx::Database;
use crate::output::{self, Exit, Verbosity};
use crate::profiles::Place;
use crate::serve::{Listen, serve};
pub(crate) use files::{Trace, replace};
use ignored::{Ignored, SystemFilter};
use processed::{Processed, finish, one_bucket, store_pairs};

/// Show profiles: store one and serve it, or write its tables or metrics; without files serve what is stored
#[derive(Debug, Clone, clap::Args)]
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

    /// What is written; parquet goes to the store, db there and to InfluxDB
    /// [default: parquet, with a flag of InfluxDB db]
    #[arg(long, value_enum)]
    output_format: Option<Format>,

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

    /// Where json or perfetto goes, - is stdout [default: ntff.json, ntff.pftrace]; of a folder, the
    /// folder of system_profile.json and device_profile_model_ID.json, or .pftrace [default: .]
    #[arg(long, value_name = "PATH")]
    output_file: Option<PathBuf>,

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

    /// Where sources of NKI kernels are: those that instructions and call stacks name are kept with the profile
    #[arg(long, value_name = "DIR")]
    nki_source_root: Option<PathBuf>,

    /// Where sources of the framework's program are, in the same way
    #[arg(long, value_name = "DIR")]
    framework_source_root: Option<PathBuf>,

    /// Which execution of the trace, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    execution: u32,

    /// Where to write how it ended: {"status_code":0,"profiles":[{"profile":"n_...","status":"success"}]}
    #[arg(long, value_name = "FILE")]
    processing_status_file: Option<PathBuf>,

    /// How much is told on stderr: 0 errors alone, 1 findings and notes too, 2 also what was done and how long it took
    #[arg(short, long, value_name = "LEVEL", default_value_t = 1)]
    verbosity: u8,

    /// Track tensors in device memory over time, as is done anyway: tables ScratchpadTensor and ScratchpadUsage
    #[arg(long)]
    enable_memory_tracker: bool,

    /// Another way to say --ignore-nc-buf-usage: -F ignore-nc-buf-usage=true
    #[arg(short = 'F', value_name = "NAME=VALUE", hide = true)]
    features: Vec<String>,

    /// Say what each metric means, and nothing else
    #[arg(long)]
    terminology: bool,

    /// Say which tables and columns profiles have, and nothing else
    #[arg(long)]
    show_profile_schema: bool,

    #[command(flatten)]
    ignored: Ignored,

    #[command(flatten)]
    filter: SystemFilter,

    #[command(flatten)]
    shape: Shape,

    #[command(flatten)]
    listen: Listen,

    #[command(flatten)]
    database: Database,
}

/// Forms of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables in the store
    Parquet,
    /// The same, and a copy in InfluxDB
    Db,
    /// A file of all tables
    Json,
    /// A trace for ui.perfetto.dev
    Perfetto,
    /// Metrics, name and value
    SummaryText,
    /// Metrics on one line, by the profile's id
    SummaryJson,
    /// Operator tables by the profile's id, for `neuron-profile tensorboard`
    #[value(hide = true)]
    Operators,
}

impl Args {
    /// Whether samples of SBUF and PSUM are left out.
    fn without_usage(&self) -> anyhow::Result<bool> {
        Ok(self.ignore_nc_buf_usage || ignored::without_usage(&self.features)?)
    }

    /// What was asked for.
    fn format(&self) -> Format {
        let usual = if self.database.is_asked() { Format::Db } else { Format::Parquet };
        self.output_format.unwrap_or(usual)
    }

    /// A copy of a stored profile for the database, where one is asked for.
    fn copy(&self, id: &str) -> anyhow::Result<()> {
        if self.format() == Format::Db {
            self.database.copy(&self.place.store()?, id, self.force)?;
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
///
/// Files that cannot be read, do not belong together, or cannot be written.
pub fn run_view(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    output::set_verbosity(args.verbosity);
    let from = Instant::now();
    let mut processed = Processed::default();
    let done = shown(args, &mut processed, out);
    if output::tells(Verbosity::Steps) {
        output::tell("view", [format!("done after {:.2} s", from.elapsed().as_secs_f64())]);
    }
    if let Some(path) = &args.processing_status_file {
        status::write(path, &processed, &done)?;
    }
    done
}

/// Does it, and takes note of what was stored.
fn shown(args: &Args, processed: &mut Processed, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.terminology || args.show_profile_schema {
        return glossary::write(args.terminology, args.show_profile_schema, out);
    }
    if let Some(folder) = &args.session_dir {
        return run_folder(args, folder, processed, out);
    }
    let pairs = match (args.neff_path.is_empty(), args.format()) {
        (false, _) => many::paired(&args.neff_path, &args.session_file)?,
        (true, form) if args.database.is_asked() || form == Format::Db => {
            return stored::from_database(args, out);
        }
        (true, form) if form != Format::Parquet => {
            bail!("--output-format needs a profile: add -n NEFF -s NTFF");
        }
        (true, _) if args.ingest_only => {
            bail!("--ingest-only needs a profile: add -n NEFF -s NTFF, or -d FOLDER");
        }
        (true, _) => {
            serve(args.place.store()?, &args.listen, None, out)?;
            return Ok(Exit::Done);
        }
    };
    let one = || match pairs.as_slice() {
        [(neff, trace)] => Ok((neff.as_path(), trace.as_path())),
        _ => bail!("this form is of one profile: name one NEFF and one trace, or -d FOLDER"),
    };
    match args.format() {
        Format::Parquet | Format::Db => store_pairs(args, &pairs, processed, out),
        Format::Json => {
            let to = args.output_file.clone().unwrap_or_else(|| PathBuf::from("ntff.json"));
            pair::tables(args, one()?, &to, out)
        }
        Format::Perfetto => {
            let to = args.output_file.clone().unwrap_or_else(|| PathBuf::from("ntff.pftrace"));
            perfetto::pair(args, one()?, &to, out)
        }
        form @ (Format::SummaryText | Format::SummaryJson | Format::Operators) => {
            let pairs: Vec<_> = pairs.iter().map(|(neff, trace)| (&**neff, &**trace)).collect();
            let write = if form == Format::Operators { operators } else { summaries };
            write(args, &pairs, out)
        }
    }
}

/// Writes the metrics of pairs: one object by their ids, or one after the other.
fn summaries(args: &Args, pairs: &[(&Path, &Path)], out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(out);
    let mut all = serde_json::Map::new();
    let mut exit = Exit::Done;
    for pair in pairs {
        let (id, list, ended) = pair::metrics(args, *pair)?;
        if ended != Exit::Done {
            exit = ended;
        }
        if args.format() == Format::SummaryJson {
            all.insert(id, metrics::object(&list).into());
            continue;
        }
        if pairs.len() > 1 {
            writeln!(
                out,
                "{id}  {}",
                neuron_core::model::printable(&pair.1.display().to_string())
            )?;
        }
        metrics::text(&mut out, &list)?;
    }
    if args.format() == Format::SummaryJson {
        serde_json::to_writer(&mut out, &all)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(exit)
}

/// Writes the operator tables of pairs as one object by their ids.
fn operators(args: &Args, pairs: &[(&Path, &Path)], out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut all = BTreeMap::new();
    let mut exit = Exit::Done;
    let mut failed = Vec::new();
    for pair in pairs {
        match pair::operators(args, *pair) {
            Ok((id, tables, ended)) => {
                if ended != Exit::Done {
                    exit = ended;
                }
                all.insert(id, tables);
            }
            Err(error) => failed.push(error),
        }
    }
    if all.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    // One that is damaged hides no other.
    if !failed.is_empty() {
        output::wrong("view", failed.iter().map(output::one_line));
        exit = Exit::Partial;
    }
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, &all)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(exit)
}

/// Stores or writes what is in a folder.
fn run_folder(
    args: &Args,
    folder: &Path,
    processed: &mut Processed,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut found = folder::look(folder, usize::try_from(args.execution)?.saturating_sub(1))?;
    if args.ignore_device_profile {
        found.pairs.clear();
    }
    if args.ignore_system_profile {
        found.runs.clear();
    }
    let name = folder.display().to_string();
    let notes = found.notes.iter().chain(&found.fewer);
    output::tell(&name, notes.map(|note| format!("note: {note}")));
    if found.runs.is_empty() && found.pairs.is_empty() {
        bail!("{name}: no device or system profiles found");
    }
    let mut exit = if found.notes.is_empty() { Exit::Done } else { Exit::Partial };
    let mut note = |ended: Exit| {
        if ended != Exit::Done {
            exit = ended;
        }
    };
    match args.format() {
        Format::Parquet | Format::Db => {}
        Format::Json => {
            note(stored::documents(args, &found, out)?);
            return Ok(exit);
        }
        Format::Perfetto => {
            note(perfetto::folder(args, &found, out)?);
            return Ok(exit);
        }
        Format::SummaryText | Format::SummaryJson | Format::Operators => {
            let pairs: Vec<(&Path, &Path)> =
                found.pairs.iter().map(|(neff, trace)| (neff.as_path(), trace.as_path())).collect();
            if pairs.is_empty() {
                bail!("{name}: metrics are of devices, and it has no trace of one");
            }
            let write = if args.format() == Format::Operators { operators } else { summaries };
            note(write(args, &pairs, out)?);
            return Ok(exit);
        }
    }
    one_bucket(args, found.pairs.len() + found.runs.len())?;
    let mut devices = Vec::new();
    let mut missing = Vec::new();
    let results = many::run(args, &found.pairs, processed)?;
    for (done, (neff_path, session_file)) in results.into_iter().zip(&found.pairs) {
        let Some(done) = done else {
            missing.push(session_file);
            continue;
        };
        note(done.exit);
        let device = system::device(done.id, neff_path, session_file, done.start);
        devices.push((session_file, device));
    }
    let mut ids = Vec::new();
    for run in &found.runs {
        // It would be stored without its device for good: its id is of its own files.
        if let Some(trace) = missing.iter().find(|trace| trace.starts_with(run)) {
            let error = anyhow::anyhow!("not stored, since {} could not be", trace.display());
            processed.fail(&run.display().to_string(), &error);
            continue;
        }
        let own = devices.iter().filter(|(trace, _)| trace.starts_with(run));
        let own = own.map(|(_, device)| device.clone()).collect();
        let Some((id, whole)) = system::run(args, run, own)? else { continue };
        if !whole {
            note(Exit::Partial);
        }
        ids.push(id);
    }
    ids.extend(devices.into_iter().map(|(_, device)| device.id));
    if ids.is_empty() && processed.failures.is_empty() {
        bail!(
            "{name}: there is no run of the instances that --system-trace-filter-instance-id says"
        );
    }
    note(finish(args, ids, processed, out)?);
    Ok(exit)
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
