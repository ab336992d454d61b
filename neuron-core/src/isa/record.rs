//! A whole record: bytes to values and back.

use serde::{Serialize, Serializer};

use super::body::Body;
use super::code::DgeKind;
use super::field::{RECORD_BYTES, RecordBytes, Rest, take};
use super::header::Header;
use super::opcode::{Kind, Opcode};
use crate::instance::Arch;
use crate::text::hex;

/// One record of an instruction stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// The opcode is in the table of the generation.
    Instruction(Instruction),
    /// It is not: the bytes, as they stand.
    Unknown(RecordBytes),
}

/// A record whose opcode is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Instruction {
    /// Bytes 0 to 11.
    pub header: Header,
    /// The payload.
    pub body: Body,
    /// What no field names.
    pub rest: Rest,
}

/// The layout of the payload; `None` when the generation lacks the opcode.
fn kind_of(arch: Arch, bytes: &RecordBytes) -> Option<Kind> {
    let [opcode] = take(bytes, 0);
    let [selector] = take(bytes, 15);
    let info = Opcode(opcode).info_on(arch)?;
    // Byte 15 selects the layout of the pseudo record; only that of direct2d
    // is published for it (neuroncore.md §3.6).
    let other_layout =
        info.opcode == Opcode::PSEUDO_DMA_DIRECT2D && DgeKind(selector) != DgeKind::DIRECT2D;
    Some(if other_layout { Kind::HeaderOnly } else { info.kind })
}

impl Record {
    /// Decodes 64 bytes for a generation. Every input has a result, and
    /// [`Record::encode`] gives the same bytes back.
    pub fn decode(arch: Arch, bytes: &RecordBytes) -> Self {
        let Some(kind) = kind_of(arch, bytes) else {
            return Self::Unknown(*bytes);
        };
        Self::Instruction(Instruction {
            header: Header::read(bytes),
            body: Body::read(kind, bytes),
            rest: Rest::of(bytes, Body::mask(kind) | 0xfff),
        })
    }

    /// The 64 bytes.
    pub fn encode(&self) -> RecordBytes {
        match self {
            Self::Instruction(instruction) => instruction.encode(),
            Self::Unknown(bytes) => *bytes,
        }
    }

    /// The instruction; `None` for an unknown record.
    pub const fn instruction(&self) -> Option<&Instruction> {
        match self {
            Self::Instruction(instruction) => Some(instruction),
            Self::Unknown(_) => None,
        }
    }

    /// Byte 0.
    pub fn opcode(&self) -> Opcode {
        match self {
            Self::Instruction(instruction) => instruction.header.opcode,
            Self::Unknown(bytes) => {
                let [opcode] = take(bytes, 0);
                Opcode(opcode)
            }
        }
    }

    /// Whether a field explains every byte: the opcode has a layout and
    /// nothing stands outside it.
    pub fn is_understood(&self) -> bool {
        self.instruction().is_some_and(|instruction| {
            instruction.body != Body::HeaderOnly && instruction.rest.is_none()
        })
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Instruction(instruction) => instruction.serialize(serializer),
            Self::Unknown(bytes) => serializer.collect_map([("unknown", hex(bytes))]),
        }
    }
}

impl Instruction {
    /// An instruction without wait and update, as the compiler writes it.
    /// `None` when the opcode's payload is another one.
    pub fn new(opcode: Opcode, body: impl Into<Body>) -> Option<Self> {
        let body = body.into();
        let info = opcode.info()?;
        (info.kind == body.kind()).then(|| Self {
            header: Header::new(opcode),
            body,
            rest: Rest::NONE,
        })
    }

    /// The 64 bytes.
    pub fn encode(&self) -> RecordBytes {
        let mut bytes = *self.rest.bytes();
        self.header.write(&mut bytes);
        self.body.write(&mut bytes);
        bytes
    }
}

/// Decodes a stream. Bytes after the last whole record are an error.
pub fn decode_stream(arch: Arch, bytes: &[u8]) -> Result<Vec<Record>, PartialRecord> {
    let (records, tail) = bytes.as_chunks::<RECORD_BYTES>();
    if !tail.is_empty() {
        return Err(PartialRecord { offset: records.len() * RECORD_BYTES, bytes: tail.len() });
    }
    Ok(records.iter().map(|record| Record::decode(arch, record)).collect())
}

/// A stream that is not whole records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "instruction stream: {bytes} bytes at offset {offset} are no whole record of 64 bytes; \
     the stream is cut or is no instruction stream"
)]
pub struct PartialRecord {
    /// Where the last, partial record starts.
    pub offset: usize,
    /// Bytes that are there.
    pub bytes: usize,
}
