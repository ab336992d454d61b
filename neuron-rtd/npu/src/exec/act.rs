//! The activation engine: ACTIVATE and its running sum (isa-layouts.md §3.6;
//! the sum: neuroncore.md §2.2).

use neuron_core::isa::Engine;
use neuron_core::isa::body::act::{Activate, ReadAccumulator};
use neuron_core::isa::code::{AccumulatorCmd, BiasSource, Dtype, ImmSource};

use super::{Reach, column, read_all, same_size, write_all};
use crate::activation::{function, smooth};
use crate::fault::Fault;
use crate::geometry::PARTITIONS;
use crate::memory::OnChip;

type Sums = [f32; PARTITIONS];

/// dst = function(src x scale + bias); product and sum are rounded to fp32 one
/// after the other (our choice).
pub(super) fn activate(memory: &mut OnChip, sums: &mut Sums, body: &Activate) -> Result<(), Fault> {
    let reach = Reach { memory, engine: Engine::Act };
    let function = function(body.function)?;
    let src = reach.find(&body.src, body.channels, body.types.low())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let number = |bits: u32| vec![f32::from_bits(bits); usize::from(body.channels)];
    let scale = match body.scale_source {
        ImmSource::INSTRUCTION => number(body.scale),
        ImmSource::PTR => column(memory, body.scale, body.channels, Dtype::FP32)?,
        other => return Err(Fault::unknown(format!("scale from {other}"))),
    };
    let bias = match body.bias_source {
        BiasSource::INSTRUCTION => number(body.bias),
        BiasSource::PTR => column(memory, body.bias, body.channels, body.types.high())?,
        other => return Err(Fault::unknown(format!("bias from {other}"))),
    };
    if body.imm != 0 {
        return Err(Fault::unknown(format!("imm {:#010x}", body.imm)));
    }
    let (reset, adds) = match body.accumulator {
        AccumulatorCmd::IDLE => (false, false),
        AccumulatorCmd::ZERO => (true, false),
        AccumulatorCmd::ACCUMULATE => (false, true),
        AccumulatorCmd::ZERO_ACCUMULATE => (true, true),
        other => return Err(Fault::unknown(format!("accumulator command {other}"))),
    };
    let mut rows = read_all(memory, &src);
    for (row, (scale, bias)) in rows.iter_mut().zip(scale.iter().zip(&bias)) {
        if let Some(smooth) = smooth(body.function) {
            smooth.replace(row, *scale, *bias);
            continue;
        }
        for value in row {
            *value = function(f64::from(*value * scale + bias)) as f32;
        }
    }
    for (sum, row) in sums.iter_mut().skip(src.first()).zip(&rows) {
        let start = if reset { 0.0 } else { *sum };
        *sum = if adds { row.iter().fold(start, |sum, value| sum + value) } else { start };
    }
    write_all(memory, &dst, &rows);
    Ok(())
}

/// The running sums as a column.
pub(super) fn read_accumulator(
    memory: &mut OnChip,
    sums: &Sums,
    body: &ReadAccumulator,
) -> Result<(), Fault> {
    let reach = Reach { memory, engine: Engine::Act };
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    if body.count != 1 || dst.elements() != 1 || body.negated > 1 {
        return Err(Fault::shape("an accumulator is one number a partition"));
    }
    let sign = if body.negated == 1 { -1.0 } else { 1.0 };
    let rows: Vec<Vec<f32>> =
        sums.iter().skip(dst.first()).take(dst.partitions()).map(|sum| vec![sum * sign]).collect();
    write_all(memory, &dst, &rows);
    Ok(())
}
