//! Traces for ui.perfetto.dev of files that are not stored: they are ingested
//! into a store that ends with the command.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::folder::Found;
use super::stored::{Taken, device_name};
use super::{Args, Processed, many, system};
use crate::export::stored::perfetto;
use crate::output::Exit;
use crate::profiles::Place;
use crate::temporary::Temporary;

/// The same command with a store of its own.
fn apart(args: &Args) -> anyhow::Result<(Temporary, Args)> {
    let dir = Temporary::create()?;
    let place = Place { data_path: Some(dir.path().to_owned()) };
    Ok((dir, Args { place, force: false, ..args.clone() }))
}

fn write(args: &Args, id: &str, to: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let profile = args.place.store()?.open(id)?;
    perfetto(&profile, &args.shape, to, out)
}

fn stored(args: &Args, (neff, trace): (&Path, &Path)) -> anyhow::Result<(String, Exit)> {
    let pair = (neff.to_owned(), trace.to_owned());
    // The failure of one alone is an error here.
    let done = many::run(args, &[pair], &mut Processed::default())?;
    let done = done.into_iter().flatten().next().context("nothing was stored")?;
    Ok((done.id, done.exit))
}

/// Writes the trace of a NEFF and its NTFF.
///
/// # Errors
///
/// As storing and exporting it.
pub(super) fn pair(
    args: &Args,
    pair: (&Path, &Path),
    to: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let (_dir, own) = apart(args)?;
    let (id, exit) = stored(&own, pair)?;
    write(&own, &id, to, out)?;
    Ok(exit)
}

/// Writes those of a folder, under the names that the vendor's tool gives them.
///
/// # Errors
///
/// As storing and exporting them.
pub(super) fn folder(args: &Args, found: &Found, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let (_dir, own) = apart(args)?;
    let folder = args.output_file.clone().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder).map_err(neuron_core::Error::io("create", &folder))?;
    let mut taken = Taken::new(folder, "pftrace");
    let mut exit = Exit::Done;
    let mut put = |id: &str, path: &Path, whole: bool| {
        write(&own, id, path, &mut std::io::sink())?;
        writeln!(out, "{}", path.display())?;
        if !whole {
            exit = Exit::Partial;
        }
        anyhow::Ok(())
    };
    for run in &found.runs {
        let Some((id, whole)) = system::run(&own, run, Vec::new())? else { continue };
        put(&id, &taken.path("system_profile"), whole)?;
    }
    for (neff, trace) in &found.pairs {
        let (id, ended) = stored(&own, (neff, trace))?;
        put(&id, &taken.path(&device_name(neff, trace)), ended == Exit::Done)?;
    }
    out.flush()?;
    Ok(exit)
}
