//! The kernel of a product: one thread's columns, a block of moving data at a
//! time, a panel of weights after the other, in the vectors of the host.

use std::ops::Range;

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use prefetch_index::prefetch_index;

use super::product::{Factors, PANEL, Weights};
use crate::errors::Errors;
use crate::number::Element;

/// Bytes of a line of the caches of usual hosts.
pub(super) const LINE: usize = 64;

/// Most numbers of one row of a block.
const MOST_WIDTH: usize = 64;

/// What one thread computes.
pub(super) struct Part<'a> {
    /// First column.
    pub(super) first: usize,
    /// The rows from there on, as far as they are its own.
    pub(super) rows: Vec<&'a mut [u8]>,
    pub(super) add: bool,
    /// One block of moving data.
    pub(super) room: &'a mut [f32],
    pub(super) errors: Errors,
}

/// With 32 registers of 16 numbers: 8 rows x 2 vectors of sums. Else 4 rows x
/// 3 vectors, which 16 registers hold.
#[inline(always)]
const fn is_wide<S: Simd>() -> bool {
    S::f32s::LEN >= 16
}

#[inline(always)]
pub(super) fn width<S: Simd>(_: S) -> usize {
    if is_wide::<S>() { 2 * S::f32s::LEN } else { 3 * S::f32s::LEN }
}

/// Asks the host for bytes that are needed soon.
#[inline(always)]
pub(super) fn ask(row: &[u8], from: usize, count: usize) {
    for at in (0..count).step_by(LINE) {
        prefetch_index(row, from + at);
    }
}

#[inline(always)]
pub(super) fn multiply<S: Simd, const N: usize>(
    simd: S,
    factors: Factors<'_>,
    part: &mut Part<'_>,
    decode: impl Fn([u8; N]) -> f32,
) {
    let (width, depth) = (width(simd), factors.rows.len());
    let count = part.rows.first().map_or(0, |row| row.len() / 4);
    let share = depth.div_ceil(part.rows.len().div_ceil(PANEL).max(1));
    for column in (0..count).step_by(width) {
        let (from, columns) = (part.first + column, (count - column).min(width));
        pack(factors.rows, from..from + columns, width, part.room, &decode);
        // behind the last block is what the next record often takes
        let mut later = factors.rows.chunks(share.max(1));
        let panels = factors.weights.chunks(factors.between.max(1));
        for (panel, rows) in panels.zip(part.rows.chunks_mut(PANEL)) {
            for row in later.next().unwrap_or_default() {
                ask(row, N * (from + width), N * width);
            }
            let panel = panel.get(..depth).unwrap_or_default();
            let place = 4 * column..4 * (column + columns);
            if rows.len() == PANEL && columns == width {
                if fill(simd, panel, part.room, rows, place.start, part.add) {
                    look(rows, place, &mut part.errors);
                }
            } else {
                border(simd, panel, part.room, rows, place.clone(), part.add);
                look(rows, place, &mut part.errors);
            }
        }
    }
}

/// Lays out columns of rows as one block, filled up with zeros.
#[inline(always)]
fn pack<const N: usize>(
    rows: &[&[u8]],
    columns: Range<usize>,
    width: usize,
    room: &mut [f32],
    decode: impl Fn([u8; N]) -> f32,
) {
    for (to, row) in room.chunks_exact_mut(width).zip(rows) {
        let from = row.get(N * columns.start..N * columns.end).unwrap_or_default().as_chunks().0;
        if from.len() == width {
            for (to, from) in to.iter_mut().zip(from) {
                *to = decode(*from);
            }
        } else {
            to.fill(0.0);
            for (to, from) in to.iter_mut().zip(from) {
                *to = decode(*from);
            }
        }
    }
}

/// Counts what is wrong in these bytes of rows.
#[cold]
fn look(rows: &[&mut [u8]], place: Range<usize>, errors: &mut Errors) {
    let mut numbers = [0.0; MOST_WIDTH];
    for row in rows {
        let bytes = row.get(place.clone()).unwrap_or_default().as_chunks().0;
        let mut count = 0;
        for (number, bytes) in numbers.iter_mut().zip(bytes) {
            *number = f32::from_le_bytes(*bytes);
            count += 1;
        }
        errors.look(numbers.get(..count).unwrap_or_default(), Element::Fp32);
    }
}

/// As [`fill`] where rows or columns are missing: by way of a whole tile.
#[cold]
fn border<S: Simd>(
    simd: S,
    panel: &[Weights],
    room: &[f32],
    rows: &mut [&mut [u8]],
    place: Range<usize>,
    add: bool,
) {
    let size = place.len();
    let mut tile = [[0; 4 * MOST_WIDTH]; PANEL];
    for (tile, row) in tile.iter_mut().zip(rows.iter()) {
        if let (Some(to), Some(from)) = (tile.get_mut(..size), row.get(place.clone())) {
            to.copy_from_slice(from);
        }
    }
    fill(simd, panel, room, &mut tile.each_mut().map(<[u8; 4 * MOST_WIDTH]>::as_mut_slice), 0, add);
    for (tile, row) in tile.iter().zip(rows) {
        if let (Some(to), Some(from)) = (row.get_mut(place.clone()), tile.get(..size)) {
            to.copy_from_slice(from);
        }
    }
}

