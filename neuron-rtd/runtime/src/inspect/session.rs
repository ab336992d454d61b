//! Session mode: everything that a core executes, in one file for each core
//! (ntff.md §1.1), written as the run goes on.
//!
//! The file has a node for each NEFF, an entry of `execution_timeline` for each
//! execution, which names its NEFF, and the records of all of them in order. It can
//! be read after each execution; at the end it is written once more as a real
//! one, programs first, then one trace for each ring of a core.
//!
//! An entry of the timeline has the UUID of a NEFF and two times, no more. So two
//! programs of one UUID on one core, the nodes of a NEFF that share cores for
//! instance, cannot be told apart: those of the first one are kept.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufWriter};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use neuron_core::ntff::messages::neff_node_info::Node;
use neuron_core::ntff::messages::{ExecutionInfo, NeffNodeInfo, NtffInfo, SubgraphInfo, TraceInfo};
use neuron_core::ntff::{Options, Reader, Writer, layout};

use super::growing::{self, Growing};

/// Programs of a core at most: an engine may have a section of functions too.
const PROGRAMS: usize = 10;

/// Form of the container.
const FORM: u8 = 6;

/// Room for the message of a file at first; it is a hole until it is used.
const ROOM: u64 = 2 << 20;

/// Most bytes of the blobs of a file: tools may fail above 5 GB (profiler.md §1.4).
const MOST_BYTES: u64 = 4 << 30;

/// Most executions of a file (our choice).
const MOST_EXECUTIONS: usize = 1 << 17;

/// Traces beyond which those of a ring are put together: readers bound them
/// ([`neuron_core::ntff::Limits`]).
const MOST_TRACES: usize = 50_000;

/// Bytes that are copied at a time.
const STEP: usize = 1 << 20;

/// A ring of a core: its trace without place.
type Ring = (u32, i32, i32, u32);

/// Records of a ring in the blob area.
#[derive(Debug, Clone, Copy)]
struct Piece {
    ring: usize,
    offset: u64,
    size: u64,
}

