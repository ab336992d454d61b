//! Payloads of the activation engine (isa-layouts.md §3.6, §3.7;
//! neuroncore.md §3.6).

use crate::isa::activation::Activation;
use crate::isa::address::{Addr4, Pattern};
use crate::isa::code::{AccumulatorCmd, BiasSource, Dtype, DtypePair, ImmSource};
use crate::isa::field::layout;
use crate::isa::value::Fp32;

layout! {
    /// ACTIVATE: dst = function(src x scale + bias).
    Activate {
        /// Where `imm` comes from; equal to `bias_source` in real code.
        12 imm_source: ImmSource,
        /// Where `scale` comes from.
        13 scale_source: ImmSource,
        /// The running sum.
        14 accumulator: AccumulatorCmd,
        /// Where `bias` comes from.
        15 bias_source: BiasSource,
        /// Input, in SBUF or PSUM.
        16 src: Pattern<3>,
        /// Type of the input (low) and of the bias column (high).
        32 types: DtypePair,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// The function.
        35 function: Activation,
        /// Bits of an fp32 number, or an address, as `scale_source` says.
        36 scale: u32,
        /// Bits of an fp32 number, or an address, as `bias_source` says.
        40 bias: u32,
        /// Bits of an fp32 number, or an address, as `imm_source` says.
        44 imm: u32,
        /// Result, in SBUF or PSUM.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// ACTIVATE_QUANTIZE.
    ActivateQuantize {
        /// Scale of the result.
        12 quant_scale: Fp32,
        /// Input.
        16 src: Pattern<3>,
        /// Type of the input (low) and of the bias column (high).
        32 types: DtypePair,
        /// Type of the result.
        33 dst_type: Dtype,
        /// Partitions.
        34 channels: u8,
        /// The function.
        35 function: Activation,
        /// Scale of the input.
        36 dequant_scale: Fp32,
        /// Column of the bias.
        40 bias: Addr4,
        /// Zero point, as its bits.
        44 zero_point: u32,
        /// Result.
        48 dst: Pattern<3>,
    }
}

layout! {
    /// ACT_TABLE_LOAD: makes a set of functions current.
    TableLoad {
        /// Index into `activation_function_sets` of the engine's JSON.
        35 table: u8,
    }
}

layout! {
    /// ACT_READ_ACCUMULATOR and DVE_READ_ACCUMULATOR.
    ReadAccumulator {
        /// Elements per partition, 1.
        28 count: u32,
        /// Type of the result.
        32 dst_type: Dtype,
        /// 1: the result is negated.
        33 negated: u8,
        /// Partitions.
        34 channels: u8,
        /// Result.
        44 dst: Pattern<1>,
    }
}
