//! The trace file of a run.

use std::io::BufWriter;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use neuron_core::neff::Header;
use neuron_core::ntff::Record;
use neuron_core::ntff::messages::NotificationTraceType as Ring;
use npu::Program;
use npu::time::{FileInfo, Timed, Trace, write_ntff};

/// Keeps the records of a run, where a trace is asked for.
pub(super) struct Sink {
    trace: Option<Trace>,
    /// What a run that stopped came to.
    pub(super) stopped: Option<Timed>,
}

impl Sink {
    pub(super) fn new(wanted: bool) -> Self {
        Self { trace: wanted.then(Trace::new), stopped: None }
    }
}

impl npu::time::Sink for Sink {
    fn wants_records(&self) -> bool {
        self.trace.is_some()
    }

    fn record(&mut self, core: usize, ring: Ring, record: Record) {
        if let Some(trace) = &mut self.trace {
            trace.record(core, ring, record);
        }
    }

    fn stopped(&mut self, timed: &Timed) {
        self.stopped = Some(timed.clone());
    }
}

/// Sees whether a trace can be written: in its folder, and over none of the
/// files that the run reads.
pub(super) fn check<'p>(
    path: &Path,
    mut read: impl Iterator<Item = &'p Path>,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    super::temporary(folder(path)).map(drop).with_context(cannot)?;
    let same = |file: &&Path| same_file(path, file).unwrap_or_default();
    if let Some(file) = read.find(same) {
        bail!("the trace would replace {}: give --trace another file", file.display());
    }
    Ok(())
}

fn same_file(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (one, other) = (one.metadata()?, other.metadata()?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes the trace of a run of `neff`, which has `bytes`; the file appears
/// whole.
pub(super) fn save(
    path: &Path,
    neff: &Path,
    bytes: &[u8],
    program: &Program,
    timed: &Timed,
    sink: &Sink,
) -> anyhow::Result<()> {
    let Some(trace) = &sink.trace else { return Ok(()) };
    let cannot = || format!("cannot write {}", path.display());
    let name = neff.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut info = FileInfo { neff_name: name.unwrap_or_default(), ..FileInfo::default() };
    info.neff_uuid = Header::of_file(bytes).with_context(cannot)?.uuid;
    // A simulated core is in no machine.
    info.instance_type = String::from("simulated");
    let file = super::temporary(folder(path)).with_context(cannot)?;
    let file = write_ntff(program, timed, trace, &info, BufWriter::new(file))
        .with_context(cannot)?
        .into_inner()
        .with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(path).map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}
