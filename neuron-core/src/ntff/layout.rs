//! Which bytes of the blob area belong to what (ntff.md §2.1, §3.4, §3.5).

use std::fmt;

use super::messages::{
    BlockType, EngineInstructionInfo, NotificationTraceType as TraceType, NtffInfo, SubgraphInfo,
    TraceInfo, neff_node_info::Node,
};
use crate::engine::Engine;
pub use crate::engine::SLOT;

/// A blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// Physical number of its core on the device.
    pub core: u32,
    /// From the start of the blob area, in bytes.
    pub offset: u64,
    /// In bytes.
    pub size: u64,
}

/// What a blob holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// The captured program of an engine, in slots of 64 bytes.
    Program {
        /// The engine, or the number that is none.
        engine: Result<Engine, i32>,
        /// Device address of its first slot.
        start_address: u64,
    },
    /// Records of 16 bytes.
    Trace {
        /// What the records are, or the number that is nothing known.
        trace_type: Result<TraceType, i32>,
        /// Part of the device, or the number that is none.
        block_type: Result<BlockType, i32>,
        /// TopSP number.
        block_index: u32,
    },
}

impl Section {
    /// Bytes of one entry.
    pub const fn unit(&self) -> u64 {
        match self.kind {
            SectionKind::Program { .. } => SLOT,
            SectionKind::Trace { .. } => 16,
        }
    }

    /// First byte after it; `None` when that is no position.
    pub const fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)
    }

    /// The trace type, for a trace of a known one.
    pub const fn trace_type(&self) -> Option<TraceType> {
        match self.kind {
            SectionKind::Trace { trace_type: Ok(trace_type), .. } => Some(trace_type),
            _ => None,
        }
    }
}

/// `core 4 NC EVENT trace`, `core 4 PE program`.
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {} ", self.core)?;
        match self.kind {
            SectionKind::Program { engine: Ok(engine), .. } => write!(f, "{engine} program"),
            SectionKind::Program { engine: Err(number), .. } => {
                write!(f, "engine {number} program")
            }
            SectionKind::Trace { trace_type, block_type, block_index } => {
                match block_type {
                    Ok(BlockType::Topsp) => write!(f, "TOPSP {block_index} ")?,
                    Ok(block) => write!(f, "{} ", plain(block.as_str_name(), "BLOCK_TYPE_"))?,
                    Err(number) => write!(f, "block {number} ")?,
                }
                match trace_type {
                    Ok(trace) => write!(f, "{} trace", name(trace)),
                    Err(number) => write!(f, "type {number} trace"),
                }
            }
        }
    }
}

fn plain(name: &'static str, prefix: &str) -> &'static str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// The published name of a trace type.
pub fn name(trace: TraceType) -> &'static str {
    plain(trace.as_str_name(), "NOTIFICATION_TRACE_TYPE_")
}

/// The sub-graphs of every node that runs on the device.
pub fn subgraphs(info: &NtffInfo) -> impl Iterator<Item = &SubgraphInfo> {
    info.neff_nodes.iter().flat_map(|node| match &node.node {
        Some(Node::NdNode(node)) => node.graphs.as_slice(),
        _ => &[],
    })
}

/// The same, to be changed.
pub(super) fn subgraphs_mut(info: &mut NtffInfo) -> impl Iterator<Item = &mut SubgraphInfo> {
    info.neff_nodes.iter_mut().flat_map(|node| match &mut node.node {
        Some(Node::NdNode(node)) => node.graphs.as_mut_slice(),
        _ => &mut [],
    })
}

/// The programs of a sub-graph: engines, then those for collectives, whose
/// place in the order no real file shows (our choice).
pub fn programs(graph: &SubgraphInfo) -> impl Iterator<Item = &EngineInstructionInfo> {
    let topsp = graph.coll_info.iter().flat_map(|info| &info.topsp);
    graph.instruction_info.iter().chain(&graph.collectives_instruction_info).chain(topsp)
}

/// The same, to be changed.
pub(super) fn programs_mut(
    graph: &mut SubgraphInfo,
) -> impl Iterator<Item = &mut EngineInstructionInfo> {
    let topsp = graph.coll_info.iter_mut().flat_map(|info| &mut info.topsp);
    graph.instruction_info.iter_mut().chain(&mut graph.collectives_instruction_info).chain(topsp)
}

/// Every blob, in the order of the writer: programs sub-graph by sub-graph,
/// then the traces of sub-graphs, then those of the session. Programs and
/// records inside the message are not among them; see [`super::program`].
pub fn sections(info: &NtffInfo) -> Vec<Section> {
    each_section(info).collect()
}

/// The same, one by one: a message can name more than fit in memory.
pub(super) fn each_section(info: &NtffInfo) -> impl Iterator<Item = Section> {
    let programs = subgraphs(info)
        .flat_map(|graph| programs(graph).filter(|p| is_blob(p)).map(|p| program(p, graph.nc_idx)));
    let traces = subgraphs(info)
        .flat_map(|graph| graph.traces.iter().map(|message| (message, graph.nc_idx)))
        .chain(info.session_notifications.iter().map(|message| (message, message.nc_idx)))
        .filter(|(message, _)| message.inline_records.is_empty())
        .map(|(message, core)| trace(message, core));
    programs.chain(traces)
}

/// A program that lies in the blob area; not every form writes a size.
pub(super) fn is_blob(program: &EngineInstructionInfo) -> bool {
    program.instructions.is_empty()
        && (program.instructions_size != 0 || program.instructions_offset != 0)
}

fn program(message: &EngineInstructionInfo, core: u32) -> Section {
    let number = message.nc_engine_type;
    Section {
        kind: SectionKind::Program {
            engine: Engine::from_number(number).ok_or(number),
            start_address: message.start_address,
        },
        core,
        offset: message.instructions_offset,
        size: message.instructions_size,
    }
}

fn trace(message: &TraceInfo, core: u32) -> Section {
    Section {
        kind: SectionKind::Trace {
            trace_type: TraceType::try_from(message.trace_type).map_err(|_| message.trace_type),
            block_type: BlockType::try_from(message.block_type).map_err(|_| message.block_type),
            block_index: message.block_index,
        },
        core,
        offset: message.offset,
        size: message.size,
    }
}
