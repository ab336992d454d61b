//! Products of matrices in fp32, the same to the bit on every host.
//!
//! Each result is `sum over k of weights[k, m] x moving[k, n]`, from the first
//! row up, starting at +0, each step one fused multiply-add: the product is not
//! rounded, the sum is, to nearest. Lanes and threads divide the results among
//! them, never one sum, so that neither the vector width of the host nor the
//! number of threads shows in a result. A host without the fused instruction
//! computes the same numbers slowly (`mul_add_precise`). Only which NaN comes
//! out of NaN and infinities is the host's.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch};

use crate::number::{Element, decode_bf16, decode_fp16};

/// Columns of a panel of weights.
pub(super) const PANEL: usize = 8;

/// One row of a panel of weights.
pub(super) type Weights = [f32; PANEL];

/// Most numbers of one block of results.
const MOST_WIDTH: usize = 64;

/// Fewest steps x columns of a panel for each thread: what takes as long as
/// waking one.
const LEAST_WORK: usize = 128 * 512;

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

    /// Lays rows out in blocks: row r of block b is at `(b x depth + r) x
    /// width`, filled up with zeros. There is room for whole blocks.
    pub(super) fn pack<'a>(
        self,
        element: Element,
        rows: impl ExactSizeIterator<Item = &'a [u8]>,
        moving: &mut [f32],
    ) {
        dispatch!(self.level, simd => match element {
            Element::Bf16 => pack(simd, rows, moving, decode_bf16),
            Element::Fp16 => pack(simd, rows, moving, decode_fp16),
            _ => pack(simd, rows, moving, f32::from_le_bytes),
        });
    }

    /// Puts rows into panels of weights, one row after the other from the first
    /// row of `panels` on, panels `between` rows apart.
    pub(super) fn load<'a>(
        self,
        element: Element,
        rows: impl Iterator<Item = &'a [u8]>,
        panels: &mut [Weights],
        between: usize,
    ) {
        dispatch!(self.level, _ => match element {
            Element::Bf16 => load(rows, panels, between, decode_bf16),
            Element::Fp16 => load(rows, panels, between, decode_fp16),
            _ => load(rows, panels, between, f32::from_le_bytes),
        });
    }

    /// Whether [`Host::pack`] and [`Host::load`] take rows of this type.
    pub(super) const fn packs(element: Element) -> bool {
        matches!(element, Element::Fp32 | Element::Bf16 | Element::Fp16)
    }

    /// Puts a product where `to` says, with the threads of the pool around the
    /// caller where that pays; each has rows of its own.
    pub(super) fn share(self, factors: Factors<'_>, to: Target<'_>) {
        let panels = to.rows.div_ceil(PANEL);
        let work = factors.depth * to.count;
        let threads = rayon::current_num_threads().min(panels * work / LEAST_WORK);
        if threads < 2 {
            return self.multiply(factors, to);
        }
        let each = panels.div_ceil(threads);
        rayon::in_place_scope(|scope| {
            let Target { mut bytes, stride, rows, count, add } = to;
            for first in (each..panels).step_by(each).rev() {
                let at = (first * PANEL * stride).min(bytes.len());
                let (before, after) = bytes.split_at_mut(at);
                let weights = factors.weights.get(first * factors.between..).unwrap_or_default();
                let factors = Factors { weights, ..factors };
                let rows = rows.min((first + each) * PANEL).saturating_sub(first * PANEL);
                let to = Target { bytes: after, stride, rows, count, add };
                scope.spawn(move |_| self.multiply(factors, to));
                bytes = before;
            }
            let rows = rows.min(each * PANEL);
            self.multiply(factors, Target { bytes, stride, rows, count, add });
        });
    }

    /// Puts a product where `to` says.
    fn multiply(self, factors: Factors<'_>, to: Target<'_>) {
        dispatch!(self.level, simd => multiply(simd, factors, to));
    }
}

/// What is multiplied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors<'a> {
    /// Panels of [`PANEL`] columns, one every `between` rows.
    pub(super) weights: &'a [Weights],
    pub(super) between: usize,
    /// Blocks of `depth` rows of [`Host::width`] numbers.
    pub(super) moving: &'a [f32],
    pub(super) depth: usize,
}

/// Where a product goes: fp32, row m from byte `m x stride` on.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) stride: usize,
    /// Rows, one a column of the weights.
    pub(super) rows: usize,
    /// Numbers of a row.
    pub(super) count: usize,
    /// Adds to what is there.
    pub(super) add: bool,
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
fn pack<'a, S: Simd, const N: usize>(
    simd: S,
    rows: impl ExactSizeIterator<Item = &'a [u8]>,
    moving: &mut [f32],
    decode: impl Fn([u8; N]) -> f32,
) {
    let (width, depth) = (width(simd), rows.len());
    for (index, row) in rows.enumerate() {
        let blocks = moving.chunks_exact_mut(width).skip(index).step_by(depth.max(1));
        for (to, from) in blocks.zip(row.as_chunks().0.chunks(width)) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = decode(*from);
            }
            to.iter_mut().skip(from.len()).for_each(|to| *to = 0.0);
        }
    }
}

