//! Operations on fp32 numbers for many numbers at once, in the vectors of the
//! host: the same functions as one by one, so the same results.

use fearless_simd::{Level, dispatch};
use neuron_core::isa::code::AluOp;

use super::float::each_operation;

/// Runs that are folded side by side: the steps of one wait for each other.
const SIDE_BY_SIDE: usize = 16;

/// Puts `op(number, scalar)` in the place of each number, the operands the
/// other way round if `reversed`; rows of `width` numbers have one scalar each.
/// An operation that has no function leaves them as they are.
pub(crate) fn with_scalars(
    op: AluOp,
    reversed: bool,
    rows: &mut [f32],
    width: usize,
    scalars: &[f32],
) {
    if op == AluOp::BYPASS && !reversed {
        return;
    }
    dispatch!(Level::new(), _ => each_operation!(op, function => {
        if reversed {
            scalar(rows, width, scalars, |a, b| function(b, a));
        } else {
            scalar(rows, width, scalars, function);
        }
    }, _other => {}));
}

#[inline(always)]
fn scalar(rows: &mut [f32], width: usize, scalars: &[f32], function: impl Fn(f32, f32) -> f32) {
    for (row, scalar) in rows.chunks_exact_mut(width.max(1)).zip(scalars) {
        for value in row {
            *value = function(*value, *scalar);
        }
    }
}

/// Puts `op(number, other)` in the place of each number, the operands the other
/// way round if `reversed`.
pub(crate) fn with_rows(op: AluOp, reversed: bool, rows: &mut [f32], others: &[f32]) {
    dispatch!(Level::new(), _ => each_operation!(op, function => {
        if reversed {
            pairs(rows, others, |a, b| function(b, a));
        } else {
            pairs(rows, others, function);
        }
    }, _other => {}));
}

#[inline(always)]
fn pairs(rows: &mut [f32], others: &[f32], function: impl Fn(f32, f32) -> f32) {
    for (value, other) in rows.iter_mut().zip(others) {
        *value = function(*value, *other);
    }
}

/// Folds each run of `width` numbers onto its number of `sums`, in order.
pub(crate) fn fold_onto(op: AluOp, rows: &[f32], width: usize, sums: &mut [f32]) {
    dispatch!(Level::new(), _ => each_operation!(op, function => {
        fold(rows, width, sums, 0, function);
    }, _other => {}));
}

/// Folds each run of `width` numbers to one of `results`, in order.
pub(crate) fn fold_runs(op: AluOp, rows: &[f32], width: usize, results: &mut [f32]) {
    for (result, run) in results.iter_mut().zip(rows.chunks_exact(width.max(1))) {
        *result = run.first().copied().unwrap_or_default();
    }
    dispatch!(Level::new(), _ => each_operation!(op, function => {
        fold(rows, width, results, 1, function);
    }, _other => {}));
}

#[inline(always)]
fn fold(
    rows: &[f32],
    width: usize,
    sums: &mut [f32],
    first: usize,
    function: impl Fn(f32, f32) -> f32,
) {
    let width = width.max(1);
    let several = width * SIDE_BY_SIDE;
    let (blocks, rest) = sums.as_chunks_mut::<SIDE_BY_SIDE>();
    let at = (blocks.len() * several).min(rows.len());
    for (sums, runs) in blocks.iter_mut().zip(rows.chunks_exact(several)) {
        let mut runs = runs.chunks_exact(width);
        let runs: [&[f32]; SIDE_BY_SIDE] = std::array::from_fn(|_| runs.next().unwrap_or_default());
        for step in first..width {
            for (sum, run) in sums.iter_mut().zip(&runs) {
                *sum = function(*sum, run.get(step).copied().unwrap_or_default());
            }
        }
    }
    let left = rows.get(at..).unwrap_or_default();
    for (sum, run) in rest.iter_mut().zip(left.chunks_exact(width)) {
        *sum = run.iter().skip(first).fold(*sum, |sum, value| function(sum, *value));
    }
}

#[cfg(test)]
mod tests {
    use neuron_core::instance::Arch;
    use neuron_core::isa::Engine;

    use super::super::Unit;
    use super::super::float::binary;
    use super::*;

    fn numbers(count: usize) -> Vec<f32> {
        let special = [0.0, -0.0, f32::NAN, f32::INFINITY, -f32::INFINITY, 1e-40, 3.0, 3.0];
        let number = |i: usize| {
            let i = i as f32;
            (i * 0.731).sin() * (i * 0.11).exp2().min(1e3)
        };
        (0..count).map(|i| if i % 5 == 3 { special[i / 5 % 8] } else { number(i) }).collect()
    }

    fn same(a: &[f32], b: &[f32], what: AluOp) {
        let bits = |row: &[f32]| -> Vec<u32> {
            row.iter().map(|x| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }).collect()
        };
        assert_eq!(bits(a), bits(b), "{what}");
    }

    #[test]
    fn many_numbers_give_what_each_gives() {
        let unit = Unit { engine: Engine::Pool, arch: Arch::V4 };
        let mut known = 0;
        for op in (0..=u8::MAX).map(AluOp) {
            let Ok(function) = binary(op, unit) else { continue };
            known += 1;
            for (count, width) in [(40, 1), (37, 7), (3, 130), (16, 16)] {
                let (rows, others) = (numbers(count * width), numbers(count * width + 9));
                let others = &others[9..];
                let scalars = numbers(count);
                for reversed in [false, true] {
                    let apply =
                        |a: f32, b: f32| if reversed { function(b, a) } else { function(a, b) };
                    let mut ours = rows.clone();
                    with_rows(op, reversed, &mut ours, others);
                    let each: Vec<f32> =
                        rows.iter().zip(others).map(|(a, b)| apply(*a, *b)).collect();
                    same(&ours, &each, op);
                    let mut ours = rows.clone();
                    with_scalars(op, reversed, &mut ours, width, &scalars);
                    let each: Vec<f32> = rows
                        .chunks(width)
                        .zip(&scalars)
                        .flat_map(|(row, b)| row.iter().map(|a| apply(*a, *b)))
                        .collect();
                    same(&ours, &each, op);
                }
                let mut ours = vec![0.0; count];
                fold_runs(op, &rows, width, &mut ours);
                let each: Vec<f32> = rows
                    .chunks(width)
                    .map(|row| row.iter().copied().reduce(function).unwrap())
                    .collect();
                same(&ours, &each, op);
                let mut ours = scalars.clone();
                fold_onto(op, &rows, width, &mut ours);
                let each: Vec<f32> = rows
                    .chunks(width)
                    .zip(&scalars)
                    .map(|(row, sum)| row.iter().copied().fold(*sum, function))
                    .collect();
                same(&ours, &each, op);
            }
        }
        assert!(known > 20);
    }
}
