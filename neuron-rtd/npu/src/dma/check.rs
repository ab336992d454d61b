//! What a transfer may do: sizes that fit each other, and runs that lie in
//! their memories, found from the walks without going along them where that is
//! exact.

use neuron_core::isa::address::SBUF_PARTITION_STRIDE;

use super::{Change, Side, Transfer};
use crate::fault::Fault;
use crate::hbm::{Hbm, Place};
use crate::memory::OnChip;

impl Transfer {
    /// Refuses what cannot be done; moves nothing.
    pub(crate) fn check(&self, memory: &OnChip, hbm: &Hbm) -> Result<(), Fault> {
        let size = |side: &Side| {
            side.bytes().ok_or_else(|| Fault::shape(format!("a side with {:?}", side.counts)))
        };
        let (read, written) = (size(&self.from)?, size(&self.to)?);
        let made = self.change.bytes(read)?;
        if made != written {
            return Err(Fault::shape(format!("{made} bytes for a destination of {written}")));
        }
        // a sum is made run by run
        if let Change::Add(_, to) = self.change
            && !self.to.run.is_multiple_of(to.bytes())
        {
            let run = self.to.run;
            return Err(Fault::shape(format!("a run of {run} bytes ends within an element")));
        }
        self.from.check(memory, hbm)?;
        self.to.check(memory, hbm)
    }
}

/// The least and the largest of the sums of some steps.
fn reach(first: i64, steps: impl Iterator<Item = (i64, u64)>) -> (i128, i128) {
    let (mut least, mut most) = (i128::from(first), i128::from(first));
    for (step, count) in steps {
        let far = i128::from(step) * (i128::from(count) - 1).max(0);
        least += far.min(0);
        most += far.max(0);
    }
    (least, most)
}

impl Side {
    /// Refuses a walk of which a run lies outside of its memory.
    fn check(&self, memory: &OnChip, hbm: &Hbm) -> Result<(), Fault> {
        let walk = || self.steps.iter().copied().zip(self.counts.iter().copied());
        let lost = || Fault::address(format!("a walk of {:?} by {:?}", self.counts, self.steps));
        if self.place != Place::Sbuf {
            // the first and the last byte are those of runs
            let (least, most) = reach(self.offset, walk());
            let length = usize::try_from(most - least).ok();
            let length = length.and_then(|length| length.checked_add(self.run)).ok_or_else(lost)?;
            let least = i64::try_from(least).map_err(|_| lost())?;
            return self.place.check(memory, hbm, least, length);
        }
        // partitions, and bytes in them, where no step carries over
        let stride = i64::from(SBUF_PARTITION_STRIDE);
        let cut = |step: i64| {
            let partitions = step.saturating_add(stride / 2).div_euclid(stride);
            (partitions, step.saturating_sub(partitions * stride))
        };
        let bytes = walk().map(|(step, count)| (cut(step).1, count));
        let (least, most) = reach(self.offset.rem_euclid(stride), bytes);
        if least >= 0 && most + (self.run as i128) <= i128::from(stride) {
            let partitions = walk().map(|(step, count)| (cut(step).0, count));
            let (first, last) = reach(self.offset.div_euclid(stride), partitions);
            for (partition, byte) in [(first, least), (last, most)] {
                let at = partition * i128::from(stride) + byte;
                let at = i64::try_from(at).map_err(|_| lost())?;
                self.place.check(memory, hbm, at, self.run)?;
            }
            return Ok(());
        }
        self.offsets().try_for_each(|at| self.place.check(memory, hbm, at, self.run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Buffer;
    use neuron_core::instance::Arch;
    use proptest::prelude::*;

    const SIZE: u64 = 4096;

    fn step() -> impl Strategy<Value = i64> {
        let near = prop_oneof![-70..70i64, Just(0), -0x2_0000..0x2_0000i64];
        (-3..4i64, near).prop_map(|(partitions, bytes)| partitions * 0x4_0000 + bytes)
    }

    proptest! {
        /// The same answer as run by run.
        #[test]
        fn a_walk_is_refused_where_a_run_is(
            partition in -1..130i64, byte in 0..0x4_0000i64, run in 1..600usize,
            sbuf in any::<bool>(), small in any::<bool>(), v4 in any::<bool>(),
            walk in prop::collection::vec((step(), 1..6u64), 0..4),
        ) {
            let memory = OnChip::new(if v4 { Arch::V4 } else { Arch::V3 });
            let hbm = Hbm { buffers: vec![Buffer::new(SIZE)] };
            let hbm_side = Place::Hbm { buffer: 0, start: 64, size: SIZE - 128 };
            let place = if sbuf { Place::Sbuf } else { hbm_side };
            let cut = |step: i64| if small { step % 600 } else { step };
            let (steps, counts) = walk.into_iter().map(|(step, count)| (cut(step), count)).unzip();
            let offset = if sbuf { partition * 0x4_0000 + byte } else { byte % 4000 };
            let side = Side { place, offset, run, steps, counts };
            let mut each = side.offsets();
            let expected = each.all(|at| place.check(&memory, &hbm, at, run).is_ok());
            prop_assert_eq!(side.check(&memory, &hbm).is_ok(), expected, "{:?}", side);
        }
    }
}
