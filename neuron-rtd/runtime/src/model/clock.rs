//! The time that inferences take on simulated cores.
//!
//! Host threads run at the host's pace; what a device would take is known of
//! each node. So a clock of its own is kept for each step: an inference begins
//! a step when its inputs are there and the step is free. It arrives when the
//! latest inference was done whose outcome somebody has been given: that others
//! are done too, because host threads were fast, no poster can know. Nodes of
//! the host take no simulated time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Clocks of a model, in nanoseconds since its first inference.
#[derive(Debug)]
pub(crate) struct Clock {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When each step is free.
    free: Vec<u64>,
    /// When the latest inference was done.
    done: u64,
    /// When the latest one was done whose outcome was given out.
    seen: u64,
}

impl Clock {
    pub(crate) fn new(steps: usize) -> Self {
        Self { state: Mutex::new(State { free: vec![0; steps], done: 0, seen: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the latest inference was done.
    pub(crate) fn now(&self) -> u64 {
        self.state().done
    }

    /// When an inference arrives that is posted now.
    pub(crate) fn arrival(&self) -> u64 {
        self.state().seen
    }

    /// A step took so long for an inference that was ready at `from`; gives
    /// the end.
    pub(crate) fn ran(&self, step: usize, from: u64, nanos: u64) -> u64 {
        let mut state = self.state();
        let Some(free) = state.free.get_mut(step) else { return from };
        let end = from.max(*free).saturating_add(nanos);
        *free = end;
        end
    }

    /// An inference was done.
    pub(crate) fn done(&self, at: u64) {
        let mut state = self.state();
        state.done = state.done.max(at);
    }

    /// The outcome of one that was done then is given out.
    pub(crate) fn seen(&self, at: u64) {
        let mut state = self.state();
        state.seen = state.seen.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four steps of 10 ns: one after the other without a pipeline, in steady
    /// state one inference every 10 ns with four in flight.
    #[test]
    fn a_pipeline_overlaps_in_simulated_time() {
        let run = |in_flight: usize, count: usize| {
            let clock = Clock::new(4);
            let mut ends = Vec::new();
            for number in 0..count {
                // who posts has seen the end of the one that made room
                if let Some(seen) = number.checked_sub(in_flight) {
                    clock.seen(ends[seen]);
                }
                let arrived = clock.arrival();
                let end = (0..4).fold(arrived, |ready, step| clock.ran(step, ready, 10));
                clock.done(end);
                ends.push(end);
            }
            assert_eq!(clock.now(), *ends.last().unwrap());
            clock.now()
        };
        assert_eq!(run(1, 8), 320);
        assert_eq!(run(4, 8), 40 + 70);
        assert_eq!(run(2, 8), 40 * 4 + 10);
    }
}
