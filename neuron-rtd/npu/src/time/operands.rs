//! What of an instruction's operands costs time: where they lie, how much of
//! them there is, and how they are walked.

use neuron_core::isa::Instruction;
use neuron_core::isa::address::{Pattern, Place};
use neuron_core::isa::body::Body;
use neuron_core::isa::code::Dtype;

use crate::memory::Region;

/// One operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) region: Region,
    /// First and last partition.
    pub(super) partitions: (u16, u16),
    /// First byte in a partition, and the byte behind the last one.
    pub(super) bytes: (i64, i64),
    /// Elements of a partition.
    pub(super) elements: u64,
    pub(super) dtype: Dtype,
    /// Neighbours along the inner dimension lie side by side.
    pub(super) contiguous: bool,
    /// Bytes between them.
    pub(super) stride: u64,
}

impl Area {
    fn of<const N: usize>(pattern: &Pattern<N>, channels: u8, dtype: Dtype) -> Option<Self> {
        let (region, first, byte) = match pattern.start.place() {
            Place::Sbuf { partition, byte } => (Region::Sbuf, partition, byte),
            Place::Psum { partition, byte } => (Region::Psum, partition, byte),
            Place::Other(_) => return None,
        };
        let width = dtype.bytes().unwrap_or(4);
        let size = i64::from(width);
        let (mut low, mut high) = (0, 0);
        for (step, count) in pattern.steps.iter().zip(pattern.counts) {
            let reach = i64::from(*step) * (i64::from(count) - 1).max(0) * size;
            low += reach.min(0);
            high += reach.max(0);
        }
        let (byte, first) = (i64::from(byte), u16::from(first));
        let inner = pattern.steps.iter().zip(pattern.counts).find(|(_, count)| *count > 1);
        let step = inner.map_or(1, |(step, _)| step.unsigned_abs());
        Some(Self {
            region,
            partitions: (first, first + u16::from(channels).saturating_sub(1)),
            bytes: (byte + low, byte + high + size),
            elements: pattern.elements(),
            dtype,
            contiguous: step <= 1,
            stride: u64::from(step) * u64::from(width),
        })
    }

    /// Its place alone.
    pub(super) fn extent(&self) -> Extent {
        let byte = |at: i64| i32::try_from(at).unwrap_or(if at < 0 { i32::MIN } else { i32::MAX });
        Extent {
            region: self.region,
            partitions: self.partitions,
            bytes: (byte(self.bytes.0), byte(self.bytes.1)),
        }
    }

    /// Banks of PSUM that it touches, one bit each.
    pub(super) fn banks(&self) -> u8 {
        if self.region != Region::Psum {
            return 0;
        }
        let bank = |byte: i64| (byte / 2048).clamp(0, 7);
        (bank(self.bytes.0)..=bank(self.bytes.1 - 1)).fold(0, |banks, bank| banks | 1 << bank)
    }

    pub(super) fn is_float16(&self) -> bool {
        self.dtype == Dtype::BFLOAT16 || self.dtype == Dtype::FP16
    }

    fn is_float8(&self) -> bool {
        matches!(self.dtype, Dtype::FP8_E3M4 | Dtype::FP8_E4M3 | Dtype::FP8_E5M2)
    }
}

/// Where an operand lies, in few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    region: Region,
    partitions: (u16, u16),
    bytes: (i32, i32),
}

impl Extent {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.region == other.region
            && self.partitions.0 <= other.partitions.1
            && other.partitions.0 <= self.partitions.1
            && self.bytes.0 < other.bytes.1
            && other.bytes.0 < self.bytes.1
    }
}

/// The operands of an instruction. Columns of scalars and bias are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Operands {
    pub(super) reads: [Option<Area>; 2],
    pub(super) write: Option<Area>,
}

