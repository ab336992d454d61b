//! The power limit of the array: cold after idling, warm after a window of
//! work (neuroncore.md §5.5, "dI/dt ramp").
//!
//! The captures show windows of 4096 cycles of 1.2 GHz. A device's windows run
//! on from its start; here they begin with the run (our choice).

use neuron_core::ntff::notification::Throttle as Notice;

use super::parameters::{Ps, ThrottleRule};

#[derive(Debug, Clone)]
pub(super) struct Throttle {
    rule: Option<ThrottleRule>,
    warm: bool,
    /// End of the current window.
    until: Ps,
    busy: Ps,
    /// Changes that nobody was told of.
    notices: Vec<(Ps, Notice)>,
}

impl Throttle {
    pub(super) fn new(rule: Option<ThrottleRule>) -> Self {
        let until = rule.map_or(Ps::MAX, |rule| rule.window);
        Self { rule, warm: false, until, busy: 0, notices: Vec::new() }
    }

    /// The windows before a time end.
    pub(super) fn advance(&mut self, time: Ps) {
        let Some(rule) = self.rule else { return };
        while self.until <= time {
            // without work a cold array stays cold: skip to the last window
            if self.busy == 0 && !self.warm {
                let windows = (time - self.until) / rule.window;
                self.until += (windows + 1) * rule.window;
                return;
            }
            let share = self.busy.saturating_mul(256) / rule.window;
            let metadata = self.busy.saturating_mul(rule.full_scale) / rule.window;
            let warm = if self.warm { share >= rule.cold_below } else { share >= rule.warm_from };
            if warm != self.warm {
                self.warm = warm;
                let (k, activity) = if warm { (rule.of, 0) } else { (rule.cold, 1) };
                let metadata = u16::try_from(metadata).unwrap_or(u16::MAX);
                let notice = Notice { metadata, n: rule.of, k, activity };
                self.notices.push((self.until, notice));
            }
            self.busy = 0;
            self.until += rule.window;
        }
    }

    /// Streams for as long as `full` takes without a limit; gives the end.
    pub(super) fn stream(&mut self, start: Ps, full: Ps) -> Ps {
        let Some(rule) = self.rule else {
            return start + full;
        };
        self.advance(start);
        let (mut at, mut left) = (start, full);
        loop {
            let (k, of) = (u64::from(rule.cold.max(1)), u64::from(rule.of.max(1)));
            let needed = if self.warm { left } else { left * of / k };
            if at + needed < self.until {
                self.busy += needed;
                return at + needed;
            }
            let part = self.until - at;
            self.busy += part;
            left -= if self.warm { part } else { part * k / of }.min(left);
            at = self.until;
            self.advance(at);
        }
    }

    /// How long work takes at the rate of the array at a time.
    pub(super) fn scaled(&mut self, time: Ps, full: Ps) -> Ps {
        self.advance(time);
        match self.rule {
            Some(rule) if !self.warm => full * u64::from(rule.of) / u64::from(rule.cold.max(1)),
            _ => full,
        }
    }

    pub(super) fn notices(&mut self) -> impl Iterator<Item = (Ps, Notice)> + '_ {
        self.notices.drain(..)
    }
}
