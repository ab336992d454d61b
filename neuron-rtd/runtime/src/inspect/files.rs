//! The files of a run, in the form of the vendor's runtime (ntff.md §1, §3.10,
//! §3.11): frames of events and samples, and a description.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use neuron_core::ntff::event::NAMES;
use neuron_core::ntff::frames::{Framed, write_frame};
use neuron_core::ntff::messages::{
    HostStats, InternedDataDb, NtraceDataFile, NtraceInfo, UltraserverInfo,
};

/// Kinds of files as the description numbers them.
const EVENTS: u32 = 1;
const PROCESSORS: u32 = 2;
const MEMORY: u32 = 3;

/// Stands where a run is of no UltraServer.
const NO_SERVER: u32 = u32::MAX;

/// Uses of device memory, in the order of their numbers (ntff.md §3.8).
const USES: [&str; 22] = [
    "generic",
    "pe",
    "act",
    "pool",
    "io",
    "spill",
    "weight",
    "notification",
    "act table",
    "dve",
    "sp",
    "shared scratchpad",
    "tensor",
    "ucode lib",
    "pool stdio",
    "collectives",
    "scratchpad",
    "xt cc",
    "dma rings runtime",
    "dma rings spill",
    "dma rings io",
    "dma rings collectives",
];

/// A file of frames that grows; all frames that were written are there however
/// the process ends.
#[derive(Debug)]
pub(super) struct Frames {
    path: PathBuf,
    file: File,
    /// Bytes of whole frames.
    length: u64,
    pub(super) count: u64,
}

fn encoded(messages: &[impl Framed]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for message in messages {
        write_frame(&mut bytes, message, 0).map_err(io::Error::other)?;
    }
    Ok(bytes)
}

impl Frames {
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = File::create(&path)?;
        Ok(Self { path, file, length: 0, count: 0 })
    }

    /// Appends frames at once, or none of them.
    pub(super) fn append(&mut self, messages: &[impl Framed]) -> io::Result<()> {
        let bytes = encoded(messages)?;
        if let Err(error) = self.file.write_all(&bytes) {
            // a frame that is cut would hide those after it
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += bytes.len() as u64;
        self.count += u64::try_from(messages.len()).unwrap_or(0);
        Ok(())
    }

    /// Writes the file anew, whole or not at all.
    pub(super) fn replace(&mut self, messages: &[impl Framed]) -> io::Result<()> {
        let bytes = encoded(messages)?;
        self.file = whole(&self.path, &bytes)?;
        self.length = bytes.len() as u64;
        self.count = u64::try_from(messages.len()).unwrap_or(0);
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// Writes a file that appears whole or not at all; it can be appended to.
pub(super) fn whole(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let part = path.with_extension("part");
    let mut file = File::create(&part)?;
    let done = file.write_all(bytes).and_then(|()| fs::rename(&part, path));
    done.inspect_err(|_| {
        // it would keep a full disk full
        let _ = fs::remove_file(&part);
    })?;
    Ok(file)
}

/// What a run is of.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) instance: String,
    pub(super) instance_type: String,
    pub(super) arch: u64,
    pub(super) lnc: u64,
    pub(super) start: u64,
    pub(super) host: String,
    pub(super) processors: u32,
    pub(super) processor: String,
    pub(super) memory: u64,
    /// Files of models, by id.
    pub(super) models: BTreeMap<u64, String>,
}

/// Frames of each file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) processors: Option<u64>,
    pub(super) memory: Option<u64>,
}

/// Writes `trace_info.pb`.
pub(super) fn describe(folder: &Path, about: &About, counts: Counts, stop: u64) -> io::Result<()> {
    let of = |name: &str, kind, frame_count| NtraceDataFile {
        path: folder.join(name).display().to_string(),
        kind,
        frame_count,
    };
    let table = |name: &str, entries: BTreeMap<u64, String>| InternedDataDb {
        name: name.to_owned(),
        entries,
    };
    let numbered =
        |words: &[&str]| (0..).zip(words).map(|(at, word)| (at, (*word).to_owned())).collect();
    let mut models = about.models.clone();
    models.insert(0, "invalid_interned_string".to_owned());
    let errors = [(0, "SUCCESS".to_owned()), (12, "OUT_OF_MEMORY".to_owned())];
    let info = NtraceInfo {
        data_version: 2,
        pid: std::process::id().into(),
        instance_id: about.instance.clone(),
        event_file: Some(of("ntrace.pb", EVENTS, counts.events)),
        host_stats: Some(HostStats {
            cpu_count: about.processors,
            cpu_name: about.processor.clone(),
            memory_bytes: about.memory,
            cpu_period: 1.0,
            memory_period: 1.0,
            cpu_file: counts.processors.map(|count| of("cpu_util.pb", PROCESSORS, count)),
            memory_file: counts.memory.map(|count| of("host_mem.pb", MEMORY, count)),
        }),
        arch: about.arch,
        interned_data: vec![
            table("ntrace_inspect_type", numbered(&NAMES)),
            table("system_trace", models),
            table("nrt_inspect_mem_usage_type", numbered(&USES)),
            table("nrt_inspect_mem_alloc_errno_type", errors.into()),
        ],
        start_time: about.start,
        stop_time: stop,
        host_address: String::new(),
        event_count: counts.events,
        instance_type: about.instance_type.clone(),
        logical_core_size: about.lnc,
        host_name: about.host.clone(),
        ultraserver_info: Some(UltraserverInfo { id: NO_SERVER }),
    };
    whole(&folder.join("trace_info.pb"), &neuron_core::ntff::frames::bare(&info)).map(drop)
}
