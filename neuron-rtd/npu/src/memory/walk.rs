//! Where the elements of an operand lie in a partition: runs of elements with
//! one step, and the steps between runs.

use neuron_core::isa::address::Pattern;

/// More dimensions than a pattern has.
const DIMENSIONS: usize = 6;

/// Byte positions of the elements of a partition, in walk order. Dimensions
/// that continue each other are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Walk {
    first: usize,
    step: isize,
    count: usize,
    /// Steps and counts between runs, innermost first, then counts of 1.
    outer: [(isize, usize); DIMENSIONS],
    runs: usize,
}

impl Walk {
    /// The walk of a pattern whose first element is at `byte`, with elements of
    /// `size` bytes, in a partition of `live` bytes. `None` when an element is
    /// outside of it. No count is 0.
    pub(super) fn find<const N: usize>(
        pattern: &Pattern<N>,
        byte: u32,
        size: usize,
        live: usize,
    ) -> Option<Self> {
        const { assert!(N <= DIMENSIONS) }
        let size = isize::try_from(size).ok()?;
        let mut walk = Self {
            first: usize::try_from(byte).ok()?,
            step: size,
            count: 1,
            outer: [(0, 1); DIMENSIONS],
            runs: 1,
        };
        let first = isize::try_from(walk.first).ok()?;
        let (mut least, mut most, mut dimensions) = (first, first, 0);
        for (step, count) in pattern.steps.iter().zip(pattern.counts) {
            let (step, count) = (isize::from(*step) * size, usize::from(count));
            if count == 1 {
                continue;
            }
            let times = isize::try_from(count).ok()?;
            let extent = step.checked_mul(times - 1)?;
            least = least.checked_add(extent.min(0))?;
            most = most.checked_add(extent.max(0))?;
            // continues the dimension before it, or is the first
            let inner = match dimensions {
                0 | 1 => Some((&mut walk.step, &mut walk.count)),
                n => walk.outer.get_mut(n - 2).map(|(step, count)| (step, count)),
            };
            let (inner_step, inner_count) = inner?;
            let continued = inner_step.checked_mul(isize::try_from(*inner_count).ok()?)?;
            if dimensions == 0 {
                (*inner_step, *inner_count) = (step, count);
                dimensions = 1;
            } else if continued == step {
                *inner_count = inner_count.checked_mul(count)?;
            } else {
                *walk.outer.get_mut(dimensions - 1)? = (step, count);
                dimensions += 1;
            }
        }
        walk.runs = walk.outer.iter().map(|(_, count)| count).product();
        let end = usize::try_from(most.checked_add(size)?).ok()?;
        (least >= 0 && end <= live).then_some(walk)
    }

    /// Elements.
    pub(super) const fn elements(&self) -> usize {
        self.count * self.runs
    }

    /// Position of the first element, where all lie side by side in order.
    pub(super) fn side_by_side(&self, size: isize) -> Option<usize> {
        (self.runs == 1 && self.step == size).then_some(self.first)
    }

    /// Position of the last element, where all lie side by side in reverse.
    pub(super) fn backwards(&self, size: isize) -> Option<usize> {
        let before = self.count.checked_sub(1)?.checked_mul(usize::try_from(size).ok()?)?;
        (self.runs == 1 && self.step == -size).then(|| self.first.checked_sub(before))?
    }

    /// Elements of a run.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Bytes between the elements of a run.
    pub(super) const fn step(&self) -> isize {
        self.step
    }

    /// Positions of the first elements of the runs, in walk order.
    pub(super) fn runs(&self) -> Runs<'_> {
        Runs { walk: self, at: self.first, indices: [0; DIMENSIONS], left: self.runs }
    }
}

/// See [`Walk::runs`].
#[derive(Debug)]
pub(super) struct Runs<'a> {
    walk: &'a Walk,
    at: usize,
    indices: [usize; DIMENSIONS],
    left: usize,
}

impl Iterator for Runs<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        for (index, (step, count)) in self.indices.iter_mut().zip(self.walk.outer) {
            *index += 1;
            if *index < count {
                self.at = self.at.wrapping_add_signed(step);
                break;
            }
            // back to the start of this dimension, which the walk has passed
            let back = step.wrapping_mul(*index as isize - 1);
            self.at = self.at.wrapping_add_signed(back.wrapping_neg());
            *index = 0;
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::isa::address::Addr4;

    fn positions(walk: &Walk) -> Vec<usize> {
        let run = |at: usize| {
            (0..walk.count()).map(move |i| at.wrapping_add_signed(walk.step() * i as isize))
        };
        walk.runs().flat_map(run).collect()
    }

    #[test]
    fn a_walk_goes_where_its_pattern_goes() {
        let cases: [([i16; 4], [u16; 4]); 8] = [
            ([1, 0, 0, 0], [7, 1, 1, 1]),
            ([1, 7, 14, 0], [7, 2, 3, 1]),
            ([-1, 0, 0, 0], [9, 1, 1, 1]),
            ([1, 32, -4, 0], [4, 3, 2, 1]),
            ([0, 1, 0, 5], [3, 4, 2, 2]),
            ([5, 1, 20, 2], [1, 1, 4, 5]),
            ([-3, 2, 9, -2], [2, 3, 2, 4]),
            ([0, 0, 0, 0], [1, 1, 1, 1]),
        ];
        for (steps, counts) in cases {
            for size in [1, 2, 4] {
                let pattern = Pattern { start: Addr4(0), steps, counts };
                let at = |offset: i64| usize::try_from(400 + offset * size as i64).unwrap();
                let expected: Vec<usize> = pattern.offsets().map(at).collect();
                let walk = Walk::find(&pattern, 400, size, 1 << 16).unwrap();
                assert_eq!(positions(&walk), expected, "{pattern} of {size}");
                assert_eq!(walk.elements(), expected.len());
                let end = expected.iter().max().unwrap() + size;
                assert!(Walk::find(&pattern, 400, size, end).is_some());
                assert!(Walk::find(&pattern, 400, size, end - 1).is_none());
                let least = u32::try_from(400 - expected.iter().min().unwrap()).unwrap();
                assert!(Walk::find(&pattern, least, size, end).is_some());
                assert!(least == 0 || Walk::find(&pattern, least - 1, size, end).is_none());
            }
        }
    }

    #[test]
    fn dimensions_that_continue_each_other_are_one_run() {
        let pattern = Pattern { start: Addr4(0), steps: [1, 4, 8], counts: [4, 2, 3] };
        let walk = Walk::find(&pattern, 0, 4, 1 << 16).unwrap();
        assert_eq!((walk.count(), walk.runs().count()), (24, 1));
        assert_eq!((walk.side_by_side(4), walk.side_by_side(2)), (Some(0), None));
        assert_eq!(walk.backwards(4), None);
        let pattern = Pattern { start: Addr4(0), steps: [-1, 0], counts: [4, 1] };
        assert_eq!(Walk::find(&pattern, 20, 4, 1 << 16).unwrap().backwards(4), Some(8));
        let pattern = Pattern { start: Addr4(0), steps: [1, 5], counts: [4, 2] };
        assert_eq!(Walk::find(&pattern, 8, 4, 1 << 16).unwrap().side_by_side(4), None);
    }
}
