//! What is in a folder of profiles: runs of `inspect`, and traces with the
//! NEFFs that they are of.
//!
//! A folder with `trace_info.pb` or `ntrace.pb` is a run (profiler.md §0.2).
//! A trace belongs to the NEFF with its UUID, looked for in its own folder and
//! then in those above it, up to the one that was given. Names are not looked
//! at: the runtime, `capture` and people name files in different ways.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use neuron_core::neff::Header;
use neuron_core::ntff;

/// Folders within each other that are looked through (our choice; the runtime
/// makes three).
const DEPTH: usize = 8;

/// Most files that are looked at, so that a wrong folder is told soon.
const MOST: usize = 100_000;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Folders of runs.
    pub(super) runs: Vec<PathBuf>,
    /// NEFF and trace.
    pub(super) pairs: Vec<(PathBuf, PathBuf)>,
    /// What cannot be shown, and why.
    pub(super) notes: Vec<String>,
    /// Traces that have fewer executions than was asked for.
    pub(super) fewer: Vec<String>,
}

#[derive(Debug, Default)]
struct Walk {
    /// NEFFs of each folder, by UUID.
    neffs: BTreeMap<PathBuf, Vec<([u8; 16], PathBuf)>>,
    traces: Vec<PathBuf>,
    found: Found,
    left: usize,
}

/// Looks through a folder. A trace of several executions goes with the NEFF of
/// the one with this number, from 0; one that has fewer is left out, for a core
/// that did less than others is nothing wrong.
///
/// # Errors
///
/// A folder that cannot be read, or one with far too many files.
pub(super) fn look(folder: &Path, execution: usize) -> anyhow::Result<Found> {
    let mut walk = Walk { left: MOST, ..Walk::default() };
    walk.folder(folder, DEPTH)?;
    let Walk { neffs, mut traces, mut found, .. } = walk;
    traces.sort();
    found.runs.sort();
    for trace in traces {
        let uuid = match uuid_of(&trace, execution) {
            Ok(Ok(uuid)) => uuid,
            Ok(Err(have)) => {
                let asked = execution + 1;
                let text = format!("it has {have} executions, number {asked} was asked for");
                found.fewer.push(format!("{}: {text}; it is left out", trace.display()));
                continue;
            }
            Err(reason) => {
                found.notes.push(format!("{reason}; it is left out"));
                continue;
            }
        };
        let above = trace.ancestors().skip(1).take_while(|above| above.starts_with(folder));
        let mut all = above.filter_map(|above| neffs.get(above)).flatten();
        let fits = |own: &[u8; 16]| own.iter().zip(&uuid).all(|(own, of)| own == of);
        match all.find(|(own, _)| fits(own)) {
            Some((_, neff)) => found.pairs.push((neff.clone(), trace)),
            None => {
                let text = "the NEFF that it is of is not beside or above it; it is left out";
                found.notes.push(format!("{}: {text}", trace.display()));
            }
        }
    }
    Ok(found)
}

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize) -> anyhow::Result<()> {
        let told = || neuron_core::Error::io("read", folder);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(told())? {
            names.push(entry.map_err(told())?.path());
            anyhow::ensure!(
                names.len() <= self.left,
                "{}: more than {MOST} files; name the folder of the run itself",
                folder.display()
            );
        }
        self.left -= names.len();
        names.sort();
        for path in names {
            // A link may lead anywhere, and back here.
            let Ok(meta) = path.symlink_metadata() else { continue };
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            match path.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
                _ if meta.is_dir() && depth > 0 => self.folder(&path, depth - 1)?,
                _ if !meta.is_file() => {}
                "trace_info.pb" | "ntrace.pb"
                    if self.found.runs.last().is_none_or(|run| run != folder) =>
                {
                    self.found.runs.push(folder.to_owned());
                }
                _ if end == "neff" => match header(&path) {
                    Ok(uuid) => {
                        self.neffs.entry(folder.to_owned()).or_default().push((uuid, path));
                    }
                    Err(reason) => self.found.notes.push(format!("{reason}; it is left out")),
                },
                _ if end == "ntff" => self.traces.push(path),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The UUID of a NEFF.
fn header(path: &Path) -> anyhow::Result<[u8; 16]> {
    let mut bytes = Vec::new();
    // A byte more than the header, so that a file of nothing else is told.
    let size = u64::try_from(neuron_core::neff::header::HEADER_LENGTH)? + 1;
    let read = File::open(path).and_then(|file| file.take(size).read_to_end(&mut bytes));
    read.map_err(neuron_core::Error::io("read", path))?;
    let told = |error| anyhow::anyhow!("{}: {error}", path.display());
    Ok(Header::of_file(&bytes).map_err(told)?.uuid)
}

/// The UUID of the NEFF that an execution of a trace is of, or how many executions
/// it has instead.
fn uuid_of(path: &Path, execution: usize) -> anyhow::Result<Result<Vec<u8>, usize>> {
    let file = File::open(path).map_err(neuron_core::Error::io("open", path))?;
    let told = |error| anyhow::anyhow!("{}: {error}", path.display());
    let reader = ntff::Reader::new(file, ntff::Options::default()).map_err(told)?;
    let have = reader.info().execution_timeline.len();
    if execution >= have.max(1) {
        return Ok(Err(have));
    }
    Ok(Ok(profile_engine::capture::traced_neff(reader.info(), execution).to_vec()))
}
