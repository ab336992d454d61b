//! Items of the payloads that select, gather and move across partitions. No
//! text of theirs is published, but for the masks of LOAD_MASK_SELECT in
//! public test code; the words are ours.

use super::immediate::Immediate;
use super::tensor::{immediate, pair};
use super::value::{Both, Hex};
use super::{Outcome, Text};
use crate::isa::body::select::{
    BufferLoad, Gather, LaneReduce, PredicatedScalar, RangeSelect, ScalarSelect,
};
use crate::isa::code::{AccumulatorCmd, AluOp};
use crate::isa::value::Fp32;

pub(crate) fn range_select<T: Text>(b: &mut RangeSelect, t: &mut T) -> Outcome {
    let mut ops = Both(b.op0, b.op1);
    t.item("ops", &mut ops)?;
    (b.op0, b.op1) = (ops.0, ops.1);
    let mut bounds = Both(
        immediate(b.bound0, b.bound0_source, false),
        immediate(b.bound1, b.bound1_source, false),
    );
    t.item("bounds", &mut bounds)?;
    (b.bound0, b.bound1) = (bounds.0.bits, bounds.1.bits);
    let mut sources = Both(b.bound0_source, b.bound1_source);
    t.item("bounds_src", &mut sources)?;
    (b.bound0_source, b.bound1_source) = (sources.0, sources.1);
    t.item("base", &mut b.base)?;
    t.item("fill", &mut b.fill)?;
    pair(t, &mut b.types, |t, src_type, dst_type| {
        t.typed("src", src_type, &mut b.src)?;
        t.typed("dst", dst_type, &mut b.dst)
    })?;
    t.item("channels", &mut b.channels)?;
    t.hidden("accumulator_cmd", &mut b.accumulator, AccumulatorCmd::IDLE)?;
    t.hidden("reduce_op", &mut b.reduce_op, AluOp::MAX)
}

pub(crate) fn scalar_select<T: Text>(b: &mut ScalarSelect, t: &mut T) -> Outcome {
    let mut predicate = Immediate { bits: b.predicate, as_hex: true };
    t.typed("predicate", &mut b.predicate_type, &mut predicate)?;
    b.predicate = predicate.bits;
    t.item("predicate_src", &mut b.predicate_source)?;
    t.item_as("scalar", &mut b.scalar, |v| Hex(*v), |v| v.0)?;
    t.item("scalar_src", &mut b.scalar_source)?;
    t.typed("src", &mut b.dtype, &mut b.src)?;
    t.item("dst", &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.optional("reversed", &mut b.reversed, 0)
}

pub(crate) fn predicated_scalar<T: Text>(b: &mut PredicatedScalar, t: &mut T) -> Outcome {
    t.typed("predicate", &mut b.predicate_type, &mut b.predicate)?;
    let mut scalar = Immediate { bits: b.scalar, as_hex: true };
    t.typed("scalar", &mut b.src_type, &mut scalar)?;
    b.scalar = scalar.bits;
    t.item("scalar_src", &mut b.scalar_source)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.optional("reversed", &mut b.reversed, 0)
}

pub(crate) fn lane_reduce<T: Text>(b: &mut LaneReduce, t: &mut T) -> Outcome {
    t.item("op", &mut b.op)?;
    t.item("axis", &mut b.axis)?;
    t.optional("scale", &mut b.scale, Fp32(0))?;
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)
}

pub(crate) fn buffer_load<T: Text>(b: &mut BufferLoad, t: &mut T) -> Outcome {
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.item("channels", &mut b.channels)?;
    t.item("start", &mut b.start_index)?;
    t.item_as("mask", &mut b.mask, |v| Hex(*v), |v| v.0)
}

pub(crate) fn gather<T: Text>(b: &mut Gather, t: &mut T) -> Outcome {
    t.item("miss", &mut b.miss)?;
    t.item_as("imm", &mut b.immediate, |v| Hex(*v), |v| v.0)?;
    t.typed("indices", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.optional("free_buffer", &mut b.free_buffer, 0)
}
