//! Copies under a predicate (neuroncore.md §2.3; layouts and polarity of 98 and
//! E8: public notes on the vendor's headers).

use neuron_core::isa::body::select::{PredicatedScalar, ScalarSelect};
use neuron_core::isa::body::tensor::TensorTensor;
use neuron_core::isa::code::{AluOp, ImmSource};
use neuron_core::isa::{Engine, Opcode};

use super::State;
use super::operands::{
    fixed, flag, patterns, read_all, read_bits, same_size, write_all, write_bits,
};
use super::vector::{one_width, same_type};
use crate::fault::Fault;
use crate::number::Element;

/// COPY_PREDICATED and CAST_PREDICATED: dst = src0 is not 0 ? src1 : dst. The
/// copy moves bits; the cast goes through fp32.
pub(super) fn copy(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &TensorTensor,
) -> Result<(), Fault> {
    fixed("operation", body.op, AluOp::BYPASS)?;
    if opcode == Opcode::COPY_PREDICATED {
        same_type(body.src_types.high(), body.dst_type)?;
    }
    let reach = state.reach(engine);
    let predicate = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&predicate, &dst)?;
    same_size(&src, &dst)?;
    if !state.computes {
        return Ok(());
    }
    let holds = read_all(&state.memory, &predicate);
    let pick = |(new, (old, holds)): (u32, (u32, f32))| if holds == 0.0 { old } else { new };
    let old = read_bits(&state.memory, &dst);
    let new = if src.element() == dst.element() {
        read_bits(&state.memory, &src)
    } else {
        // written first, so that the results are rounded and counted as ever;
        // what the predicate leaves out goes back below
        let rows = read_all(&state.memory, &src);
        write_all(state, &dst, &rows);
        read_bits(&state.memory, &dst)
    };
    let rows: Vec<Vec<u32>> = new
        .into_iter()
        .zip(old.into_iter().zip(holds))
        .map(|(new, (old, holds))| {
            new.into_iter().zip(old.into_iter().zip(holds)).map(pick).collect()
        })
        .collect();
    write_bits(&mut state.memory, &dst, &rows);
    Ok(())
}

/// COPY_PREDICATED_SCALAR: the scalar goes where the predicate is 0, or with
/// `reversed` where it is not.
pub(super) fn scalar(
    state: &mut State,
    engine: Engine,
    body: &PredicatedScalar,
) -> Result<(), Fault> {
    same_type(body.src_type, body.dst_type)?;
    let reversed = flag("polarity", body.reversed)?;
    let reach = state.reach(engine);
    let predicate = reach.find(&body.predicate, body.channels, body.predicate_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&predicate, &dst)?;
    one_width(&[predicate.element()])?;
    let (source, bits, dtype) = (body.scalar_source, body.scalar, body.src_type);
    let scalars = patterns(state, engine, source, bits, body.channels, dtype)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_bits(&state.memory, &dst);
    let predicates = read_bits(&state.memory, &predicate);
    for ((row, holds), scalar) in rows.iter_mut().zip(predicates).zip(&scalars) {
        for (value, holds) in row.iter_mut().zip(holds) {
            if (holds != 0) == reversed {
                *value = *scalar;
            }
        }
    }
    write_bits(&mut state.memory, &dst, &rows);
    Ok(())
}

/// TENSOR_SCALAR_SELECT: predicate ? src : scalar, one predicate a partition;
/// the other way round with `reversed`.
pub(super) fn select(state: &mut State, engine: Engine, body: &ScalarSelect) -> Result<(), Fault> {
    let reversed = flag("polarity", body.reversed)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.dtype)?;
    let dst = reach.find(&body.dst, body.channels, body.dtype)?;
    same_size(&src, &dst)?;
    let predicate = Element::of(body.predicate_type)?;
    one_width(&[predicate])?;
    if predicate.bytes() != dst.element().bytes() {
        return Err(Fault::unknown(format!("a predicate of type {}", body.predicate_type)));
    }
    if body.predicate_source == ImmSource::INSTRUCTION && body.predicate > 1 {
        return Err(Fault::unknown(format!("the predicate {:#x}", body.predicate)));
    }
    let (channels, dtype) = (body.channels, body.predicate_type);
    let holds = patterns(state, engine, body.predicate_source, body.predicate, channels, dtype)?;
    let scalars = patterns(state, engine, body.scalar_source, body.scalar, channels, body.dtype)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_bits(&state.memory, &src);
    for ((row, holds), scalar) in rows.iter_mut().zip(holds).zip(scalars) {
        if (holds != 0) == reversed {
            row.fill(scalar);
        }
    }
    write_bits(&mut state.memory, &dst, &rows);
    Ok(())
}
