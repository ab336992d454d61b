//! What goes through the accumulator of the vector engine: one fp32 number a
//! partition, shared by all of these (neuroncore.md §2.4).
//!
//! IDLE leaves the accumulator as it is (our choice: the documentation says
//! that its content is then unknown).

use neuron_core::instance::Arch;
use neuron_core::isa::body::act::ReadAccumulator;
use neuron_core::isa::body::select::RangeSelect;
use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar};
use neuron_core::isa::code::{AccumulatorCmd, AluOp, Dtype, ImmSource, Reverse};
use neuron_core::isa::{Engine, Opcode};

use super::State;
use super::operands::{
    apply, fixed, flag, has_elements, read_all, reversed, same_size, scalars, write_all,
};
use crate::alu::float;
use crate::fault::Fault;
use crate::memory::Operand;

/// What the accumulators of an operand's partitions start with; `None` when
/// nothing is added up.
fn start(
    state: &State,
    operand: &Operand,
    command: AccumulatorCmd,
    op: AluOp,
    load: Option<Vec<f32>>,
) -> Result<Option<Vec<f32>>, Fault> {
    let here = state.vector.accumulator.iter().skip(operand.first()).take(operand.partitions());
    Ok(match command {
        AccumulatorCmd::IDLE => None,
        AccumulatorCmd::ACCUMULATE => Some(here.copied().collect()),
        AccumulatorCmd::ZERO_ACCUMULATE => Some(vec![float::identity(op)?; operand.partitions()]),
        AccumulatorCmd::LOAD_ACCUMULATE if load.is_some() => load,
        other => return Err(Fault::unknown(format!("accumulator command {other}"))),
    })
}

fn keep(state: &mut State, operand: &Operand, sums: &[f32]) {
    let into = state.vector.accumulator.iter_mut().skip(operand.first());
    for (kept, sum) in into.zip(sums) {
        *kept = *sum;
    }
}

/// What LOAD_ACCUMULATE loads; another command has no second immediate.
fn load(state: &State, engine: Engine, body: &TensorScalar) -> Result<Option<Vec<f32>>, Fault> {
    if body.accumulator == AccumulatorCmd::LOAD_ACCUMULATE {
        return scalars(state, engine, body.imm1_source, body.imm1, body.channels).map(Some);
    }
    fixed("a second immediate", body.imm1, 0)?;
    fixed("a second immediate from", body.imm1_source, ImmSource::INSTRUCTION)?;
    Ok(None)
}

/// TENSOR_SCALAR_CACHE_REDUCE: dst = src op0 imm0, and its fold in the
/// accumulator; TENSOR_SCALAR_CACHE_CUMULATIVE: dst is the running fold. The
/// new number is the first operand of the fold, as the documentation has it.
pub(super) fn cache(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &TensorScalar,
) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let unit = state.unit(engine);
    let (op0, op1) = (float::binary(body.op0, unit)?, float::binary(body.op1, unit)?);
    float::identity(body.op1)?;
    let (reverse, second) = reversed(body.reverse)?;
    if second {
        return Err(Fault::unknown(format!("operand order {}", body.reverse)));
    }
    let scalars = scalars(state, engine, body.imm0_source, body.imm0, body.channels)?;
    let load = load(state, engine, body)?;
    let sums = start(state, &src, body.accumulator, body.op1, load)?;
    let mut sums = sums.ok_or_else(|| Fault::unknown("a fold without accumulator"))?;
    if !state.computes {
        return Ok(());
    }
    let running = opcode == Opcode::TENSOR_SCALAR_CACHE_CUMULATIVE;
    let mut rows = read_all(&state.memory, &src);
    for ((row, scalar), sum) in rows.iter_mut().zip(&scalars).zip(&mut sums) {
        for value in row {
            let once = apply(op0, reverse, *value, *scalar);
            *sum = op1(once, *sum);
            *value = if running { *sum } else { once };
        }
    }
    keep(state, &src, &sums);
    write_all(state, &dst, &rows);
    Ok(())
}

/// EXPONENTIAL: e^(src - imm0), and its sum in the accumulator. From v4 on.
pub(super) fn exponential(
    state: &mut State,
    engine: Engine,
    body: &TensorScalar,
) -> Result<(), Fault> {
    if state.arch < Arch::V4 {
        return Err(Fault::unknown("EXPONENTIAL before v4"));
    }
    if (body.op0, body.op1, body.reverse) != (AluOp::BYPASS, AluOp::BYPASS, Reverse::NONE) {
        return Err(Fault::unknown("operations of EXPONENTIAL"));
    }
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let largest = scalars(state, engine, body.imm0_source, body.imm0, body.channels)?;
    let load = load(state, engine, body)?;
    let mut sums = start(state, &src, body.accumulator, AluOp::ADD, load)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    for (row, largest) in rows.iter_mut().zip(&largest) {
        for value in row {
            *value = libm::exp(f64::from(*value - largest)) as f32;
        }
    }
    if let Some(sums) = &mut sums {
        for (sum, row) in sums.iter_mut().zip(&rows) {
            *sum = row.iter().fold(*sum, |sum, value| sum + value);
        }
        keep(state, &src, sums);
    }
    write_all(state, &dst, &rows);
    Ok(())
}

