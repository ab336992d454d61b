//! Opcodes: what is known of each byte 0.

use std::fmt;

use super::field::newtype_field;
use super::opcode_table::TABLE;
use crate::engine::Engines;
use crate::instance::Arch;

/// Byte 0 of a record. Constants for all opcodes with a name are in
/// [`super::opcode_table`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Opcode(pub u8);
newtype_field!(Opcode(u8));

/// How sure the layout of an opcode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The operand text of the vendor's viewer follows from the bytes, in
    /// every row of the exports (isa-layouts.md, mark `capture`).
    SettledByCapture,
    /// Every byte of every record of real files is explained, and programs
    /// with it give the right result or load as predicted (`roundtrip`,
    /// `run`, `patch`); no operand text is published.
    SettledByFiles,
    /// In the public sample, with its text beside it (neuroncore.md §3.7).
    PublicSample,
    /// From published layouts only, no record to test it against
    /// (neuroncore.md §3.6, and public notes on the vendor's headers).
    PublicLayout,
    /// Name and header are known, the payload is not.
    HeaderOnly,
}

impl Status {
    /// The words of the table in the module docs.
    pub const fn text(self) -> &'static str {
        match self {
            Self::SettledByCapture => "settled by capture",
            Self::SettledByFiles => "settled by real files",
            Self::PublicSample => "public sample",
            Self::PublicLayout => "public layout",
            Self::HeaderOnly => "decodes header only",
        }
    }
}

/// Which payload an opcode has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each names the variant of Body that documents it")]
pub enum Kind {
    LoadWeights,
    MatMul,
    Activate,
    ActivateQuantize,
    TableLoad,
    ReadAccumulator,
    TensorTensor,
    TensorScalar,
    Unary,
    ScalarTensorTensor,
    Statistics,
    ValueLoad,
    MatchReplace,
    Iota,
    Memset,
    AffineSelect,
    RangeSelect,
    ScalarSelect,
    PredicatedScalar,
    LaneReduce,
    MaskLoad,
    BufferLoad,
    Gather,
    EventSemaphore,
    Halt,
    Drain,
    Nop,
    Write,
    Notify,
    Move,
    Alu,
    Branch,
    TensorLoad,
    TensorStore,
    RangeClear,
    SetOrdering,
    PoolConfig,
    PollSemaphore,
    DmaDirect,
    DmaIndirect,
    DmaTrigger,
    Collective,
    ActFunctionSet,
    BranchLabel,
    PseudoTensorLoad,
    FunctionBegin,
    FunctionCall,
    Extension,
    Pseudo,
    HeaderOnly,
}

/// A row of the opcode table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpcodeInfo {
    /// Byte 0.
    pub opcode: Opcode,
    /// Mnemonic. Printed by the vendor's viewer for opcodes that are settled
    /// by capture; elsewhere from public notes, in the same style.
    pub name: &'static str,
    /// Engines that run it, or that carry it before loading.
    pub engines: Engines,
    /// First generation that has it.
    pub since: Arch,
    /// Last generation that has it.
    pub until: Arch,
    /// Its payload.
    pub kind: Kind,
    /// How sure that is.
    pub status: Status,
}

impl OpcodeInfo {
    /// Whether a generation has it. The simulated v1 core runs v2 records
    /// (our choice: Inf1 has no public record form).
    pub fn exists_on(&self, arch: Arch) -> bool {
        let arch = arch.max(Arch::V2);
        self.since <= arch && arch <= self.until
    }
}

impl Opcode {
    /// The row of the table, for any generation.
    pub fn info(self) -> Option<&'static OpcodeInfo> {
        TABLE.binary_search_by_key(&self, |row| row.opcode).ok().and_then(|index| TABLE.get(index))
    }

    /// The row of the table if the generation has the opcode.
    pub fn info_on(self, arch: Arch) -> Option<&'static OpcodeInfo> {
        self.info().filter(|info| info.exists_on(arch))
    }

    /// The opcode of a mnemonic. `PSEUDO_DMATRIGGER`, the spelling of some
    /// sheets, is taken for [`Opcode::PSEUDO_DMA_TRIGGER`].
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "PSEUDO_DMATRIGGER" {
            return Some(Self::PSEUDO_DMA_TRIGGER);
        }
        TABLE.iter().find(|row| row.name == name).map(|row| row.opcode)
    }

    /// Whether the loader replaces or deletes the record, so that no engine
    /// ever runs it.
    pub const fn is_pseudo(self) -> bool {
        self.0 >= 0xc0 && self.0 <= 0xdf
    }

    /// Byte 1 in real records.
    pub const fn usual_words(self) -> u8 {
        if self.0 == Self::PSEUDO_EXTENSION.0 { 0 } else { 16 }
    }

    /// Byte 2 in real records.
    pub const fn usual_debug_cmd(self) -> u8 {
        if self.0 == Self::NOTIFY.0 { 9 } else { 0 }
    }
}

/// The mnemonic, or `OP_2B`.
impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            Some(info) => f.write_str(info.name),
            None => write!(f, "OP_{:02X}", self.0),
        }
    }
}

impl serde::Serialize for Opcode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted_and_names_are_unique() {
        for (index, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..index].iter().all(|other| other.opcode < row.opcode), "{row:?}");
            assert!(TABLE[..index].iter().all(|other| other.name != row.name), "{row:?}");
            assert_eq!(row.opcode.info(), Some(row));
            assert_eq!(Opcode::from_name(row.name), Some(row.opcode));
            assert_eq!(row.kind == Kind::HeaderOnly, row.status == Status::HeaderOnly, "{row:?}");
        }
    }

    #[test]
    fn v1_runs_the_records_of_v2() {
        assert!(Opcode::TENSOR_REDUCE_ADD_BF16.info_on(Arch::V1).is_some());
        assert!(Opcode::TENSOR_REDUCE_ADD_BF16.info_on(Arch::V3).is_none());
        assert!(Opcode::MATMUL_SPARSE.info_on(Arch::V2).is_none());
    }
}
