//! `neff unpack`: the members as files.
//!
//! The folder appears whole or not at all: files are written into a temporary
//! folder beside it, which is then renamed. An empty folder that is there already is kept and
//! filled: the temporary folder is in it, and what that has moves up. Names are checked before the first
//! byte is written; only plain files and folders are made, each file new.

use super::open::{Input, findings};
use crate::output::{Exit, Format, json, progress};
use anyhow::{Context, bail};
use neuron_core::model::printable;
use neuron_core::neff::{path, shown};
use serde_json::json as value;
use std::collections::HashMap;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Write the members into a folder
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// The folder to make; the file's name without its ending if not given
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open_checked(&bytes)?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => default_folder(&args.input.file)?,
    };
    let exists = fs::symlink_metadata(&folder).is_ok();
    if exists && !is_empty_folder(&folder) {
        bail!("{}: it exists and is not an empty folder, give another", folder.display());
    }
    let names = neff.members().iter().map(neuron_core::neff::Member::name);
    let paths = path::plan(names).with_context(|| args.input.name())?;
    let paths: HashMap<&str, PathBuf> =
        neff.members().iter().map(|member| member.name()).zip(paths).collect();

    let parent = match folder.parent() {
        _ if exists => folder.as_path(),
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".neff-unpack-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let total = neff.members().iter().map(neuron_core::neff::Member::size).sum();
    let bar = progress("unpack", total, true);
    let written = neff.archive.for_each(|member, body| {
        let Some(relative) = paths.get(member.name()) else {
            return Ok(());
        };
        let path = temporary.path().join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let copied = io::copy(body, &mut file)?;
        if copied != member.size() {
            return Err(io::Error::other(format!("{} is cut", shown(member.name()))));
        }
        file.sync_all()?;
        bar.inc(copied);
        Ok(())
    });
    bar.finish_and_clear();
    written.with_context(|| format!("cannot unpack {}", args.input.name()))?;
    let cannot = || format!("cannot make {}", folder.display());
    if exists {
        for entry in fs::read_dir(temporary.path()).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            fs::rename(entry.path(), folder.join(entry.file_name())).with_context(cannot)?;
        }
        temporary.close().with_context(cannot)?;
    } else {
        fs::rename(temporary.path(), &folder).with_context(cannot)?;
        // Renamed away: nothing is left to remove.
        let _ = temporary.keep();
    }

    let count = neff.members().len();
    match args.input.output {
        Format::Json => json(
            out,
            &value!({
                "folder": folder.display().to_string(),
                "members": count,
                "bytes": total,
                "findings": findings(&neff.report),
            }),
        )?,
        Format::Text => {
            let folder = printable(&folder.display().to_string());
            writeln!(out, "{folder}: {count} members, {total} bytes")?;
            out.flush()?;
        }
    }
    Ok(args.input.warn(&neff.report))
}

fn default_folder(file: &Path) -> anyhow::Result<PathBuf> {
    match (file.file_stem(), file.extension()) {
        (Some(stem), Some(_)) => Ok(PathBuf::from(stem)),
        _ => bail!("{}: give a folder, its name has no ending to drop", file.display()),
    }
}

fn is_empty_folder(path: &Path) -> bool {
    let plain = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    plain && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