/// The file of a core.
#[derive(Debug)]
pub(super) struct Session {
    path: PathBuf,
    file: Option<Growing>,
    /// The message without lists.
    head: NtffInfo,
    /// Nodes of the NEFFs, with the places of their programs, and what the programs are.
    nodes: Vec<(NeffNodeInfo, u64)>,
    timeline: Vec<ExecutionInfo>,
    rings: Vec<Ring>,
    pieces: Vec<Piece>,
    /// Executions that are not in it, and why the first is not.
    left_out: Option<(u64, String)>,
    /// Nothing more is written.
    broken: bool,
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn other(error: neuron_core::ntff::Error) -> io::Error {
    io::Error::other(error)
}

/// The sub-graphs of a node on the device.
fn graphs(node: &mut NeffNodeInfo) -> impl Iterator<Item = &mut SubgraphInfo> {
    let on_device = match &mut node.node {
        Some(Node::NdNode(node)) => Some(node),
        _ => None,
    };
    on_device.into_iter().flat_map(|node| &mut node.graphs)
}

fn ring_of(trace: &TraceInfo) -> Ring {
    (trace.nc_idx, trace.trace_type, trace.block_type, trace.block_index)
}

/// What lies at a place of a trace file.
fn blob(file: &[u8], start: u64, (offset, size): (u64, u64)) -> io::Result<&[u8]> {
    let range = start.checked_add(offset).and_then(|from| Some((from, from.checked_add(size)?)));
    let range =
        range.and_then(|(from, to)| Some(usize::try_from(from).ok()?..usize::try_from(to).ok()?));
    let bytes = range.and_then(|range| file.get(range));
    bytes.ok_or_else(|| io::Error::other("the trace of an execution is cut"))
}

impl Session {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            head: NtffInfo::default(),
            nodes: Vec::new(),
            timeline: Vec::new(),
            rings: Vec::new(),
            pieces: Vec::new(),
            left_out: None,
            broken: false,
        }
    }

    fn leave_out(&mut self, why: impl FnOnce() -> String) {
        self.left_out.get_or_insert_with(|| (0, why())).0 += 1;
    }

    /// Adds an execution: what its trace file has of some of the program's cores.
    fn add(&mut self, trace: &[u8], cores: std::ops::Range<u32>) -> io::Result<()> {
        if self.broken {
            self.leave_out(String::new);
            return Ok(());
        }
        let reader = Reader::new(trace, Options::default()).map_err(other)?;
        let (info, start) = (reader.info(), reader.header().blobs_start());
        let added = self.step(info, trace, start, &cores);
        if added.is_err() {
            self.broken = true;
            self.leave_out(|| "the file could not be written".to_owned());
            if let Some(file) = &mut self.file {
                // what is whole stays; the first error says more
                let _ = file.undo();
            }
        }
        added
    }

    fn step(
        &mut self,
        info: &NtffInfo,
        trace: &[u8],
        start: u64,
        cores: &std::ops::Range<u32>,
    ) -> io::Result<()> {
        let mut fresh = Vec::new();
        for node in &info.neff_nodes {
            let mut node = node.clone();
            if let Some(Node::NdNode(node)) = &mut node.node {
                node.graphs.retain(|graph| cores.contains(&graph.nc_idx));
            }
            let mut hasher = DefaultHasher::new();
            for graph in graphs(&mut node) {
                (&graph.name, graph.nc_idx).hash(&mut hasher);
                for program in &graph.instruction_info {
                    let place = (program.instructions_offset, program.instructions_size);
                    blob(trace, start, place)?.hash(&mut hasher);
                }
            }
            let programs = hasher.finish();
            match self.nodes.iter().find(|(known, _)| known.uid == node.uid) {
                Some((_, known)) if *known == programs => {}
                None => fresh.push((node, programs)),
                Some(_) => {
                    let why = "the file has another program of the same NEFF UUID, and executions \
                               tell no more than that";
                    self.leave_out(|| why.to_owned());
                    return Ok(());
                }
            }
        }
        if self.file.is_some() && self.head.arch != info.arch {
            self.leave_out(|| "it is of another generation than the first of the file".to_owned());
            return Ok(());
        }
        let traces = info.session_notifications.iter();
        let traces: Vec<&TraceInfo> = traces.filter(|t| cores.contains(&t.nc_idx)).collect();
        let bytes: u64 = traces.iter().map(|trace| trace.size).sum();
        let blobs = self.file.as_ref().map_or(0, Growing::blobs);
        if self.timeline.len() >= MOST_EXECUTIONS || blobs.saturating_add(bytes) > MOST_BYTES {
            self.leave_out(|| {
                format!("the file is full: {MOST_EXECUTIONS} executions or {MOST_BYTES} bytes")
            });
            return Ok(());
        }
        let mut part = NtffInfo {
            neff_nodes: fresh.iter().map(|(node, _)| node.clone()).collect(),
            execution_timeline: info.execution_timeline.clone(),
            session_notifications: traces.iter().map(|trace| (*trace).clone()).collect(),
            ..NtffInfo::default()
        };
        // Offsets that are not known yet take more than none.
        let programs = fresh.len() * cores.len() * PROGRAMS;
        let later = part.session_notifications.len() + programs;
        let takes = growing::takes(&part) + 16 * wide(later);
        match &self.file {
            None => {
                self.head = NtffInfo {
                    neff_nodes: Vec::new(),
                    execution_timeline: Vec::new(),
                    session_notifications: Vec::new(),
                    ..info.clone()
                };
                self.file = Some(self.anew(ROOM + takes)?);
            }
            Some(file) if !file.fits(takes) || self.pieces.len() > MOST_TRACES => {
                self.put_together(takes)?;
            }
            Some(_) => {}
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        for graph in part.neff_nodes.iter_mut().flat_map(graphs) {
            for program in &mut graph.instruction_info {
                let place = (program.instructions_offset, program.instructions_size);
                program.instructions_offset = file.blob(blob(trace, start, place)?)?;
            }
        }
        let mut pieces = Vec::new();
        let mut rings = self.rings.clone();
        for message in &mut part.session_notifications {
            let own = ring_of(message);
            let ring = rings.iter().position(|known| *known == own).unwrap_or_else(|| {
                rings.push(own);
                rings.len() - 1
            });
            message.offset = file.blob(blob(trace, start, (message.offset, message.size))?)?;
            pieces.push(Piece { ring, offset: message.offset, size: message.size });
        }
        part.session_notifications.retain(|message| message.size > 0);
        pieces.retain(|piece| piece.size > 0);
        file.commit(&part)?;
        self.rings = rings;
        self.pieces.extend(pieces);
        let programs = fresh.into_iter().map(|(_, programs)| programs);
        self.nodes.extend(part.neff_nodes.into_iter().zip(programs));
        self.timeline.extend(part.execution_timeline);
        Ok(())
    }

    /// An empty file in its place.
    fn anew(&self, room: u64) -> io::Result<Growing> {
        let part = self.path.with_extension("ntff.part");
        let mut open = File::options();
        let file = open.read(true).write(true).create(true).truncate(true).open(&part)?;
        let made = Growing::begin(file, FORM, &self.head, room);
        let made = made.and_then(|made| fs::rename(&part, &self.path).map(|()| made));
        made.inspect_err(|_| gone(&part))
    }

    /// All lists, with sizes and no places; rings without records too.
    fn lists(&self) -> NtffInfo {
        let trace = |(ring, key): (usize, &Ring)| {
            let own = self.pieces.iter().filter(|piece| piece.ring == ring);
            let (nc_idx, trace_type, block_type, block_index) = *key;
            let size = own.map(|piece| piece.size).sum();
            let inline_records = Vec::new();
            TraceInfo {
                trace_type,
                inline_records,
                block_type,
                block_index,
                offset: 0,
                size,
                nc_idx,
            }
        };
        NtffInfo {
            neff_nodes: self.nodes.iter().map(|(node, _)| node.clone()).collect(),
            execution_timeline: self.timeline.clone(),
            session_notifications: self.rings.iter().enumerate().map(trace).collect(),
            ..NtffInfo::default()
        }
    }

    /// The blobs in the order of a real file: programs, then ring by ring.
    fn copy(&self, mut put: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let Some(from) = &self.file else { return Ok(()) };
        let nodes = NtffInfo {
            neff_nodes: self.nodes.iter().map(|(node, _)| node.clone()).collect(),
            ..NtffInfo::default()
        };
        let programs = layout::subgraphs(&nodes).flat_map(|graph| &graph.instruction_info);
        let programs = programs.map(|p| (p.instructions_offset, p.instructions_size));
        let of = |ring| self.pieces.iter().filter(move |piece: &&Piece| piece.ring == ring);
        let records = (0..self.rings.len()).flat_map(of).map(|piece| (piece.offset, piece.size));
        let mut buffer = vec![0; STEP];
        for (offset, size) in programs.chain(records) {
            let mut at = from.blobs_start() + offset;
            let mut left = size;
            while left > 0 {
                let step = usize::try_from(left).unwrap_or(STEP).min(STEP);
                let piece = buffer.get_mut(..step).unwrap_or_default();
                from.file().read_exact_at(piece, at)?;
                put(piece)?;
                at += wide(step);
                left -= wide(step);
            }
        }
        Ok(())
    }

    /// Writes the file anew with one trace for each ring, and with more room.
    fn put_together(&mut self, more: u64) -> io::Result<()> {
        let mut lists = self.lists();
        neuron_core::ntff::writer::place(&mut lists).map_err(other)?;
        let room = (growing::takes(&lists) + more).saturating_mul(2).max(ROOM);
        let part = self.path.with_extension("ntff.part");
        let write = || {
            let mut open = File::options();
            let file = open.read(true).write(true).create(true).truncate(true).open(&part)?;
            let mut file = Growing::begin(file, FORM, &self.head, room)?;
            self.copy(|bytes| file.blob(bytes).map(drop))?;
            let kept = NtffInfo {
                session_notifications: lists
                    .session_notifications
                    .iter()
                    .filter(|trace| trace.size > 0)
                    .cloned()
                    .collect(),
                ..lists.clone()
            };
            file.commit(&kept)?;
            fs::rename(&part, &self.path)?;
            Ok(file)
        };
        let file = write().inspect_err(|_: &io::Error| gone(&part))?;
        let traces = lists.session_notifications.iter().enumerate().filter(|(_, t)| t.size > 0);
        self.pieces = traces
            .map(|(ring, trace)| Piece { ring, offset: trace.offset, size: trace.size })
            .collect();
        let programs = self.nodes.iter().map(|(_, programs)| *programs).collect::<Vec<_>>();
        self.nodes = lists.neff_nodes.into_iter().zip(programs).collect();
        self.file = Some(file);
        Ok(())
    }

    /// Writes the file once more as a real one. If that fails, what there is can be read.
    fn finish(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let lists = self.lists();
        let info = NtffInfo {
            neff_nodes: lists.neff_nodes,
            execution_timeline: lists.execution_timeline,
            session_notifications: lists.session_notifications,
            ..self.head.clone()
        };
        let part = self.path.with_extension("ntff.part");
        let write = || {
            let out = BufWriter::with_capacity(STEP, File::create(&part)?);
            let mut writer = Writer::new(out, FORM, info).map_err(other)?;
            self.copy(|bytes| writer.bytes(bytes).map_err(other))?;
            let out = writer.finish().map_err(other)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&part, &self.path)
        };
        write().inspect_err(|_| gone(&part))?;
        self.file = None;
        Ok(())
    }
}

