//! Constants, ramps and selection by a ramp (isa-layouts.md §3.8, §3.9;
//! neuroncore.md §2.5).

use fearless_simd::{Level, dispatch};
use neuron_core::isa::Engine;
use neuron_core::isa::body::tensor::{AffineSelect, Iota, Memset, Ramp};
use neuron_core::isa::code::AffineCompare;

use super::operands::same_size;
use super::{State, rows};
use crate::fault::Fault;
use crate::memory::{MOST_ELEMENTS, Operand};
use crate::number::Element;

/// MEMSET: the bits of one element everywhere.
pub(super) fn memset(state: &mut State, engine: Engine, body: &Memset) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    if usize::try_from(body.count) != Ok(dst.elements()) {
        let text = format!("{} elements in a pattern of {}", body.count, dst.elements());
        return Err(Fault::shape(text));
    }
    if body.serial_mode != 0 {
        return Err(Fault::unknown(format!("serial mode {}", body.serial_mode)));
    }
    if !state.computes {
        return Ok(());
    }
    let row = vec![body.value; dst.elements()];
    for index in 0..dst.partitions() {
        dst.put_bits(&mut state.memory, index, &row);
    }
    Ok(())
}

/// A ramp has as many values as its operand has elements.
fn same_count(ramp: &Ramp, operand: &Operand) -> Result<(), Fault> {
    let count: u64 = ramp.counts.iter().map(|count| u64::from(*count)).product();
    if count > MOST_ELEMENTS || usize::try_from(count) != Ok(operand.elements()) {
        let text = format!("a ramp of {count} for {} elements", operand.elements());
        return Err(Fault::shape(text));
    }
    Ok(())
}

/// The values of a ramp for the first partition, in walk order.
fn values(ramp: &Ramp, operand: &Operand) -> Vec<i64> {
    let value = |position: u64| {
        let (mut rest, mut value) = (position, i64::from(ramp.base));
        for (step, count) in ramp.steps.iter().zip(ramp.counts) {
            // counts are not 0 here, or there would be no position
            let index = rest % u64::from(count);
            rest /= u64::from(count);
            value += i64::from(*step) * i64::try_from(index).unwrap_or_default();
        }
        value
    };
    (0..operand.elements() as u64).map(value).collect()
}

/// What is added to a ramp in a partition.
fn growth(partition: usize, multiplier: i32) -> i64 {
    i64::try_from(partition).unwrap_or_default() * i64::from(multiplier)
}

/// TENSOR_SCALAR_AFFINE_SELECT: the source where the ramp compares so with
/// zero, else the fill value.
pub(super) fn affine_select(
    state: &mut State,
    engine: Engine,
    body: &AffineSelect,
) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.types.low())?;
    let dst = reach.find(&body.dst, body.channels, body.types.high())?;
    same_size(&src, &dst)?;
    same_count(&body.ramp, &src)?;
    // values that are kept: below, at and above zero
    let [below, at, above] = match body.compare {
        AffineCompare::GT => [false, false, true],
        AffineCompare::GTE => [false, true, true],
        AffineCompare::EQ => [false, true, false],
        AffineCompare::NE => [true, false, true],
        other => return Err(Fault::unknown(format!("comparison {other}"))),
    };
    if !state.computes {
        return Ok(());
    }
    let ramp = values(&body.ramp, &src);
    let fill = f32::from_bits(state.register(engine, body.fill_register));
    rows::map(state, &src, &dst, |first, rows| {
        for (partition, row) in (first..).zip(rows.chunks_exact_mut(ramp.len())) {
            let growth = growth(partition, body.channel_multiplier);
            let kept = |ramp: i64| {
                let ramp = ramp + growth;
                (ramp < 0) & below | (ramp == 0) & at | (ramp > 0) & above
            };
            dispatch!(Level::new(), _ => keep(row, &ramp, fill, kept));
        }
    });
    Ok(())
}

/// Fills in where a ramp is not kept.
#[inline(always)]
fn keep(row: &mut [f32], ramp: &[i64], fill: f32, kept: impl Fn(i64) -> bool) {
    for (value, ramp) in row.iter_mut().zip(ramp) {
        *value = if kept(*ramp) { *value } else { fill };
    }
}

/// IOTA: the ramp itself, as int32, then in the type of the result.
pub(super) fn iota(state: &mut State, engine: Engine, body: &Iota) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_count(&body.ramp, &dst)?;
    if !state.computes {
        return Ok(());
    }
    let ramp = values(&body.ramp, &dst);
    let whole = matches!(dst.element(), Element::Int32 | Element::Uint32);
    for partition in 0..dst.partitions() {
        let growth = growth(partition, body.channel_multiplier);
        let bits: Vec<u32> = ramp
            .iter()
            .map(|value| {
                // int32 with wrap
                let value = (value + growth) as i32;
                if whole { value as u32 } else { dst.element().encode(value as f32) }
            })
            .collect();
        dst.put_bits(&mut state.memory, partition, &bits);
    }
    Ok(())
}
