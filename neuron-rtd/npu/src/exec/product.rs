//! Products of matrices in fp32, the same to the bit on every host.
//!
//! Each result is `sum over k of weights[k, m] x moving[k, n]`, from the first
//! row up, starting at +0, each step one fused multiply-add: the product is not
//! rounded, the sum is, to nearest. Lanes and threads divide the results among
//! them, never one sum, so that neither the vector width of the host nor the
//! number of threads shows in a result. A host without the fused instruction
//! computes the same numbers slowly (`mul_add_precise`). Only which NaN comes
//! out of NaN and infinities is the host's.
//!
//! Moving data is laid out a block of columns at a time, which the nearest cache
//! holds while all weights pass over it. What comes next (rows of the next
//! block, numbers of PSUM) is asked for ahead: it lies in 128 rows far apart,
//! which no host expects. Results are looked at in registers, as they go to
//! their place.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch};
use prefetch_index::prefetch_index;

use crate::errors::Errors;
use crate::number::{Element, decode_bf16, decode_fp16};

/// Columns of a panel of weights.
pub(super) const PANEL: usize = 8;

/// One row of a panel of weights.
pub(super) type Weights = [f32; PANEL];

/// Most numbers of one row of a block.
const MOST_WIDTH: usize = 64;

/// Fewest steps x columns of a panel for each thread: what takes as long as
/// waking one.
const LEAST_WORK: usize = 128 * 512;

/// Bytes of a line of the caches of usual hosts.
const LINE: usize = 64;

/// How many rows of weights ahead are asked for.
const AHEAD: usize = 8;

/// How the host multiplies: its vectors, and how many results are summed at a
/// time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host {
    level: Level,
}

impl Default for Host {
    fn default() -> Self {
        Self { level: Level::new() }
    }
}

impl Host {
    #[cfg(test)]
    pub(super) fn of(level: Level) -> Self {
        Self { level }
    }

    /// Columns of a block of moving data.
    pub(super) fn width(self) -> usize {
        dispatch!(self.level, simd => width(simd))
    }

    /// Puts rows into panels of weights, one row after the other from the first
    /// row of `panels` on, panels `between` rows apart.
    pub(super) fn load(
        self,
        element: Element,
        rows: &[&[u8]],
        panels: &mut [Weights],
        between: usize,
    ) {
        dispatch!(self.level, _ => match element {
            Element::Bf16 => load(rows, panels, between, decode_bf16),
            Element::Fp16 => load(rows, panels, between, decode_fp16),
            _ => load(rows, panels, between, f32::from_le_bytes),
        });
    }

    /// Whether [`Host::share`] and [`Host::load`] take rows of this type.
    pub(super) const fn packs(element: Element) -> bool {
        matches!(element, Element::Fp32 | Element::Bf16 | Element::Fp16)
    }

    /// Puts a product where `to` says, with the threads of the pool around the
    /// caller where that pays; each has columns of its own. `room` is kept
    /// between products.
    pub(super) fn share(self, factors: Factors<'_>, to: Target<'_>, room: &mut Vec<f32>) -> Errors {
        let (width, depth) = (self.width(), factors.rows.len());
        let blocks = to.count.div_ceil(width);
        let work = to.rows.len().div_ceil(PANEL) * depth * to.count;
        let threads = rayon::current_num_threads().min(work / LEAST_WORK).min(blocks).max(1);
        let each = blocks.div_ceil(threads).max(1) * width;
        let mut parts: Vec<Part<'_>> = aligned(room, threads * depth * width)
            .chunks_mut((depth * width).max(1))
            .enumerate()
            .map(|(index, room)| Part {
                first: index * each,
                rows: Vec::with_capacity(to.rows.len()),
                add: to.add,
                room,
                errors: Errors::default(),
            })
            .collect();
        for row in to.rows {
            for (part, piece) in parts.iter_mut().zip(row.chunks_mut(4 * each)) {
                part.rows.push(piece);
            }
        }
        if let [part] = parts.as_mut_slice() {
            self.multiply(factors, part);
        } else if let Some((own, others)) = parts.split_first_mut() {
            rayon::in_place_scope(|scope| {
                for part in others {
                    scope.spawn(move |_| self.multiply(factors, part));
                }
                self.multiply(factors, own);
            });
        }
        let mut errors = Errors::default();
        for part in &parts {
            errors.add(&part.errors);
        }
        errors
    }

    fn multiply(self, factors: Factors<'_>, part: &mut Part<'_>) {
        dispatch!(self.level, simd => match factors.element {
            Element::Bf16 => multiply(simd, factors, part, decode_bf16),
            Element::Fp16 => multiply(simd, factors, part, decode_fp16),
            _ => multiply(simd, factors, part, f32::from_le_bytes),
        });
    }
}

/// What is multiplied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors<'a> {
    /// Panels of [`PANEL`] columns, one every `between` rows.
    pub(super) weights: &'a [Weights],
    pub(super) between: usize,
    /// Rows of moving data, of a type that [`Host::packs`] tells.
    pub(super) rows: &'a [&'a [u8]],
    pub(super) element: Element,
}

/// Where a product goes.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// Rows in fp32, one a column of the weights, `count` numbers each.
    pub(super) rows: Vec<&'a mut [u8]>,
    pub(super) count: usize,
    /// Adds to what is there.
    pub(super) add: bool,
}

/// What one thread computes.
struct Part<'a> {
    /// First column.
    first: usize,
    /// The rows from there on, as far as they are its own.
    rows: Vec<&'a mut [u8]>,
    add: bool,
    /// One block of moving data.
    room: &'a mut [f32],
    errors: Errors,
}

