//! What an instruction reads and writes: bytes by memory, and address ranges.
//!
//! Settled on the byte columns of the vendor's exports (2,187 rows equal):
//!
//! * Bytes of a tensor operand are those of **one partition**: elements times
//!   the size of the type; the number of partitions does not count. Bytes of a
//!   DMA are those of the whole transfer.
//! * Columns that an operand is read through as a scalar (bias, immediates by
//!   pointer) do not count, neither as bytes nor as a use of the memory.
//! * A product writes elements times the size of its **source** type to PSUM.
//! * `psum_read_sbuf_write` are the bytes written to SBUF by an instruction
//!   that also reads PSUM.
//! * Operations of a product: 2 x moving elements x rows x columns, for each
//!   pass of an fp32 product too.
//!
//! Address ranges, settled on the table of memory fullness (412 + 488 samples
//! equal): a range is as long as elements x size, whatever the steps are; one
//! that walks back (first step negative) ends **before** its start address; a
//! product occupies 4 bytes of PSUM per element.

use neuron_core::isa::address::{Addr4, Pattern, Place};
use neuron_core::isa::body::Body;
use neuron_core::isa::code::Dtype;
use neuron_core::isa::{Opcode, Record};

/// The two on-chip memories that engines address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The state buffer.
    Sbuf,
    /// The accumulation buffer.
    Psum,
}

/// Bytes of an operand in each of its partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Which memory.
    pub memory: Memory,
    /// First partition.
    pub partition: u8,
    /// Partitions.
    pub channels: u8,
    /// First byte in a partition.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
    /// Bytes moved per partition.
    pub bytes: u64,
}

/// Traffic of one execution of an instruction, in bytes unless named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// From device memory.
    pub hbm_read: u64,
    /// To device memory.
    pub hbm_write: u64,
    /// From SBUF.
    pub sbuf_read: u64,
    /// To SBUF.
    pub sbuf_write: u64,
    /// From PSUM.
    pub psum_read: u64,
    /// To PSUM.
    pub psum_write: u64,
    /// To SBUF by an instruction that reads PSUM.
    pub psum_read_sbuf_write: u64,
    /// Multiply-adds of a product; 0 for others.
    pub elements: u64,
}

/// Operands of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operands {
    /// Bytes.
    pub traffic: Traffic,
    /// Ranges read.
    pub reads: Vec<Span>,
    /// Ranges written.
    pub writes: Vec<Span>,
}

/// Sides of a DMA that lie in SBUF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OnChip {
    /// The source.
    pub source: bool,
    /// The destination.
    pub destination: bool,
}

/// A piece of an operand: start, elements, walks back, type, partitions.
struct Piece {
    start: Addr4,
    elements: u64,
    back: bool,
    bytes: u64,
    channels: u8,
}

fn piece<const N: usize>(pattern: &Pattern<N>, dtype: Dtype, channels: u8) -> Piece {
    Piece {
        start: pattern.start,
        elements: pattern.elements(),
        back: pattern.steps.first().is_some_and(|step| *step < 0),
        bytes: u64::from(dtype.bytes().unwrap_or(0)),
        channels,
    }
}

impl Piece {
    /// `width` bytes per element are occupied.
    fn span(&self, width: u64) -> Option<Span> {
        let (memory, partition, byte) = match self.start.place() {
            Place::Sbuf { partition, byte } => (Memory::Sbuf, partition, byte),
            Place::Psum { partition, byte } => (Memory::Psum, partition, byte),
            Place::Other(_) => return None,
        };
        let length = u32::try_from(self.elements.saturating_mul(width)).unwrap_or(u32::MAX);
        let (start, end) = if self.back {
            (byte.saturating_sub(length), byte)
        } else {
            (byte, byte.saturating_add(length))
        };
        let bytes = self.elements.saturating_mul(self.bytes);
        Some(Span { memory, partition, channels: self.channels, start, end, bytes })
    }
}

/// Operands of a record. `on_chip` says where the sides of a DMA lie.
pub fn operands(record: &Record, on_chip: OnChip) -> Operands {
    let mut out = Operands::default();
    let Some(instruction) = record.instruction() else { return out };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    // Occupied bytes per element written, where that is not the type's size.
    let mut width = None;
    match &instruction.body {
        Body::LoadWeights(b) => reads.push(piece(&b.src, b.src_type, b.rows)),
        Body::MatMul(b) => {
            reads.push(piece(&b.src, b.src_type, b.rows));
            writes.push(piece(&b.dst, b.src_type, b.columns));
            width = Some(4);
            out.traffic.elements = b.src.elements() * u64::from(b.rows) * u64::from(b.columns);
        }
        Body::Activate(b) => {
            reads.push(piece(&b.src, b.types.low(), b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::ActivateQuantize(b) => {
            reads.push(piece(&b.src, b.types.low(), b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::ReadAccumulator(b) => writes.push(piece(&b.dst, b.dst_type, b.channels)),
        Body::TensorTensor(b) => {
            reads.push(piece(&b.src0, b.src_types.low(), b.channels));
            reads.push(piece(&b.src1, b.src_types.high(), b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::TensorScalar(b) => {
            reads.push(piece(&b.src, b.src_type, b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::Unary(b) => {
            reads.push(piece(&b.src, b.src_type, b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::ScalarTensorTensor(b) => {
            reads.push(piece(&b.src0, b.src_types.low(), b.channels));
            reads.push(piece(&b.src1, b.src_types.high(), b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::Statistics(b) => {
            reads.push(piece(&b.src, b.src_type, b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::ValueLoad(b) => reads.push(piece(&b.src, b.src_type, b.channels)),
        Body::MatchReplace(b) => {
            reads.push(piece(&b.src, b.src_type, b.channels));
            writes.push(piece(&b.dst, b.dst_type, b.channels));
        }
        Body::Iota(b) => writes.push(piece(&b.dst, b.dst_type, b.channels)),
        Body::Memset(b) => writes.push(piece(&b.dst, b.dst_type, b.channels)),
        Body::AffineSelect(b) => {
            reads.push(piece(&b.src, b.types.low(), b.channels));
            writes.push(piece(&b.dst, b.types.high(), b.channels));
        }
        Body::DmaDirect(b) if instruction.header.opcode == Opcode::DMA_DIRECT2D => {
            let traffic = &mut out.traffic;
            match on_chip.source {
                true => traffic.sbuf_read += b.src_bytes(),
                false => traffic.hbm_read += b.src_bytes(),
            }
            match on_chip.destination {
                true => traffic.sbuf_write += b.dst_bytes(),
                false => traffic.hbm_write += b.dst_bytes(),
            }
        }
        // Selects, gathers and loads of tables: no export shows their bytes.
        _ => {}
    }
    out.reads = reads.iter().filter_map(|piece| piece.span(piece.bytes)).collect();
    out.writes =
        writes.iter().filter_map(|piece| piece.span(width.unwrap_or(piece.bytes))).collect();
    for span in &out.reads {
        match span.memory {
            Memory::Sbuf => out.traffic.sbuf_read += span.bytes,
            Memory::Psum => out.traffic.psum_read += span.bytes,
        }
    }
    for span in &out.writes {
        match span.memory {
            Memory::Sbuf => out.traffic.sbuf_write += span.bytes,
            Memory::Psum => out.traffic.psum_write += span.bytes,
        }
    }
    if out.reads.iter().any(|span| span.memory == Memory::Psum) {
        out.traffic.psum_read_sbuf_write = out.traffic.sbuf_write;
    }
    out
}
