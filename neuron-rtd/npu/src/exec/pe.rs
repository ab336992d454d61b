//! The systolic array: LDWEIGHTS and MATMUL (isa-layouts.md §3.1, §3.2).
//!
//! Products and sums are fp32; the sum over the partitions runs from 0 up, and
//! is added to PSUM as one number. An fp32 product takes two passes on the
//! device, with a low and a high part of the weights, whose split is not
//! published. Here the LOW pass has the whole product and the HIGH pass adds
//! nothing (our choice, the sheet's functional model).

use neuron_core::isa::Engine;
use neuron_core::isa::body::pe::{ArrayGroup, LoadWeights, MatMul};
use neuron_core::isa::code::{Dtype, Fp32Mode, TransposeMode};

use super::operands::Reach;
use crate::errors::Errors;
use crate::fault::Fault;
use crate::geometry::ARRAY;
use crate::memory::{OnChip, Operand, Region};

/// What the array holds.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    /// By row, 128 columns each.
    weights: Vec<f32>,
    /// The last load was a HIGH pass, so that the products of its rows are in
    /// the LOW pass before it.
    high: [bool; ARRAY],
}

impl Default for Array {
    fn default() -> Self {
        Self { weights: vec![0.0; ARRAY * ARRAY], high: [false; ARRAY] }
    }
}

impl Array {
    fn row(&self, row: usize) -> &[f32] {
        self.weights.get(row * ARRAY..(row + 1) * ARRAY).unwrap_or_default()
    }

    fn row_mut(&mut self, row: usize) -> &mut [f32] {
        self.weights.get_mut(row * ARRAY..(row + 1) * ARRAY).unwrap_or_default()
    }
}

/// First row or column of a group, of which `count` are used.
fn first(group: ArrayGroup, count: u8) -> Result<usize, Fault> {
    let first = 32 * group.0.trailing_zeros() as usize;
    if group.0 == 0 || count == 0 || first + usize::from(count) > ARRAY {
        return Err(Fault::shape(format!("{count} rows or columns in group {group}")));
    }
    Ok(first)
}

/// LDWEIGHTS: element k of the walk becomes column M - 1 - k.
pub(super) fn load(array: &mut Array, reach: Reach<'_>, body: &LoadWeights) -> Result<(), Fault> {
    let src = reach.find(&body.src, body.rows, body.src_type)?;
    if src.region() != Region::Sbuf {
        return Err(Fault::Reach("PE reads SBUF only"));
    }
    check_mode(body.fp32_mode, body.src_type, &[Fp32Mode::LOW, Fp32Mode::HIGH])?;
    let columns = usize::from(body.columns);
    let (row, column) =
        (first(body.row_group, body.rows)?, first(body.column_group, body.columns)?);
    if src.elements() != columns {
        return Err(Fault::shape(format!("{} elements for {columns} columns", src.elements())));
    }
    let high = body.fp32_mode == Fp32Mode::HIGH;
    for index in 0..src.partitions() {
        let values = src.read(reach.memory, index);
        let into = array.row_mut(row + index).get_mut(column..column + columns);
        for (into, value) in into.unwrap_or_default().iter_mut().rev().zip(values) {
            *into = value;
        }
        if let Some(flag) = array.high.get_mut(row + index) {
            *flag = high;
        }
    }
    Ok(())
}

/// The mode of a pass: none for types that need none.
fn check_mode(mode: Fp32Mode, dtype: Dtype, fp32: &[Fp32Mode]) -> Result<(), Fault> {
    let fits = if dtype == Dtype::FP32 { fp32.contains(&mode) } else { mode == Fp32Mode::NONE };
    if fits {
        return Ok(());
    }
    Err(Fault::unknown(format!("fp32 mode {mode} with type {dtype}")))
}

/// MATMUL: dst\[m, n\] (+)= sum over k of weights\[k, m\] x src\[k, n\].
pub(super) fn multiply(
    array: &Array,
    memory: &mut OnChip,
    errors: &mut Errors,
    body: &MatMul,
) -> Result<(), Fault> {
    let reach = Reach { memory, engine: Engine::Pe };
    let src = reach.find(&body.src, body.rows, body.src_type)?;
    let transpose = match body.transpose_mode {
        TransposeMode::DISABLED => false,
        TransposeMode::ENABLED => true,
        other => return Err(Fault::unknown(format!("transpose mode {other}"))),
    };
    // PSUM holds fp32, but for exact transposes, which keep the source type.
    let dst_type = if transpose { body.src_type } else { Dtype::FP32 };
    let dst = reach.find(&body.dst, body.columns, dst_type)?;
    if src.region() != Region::Sbuf || dst.region() != Region::Psum {
        return Err(Fault::Reach("PE reads SBUF and writes PSUM"));
    }
    check_mode(body.fp32_mode, body.src_type, &[Fp32Mode::HIGH, Fp32Mode::LOW_HIGH])?;
    if body.zero_region != 0 {
        return Err(Fault::unknown(format!("zero region {}", body.zero_region)));
    }
    if body.accumulate.0 > 3 {
        return Err(Fault::unknown(format!("accumulate flags {:#04x}", body.accumulate.0)));
    }
    if src.elements() != dst.elements() {
        let (src, dst) = (src.elements(), dst.elements());
        return Err(Fault::shape(format!("{src} moving elements, {dst} results")));
    }
    let rows = first(body.row_group, body.rows)?;
    let columns = first(body.column_group, body.columns)?;
    let moving: Vec<(usize, Vec<f32>)> = (0..src.partitions())
        .map(|index| (rows + index, src.read(memory, index)))
        .filter(|(row, _)| array.high.get(*row) == Some(&false))
        .collect();
    for index in 0..dst.partitions() {
        let column = columns + index;
        let sums = if transpose {
            select(array, column, &moving, dst.elements())
        } else {
            sum(array, column, &moving, dst.elements())
        };
        let sums = store(memory, &dst, index, sums, body.accumulate.overwrites());
        // a transpose moves numbers
        if !transpose {
            errors.look(&sums, dst.element());
        }
    }
    Ok(())
}

/// One row of a product.
fn sum(array: &Array, column: usize, moving: &[(usize, Vec<f32>)], count: usize) -> Vec<f32> {
    let mut sums = vec![0.0f32; count];
    for (row, values) in moving {
        let weight = array.row(*row).get(column).copied().unwrap_or_default();
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += weight * value;
        }
    }
    sums
}

/// One row of an exact transpose: the moving data is a permutation, of which
/// the zeros contribute nothing, so that NaN, infinities and the sign of a zero
/// pass as they are (neuroncore.md §2.1).
fn select(array: &Array, column: usize, moving: &[(usize, Vec<f32>)], count: usize) -> Vec<f32> {
    let mut sums: Vec<Option<f32>> = vec![None; count];
    for (row, values) in moving {
        let weight = array.row(*row).get(column).copied().unwrap_or_default();
        for (sum, value) in sums.iter_mut().zip(values) {
            if *value != 0.0 {
                let term = weight * value;
                *sum = Some(sum.map_or(term, |sum| sum + term));
            }
        }
    }
    sums.into_iter().map(Option::unwrap_or_default).collect()
}

fn store(
    memory: &mut OnChip,
    dst: &Operand,
    index: usize,
    mut sums: Vec<f32>,
    overwrite: bool,
) -> Vec<f32> {
    if !overwrite {
        for (sum, old) in sums.iter_mut().zip(dst.read(memory, index)) {
            *sum += old;
        }
    }
    dst.write(memory, index, &sums);
    sums
}