/// So many numbers from the start of a line of the cache on.
fn aligned(room: &mut Vec<f32>, count: usize) -> &mut [f32] {
    const NUMBERS: usize = LINE / size_of::<f32>();
    if room.len() < count + NUMBERS {
        room.resize(count + NUMBERS, 0.0);
    }
    let start = room.as_ptr().align_offset(LINE).min(NUMBERS);
    room.get_mut(start..start + count).unwrap_or_default()
}

/// With 32 registers of 16 numbers: 8 rows x 2 vectors of sums. Else 4 rows x
/// 3 vectors, which 16 registers hold.
#[inline(always)]
const fn is_wide<S: Simd>() -> bool {
    S::f32s::LEN >= 16
}

#[inline(always)]
fn width<S: Simd>(_: S) -> usize {
    if is_wide::<S>() { 2 * S::f32s::LEN } else { 3 * S::f32s::LEN }
}

#[inline(always)]
fn load<const N: usize>(
    rows: &[&[u8]],
    panels: &mut [Weights],
    between: usize,
    decode: impl Fn([u8; N]) -> f32,
) {
    for (index, row) in rows.iter().enumerate() {
        if let Some(later) = rows.get(index + AHEAD) {
            ask(later, 0, later.len());
        }
        let panels = panels.iter_mut().skip(index).step_by(between.max(1));
        for (to, from) in panels.zip(row.as_chunks().0.chunks(PANEL)) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = decode(*from);
            }
        }
    }
}

/// Asks the host for bytes that are needed soon.
#[inline(always)]
fn ask(row: &[u8], from: usize, count: usize) {
    for at in (0..count).step_by(LINE) {
        prefetch_index(row, from + at);
    }
}

#[inline(always)]
fn multiply<S: Simd, const N: usize>(
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
    columns: std::ops::Range<usize>,
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
fn look(rows: &[&mut [u8]], place: std::ops::Range<usize>, errors: &mut Errors) {
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
    place: std::ops::Range<usize>,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all sizes, subnormals among them.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        let exponent = |draw: u32| [127, 126, 125, 128, 1, 64][draw as usize % 6] << 23;
        (0..count)
            .map(|_| {
                let (sign, fraction) = (next() & 1 << 31, next() >> 9);
                f32::from_bits(sign | exponent(next() >> 8) | fraction)
            })
            .collect()
    }

    fn levels() -> Vec<Level> {
        let level = Level::new();
        let mut levels = vec![level, Level::baseline()];
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(level.as_sse4_2().map(Level::Sse4_2));
            levels.extend(level.as_avx2().map(Level::Avx2));
        }
        levels
    }

    #[test]
    fn every_host_sums_in_order_with_one_rounding_a_step() {
        let pools = [1, 2, 3]
            .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let hosts = levels().into_iter().flat_map(|level| pools.iter().map(move |p| (level, p)));
        for (level, pool) in hosts {
            let host = Host::of(level);
            let width = host.width();
            for (depth, panels) in [(1, 1), (20, 2), (128, 3), (700, 16)] {
                // rows of two panels are further apart than there are rows
                let between = depth + 3;
                let weights = numbers(between * panels * PANEL, 1);
                let weights = weights.as_chunks::<PANEL>().0;
                let (count, rows) = (2 * width + 5, panels * PANEL - 3);
                let rows_of_moving = numbers(depth * count, 2);
                let bytes: Vec<u8> = rows_of_moving.iter().flat_map(|x| x.to_le_bytes()).collect();
                let moving: Vec<&[u8]> = bytes.chunks_exact(4 * count).collect();
                let stride = 4 * count + 12;
                let before: Vec<u8> = (0..(rows + 2) * stride).map(|i| (i % 63) as u8).collect();
                for add in [false, true] {
                    let mut bytes = before.clone();
                    let places = bytes.chunks_mut(stride).take(rows);
                    let places = places.map(|row| &mut row[..4 * count]).collect();
                    let to = Target { rows: places, count, add };
                    let element = Element::Fp32;
                    let factors = Factors { weights, between, rows: &moving, element };
                    let mut room = vec![7.0; 5];
                    let errors = pool.install(|| host.share(factors, to, &mut room));
                    let mut expected = Errors::default();
                    for row in bytes.chunks(stride).take(rows) {
                        let mut numbers = vec![0.0; count];
                        Element::Fp32.decode_slice(&row[..4 * count], &mut numbers);
                        expected.look(&numbers, Element::Fp32);
                    }
                    assert_eq!(errors, expected, "{level:?} {depth} {add}");
                    for (m, (row, before)) in
                        bytes.chunks(stride).zip(before.chunks(stride)).enumerate()
                    {
                        if m >= rows {
                            assert_eq!(row, before);
                            continue;
                        }
                        let panel = &weights[m / PANEL * between..][..depth];
                        let (ours, rest) = row.split_at(4 * count);
                        assert_eq!(rest, &before[4 * count..]);
                        let numbers = ours.as_chunks().0.iter().zip(before.as_chunks().0);
                        for (n, (ours, old)) in numbers.enumerate() {
                            let rows = rows_of_moving.chunks_exact(count);
                            let sum = panel
                                .iter()
                                .zip(rows)
                                .fold(0.0f32, |sum, (w, row)| row[n].mul_add(w[m % PANEL], sum));
                            let sum = if add { f32::from_le_bytes(*old) + sum } else { sum };
                            let ours = u32::from_le_bytes(*ours);
                            assert_eq!(ours, sum.to_bits(), "{level:?} {depth} {m} {n}");
                        }
                    }
                }
            }
        }
    }
}
