//! Payloads that select, gather and move across partitions, from public notes
//! on the vendor's headers: their offsets are those of the compiled structs,
//! no record was seen.

use crate::isa::address::Pattern;
use crate::isa::code::{
    AccumulatorCmd, AluOp, Dtype, DtypePair, ImmSource, IndexMiss, LaneAxis, LaneOp,
};
use crate::isa::field::layout;
use crate::isa::value::{Fp32, LaneMap};

layout! {
    /// RANGE_SELECT: dst = (base + index compared with both bounds) ? src :
    /// fill, and the largest result in the accumulator.
    RangeSelect {
        /// Partitions.
        12 channels: u8,
        /// Types of the input (low) and of the result (high).
        13 types: DtypePair,
        /// The running maximum.
        14 accumulator: AccumulatorCmd,
        /// MAX.
        15 reduce_op: AluOp,
        /// Index of the first element.
        16 base: Fp32,
        /// Value where a comparison fails: the lowest finite fp32.
        20 fill: Fp32,
        /// Input.
        24 src: Pattern<2>,
        /// First comparison.
        36 op0: AluOp,
        /// Second comparison.
        37 op1: AluOp,
        /// Where `bound0` comes from.
        38 bound0_source: ImmSource,
        /// Where `bound1` comes from.
        39 bound1_source: ImmSource,
        /// Bits of an fp32 number, or the address of a column.
        40 bound0: u32,
        /// Bits of an fp32 number, or the address of a column.
        44 bound1: u32,
        /// Result.
        48 dst: Pattern<2>,
    }
}

layout! {
    /// TENSOR_SCALAR_SELECT: dst = predicate ? src : scalar, with both as
    /// immediates; bits are copied.
    ScalarSelect {
        /// Input.
        16 src: Pattern<3>,
        /// 1: the two values are swapped.
        32 reversed: u8,
        /// Partitions.
        33 channels: u8,
        /// Type of the input, of the scalar and of the result.
        34 dtype: Dtype,
        /// Type of the predicate, an integer of the same width.
        35 predicate_type: Dtype,
        /// Where `scalar` comes from.
        38 scalar_source: ImmSource,
        /// Where `predicate` comes from.
        39 predicate_source: ImmSource,
        /// Bits of one element, or the address of a column.
        40 scalar: u32,
        /// 0 or 1, or the address of a column.
        44 predicate: u32,
        /// Result.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// COPY_PREDICATED_SCALAR: the scalar goes where the predicate is 0;
    /// elsewhere the result keeps its bits.
    PredicatedScalar {
        /// Predicate.
        16 predicate: Pattern<3>,
        /// Its type, an integer.
        32 predicate_type: Dtype,
        /// 1: the scalar goes where the predicate is not 0.
        33 reversed: u8,
        /// Partitions.
        34 channels: u8,
        /// Type of the scalar; equal to that of the result.
        41 src_type: Dtype,
        /// Type of the result.
        42 dst_type: Dtype,
        /// Where `scalar` comes from.
        43 scalar_source: ImmSource,
        /// Bits of one element, or the address of a column.
        44 scalar: u32,
        /// Result.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// CROSS_LANE_REDUCE and its bitwise form: folds over the partitions into
    /// one partition.
    LaneReduce {
        /// Input, in SBUF.
        12 src: Pattern<4>,
        /// Its type.
        32 src_type: Dtype,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions of the input.
        34 channels: u8,
        /// Operation.
        35 op: LaneOp,
        /// What is folded.
        36 axis: LaneAxis,
        /// Factor of each element of AVERAGE.
        40 scale: Fp32,
        /// Result, in one partition of SBUF.
        44 dst: Pattern<4>,
    }
}

layout! {
    /// LOAD_MASK_SELECT: the map of STREAM_SHUFFLE that follows.
    MaskLoad {
        /// Source partition of each of 32 partitions.
        32 map: LaneMap,
    }
}

layout! {
    /// POOL_BUFFER_LOAD: fills the buffer of POOL that GATHER reads, up to
    /// 512 elements a partition, as raw bits.
    BufferLoad {
        /// Input.
        12 src: Pattern<4>,
        /// Its type.
        32 src_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// Index of the first element.
        40 start_index: u32,
        /// Bits of an index that count within the buffer; the others must be
        /// those of `start_index`.
        44 mask: u32,
    }
}

layout! {
    /// GATHER: elements of the buffer of POOL by index, partition by
    /// partition.
    Gather {
        /// Indices.
        12 src: Pattern<4>,
        /// Their type, an unsigned integer.
        32 src_type: Dtype,
        /// Type of the elements.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// What happens to an index outside of the buffer.
        36 miss: IndexMiss,
        /// 1: the buffer is free afterwards.
        37 free_buffer: u8,
        /// Bits of the element that stands for such an index.
        40 immediate: u32,
        /// Result.
        44 dst: Pattern<4>,
    }
}
