//! `lanes.json`: which lanes a profile has, where their rows and zoom levels
//! lie.
//!
//! A lane is a line of a timeline whose events come one after the other, more
//! or less: an engine of a core (products of Tensor have one of their own), or
//! a DMA engine. Its rows stand together in the table, in order of time.

use serde::{Deserialize, Serialize};

/// What a lane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneKind {
    /// Rows of `Instruction`; names are opcodes.
    Engine,
    /// Rows of `DmaPacket`; names are rings.
    Dma,
    /// Rows of `SystemProfileEvents`; names are those of events.
    System,
}

impl LaneKind {
    /// The table of its rows.
    pub const fn table(self) -> &'static str {
        match self {
            Self::Engine => "Instruction",
            Self::Dma => "DmaPacket",
            Self::System => "SystemProfileEvents",
        }
    }
}

/// A lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// What it shows.
    pub kind: LaneKind,
    /// Physical core within the logical one.
    pub core: u32,
    /// `TensorMatrix`, `DMA-E64`.
    pub name: String,
    /// Process of a timeline that others drew (see
    /// [`ingest_timeline`](crate::ingest::ingest_timeline)); `None` in all other
    /// profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Place of its first row in the table.
    pub first_row: u64,
    /// Rows.
    pub rows: u64,
    /// First start, ns.
    pub start: u64,
    /// Last end, ns.
    pub end: u64,
    /// Kinds of the keys of its rows (slot of an instruction, ring of a packet),
    /// by key: places in [`Index::names`].
    pub keys: Vec<(u64, u32)>,
    /// Rows in pieces.
    pub blocks: Vec<Block>,
    /// Zoom levels, finest first.
    pub levels: Vec<Level>,
}

/// Rows that were written at once: a row group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Place of the first row in the lane.
    pub first: u64,
    /// Rows.
    pub rows: u64,
    /// First start, ns.
    pub start: u64,
    /// Last start, ns.
    pub last: u64,
    /// Latest end of all rows of the lane so far, ns.
    pub covered: u64,
    /// Byte in `tiles` where the list of its pages is, and its length.
    pub at: (u64, u32),
    /// Sums by name.
    pub sums: Vec<Sum>,
}

/// Events of a kind: place of the kind, how many begin, the sum of their
/// lengths, and the time that they cover beyond what came before them, ns; then
/// bytes, of packets alone (0 in profiles of [`Index::version`] 0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sum(pub u32, pub u64, pub u64, pub u64, pub u64);

/// A zoom level: bins of `1 << shift` ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// See above.
    pub shift: u32,
    /// From when on it is kept, ns.
    pub from: u64,
    /// Its pages: first bin, bin behind the last, byte in `tiles`, bytes, rows
    /// of the lane that begin before it.
    pub pages: Vec<(u64, u64, u64, u32, u64)>,
}

/// All lanes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// 1 where sums have bytes, and names those of kinds.
    #[serde(default)]
    pub version: u32,
    /// Names of events: opcode or ring of each kind.
    pub names: Vec<String>,
    /// Lanes by core and kind.
    pub lanes: Vec<Lane>,
}