/// [`PANEL`] rows of results of one block, at a byte of each; tells whether one
/// of them has to be looked at.
#[inline(always)]
fn fill<S: Simd>(
    simd: S,
    panel: &[Weights],
    room: &[f32],
    rows: &mut [&mut [u8]],
    at: usize,
    add: bool,
) -> bool {
    if is_wide::<S>() {
        tile::<S, 8, 2, 0>(simd, panel, room, rows, at, add)
    } else {
        let (low, high) = rows.split_at_mut(PANEL / 2);
        let low = tile::<S, 4, 3, 0>(simd, panel, room, low, at, add);
        tile::<S, 4, 3, 4>(simd, panel, room, high, at, add) | low
    }
}

/// `ROWS` rows of a block from row `FIRST` of the panel on. A function of its
/// own, so that its sums are in registers whatever surrounds it.
#[inline(never)]
fn tile<S: Simd, const ROWS: usize, const VECTORS: usize, const FIRST: usize>(
    simd: S,
    panel: &[Weights],
    room: &[f32],
    rows: &mut [&mut [u8]],
    at: usize,
    add: bool,
) -> bool {
    simd.vectorize(
        #[inline(always)]
        || {
            let Some(rows) = rows.first_chunk_mut::<ROWS>() else { return false };
            for row in rows.iter() {
                ask(row, at, VECTORS * 4 * S::f32s::LEN);
            }
            let sums = sums::<S, ROWS, VECTORS, FIRST>(simd, panel, room);
            put(simd, &sums, rows, at, add)
        },
    )
}

#[inline(always)]
fn sums<S: Simd, const ROWS: usize, const VECTORS: usize, const FIRST: usize>(
    simd: S,
    panel: &[Weights],
    room: &[f32],
) -> [[S::f32s; VECTORS]; ROWS] {
    let lanes = S::f32s::LEN;
    let mut sums = [[S::f32s::splat(simd, 0.0); VECTORS]; ROWS];
    for (weights, row) in panel.iter().zip(room.chunks_exact(VECTORS * lanes)) {
        let mut vectors = [S::f32s::splat(simd, 0.0); VECTORS];
        for (vector, numbers) in vectors.iter_mut().zip(row.chunks_exact(lanes)) {
            *vector = S::f32s::from_slice(simd, numbers);
        }
        for row in 0..ROWS {
            let weight = S::f32s::splat(simd, weights[FIRST + row]);
            for vector in 0..VECTORS {
                sums[row][vector] = vectors[vector].mul_add_precise(weight, sums[row][vector]);
            }
        }
    }
    sums
}

/// Stores sums, or adds them; tells whether there is NaN, an infinity or a
/// number below the normal ones among the results.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "so the sums stay in registers")]
fn put<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    sums: &[[S::f32s; VECTORS]; ROWS],
    rows: &mut [&mut [u8]; ROWS],
    at: usize,
    add: bool,
) -> bool {
    let lanes = S::f32s::LEN;
    // the sign left out, zero is below all others, and above them less one
    let mut most = S::u32s::splat(simd, 0);
    let mut least = S::u32s::splat(simd, u32::MAX);
    for row in 0..ROWS {
        let Some(bytes) = rows[row].get_mut(at..at + VECTORS * 4 * lanes) else { continue };
        for (sum, bytes) in sums[row].iter().zip(bytes.chunks_exact_mut(4 * lanes)) {
            let result = if add { numbers::<S>(simd, bytes) + *sum } else { *sum };
            let bits: S::u32s = result.bitcast();
            most = most.max(bits << 1);
            least = least.min((bits << 1) - 1);
            put_numbers::<S>(result, bytes);
        }
    }
    let (infinity, normal) = (f32::INFINITY.to_bits() << 1, f32::MIN_POSITIVE.to_bits() << 1);
    most.simd_ge(infinity).any_true() || least.simd_lt(normal - 1).any_true()
}

/// A vector of numbers in memory.
#[inline(always)]
fn numbers<S: Simd>(simd: S, bytes: &[u8]) -> S::f32s {
    if cfg!(target_endian = "little") {
        return S::u8s::from_slice(simd, bytes).bitcast();
    }
    let mut numbers = S::f32s::splat(simd, 0.0);
    for (number, bytes) in numbers.as_mut_slice().iter_mut().zip(bytes.as_chunks().0) {
        *number = f32::from_le_bytes(*bytes);
    }
    numbers
}

#[inline(always)]
fn put_numbers<S: Simd>(numbers: S::f32s, bytes: &mut [u8]) {
    if cfg!(target_endian = "little") {
        let numbers: S::u8s = numbers.bitcast();
        return numbers.store_slice(bytes);
    }
    for (number, bytes) in numbers.as_slice().iter().zip(bytes.as_chunks_mut().0) {
        *bytes = number.to_le_bytes();
    }
}
