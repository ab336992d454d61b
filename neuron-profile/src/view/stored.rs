//! What is stored: told or served, and fetched from a database before that; and
//! what is written of a folder in its place.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::files::replace;
use super::folder::Found;
use super::{Args, Format, pair, system, system_json};
use crate::export::metrics;
use crate::influx::{self, Database};
use crate::output::{self, Exit};
use crate::serve::serve;

/// Tells that profiles are stored, or serves them, the first one opened.
pub(super) fn ready(args: &Args, ids: &[String], out: &mut dyn Write) -> anyhow::Result<()> {
    if !args.ingest_only {
        return serve(args.place.store()?, &args.listen, ids.first().map(String::as_str), out);
    }
    for id in ids {
        writeln!(out, "Profile \"{id}\" is ready to view")?;
    }
    out.flush()?;
    Ok(())
}

/// The files of a folder that were named so far.
pub(super) struct Taken {
    folder: PathBuf,
    ending: &'static str,
    paths: Vec<PathBuf>,
}

impl Taken {
    pub(super) const fn new(folder: PathBuf, ending: &'static str) -> Self {
        Self { folder, ending, paths: Vec::new() }
    }

    /// A file of this name; further ones of it have a number.
    pub(super) fn path(&mut self, name: &str) -> PathBuf {
        let ending = self.ending;
        let numbered = |number: usize| match number {
            1 => self.folder.join(format!("{name}.{ending}")),
            _ => self.folder.join(format!("{name}_{number}.{ending}")),
        };
        let path = (1..).map(numbered).find(|path| !self.paths.contains(path)).unwrap_or_default();
        self.paths.push(path.clone());
        path
    }
}

/// The vendor's name for what is made of a device's trace.
pub(super) fn device_name(neff: &Path, trace: &Path) -> String {
    match system::device(String::new(), neff, trace, None).model {
        Some(model) => format!("device_profile_model_{model}"),
        None => format!("device_profile_{}", super::stem(&trace.display().to_string())),
    }
}

/// Writes the runs and the traces of a folder as JSON, each under the name that
/// the vendor's tool gives it; further ones of a name have a number.
pub(super) fn documents(args: &Args, found: &Found, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let folder = args.output_file.clone().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder).map_err(neuron_core::Error::io("create", &folder))?;
    let mut taken = Taken::new(folder, "json");
    let mut exit = Exit::Done;
    for run in &found.runs {
        let (run, whole) = system::read(args, run)?;
        if !args.filter.instance(&run.info.instance_id) {
            continue;
        }
        let path = taken.path("system_profile");
        replace(&path, |file| system_json::write(file, &run, args.json_pretty_print))?;
        writeln!(out, "{}", path.display())?;
        if !whole {
            exit = Exit::Partial;
        }
    }
    for (neff_path, trace) in &found.pairs {
        let path = taken.path(&device_name(neff_path, trace));
        let ended = pair::tables(args, (neff_path, trace), &path, out)?;
        writeln!(out, "{}", path.display())?;
        if ended != Exit::Done {
            exit = ended;
        }
    }
    out.flush()?;
    Ok(exit)
}

/// Shows what is in the database: one profile out of its bucket, or which there
/// are.
pub(super) fn from_database(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let database: &Database = &args.database;
    let store = || args.place.store();
    let Some(bucket) = database.bucket() else {
        if args.format() != Format::Db {
            bail!("--output-format of a profile in the database: name it with --db-bucket");
        }
        if args.ingest_only {
            bail!("--ingest-only needs a profile: add -n NEFF -s NTFF, or --db-bucket NAME");
        }
        output::tell("view", database.others(&store()?)?);
        serve(store()?, &args.listen, None, out)?;
        return Ok(Exit::Done);
    };
    let client = database.open()?;
    let place = || format!("InfluxDB at {}", client.endpoint());
    match args.format() {
        Format::Db | Format::Parquet => {
            let id = influx::fetch(&client, &store()?, bucket, args.force).with_context(place)?;
            ready(args, &[id], out)?;
        }
        Format::SummaryText => {
            let (_, all) = influx::metrics(&client, bucket).with_context(place)?;
            metrics::columns(out, &all)?;
        }
        Format::SummaryJson => {
            let (id, all) = influx::metrics(&client, bucket).with_context(place)?;
            let all = all.into_iter().map(|(name, value)| (name, metrics::value(&value)));
            let all: serde_json::Map<_, _> = all.collect();
            writeln!(out, "{}", serde_json::json!({ id: all }))?;
        }
        Format::Json | Format::Perfetto | Format::Operators => bail!(
            "this is made of files or of the store: fetch the profile with --ingest-only, then use \
             neuron-profile export"
        ),
    }
    out.flush()?;
    Ok(Exit::Done)
}
