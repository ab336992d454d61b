//! A trace file of a timed run, in the container of real captures (ntff.md
//! §2 to §5, form 6).
//!
//! Program counters count slots of the NEFF: nothing is inserted, so the patch
//! lists are empty. What identifies a machine is the caller's.

use std::collections::BTreeMap;
use std::io::Write;

use neuron_core::instance::Arch;
use neuron_core::isa::{Engine, Record as Instruction};
use neuron_core::ntff::messages::neff_node_info::Node;
use neuron_core::ntff::messages::{
    BlockTimestampInfo, BlockType, DmaQueueType, DmaQueueUsageInfo, EngineInstructionInfo,
    ExecutionInfo, InstructionPatchInfo, NcEngineType, NcTimestampInfo, NdNodeInfo, NeffNodeInfo,
    NotificationBufferSize, NotificationTraceType as Ring, NtffInfo, SubgraphInfo, TraceInfo,
    UltraserverInfo, VersionInfo,
};
use neuron_core::ntff::{Error, Record, Ticks, Writer};

use super::emit::{EPOCH, program_address};
use super::sink::Sink;
use super::split::ENGINES;
use super::{Ps, Timed};
use crate::program::Program;

/// Form of the container.
const FORM: u8 = 6;
/// Model id of every real file.
const MODEL_ID: u64 = 10001;
/// As in every real file (ntff.md §3.1).
const NOTIFICATION_VERSION: u64 = 2;
/// Not in an ultraserver.
const NO_ULTRASERVER: u32 = u32::MAX;

/// Sizes of a core's rings in bytes, as of real runtimes (ntff.md §3.8), in
/// the order in which traces lie in a file.
const RINGS: [(Ring, BlockType, u64); 5] = [
    (Ring::Instruction, BlockType::Nc, 128 << 20),
    (Ring::Event, BlockType::Nc, 64 << 20),
    (Ring::Error, BlockType::Nc, 16 << 20),
    (Ring::Dma, BlockType::Dma, 128 << 20),
    (Ring::Throttle, BlockType::Nc, 64 << 20),
];

/// The records of a run by core and ring, in memory. A ring that is full takes
/// no more, and its last record has the mark of loss, as on a device.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    rings: BTreeMap<(usize, i32), Vec<Record>>,
}

impl Trace {
    /// No records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records of a ring of a core.
    pub fn records(&self, core: usize, ring: Ring) -> &[Record] {
        self.rings.get(&(core, ring as i32)).map_or(&[], Vec::as_slice)
    }

