//! Payloads of the vector engine and the programmable processors
//! (isa-layouts.md §3.3 to §3.9; neuroncore.md §3.6).

use serde::Serialize;

use crate::isa::address::Pattern;
use crate::isa::code::{
    AccumulatorCmd, AffineCompare, AluOp, Dtype, DtypePair, ImmSource, ReduceDims, Reverse,
};
use crate::isa::field::{Field, RecordBytes, layout};
use crate::isa::value::Fp32;

/// An integer that grows along the free dimensions: element (i0, i1, ..) is
/// `base + i0 x steps[0] + i1 x steps[1] + ..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ramp {
    /// First value.
    pub base: i32,
    /// Growth per element, innermost first.
    pub steps: [i16; 4],
    /// Counts.
    pub counts: [u16; 4],
}

impl Field for Ramp {
    const SIZE: usize = 20;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        Self {
            base: Field::read(bytes, offset),
            steps: Field::read(bytes, offset + 4),
            counts: Field::read(bytes, offset + 12),
        }
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        self.base.write(bytes, offset);
        self.steps.write(bytes, offset + 4);
        self.counts.write(bytes, offset + 12);
    }
}

layout! {
    /// One source, one destination: TENSOR_REDUCE, COPY, CAST, RECIPROCAL,
    /// TENSOR_REDUCE_ADD_BF16 and, from published layouts, the cumulative,
    /// shuffle and transpose records.
    Unary {
        /// Input, in SBUF or PSUM.
        12 src: Pattern<4>,
        /// Its type.
        32 src_type: Dtype,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// 1: the result is negated (reductions).
        35 negated: u8,
        /// Operation of a reduction, else BYPASS.
        36 op: AluOp,
        /// Dimensions folded; the others, in walk order, are the result.
        37 dims: ReduceDims,
        /// 0 in real files.
        38 mask_enable: u8,
        /// Result, in SBUF or PSUM.
        44 dst: Pattern<4>,
    }
}

layout! {
    /// Two tensors: TENSOR_TENSOR, and from published layouts its bitwise
    /// form, COPY_PREDICATED and CAST_PREDICATED (source 0 is the predicate).
    TensorTensor {
        /// Types of source 0 (low) and source 1 (high).
        12 src_types: DtypePair,
        /// Type of the result.
        13 dst_type: Dtype,
        /// Operation.
        14 op: AluOp,
        /// Partitions.
        15 channels: u8,
        /// First operand.
        16 src0: Pattern<3>,
        /// Second operand.
        32 src1: Pattern<3>,
        /// Result.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// A tensor and up to two scalars: dst = (src op0 imm0) op1 imm1.
    TensorScalar {
        /// The running accumulator.
        12 accumulator: AccumulatorCmd,
        /// Input.
        16 src: Pattern<3>,
        /// Its type.
        32 src_type: Dtype,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// Where `imm0` comes from.
        35 imm0_source: ImmSource,
        /// First operation.
        36 op0: AluOp,
        /// Second operation; may not run when the first is BYPASS.
        37 op1: AluOp,
        /// Operand order.
        38 reverse: Reverse,
        /// Where `imm1` comes from.
        39 imm1_source: ImmSource,
        /// Bits of a number, or the address of a column of fp32.
        40 imm0: u32,
        /// Bits of a number, or the address of a column of fp32.
        44 imm1: u32,
        /// Result.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// dst = (src0 op0 imm0) op1 src1, and the scan and select records that
    /// share the layout.
    ScalarTensorTensor {
        /// First operand.
        12 src0: Pattern<2>,
        /// Second operand.
        24 src1: Pattern<2>,
        /// First operation.
        36 op0: AluOp,
        /// Second operation.
        37 op1: AluOp,
        /// Operand order.
        38 reverse: Reverse,
        /// Where `imm0` comes from.
        39 imm0_source: ImmSource,
        /// Types of source 0 (low) and source 1 (high).
        40 src_types: DtypePair,
        /// Type of the result.
        41 dst_type: Dtype,
        /// Partitions.
        42 channels: u8,
        /// Type of `imm0`.
        43 imm0_type: Dtype,
        /// The running accumulator.
        44 accumulator: AccumulatorCmd,
        /// Result.
        48 dst: Pattern<2>,
        /// Bits of a number, or the address of a column.
        60 imm0: u32,
    }
}

layout! {
    /// Batch statistics and the records that share their layout: BN_STATS,
    /// BN_AGGREGATE, MAX8, FIND_INDEX8.
    Statistics {
        /// Input.
        12 src: Pattern<4>,
        /// Its type.
        32 src_type: Dtype,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// Number of elements with an even index.
        40 even_count: Fp32,
        /// Number of elements with an odd index.
        44 odd_count: Fp32,
        /// Result.
        48 dst: Pattern<2>,
    }
}

layout! {
    /// MATCH_VALUE_LOAD and the loads that share its layout: a source goes
    /// into the state of the engine, there is no destination (public notes on
    /// the vendor's headers).
    ValueLoad {
        /// Input; for MATCH_VALUE_LOAD the 8 keys, the last one first.
        16 src: Pattern<2>,
        /// Second immediate, as its bits; 0 for MATCH_VALUE_LOAD.
        28 imm1: u32,
        /// Type of the input.
        32 src_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// First immediate or its address; 0 for MATCH_VALUE_LOAD.
        44 imm0: u32,
        /// Where `imm0` comes from.
        48 imm0_source: ImmSource,
    }
}

layout! {
    /// MATCH_REPLACE8: replaces the first match of each key (public notes on
    /// the vendor's headers).
    MatchReplace {
        /// Input.
        12 src: Pattern<4>,
        /// Its type.
        32 src_type: Dtype,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// What a match becomes.
        40 replacement: Fp32,
        /// Result.
        44 dst: Pattern<4>,
    }
}

layout! {
    /// IOTA: dst = ramp + partition x multiplier.
    Iota {
        /// Values along the free dimensions.
        12 ramp: Ramp,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// Growth per partition.
        36 channel_multiplier: i32,
        /// Result.
        44 dst: Pattern<4>,
    }
}

layout! {
    /// MEMSET, and from published layouts RNG.
    Memset {
        /// Elements per partition: the product of the counts of `dst`.
        28 count: u32,
        /// Type of the result.
        32 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// 0 in real files.
        36 serial_mode: u8,
        /// Bits of one element; narrow types use the low bytes.
        40 value: u32,
        /// Result.
        44 dst: Pattern<4>,
    }
}

layout! {
    /// TENSOR_SCALAR_AFFINE_SELECT: dst = (ramp + partition x multiplier)
    /// compared with 0 ? src : fill.
    AffineSelect {
        /// Partitions.
        12 channels: u8,
        /// Type of the input (low) and of the result (high).
        13 types: DtypePair,
        /// Comparison with zero.
        14 compare: AffineCompare,
        /// Register that holds the fill value, bits of an fp32 number.
        15 fill_register: u8,
        /// Values along the free dimensions.
        16 ramp: Ramp,
        /// Input.
        36 src: Pattern<2>,
        /// Result.
        48 dst: Pattern<2>,
        /// Growth per partition.
        60 channel_multiplier: i32,
    }
}

layout! {
    /// MODIFY_POOL_CONFIG; its meaning is unknown, it occurs in the images
    /// that the runtime loads only.
    PoolConfig {
        /// 1 set, 2 reset.
        12 command: u8,
        /// 0xff.
        13 mask: u8,
        /// Address of the device.
        16 address: u64,
        /// Bytes.
        28 size: u32,
    }
}
