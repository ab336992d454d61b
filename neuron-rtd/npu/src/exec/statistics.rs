//! Batch statistics (neuroncore.md §2.4, §5.3).
//!
//! Sums are fp64 and each result is rounded once; the device multiplies fp32
//! sums by a reciprocal from a table that the runtime loads (public notes on
//! the vendor's headers), so its last bits differ.

use neuron_core::isa::body::tensor::Statistics;
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Opcode};

use super::State;
use super::operands::{has_elements, read_all, write_all};
use super::permute::{turn, whole_tiles};
use crate::fault::Fault;

/// Most elements of BN_STATS2; one set has half of it.
const MOST: usize = 512;

/// Mean, and sum of the squared distances from it.
fn moments(values: impl Iterator<Item = f32> + Clone) -> (f64, f64) {
    let count = values.clone().count();
    if count == 0 {
        return (0.0, 0.0);
    }
    let mean = values.clone().map(f64::from).sum::<f64>() / count as f64;
    let spread = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    (mean, spread)
}

/// BN_STATS, BN_STATS2 and the form that turns the source first: count, mean
/// and variance x count of the elements, in the 2 forms of those with even and
/// of those with odd index. The counts are the record's and only pass.
pub(super) fn stats(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &Statistics,
) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    let one_set = opcode == Opcode::BATCH_NORM_STATS;
    let (most, results) = if one_set { (MOST / 2, 3) } else { (MOST, 6) };
    if src.elements() > most {
        return Err(Fault::shape(format!("{} elements, at most {most}", src.elements())));
    }
    has_elements(&dst, results)?;
    let counts = [body.even_count, body.odd_count].map(Fp32::get);
    if counts.iter().any(|count| !count.is_finite()) {
        return Err(Fault::unknown(format!("the counts {counts:?}")));
    }
    let turned = opcode == Opcode::TRANSPOSE_BATCH_NORM_STATS2;
    if turned {
        whole_tiles(&src)?;
    }
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    if turned {
        rows = turn(&rows);
    }
    let [even_count, odd_count] = counts;
    let part = |count: f32, (mean, spread): (f64, f64)| [count, mean as f32, spread as f32];
    let results: Vec<Vec<f32>> = rows
        .iter()
        .map(|row| {
            let all = || row.iter().copied();
            if one_set {
                return part(even_count, moments(all())).to_vec();
            }
            let even = part(even_count, moments(all().step_by(2)));
            let odd = part(odd_count, moments(all().skip(1).step_by(2)));
            [even, odd].concat()
        })
        .collect();
    write_all(state, &dst, &results);
    Ok(())
}

/// BN_AGGREGATE: mean and variance from (count, mean, variance x count) of
/// parts.
pub(super) fn aggregate(state: &mut State, engine: Engine, body: &Statistics) -> Result<(), Fault> {
    no_counts(body)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    has_elements(&dst, 2)?;
    if !src.elements().is_multiple_of(3) {
        return Err(Fault::shape(format!("{} elements are no triples", src.elements())));
    }
    if !state.computes {
        return Ok(());
    }
    let results: Vec<Vec<f32>> = read_all(&state.memory, &src)
        .iter()
        .map(|row| {
            let parts = || row.as_chunks::<3>().0.iter().map(|part| part.map(f64::from));
            let count: f64 = parts().map(|[count, ..]| count).sum();
            let mean = parts().map(|[count, mean, _]| count * mean).sum::<f64>() / count;
            let spread: f64 =
                parts().map(|[count, part, spread]| spread + count * (part - mean).powi(2)).sum();
            vec![mean as f32, (spread / count) as f32]
        })
        .collect();
    write_all(state, &dst, &results);
    Ok(())
}

/// The records that share the layout of the statistics have no counts.
pub(super) fn no_counts(body: &Statistics) -> Result<(), Fault> {
    let counts = [body.even_count, body.odd_count].map(Fp32::get);
    if counts != [0.0; 2] {
        return Err(Fault::unknown(format!("the counts {counts:?}")));
    }
    Ok(())
}
