//! The trace file of a run.

use std::io::BufWriter;
use std::path::Path;

use anyhow::Context as _;
use neuron_core::neff::Header;
use neuron_core::ntff::Record;
use neuron_core::ntff::messages::NotificationTraceType as Ring;
use npu::Program;
use npu::time::{FileInfo, Timed, Trace, write_ntff};

/// Keeps the records of a run, where a trace is asked for.
pub(super) struct Sink(Option<Trace>);

impl Sink {
    pub(super) fn new(wanted: bool) -> Self {
        Self(wanted.then(Trace::new))
    }
}

impl npu::time::Sink for Sink {
    fn wants_records(&self) -> bool {
        self.0.is_some()
    }

    fn record(&mut self, core: usize, ring: Ring, record: Record) {
        if let Some(trace) = &mut self.0 {
            trace.record(core, ring, record);
        }
    }
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
    let Some(trace) = &sink.0 else { return Ok(()) };
    let cannot = || format!("cannot write {}", path.display());
    let name = neff.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut info = FileInfo { neff_name: name.unwrap_or_default(), ..FileInfo::default() };
    info.neff_uuid = Header::of_file(bytes).with_context(cannot)?.uuid;
    // A simulated core is in no machine.
    info.instance_type = String::from("simulated");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = super::temporary(folder.unwrap_or(Path::new("."))).with_context(cannot)?;
    let file = write_ntff(program, timed, trace, &info, BufWriter::new(file))
        .with_context(cannot)?
        .into_inner()
        .with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(path).map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}
