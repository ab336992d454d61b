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

use fearless_simd::{Level, dispatch};

use super::awake::Awake;
use super::kernel::{LINE, Part, ask, multiply, width};
use crate::errors::Errors;
use crate::number::{Element, decode_bf16, decode_fp16};

/// Columns of a panel of weights.
pub(super) const PANEL: usize = 8;

/// One row of a panel of weights.
pub(super) type Weights = [f32; PANEL];

/// Fewest steps x columns of a panel for each thread: what takes as long as
/// waking one.
const LEAST_WORK: usize = 128 * 512;

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

    /// Puts a product where `to` says, with the threads of the pool that the
    /// caller is one of, where that pays; each has columns of its own. `room` is kept
    /// between products.
    pub(super) fn share(self, factors: Factors<'_>, to: Target<'_>, room: &mut Room) -> Errors {
        let (width, depth) = (self.width(), factors.rows.len());
        let blocks = to.count.div_ceil(width);
        let work = to.rows.len().div_ceil(PANEL) * depth * to.count;
        // from outside of a pool, waking a thread of it takes longer than it helps
        let pool = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
        let threads = pool.min(work / LEAST_WORK).min(blocks).max(1);
        let each = blocks.div_ceil(threads).max(1) * width;
        let mut parts: Vec<Part<'_>> = aligned(&mut room.numbers, threads * depth * width)
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
            room.awake.keep(others.len());
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

/// What is kept between products.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    numbers: Vec<f32>,
    awake: Awake,
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
                    let mut room = Room { numbers: vec![7.0; 5], ..Room::default() };
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
