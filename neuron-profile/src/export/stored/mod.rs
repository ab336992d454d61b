//! `neuron-profile export`: a stored profile in the forms of other programs.

mod chrome;
mod folded;
mod host;
mod perfetto;
mod plain;
mod shape;
mod timeline;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use profile_store::Profile;

use crate::export::page::{self, Wanted};
use crate::output::{self, Exit};
use crate::profiles::Place;
use crate::view::replace;
pub(crate) use shape::Shape;

/// Write a stored profile in the form of another program
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// Id, the begin of one, or a display name
    #[arg(value_name = "PROFILE")]
    profile: String,

    /// Form
    #[arg(long, value_enum)]
    format: Form,

    /// Where it goes: a directory for parquet, csv and tensorboard, a file for others, - for
    /// stdout; named after the profile if left out
    #[arg(short, long, value_name = "PATH")]
    output_file: Option<PathBuf>,

    /// Only this table, for parquet, csv and json; may be given more than once
    #[arg(long = "table", value_name = "TABLE")]
    tables: Vec<String>,

    /// Events of a page at most, for html
    #[arg(long, value_name = "N", default_value_t = page::EVENTS, value_parser = clap::value_parser!(u64).range(1..=page::MOST))]
    events: u64,

    /// Begin of the window whose events a page has, in ns, for html
    #[arg(long, value_name = "NS")]
    from: Option<u64>,

    /// End of it
    #[arg(long, value_name = "NS")]
    to: Option<u64>,

    #[command(flatten)]
    shape: Shape,

    #[command(flatten)]
    place: Place,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The tables as they are stored
    Parquet,
    /// A file for each table
    Csv,
    /// One object of all tables
    Json,
    /// A trace for ui.perfetto.dev
    Perfetto,
    /// A trace for chrome://tracing and speedscope
    Chrome,
    /// Stacks with their nanoseconds, for flame graphs
    Folded,
    /// A run in a log directory of TensorBoard, below plugins/neuron of PATH
    Tensorboard,
    /// The Device Viewer with the profile inside: one page that needs no server
    Html,
}

impl Form {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Parquet => "-parquet",
            Self::Csv => "-csv",
            Self::Json => ".json",
            Self::Perfetto => ".pftrace",
            Self::Chrome => ".trace.json",
            Self::Folded => ".folded",
            Self::Tensorboard => "-tensorboard",
            Self::Html => ".html",
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// No such profile or table, and files that cannot be written.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = args.place.store()?;
    let profile = store.open(&args.profile)?;
    let tables = plain::wanted(&profile, &args.tables)?;
    let id = &profile.manifest().id;
    let path = args.output_file.clone();
    let path = path.unwrap_or_else(|| PathBuf::from(format!("{id}{}", args.format.suffix())));
    let stdout = path == Path::new("-");
    let write = |to: &mut dyn Write| -> anyhow::Result<()> {
        match args.format {
            Form::Csv => match tables.as_slice() {
                [table] => plain::csv(&profile, table, to),
                _ => bail!("csv on stdout is one table: choose it with --table"),
            },
            Form::Json => plain::json(&profile, &tables, to),
            Form::Chrome => chrome::write(&profile, &args.shape, to),
            Form::Perfetto => perfetto::write(&profile, &args.shape, to),
            Form::Folded => folded::write(&profile, to),
            Form::Html => {
                let view = String::new();
                let (events, from, to_ns) = (args.events, args.from, args.to);
                page::write(&store, &profile, &Wanted { events, from, to: to_ns, view }, to)
            }
            Form::Parquet => bail!("parquet is a directory, not stdout"),
            Form::Tensorboard => bail!("tensorboard is a directory, not stdout"),
        }
    };
    if stdout {
        let mut out = BufWriter::new(&mut *out);
        write(&mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    if args.format == Form::Tensorboard {
        anyhow::ensure!(args.tables.is_empty(), "--format tensorboard is of all tables");
        let run = crate::tensorboard::write::write(&path, &[profile], None)?;
        writeln!(out, "{}", run.display())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    match args.format {
        Form::Parquet => plain::copy(&profile, &tables, &path)?,
        Form::Csv => plain::directory(&profile, &tables, &path)?,
        _ => into(&path, write)?,
    }
    writeln!(out, "{}", path.display())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Writes a trace for ui.perfetto.dev; gives the path.
///
/// # Errors
///
/// No such profile, and files that cannot be written.
pub(crate) fn perfetto(
    profile: &Profile,
    shape: &Shape,
    path: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(&mut *out);
        perfetto::write(profile, shape, &mut out)?;
        return Ok(out.flush()?);
    }
    into(path, |to| perfetto::write(profile, shape, to))
}

/// A file that appears whole.
fn into(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut failed = None;
    let done = replace(path, |file| {
        write(file).map_err(|error| match error.downcast::<std::io::Error>() {
            Ok(error) => error,
            Err(error) => {
                failed = Some(error);
                std::io::ErrorKind::Other.into()
            }
        })
    });
    match failed {
        Some(error) => Err(error),
        None => done,
    }
}

/// The tables that stand for the events of a timeline.
fn has(profile: &Profile, table: &str) -> bool {
    profile.manifest().tables.contains_key(table)
}
