//! DMA traffic of a core over time, in bounded memory.
//!
//! Settled on the table `dma_throughput` (2,140 samples equal): at each moment
//! where a packet begins or ends, the sum of the rates of the packets under way
//! and the bytes of all packets that began. The rates are single precision, the
//! sum is double. A moment less than 10 ns after the last sample gives none.
//!
//! A packet's rate is known at its end, so moments wait until all packets that
//! began before them have ended.

use std::collections::VecDeque;

/// Least distance of two samples, in ps.
const SPACING: u64 = 10_000;

/// Moments that wait at most; then the oldest packet counts as dropped (our
/// choice).
const WAITING: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A packet began; its end is not seen yet.
    Open,
    /// A packet that is not listed.
    Dropped,
    /// The rate changes, and bytes began.
    Change(f64, u64),
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    steps: VecDeque<(u64, Step)>,
    /// Number of the first step.
    first: u64,
    moment: Option<u64>,
    last: Option<u64>,
    rate: f64,
    total: u64,
    /// Samples that are ready: time, rate, total.
    ready: Vec<(u64, f64, u64)>,
}

impl Throughput {
    /// A packet began. The number names it at its end.
    pub(crate) fn begin(&mut self, time: u64) -> u64 {
        if self.steps.len() >= WAITING
            && let Some((_, step)) = self.steps.front_mut()
        {
            *step = Step::Dropped;
            self.drain();
        }
        self.steps.push_back((time, Step::Open));
        self.first + u64::try_from(self.steps.len() - 1).unwrap_or(0)
    }

    /// It ended; `None` when the packet is not listed.
    pub(crate) fn end(&mut self, number: u64, time: u64, moved: Option<(f32, u32)>) {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        let Some((_, step)) = at.and_then(|at| self.steps.get_mut(at)) else { return };
        match moved {
            Some((rate, bytes)) => {
                *step = Step::Change(f64::from(rate), u64::from(bytes));
                self.steps.push_back((time, Step::Change(-f64::from(rate), 0)));
            }
            None => *step = Step::Dropped,
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some((time, step)) = self.steps.front().copied() {
            match step {
                Step::Open => return,
                Step::Dropped => {}
                Step::Change(rate, bytes) => {
                    if self.moment != Some(time) {
                        self.sample();
                        self.moment = Some(time);
                    }
                    self.rate += rate;
                    self.total += bytes;
                }
            }
            self.steps.pop_front();
            self.first += 1;
        }
    }

    /// Ends a moment.
    fn sample(&mut self) {
        let Some(moment) = self.moment else { return };
        if self.last.is_none_or(|last| moment.saturating_sub(last) >= SPACING) {
            self.ready.push((moment, self.rate, self.total));
            self.last = Some(moment);
        }
    }

    /// Samples that are ready.
    pub(crate) fn ready(&mut self) -> std::vec::Drain<'_, (u64, f64, u64)> {
        self.ready.drain(..)
    }

    /// Everything is seen: packets that did not end are not listed.
    pub(crate) fn finish(&mut self) {
        for (_, step) in &mut self.steps {
            if matches!(step, Step::Open) {
                *step = Step::Dropped;
            }
        }
        self.drain();
        self.sample();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    #[test]
    fn moments_wait_for_the_ends() {
        let mut traffic = Throughput::default();
        let long = traffic.begin(0);
        let short = traffic.begin(20_000);
        let gone = traffic.begin(21_000);
        traffic.end(short, 40_000, Some((2.0, 8)));
        assert_eq!(traffic.ready().count(), 0);
        traffic.end(gone, 41_000, None);
        traffic.end(long, 45_000, Some((1.0, 4)));
        traffic.finish();
        let samples: Vec<_> = traffic.ready().collect();
        let wanted = [(0, 1.0, 4), (20_000, 3.0, 12), (40_000, 1.0, 12)];
        assert_eq!(samples.len(), wanted.len(), "{samples:?}");
        for (sample, wanted) in samples.iter().zip(wanted) {
            assert_eq!((sample.0, sample.2), (wanted.0, wanted.2));
            assert!(close(sample.1, wanted.1), "{samples:?}");
        }
    }
}