impl Operands {
    pub(super) fn of(instruction: &Instruction) -> Self {
        let fp32 = Dtype::FP32;
        let (reads, write) = match &instruction.body {
            Body::LoadWeights(b) => ([Area::of(&b.src, b.rows, b.src_type), None], None),
            Body::MatMul(b) => {
                let transposes = b.transpose_mode == neuron_core::isa::code::TransposeMode::ENABLED;
                let dst = Area::of(&b.dst, b.columns, if transposes { b.src_type } else { fp32 });
                ([Area::of(&b.src, b.rows, b.src_type), None], dst)
            }
            Body::Activate(b) => {
                let src = Area::of(&b.src, b.channels, b.types.low());
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::ActivateQuantize(b) => {
                let src = Area::of(&b.src, b.channels, b.types.low());
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::ReadAccumulator(b) => ([None, None], Area::of(&b.dst, b.channels, b.dst_type)),
            Body::TensorTensor(b) => {
                let src0 = Area::of(&b.src0, b.channels, b.src_types.low());
                let src1 = Area::of(&b.src1, b.channels, b.src_types.high());
                ([src0, src1], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::TensorScalar(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::Unary(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::ScalarTensorTensor(b) => {
                let src0 = Area::of(&b.src0, b.channels, b.src_types.low());
                let src1 = Area::of(&b.src1, b.channels, b.src_types.high());
                ([src0, src1], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::Statistics(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::RangeSelect(b) => {
                let src = Area::of(&b.src, b.channels, b.types.low());
                ([src, None], Area::of(&b.dst, b.channels, b.types.high()))
            }
            Body::LaneReduce(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::Gather(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::BufferLoad(b) => ([Area::of(&b.src, b.channels, b.src_type), None], None),
            Body::ValueLoad(b) => ([Area::of(&b.src, b.channels, b.src_type), None], None),
            Body::MatchReplace(b) => {
                let src = Area::of(&b.src, b.channels, b.src_type);
                ([src, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            Body::Iota(b) => ([None, None], Area::of(&b.dst, b.channels, b.dst_type)),
            Body::Memset(b) => ([None, None], Area::of(&b.dst, b.channels, b.dst_type)),
            Body::AffineSelect(b) => {
                let src = Area::of(&b.src, b.channels, b.types.low());
                ([src, None], Area::of(&b.dst, b.channels, b.types.high()))
            }
            Body::ScalarSelect(b) => {
                let src = Area::of(&b.src, b.channels, b.dtype);
                ([src, None], Area::of(&b.dst, b.channels, b.dtype))
            }
            Body::PredicatedScalar(b) => {
                let predicate = Area::of(&b.predicate, b.channels, b.predicate_type);
                ([predicate, None], Area::of(&b.dst, b.channels, b.dst_type))
            }
            _ => ([None, None], None),
        };
        Self { reads, write }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Area> {
        self.reads.iter().chain([&self.write]).flatten()
    }
}

/// What all operands of an instruction have in common, looked at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Common {
    /// Elements of a partition that pass: the most of any operand.
    pub(super) elements: u64,
    /// The fewest elements of any operand.
    pub(super) least: u64,
    pub(super) float16: bool,
    /// All are floats of 16 or 8 bits.
    pub(super) narrow: bool,
    pub(super) contiguous: bool,
    /// All lie in SBUF.
    pub(super) inside: bool,
    /// One at least lies in SBUF.
    pub(super) touches_sbuf: bool,
    /// One at least steps by 16 bytes or more.
    pub(super) wide: bool,
    /// Banks of PSUM that they touch, one bit each.
    pub(super) banks: u8,
    /// There is none.
    pub(super) none: bool,
}

impl Common {
    pub(super) fn of(operands: &Operands) -> Self {
        let mut common = Self {
            elements: 1,
            least: 1,
            float16: true,
            narrow: true,
            contiguous: true,
            inside: true,
            touches_sbuf: false,
            wide: false,
            banks: 0,
            none: true,
        };
        for area in operands.all() {
            let (elements, inside) = (area.elements, area.region == Region::Sbuf);
            let (most, least) =
                if common.none { (0, u64::MAX) } else { (common.elements, common.least) };
            common.elements = most.max(elements);
            common.least = least.min(elements);
            common.float16 &= area.is_float16();
            common.narrow &= area.is_float16() || area.is_float8();
            common.contiguous &= area.contiguous;
            common.inside &= inside;
            common.touches_sbuf |= inside;
            common.wide |= elements > 1 && area.stride >= 16;
            common.banks |= area.banks();
            common.none = false;
        }
        common
    }
}