/// It would keep a full disk full.
fn gone(part: &Path) {
    let _ = fs::remove_file(part);
}

/// What became of a file.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) path: PathBuf,
    pub(super) result: io::Result<()>,
    /// Executions that are not in it, and why.
    pub(super) left_out: Option<(u64, String)>,
}

/// The files of all cores, each with a lock of its own: one that is put together
/// holds up its core alone.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    cores: Mutex<BTreeMap<u32, Arc<Mutex<Session>>>>,
    ended: AtomicBool,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// Adds an execution to the file of a core: of the program's cores those that
    /// are of it. The error has the path of the file, and comes once for each.
    pub(super) fn add(
        &self,
        folder: &Path,
        core: u32,
        trace: &[u8],
        cores: std::ops::Range<u32>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let session = {
            let path = || folder.join(format!("profile_nc_{core}_session_0.ntff"));
            let fresh = || Arc::new(Mutex::new(Session::new(path())));
            Arc::clone(locked(&self.cores).entry(core).or_insert_with(fresh))
        };
        let mut session = locked(&session);
        // Asked behind the lock: who ends the files sets it before it takes that.
        if self.ended.load(Ordering::SeqCst) {
            return Ok(());
        }
        session.add(trace, cores).map_err(|error| (session.path.clone(), error))
    }

    /// When the last execution in the file of a core ended, on the device's clock, ns
    /// from its begin. One that failed may have been longer there than for the host.
    pub(super) fn until(&self, core: u32) -> Option<u64> {
        let session = Arc::clone(locked(&self.cores).get(&core)?);
        let last = locked(&session).timeline.last()?.end;
        Some(last.saturating_sub(npu::time::EPOCH).div_ceil(1000))
    }

    /// Leaves all files as they are; whatever comes later is left out.
    pub(super) fn give_up(&self) {
        for session in self.taken() {
            *locked(&session) = Session::new(PathBuf::new());
        }
    }

    /// Ends all files; whatever comes later is left out.
    pub(super) fn end(&self) -> Vec<Ended> {
        let end = |session: Arc<Mutex<Session>>| {
            let mut session = locked(&session);
            let result = session.finish();
            Ended { path: session.path.clone(), result, left_out: session.left_out.take() }
        };
        self.taken().into_iter().map(end).collect()
    }

    fn taken(&self) -> Vec<Arc<Mutex<Session>>> {
        self.ended.store(true, Ordering::SeqCst);
        std::mem::take(&mut *locked(&self.cores)).into_values().collect()
    }
}

#[cfg(test)]
mod tests;