#[inline(always)]
fn load<'a, const N: usize>(
    rows: impl Iterator<Item = &'a [u8]>,
    panels: &mut [Weights],
    between: usize,
    decode: impl Fn([u8; N]) -> f32,
) {
    for (index, row) in rows.enumerate() {
        let panels = panels.iter_mut().skip(index).step_by(between.max(1));
        for (to, from) in panels.zip(row.as_chunks().0.chunks(PANEL)) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = decode(*from);
            }
        }
    }
}

#[inline(always)]
fn multiply<S: Simd>(simd: S, factors: Factors<'_>, to: Target<'_>) {
    let (width, depth) = (width(simd), factors.depth);
    if to.stride == 0 || factors.between < depth {
        return;
    }
    // an empty sum is 0: a pass without rows has blocks of no rows
    let blocks = to.count.div_ceil(width);
    let mut tile = [0.0; PANEL * MOST_WIDTH];
    for block in 0..blocks {
        let moving = factors.moving.get(block * width * depth..(block + 1) * width * depth);
        let first = block * width;
        let count = (to.count - first).min(width);
        let panels = factors.weights.chunks(factors.between.max(1));
        let targets = to.bytes.chunks_mut(PANEL * to.stride);
        for (panel, (index, target)) in panels.zip(targets.enumerate()) {
            let panel = panel.get(..depth).unwrap_or_default();
            fill(simd, panel, moving.unwrap_or_default(), &mut tile);
            let rows = to.rows.saturating_sub(index * PANEL).min(PANEL);
            let targets = target.chunks_mut(to.stride).take(rows);
            for (target, sums) in targets.zip(tile.chunks_exact(width)) {
                let target = target.get_mut(4 * first..4 * (first + count)).unwrap_or_default();
                let target = target.as_chunks_mut().0.iter_mut().zip(sums);
                if to.add {
                    target
                        .for_each(|(to, sum)| *to = (f32::from_le_bytes(*to) + sum).to_le_bytes());
                } else {
                    target.for_each(|(to, sum)| *to = sum.to_le_bytes());
                }
            }
        }
    }
}

/// [`PANEL`] rows of results of one block.
#[inline(always)]
fn fill<S: Simd>(simd: S, panel: &[Weights], moving: &[f32], tile: &mut [f32]) {
    if is_wide::<S>() {
        sums::<S, 8, 2>(simd, panel, 0, moving, tile);
    } else {
        let (low, high) = tile.split_at_mut(PANEL / 2 * width(simd));
        sums::<S, 4, 3>(simd, panel, 0, moving, low);
        sums::<S, 4, 3>(simd, panel, 4, moving, high);
    }
}

/// `ROWS` rows of a block from row `first` of the panel on.
#[inline(always)]
fn sums<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    panel: &[Weights],
    first: usize,
    moving: &[f32],
    out: &mut [f32],
) {
    let lanes = S::f32s::LEN;
    let mut sums = [[S::f32s::splat(simd, 0.0); VECTORS]; ROWS];
    for (weights, row) in panel.iter().zip(moving.chunks_exact(VECTORS * lanes)) {
        let mut vectors = [S::f32s::splat(simd, 0.0); VECTORS];
        for (vector, numbers) in vectors.iter_mut().zip(row.chunks_exact(lanes)) {
            *vector = S::f32s::from_slice(simd, numbers);
        }
        for row in 0..ROWS {
            let weight = S::f32s::splat(simd, weights[first + row]);
            for vector in 0..VECTORS {
                sums[row][vector] = vectors[vector].mul_add_precise(weight, sums[row][vector]);
            }
        }
    }
    for (sums, row) in sums.iter().zip(out.chunks_exact_mut(VECTORS * lanes)) {
        for (sum, numbers) in sums.iter().zip(row.chunks_exact_mut(lanes)) {
            sum.store_slice(numbers);
        }
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
                let mut moving = vec![7.0; depth * 3 * width];
                host.pack(Element::Fp32, bytes.chunks_exact(4 * count), &mut moving);
                let stride = 4 * count + 12;
                let before: Vec<u8> = (0..(rows + 2) * stride).map(|i| (i % 63) as u8).collect();
                for add in [false, true] {
                    let mut bytes = before.clone();
                    let to = Target { bytes: &mut bytes, stride, rows, count, add };
                    let factors = Factors { weights, between, moving: &moving, depth };
                    pool.install(|| host.share(factors, to));
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