    /// Records of all rings.
    pub fn len(&self) -> usize {
        self.rings.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sink for Trace {
    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, core: usize, ring: Ring, record: Record) {
        let size = RINGS.iter().find(|(known, ..)| *known == ring).map_or(0, |(.., size)| *size);
        let records = self.rings.entry((core, ring as i32)).or_default();
        if (records.len() as u64 + 1) * 16 <= size {
            records.push(record);
        } else if let Some(last) = records.last_mut() {
            *last = last.with_marks(false, true);
        }
    }
}

/// Stands in a trace where a runtime has the hash of its source: no device made
/// it (our choice).
pub const SIMULATED: &str = "npu-sim";

/// What a trace file says about its origin.
#[derive(Debug, Clone, Default)]
pub struct FileInfo {
    /// Name of the NEFF.
    pub neff_name: String,
    /// Unique number in the header of the NEFF.
    pub neff_uuid: [u8; 16],
    /// Instance type, as `trn2.3xlarge`.
    pub instance_type: String,
    /// Version of the writer, as the runtime's.
    pub version: [u32; 3],
    /// Time of the device before the run, ps: its clock runs on from run to run.
    pub before: Ps,
}

/// Writes a trace file.
///
/// # Errors
///
/// When the output fails.
pub fn write_ntff<W: Write>(
    program: &Program,
    timed: &Timed,
    trace: &Trace,
    info: &FileInfo,
    out: W,
) -> Result<W, Error> {
    let message = message(program, timed, trace, info);
    let mut writer = Writer::new(out, FORM, message)?;
    for core in program.cores() {
        for engine in Engine::ALL {
            for record in core.stream(engine) {
                writer.bytes(&Instruction::encode(record))?;
            }
        }
    }
    for core in 0..program.cores().len() {
        for (ring, ..) in RINGS {
            for record in trace.records(core, ring) {
                let time = record.time.0.saturating_add(info.before);
                writer.record(Record { time: Ticks(time), ..*record })?;
            }
        }
    }
    writer.finish()
}

fn wide(number: usize) -> u64 {
    number as u64
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn engine_type(engine: Engine) -> i32 {
    let number = i32::from(engine.number());
    NcEngineType::try_from(number).map_or(number, Into::into)
}

fn message(program: &Program, timed: &Timed, trace: &Trace, info: &FileInfo) -> NtffInfo {
    let [major, minor, patch] = info.version;
    let version = VersionInfo { major, minor, patch, git_hash: SIMULATED.to_owned() };
    let duration = timed.summary.total;
    let graphs = program.cores().iter().enumerate().map(|(index, core)| {
        let programs = Engine::ALL.map(|engine| EngineInstructionInfo {
            nc_engine_type: engine_type(engine),
            start_address: program_address(index, engine),
            instructions_size: wide(core.stream(engine).len()) * 64,
            ..EngineInstructionInfo::default()
        });
        let patches = Engine::ALL
            .map(|engine| InstructionPatchInfo { engine: engine_type(engine), locations: vec![] });
        SubgraphInfo {
            name: core.name.clone(),
            nc_idx: narrow(index),
            instruction_info: programs.into(),
            patch_info: patches.into(),
            dma_queue_usage: queues(index, timed),
            timestamp_info: Some(clocks()),
            exec_duration: duration,
            ..SubgraphInfo::default()
        }
    });
    let node = NdNodeInfo { graphs: graphs.collect() };
    let node = NeffNodeInfo {
        uid: info.neff_uuid.to_vec(),
        node: Some(Node::NdNode(node)),
        ..NeffNodeInfo::default()
    };
    let sizes = RINGS.map(|(ring, block, buffer_size)| NotificationBufferSize {
        block_type: block.into(),
        trace_type: ring.into(),
        buffer_size,
    });
    let window = ExecutionInfo {
        neff_uuid: info.neff_uuid.to_vec(),
        start: EPOCH.saturating_add(info.before),
        end: EPOCH.saturating_add(info.before).saturating_add(duration),
    };
    let traces = (0..program.cores().len()).flat_map(|core| {
        RINGS.map(|(ring, block, _)| TraceInfo {
            trace_type: ring.into(),
            block_type: block.into(),
            size: wide(trace.records(core, ring).len()) * 16,
            nc_idx: narrow(core),
            ..TraceInfo::default()
        })
    });
    NtffInfo {
        neff_name: info.neff_name.clone(),
        neff_uuid_text: info.neff_uuid.to_vec(),
        id: MODEL_ID,
        neff_nodes: vec![node],
        arch: match program.arch() {
            Arch::V1 | Arch::V2 => 1,
            Arch::V3 => 2,
            Arch::V4 => 3,
        },
        neuron_runtime_version: Some(version),
        instance_type: info.instance_type.clone(),
        ncfw_notification_version: NOTIFICATION_VERSION,
        notification_buffer_size: sizes.into(),
        ultraserver_info: Some(UltraserverInfo { id: NO_ULTRASERVER }),
        execution_timeline: vec![window],
        session_notifications: traces.collect(),
        ..NtffInfo::default()
    }
}

/// Every ring on every engine; its number is its place.
fn queues(core: usize, timed: &Timed) -> Vec<DmaQueueUsageInfo> {
    let rings = timed.rings.get(core).map(Vec::as_slice).unwrap_or_default();
    let kind = |name: &str| {
        if name.contains("dynamic") { DmaQueueType::Weights } else { DmaQueueType::Input }
    };
    let engines = core * ENGINES..(core + 1) * ENGINES;
    let all = engines.flat_map(|engine| rings.iter().enumerate().map(move |ring| (engine, ring)));
    all.map(|(engine, (ring, name))| DmaQueueUsageInfo {
        engine_index: narrow(engine),
        queue_index: narrow(ring % 16),
        queue_type: kind(name).into(),
        name: ring_name(name),
        dma_tracing_event_id: -1,
        ..DmaQueueUsageInfo::default()
    })
    .collect()
}

/// The runtime's name of a ring: that of the NEFF, or one of its own for
/// transfers of an engine's records (ntff.md §3.6).
fn ring_name(name: &str) -> String {
    match name {
        "pool dynamic" => "qPoolDynamic",
        "act dynamic" => "qActDynamicHW",
        "sp dynamic" => "qSPDynamicHW",
        other => other,
    }
    .to_owned()
}

/// Every clock counts picoseconds.
fn clocks() -> NcTimestampInfo {
    let clock = BlockTimestampInfo {
        init_timestamp: 0,
        actual_timestamp_inc: 1,
        expected_timestamp_inc: 1,
    };
    let one = Some(clock);
    NcTimestampInfo {
        pe: one,
        act: one,
        dve: one,
        pool: one,
        sp: one,
        clock_6: one,
        throttle: one,
        dma: vec![clock; ENGINES],
        topsp: one,
    }
}
