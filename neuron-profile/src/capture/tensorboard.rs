//! The traces of a capture as a run in a log directory of TensorBoard, with what
//! the host did meanwhile.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use neuron_core::Error;
use neuron_core::neff::{self, Neff, Options as NeffOptions};
use profile_engine::Options;
use profile_store::Store;

use crate::tensorboard::host::Watch;
use crate::tensorboard::write::write as write_run;
use crate::view::Trace;
use crate::view::ingest::{Given, store_pair};

/// Stores each trace and writes the run; gives its directory.
///
/// # Errors
///
/// A trace that cannot be read, a directory that cannot be written.
pub(super) fn write(
    logdir: &Path,
    (name, bytes): (&str, &[u8]),
    traces: &[PathBuf],
    watch: &Watch,
) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(logdir).map_err(Error::io("create", logdir))?;
    // Beside the run, where there is room for it anyway.
    let beside = tempfile::Builder::new().prefix(".capture-").tempdir_in(logdir);
    let beside = beside.map_err(Error::io("create", logdir))?;
    let store = Store::new(beside.path());
    let options = NeffOptions::new(neff::Mode::Lenient).without_digest();
    let neff = Neff::open(bytes, &options).with_context(|| name.to_owned())?;
    let mut profiles = Vec::new();
    for path in traces {
        let trace = Trace::open(path)?;
        let given = Given {
            neff: name.to_owned(),
            trace: trace.name.clone(),
            size: trace.file.metadata().map_or(u64::MAX, |meta| meta.len()),
            ..Given::default()
        };
        let pair = (bytes, &neff);
        let done = store_pair(&store, &given, pair, &trace.file, Options::default(), &mut |_| {})?;
        for (about, line) in done.lines {
            crate::output::tell(&about, [line]);
        }
        profiles.push(store.open(&done.id)?);
    }
    write_run(logdir, &profiles, Some(&watch.timeline()))
}