/// The running maximum of what a selection gives, from what [`start`] gave.
fn maximum(state: &mut State, operand: &Operand, start: Option<Vec<f32>>, rows: &[Vec<f32>]) {
    if let Some(mut sums) = start {
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum = row.iter().copied().fold(*sum, float::maximum);
        }
        keep(state, operand, &sums);
    }
}

/// RANGE_SELECT: the source where its index, counted from a base, compares so
/// with both bounds; else the lowest finite number.
pub(super) fn range_select(
    state: &mut State,
    engine: Engine,
    body: &RangeSelect,
) -> Result<(), Fault> {
    fixed("reduction", body.reduce_op, AluOp::MAX)?;
    if body.fill.get() != f32::MIN {
        return Err(Fault::unknown(format!("the fill {}", body.fill.get())));
    }
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.types.low())?;
    let dst = reach.find(&body.dst, body.channels, body.types.high())?;
    same_size(&src, &dst)?;
    if [&src, &dst].iter().any(|operand| operand.element().is_signed().is_some()) {
        return Err(Fault::unknown("a range of integers"));
    }
    let base = body.base.get();
    let whole = base.fract() == 0.0 && (0.0..=16_777_216.0).contains(&base);
    if !whole || base + src.elements() as f32 > 16_777_216.0 {
        return Err(Fault::unknown(format!("indices from {base}")));
    }
    let comparison = |op: AluOp| match op {
        AluOp::IS_EQ | AluOp::IS_GT | AluOp::IS_GE | AluOp::IS_LE | AluOp::IS_LT => {
            float::binary(op, state.unit(engine))
        }
        op => Err(Fault::Operation { op, reason: "compares no range" }),
    };
    let (first, second) = (comparison(body.op0)?, comparison(body.op1)?);
    let bounds0 = scalars(state, engine, body.bound0_source, body.bound0, body.channels)?;
    let bounds1 = scalars(state, engine, body.bound1_source, body.bound1, body.channels)?;
    let start = start(state, &src, body.accumulator, AluOp::MAX, None)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    for (row, (bound0, bound1)) in rows.iter_mut().zip(bounds0.iter().zip(&bounds1)) {
        for (index, value) in row.iter_mut().enumerate() {
            let index = base + index as f32;
            if first(index, *bound0) == 0.0 || second(index, *bound1) == 0.0 {
                *value = f32::MIN;
            }
        }
    }
    maximum(state, &src, start, &rows);
    write_all(state, &dst, &rows);
    Ok(())
}

/// SELECT_REDUCE: dst = src0 is not 0 ? src1 : imm0, the other way round with
/// FIRST, and the maximum in the accumulator. The documentation has the scalar;
/// public notes on the engine's program hold that the destination stays, which
/// is not followed.
pub(super) fn select_reduce(
    state: &mut State,
    engine: Engine,
    body: &ScalarTensorTensor,
) -> Result<(), Fault> {
    fixed("operation", body.op0, AluOp::BYPASS)?;
    fixed("reduction", body.op1, AluOp::MAX)?;
    fixed("an immediate of type", body.imm0_type, Dtype::FP32)?;
    let (reverse, second) = reversed(body.reverse)?;
    if second {
        return Err(Fault::unknown(format!("operand order {}", body.reverse)));
    }
    let reach = state.reach(engine);
    let predicate = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&predicate, &dst)?;
    same_size(&src, &dst)?;
    let scalars = scalars(state, engine, body.imm0_source, body.imm0, body.channels)?;
    let start = start(state, &src, body.accumulator, AluOp::MAX, None)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    let predicates = read_all(&state.memory, &predicate);
    for ((row, holds), scalar) in rows.iter_mut().zip(predicates).zip(&scalars) {
        for (value, holds) in row.iter_mut().zip(holds) {
            if (holds == 0.0) != reverse {
                *value = *scalar;
            }
        }
    }
    maximum(state, &src, start, &rows);
    write_all(state, &dst, &rows);
    Ok(())
}

/// DVE_READ_ACCUMULATOR and ACT_READ_ACCUMULATOR: the sums as a column.
pub(super) fn read(state: &mut State, engine: Engine, body: &ReadAccumulator) -> Result<(), Fault> {
    let dst = state.reach(engine).find(&body.dst, body.channels, body.dst_type)?;
    has_elements(&dst, 1)?;
    if body.count != 1 {
        return Err(Fault::shape(format!("{} numbers of an accumulator", body.count)));
    }
    let sign = if flag("negation", body.negated)? { -1.0 } else { 1.0 };
    if !state.computes {
        return Ok(());
    }
    let sums = if engine == Engine::Act { &state.sums } else { &state.vector.accumulator };
    let rows: Vec<Vec<f32>> =
        sums.iter().skip(dst.first()).take(dst.partitions()).map(|sum| vec![sum * sign]).collect();
    write_all(state, &dst, &rows);
    Ok(())
}
