//! The activation engine: ACTIVATE and its running sum (isa-layouts.md §3.6;
//! the sum: neuroncore.md §2.2), and ACTIVATE_QUANTIZE (public notes on the
//! vendor's headers).

use neuron_core::isa::Engine;
use neuron_core::isa::body::act::{Activate, ActivateQuantize};
use neuron_core::isa::code::{AccumulatorCmd, AluOp, BiasSource};

use super::operands::{column, same_size, scalars};
use super::{State, rows};
use crate::activation::{function, smooth};
use crate::alu::rows::fold_onto;
use crate::fault::Fault;

/// dst = function(src x scale + bias); product and sum are rounded to fp32 one
/// after the other (our choice).
pub(super) fn activate(state: &mut State, body: &Activate) -> Result<(), Fault> {
    let engine = Engine::Act;
    let (function, smooth) = (function(body.function)?, smooth(body.function));
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.types.low())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let scale = scalars(state, engine, body.scale_source, body.scale, body.channels)?;
    let bias = match body.bias_source {
        BiasSource::INSTRUCTION => {
            vec![f32::from_bits(body.bias); usize::from(body.channels)]
        }
        BiasSource::PTR => column(state, engine, body.bias, body.channels, body.types.high())?,
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
    if !state.computes {
        return Ok(());
    }
    let (width, mut sums) = (src.elements(), state.sums);
    let here = sums.get_mut(src.first()..).unwrap_or_default();
    if reset {
        here.iter_mut().take(src.partitions()).for_each(|sum| *sum = 0.0);
    }
    rows::map(state, &src, &dst, |first, rows| {
        let with = scale.iter().zip(&bias).skip(first);
        for (row, (scale, bias)) in rows.chunks_exact_mut(width).zip(with) {
            match smooth {
                Some(smooth) => smooth.replace(row, *scale, *bias),
                None => {
                    for value in row {
                        *value = function(f64::from(*value * scale + bias)) as f32;
                    }
                }
            }
        }
        if adds {
            let sums = here.get_mut(first..).unwrap_or_default();
            let count = sums.len().min(rows.len() / width);
            fold_onto(AluOp::ADD, rows, width, sums.get_mut(..count).unwrap_or_default());
        }
    });
    state.sums = sums;
    Ok(())
}

/// dst = function(src x first scale + bias) x second scale + zero point, each
/// product and sum rounded to fp32, then as usual into the type of the result.
pub(super) fn quantize(state: &mut State, body: &ActivateQuantize) -> Result<(), Fault> {
    let engine = Engine::Act;
    let function = function(body.function)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.types.low())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let bias = column(state, engine, body.bias.0, body.channels, body.types.high())?;
    if !state.computes {
        return Ok(());
    }
    let (before, after) = (body.dequant_scale.get(), body.quant_scale.get());
    let zero = f32::from_bits(body.zero_point);
    let width = src.elements();
    rows::map(state, &src, &dst, |first, rows| {
        for (row, bias) in rows.chunks_exact_mut(width).zip(bias.iter().skip(first)) {
            for value in row {
                *value = function(f64::from(*value * before + bias)) as f32 * after + zero;
            }
        }
    });
    Ok(())
}
