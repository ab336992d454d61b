//! Which groups are read when.

use std::time::{Duration, Instant};

use crate::config::{Config, OfApplication, OfSystem};

/// A group as it is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// A group of the applications of an entry of the configuration.
    Application(usize, OfApplication),
    /// A group of the machine.
    System(OfSystem),
}

/// Items with their periods and the time when each is due.
#[derive(Debug)]
pub(crate) struct Plan {
    items: Vec<(Item, Duration, Instant)>,
    /// How often an item was due a whole period or more too late.
    late: u64,
}

/// Items due within this time of each other come in one record.
const TOGETHER: Duration = Duration::from_micros(500);

impl Plan {
    /// Everything is due at `start` first.
    pub(crate) fn of(config: &Config, start: Instant) -> Self {
        let entries = config.applications.iter().enumerate();
        let applications = entries.flat_map(|(index, entry)| {
            let groups = entry.groups.iter();
            groups.map(move |(group, period)| (Item::Application(index, *group), *period))
        });
        let system = config.system.iter().map(|(group, period)| (Item::System(*group), *period));
        let items =
            applications.chain(system).map(|(item, period)| (item, period, start)).collect();
        Self { items, late: 0 }
    }

    /// Every item.
    pub(crate) fn all(&self) -> Vec<Item> {
        self.items.iter().map(|(item, ..)| *item).collect()
    }

    /// Puts everything off to `start`.
    pub(crate) fn restart(&mut self, start: Instant) {
        for (_, period, due) in &mut self.items {
            *due = start + *period;
        }
    }

    /// Lets everything wait for what is due last, so that it comes in one
    /// record.
    pub(crate) fn hold_all_until_the_last(&mut self) {
        if let Some(last) = self.items.iter().map(|(.., due)| *due).max() {
            self.items.iter_mut().for_each(|(.., due)| *due = last);
        }
    }

    /// When the next item is due; `None` when nothing is ever read.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.items.iter().map(|(.., due)| *due).min()
    }

    /// The items that are due; each is due again a period later. What was
    /// missed is left out, so that being late once does not last.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Item> {
        let mut late = false;
        let mut due = Vec::new();
        for (item, period, at) in &mut self.items {
            if *at > now + TOGETHER {
                continue;
            }
            due.push(*item);
            *at += *period;
            if *at + TOGETHER <= now {
                late = true;
                let missed = now.duration_since(*at).as_nanos() / period.as_nanos().max(1);
                *at += period.saturating_mul(u32::try_from(missed + 1).unwrap_or(u32::MAX));
            }
        }
        self.late += u64::from(late);
        due
    }

    /// How often a record was late by a period or more.
    pub(crate) const fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(start: Instant) -> Plan {
        let mut config = Config::standard(Duration::from_secs(2));
        config.applications.clear();
        config.system[1].1 = Duration::from_secs(3);
        Plan::of(&config, start)
    }

    #[test]
    fn equal_times_come_together() {
        let start = Instant::now();
        let mut plan = plan(start);
        let (vcpu, memory) =
            (Item::System(OfSystem::VcpuUsage), Item::System(OfSystem::MemoryInfo));
        let mut seen = Vec::new();
        for _ in 0..6 {
            let at = plan.next().unwrap();
            seen.push((at.duration_since(start).as_secs(), plan.due(at)));
        }
        assert_eq!(
            seen,
            [
                (0, vec![vcpu, memory]),
                (2, vec![vcpu]),
                (3, vec![memory]),
                (4, vec![vcpu]),
                (6, vec![vcpu, memory]),
                (8, vec![vcpu]),
            ]
        );
        assert_eq!(plan.late(), 0);
    }

    #[test]
    fn what_was_missed_is_left_out() {
        let start = Instant::now();
        let mut plan = plan(start);
        plan.due(start);
        assert_eq!(plan.due(start + Duration::from_secs(7)).len(), 2);
        assert_eq!(plan.late(), 1);
        assert_eq!(plan.next(), Some(start + Duration::from_secs(8)));
        assert_eq!(plan.due(start + Duration::from_secs(8)).len(), 1);
        assert_eq!(plan.next(), Some(start + Duration::from_secs(9)));
    }

    #[test]
    fn nothing_to_read_is_never_due() {
        let mut config = Config::standard(Duration::from_secs(1));
        config.applications.clear();
        config.system.clear();
        assert_eq!(Plan::of(&config, Instant::now()).next(), None);
    }
}
