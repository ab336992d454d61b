//! Element by element, and along the free dimensions (isa-layouts.md §3.3 to
//! §3.5).

use neuron_core::isa::Engine;
use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{AccumulatorCmd, Dtype, ImmSource, ReduceDims, Reverse};

use super::{Reach, State, column, read_all, same_size, write_all};
use crate::alu::{Binary, binary};
use crate::fault::Fault;
use crate::memory::Operand;

/// Source and destination of a record that is no reduction.
fn ends(state: &State, engine: Engine, body: &Unary) -> Result<(Operand, Operand), Fault> {
    if body.negated != 0 || body.op.0 != 0 || body.dims != ReduceDims::NONE {
        return Err(Fault::unknown("a reduction's fields are set"));
    }
    let (src, dst) = both(state, engine, body)?;
    same_size(&src, &dst)?;
    Ok((src, dst))
}

fn both(state: &State, engine: Engine, body: &Unary) -> Result<(Operand, Operand), Fault> {
    if body.mask_enable != 0 {
        return Err(Fault::unknown("a mask is enabled"));
    }
    let reach = Reach { memory: &state.memory, engine };
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    Ok((src, dst))
}

/// COPY: the bits.
pub(super) fn copy(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    if body.src_type != body.dst_type {
        let (src, dst) = (body.src_type, body.dst_type);
        return Err(Fault::unknown(format!("a copy of {src} to {dst}")));
    }
    let (src, dst) = ends(state, engine, body)?;
    let rows: Vec<_> = (0..src.partitions()).map(|index| src.bits(&state.memory, index)).collect();
    for (index, row) in rows.iter().enumerate() {
        dst.put_bits(&mut state.memory, index, row);
    }
    Ok(())
}

/// CAST: the numbers, through fp32.
pub(super) fn cast(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    let (src, dst) = ends(state, engine, body)?;
    let rows = read_all(&state.memory, &src);
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// RECIPROCAL: 1 / x.
pub(super) fn reciprocal(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    let (src, dst) = ends(state, engine, body)?;
    let mut rows = read_all(&state.memory, &src);
    for value in rows.iter_mut().flatten() {
        *value = 1.0 / *value;
    }
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// TENSOR_REDUCE: folds the inner dimensions, in walk order.
pub(super) fn reduce(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    let (src, dst) = both(state, engine, body)?;
    let op = binary(body.op)?;
    let [x, y, ..] = body.src.counts.map(usize::from);
    let folded = match body.dims {
        ReduceDims::X => x,
        ReduceDims::XY => x * y,
        other => return Err(Fault::unknown(format!("reduction over {other}"))),
    };
    if body.negated > 1 {
        return Err(Fault::unknown(format!("negation {}", body.negated)));
    }
    let results = src.elements().checked_div(folded).unwrap_or_default();
    if results != dst.elements() {
        let text = format!("{results} results for {} elements", dst.elements());
        return Err(Fault::shape(text));
    }
    let fold = |group: &[f32]| {
        let folded = group.iter().copied().reduce(op).unwrap_or_default();
        if body.negated == 1 { -folded } else { folded }
    };
    let rows = read_all(&state.memory, &src);
    let rows: Vec<Vec<f32>> =
        rows.iter().map(|row| row.chunks(folded).map(fold).collect()).collect();
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// TENSOR_TENSOR: dst = src0 op src1.
pub(super) fn tensor_tensor(
    state: &mut State,
    engine: Engine,
    body: &TensorTensor,
) -> Result<(), Fault> {
    let reach = Reach { memory: &state.memory, engine };
    let src0 = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src1 = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src0, &dst)?;
    same_size(&src1, &dst)?;
    let op = binary(body.op)?;
    let mut rows = read_all(&state.memory, &src0);
    for (row, other) in rows.iter_mut().zip(read_all(&state.memory, &src1)) {
        for (value, other) in row.iter_mut().zip(other) {
            *value = op(*value, other);
        }
    }
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// TENSOR_SCALAR: dst = (src op0 imm0) op1 imm1, each order reversible.
pub(super) fn tensor_scalar(
    state: &mut State,
    engine: Engine,
    body: &TensorScalar,
) -> Result<(), Fault> {
    if body.accumulator != AccumulatorCmd::IDLE {
        return Err(Fault::unknown(format!("accumulator command {}", body.accumulator)));
    }
    let reach = Reach { memory: &state.memory, engine };
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let first = scalars(state, body.imm0_source, body.imm0, body.channels)?;
    let second = scalars(state, body.imm1_source, body.imm1, body.channels)?;
    let (op0, op1) = (binary(body.op0)?, binary(body.op1)?);
    let (reverse0, reverse1) = reversed(body.reverse)?;
    let mut rows = read_all(&state.memory, &src);
    for (row, (first, second)) in rows.iter_mut().zip(first.iter().zip(&second)) {
        for value in row {
            let once = apply(op0, reverse0, *value, *first);
            *value = apply(op1, reverse1, once, *second);
        }
    }
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// SCALAR_TENSOR_TENSOR: dst = (src0 op0 imm0) op1 src1, each order reversible
/// (neuroncore.md §2.3; its layout is public, no real file has the record).
pub(super) fn scalar_tensor_tensor(
    state: &mut State,
    engine: Engine,
    body: &ScalarTensorTensor,
) -> Result<(), Fault> {
    if body.accumulator != AccumulatorCmd::IDLE {
        return Err(Fault::unknown(format!("accumulator command {}", body.accumulator)));
    }
    if body.imm0_type != Dtype::FP32 {
        return Err(Fault::unknown(format!("an immediate of type {}", body.imm0_type)));
    }
    let reach = Reach { memory: &state.memory, engine };
    let src0 = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src1 = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src0, &dst)?;
    same_size(&src1, &dst)?;
    let scalars = scalars(state, body.imm0_source, body.imm0, body.channels)?;
    let (op0, op1) = (binary(body.op0)?, binary(body.op1)?);
    let (reverse0, reverse1) = reversed(body.reverse)?;
    let mut rows = read_all(&state.memory, &src0);
    for ((row, other), scalar) in rows.iter_mut().zip(read_all(&state.memory, &src1)).zip(&scalars)
    {
        for (value, other) in row.iter_mut().zip(other) {
            let once = apply(op0, reverse0, *value, *scalar);
            *value = apply(op1, reverse1, once, other);
        }
    }
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// COPY_PREDICATED: dst = src0 is not 0 ? src1 : dst (neuroncore.md §2.3; its
/// layout is public, no real file has the record). The operation is not looked
/// at but must be BYPASS.
pub(super) fn copy_predicated(
    state: &mut State,
    engine: Engine,
    body: &TensorTensor,
) -> Result<(), Fault> {
    if body.op.0 != 0 {
        return Err(Fault::unknown(format!("operation {} of a copy", body.op)));
    }
    let reach = Reach { memory: &state.memory, engine };
    let predicate = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&predicate, &dst)?;
    same_size(&src, &dst)?;
    let mut rows = read_all(&state.memory, &dst);
    let others = read_all(&state.memory, &src);
    for ((row, other), holds) in
        rows.iter_mut().zip(others).zip(read_all(&state.memory, &predicate))
    {
        for ((value, other), holds) in row.iter_mut().zip(other).zip(holds) {
            if holds != 0.0 {
                *value = other;
            }
        }
    }
    write_all(&mut state.memory, &dst, &rows);
    Ok(())
}

/// One scalar a partition: a number in the record, or a column of fp32.
fn scalars(state: &State, source: ImmSource, bits: u32, channels: u8) -> Result<Vec<f32>, Fault> {
    match source {
        ImmSource::INSTRUCTION => Ok(vec![f32::from_bits(bits); usize::from(channels)]),
        ImmSource::PTR => column(&state.memory, bits, channels, Dtype::FP32),
        other => Err(Fault::unknown(format!("immediate from {other}"))),
    }
}

/// Whether the operands of the first and of the second operation are swapped.
fn reversed(reverse: Reverse) -> Result<(bool, bool), Fault> {
    if reverse.0 > Reverse::BOTH.0 {
        return Err(Fault::unknown(format!("operand order {reverse}")));
    }
    Ok((reverse.0 & 1 != 0, reverse.0 & 2 != 0))
}

fn apply(op: Binary, reversed: bool, value: f32, other: f32) -> f32 {
    if reversed { op(other, value) } else { op(value, other) }
}
