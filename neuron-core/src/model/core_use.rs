//! How busy each process keeps each logical NeuronCore.

use std::collections::BTreeMap;

use super::layout::{Layout, LogicalCore};
use super::span::{Before, Parts, before, by_pid, grown, seconds_between};
use crate::sample::{Process, Sample};
use crate::uapi::nds::core_counter as id;

/// One logical core in the time between two samples, as one process used it.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreUse {
    /// Id, global over the visible devices.
    pub index: u32,
    /// Index of its device.
    pub device: u32,
    /// Share of the time in which the process kept it busy, percent.
    pub utilization: f64,
    /// Floating-point operations per second.
    pub flops: f64,
    /// Utilisation of its physical cores, percent, where it has several.
    pub physical: Vec<f64>,
    /// Whether the process holds the core: it has counted time or has memory
    /// there.
    pub owned: bool,
}

/// Every core of the machine, for each process by pid; a core that a process
/// does not use is at 0. Empty when no time has passed.
pub fn core_use(earlier: &Sample, now: &Sample) -> BTreeMap<u32, Vec<CoreUse>> {
    let Some(seconds) = seconds_between(earlier, now) else { return BTreeMap::new() };
    let layout = Layout::of(now);
    let of = |parts: &Parts<'_>| {
        layout.cores.iter().map(|core| one(earlier, parts, core, seconds)).collect()
    };
    by_pid(now).iter().map(|(pid, parts)| (*pid, of(parts))).collect()
}

fn one(earlier: &Sample, parts: &Parts<'_>, core: &LogicalCore, seconds: f64) -> CoreUse {
    let mut usage = CoreUse {
        index: core.index,
        device: core.device,
        utilization: 0.0,
        flops: 0.0,
        physical: Vec::new(),
        owned: false,
    };
    let several = core.physical.len() > 1;
    if several {
        usage.physical = vec![0.0; core.physical.len()];
    }
    let Some((_, process)) = parts.iter().find(|(device, _)| *device == core.device) else {
        return usage;
    };
    let before = before(earlier, core.device, process);
    let mut each: Vec<Option<f64>> = Vec::with_capacity(core.physical.len());
    for physical in core.physical.clone() {
        let delta = |counter| match before {
            Before::Process(old) => {
                grown(count(old, physical, counter), count(process, physical, counter))
            }
            Before::New => count(process, physical, counter),
            Before::Unknown => 0,
        };
        usage.flops += as_f64(delta(id::MAC_COUNT)) * 2.0 / seconds;
        let known = counted(process, physical);
        usage.owned |= known;
        let busy = as_f64(delta(id::TIME_IN_USE));
        each.push(known.then(|| percent(busy, as_f64(delta(id::CORE_TIME)), seconds)));
    }
    // A runtime that counts logical cores does so at the first physical one,
    // which then speaks for the others (ours does: our choice).
    let first = each.first().copied().flatten();
    let rest_silent = each.iter().skip(1).all(Option::is_none);
    let values: Vec<f64> =
        each.iter().map(|value| if rest_silent { first } else { *value }.unwrap_or(0.0)).collect();
    usage.utilization = values.iter().sum::<f64>() / as_f64(values.len().max(1) as u64);
    if several {
        usage.physical = values;
    }
    usage
}

/// How far the runtime's clock of a core may be from the wall clock, as a share
/// of the wall clock's time, to be held to have measured the same time (our
/// choice).
const NEAR: f64 = 0.25;

/// Busy time over the time base, percent (driver.md §5.6).
///
/// The base is the runtime's own clock of the core, written at the same moment
/// as the busy time; against the wall clock a runtime that writes every 100 ms
/// would show 90 % and 110 % in turn. Where that clock ran for another time
/// than the wall clock, the core was not held before or after, or the counters
/// are written more seldom than they are read: then the wall clock is the base,
/// as it is for a runtime without such a clock. A share of another time would
/// be charged for the whole one, and the shares would not add up to what was
/// counted.
fn percent(busy: f64, held: f64, seconds: f64) -> f64 {
    let wall = seconds * 1e9;
    let base = if (wall - held).abs() <= NEAR * wall { held } else { wall };
    (busy / base * 100.0).clamp(0.0, 100.0)
}

fn count(process: &Process, physical: u32, counter: u32) -> u64 {
    let cores = process.datastore.iter().flat_map(|store| &store.cores);
    let core = cores.filter(|core| core.index == physical).find_map(|c| c.counters.get(&counter));
    core.copied().unwrap_or(0)
}

/// Whether a process has counted anything on a physical core.
fn counted(process: &Process, physical: u32) -> bool {
    let mut cores = process.datastore.iter().flat_map(|store| &store.cores);
    cores.any(|core| core.index == physical && !core.counters.is_empty())
}

/// Counters of time and work, exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
pub(super) const fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, with};
    use super::*;
    use crate::instance::Chip;

    const S: u64 = 1_000_000_000;

    fn single(before: &Sample, now: &Sample) -> Vec<CoreUse> {
        core_use(before, now).remove(&7).unwrap()
    }

    #[test]
    fn busy_over_held_time() {
        let before = with(machine(Chip::Trainium1, 2, 10), 0, 1, &[(0, 5 * S), (15, 10 * S)]);
        let counters = [(0, 6 * S), (15, 12 * S), (29, 1000)];
        let now = with(machine(Chip::Trainium1, 2, 12), 0, 1, &counters);
        let cores = single(&before, &now);
        assert_eq!(cores.len(), 4);
        assert_eq!(cores[1].utilization, 50.0);
        assert_eq!((cores[1].flops, cores[1].owned), (1000.0, true));
        assert!(cores[1].physical.is_empty());
        for other in [0, 2, 3] {
            assert_eq!((cores[other].utilization, cores[other].owned), (0.0, false));
        }
    }

    /// Counters that are written every 100 ms, and a core that was taken in
    /// the middle of a long period.
    #[test]
    fn late_counters_and_short_holds() {
        let before = with(machine(Chip::Trainium1, 1, 10), 0, 0, &[(0, S), (15, S)]);
        let now = with(
            machine(Chip::Trainium1, 1, 11),
            0,
            0,
            &[(0, 2 * S + S / 10), (15, 2 * S + S / 10)],
        );
        assert_eq!(single(&before, &now)[0].utilization, 100.0);
        let idle = machine(Chip::Trainium1, 1, 0);
        let now = with(machine(Chip::Trainium1, 1, 10), 0, 0, &[(0, 2 * S), (15, 4 * S)]);
        assert_eq!(single(&idle, &now)[0].utilization, 20.0);
        let now = with(machine(Chip::Trainium1, 1, 10), 0, 0, &[(0, 2 * S)]);
        assert_eq!(single(&idle, &now)[0].utilization, 20.0);
        let now = with(machine(Chip::Trainium1, 1, 1), 0, 0, &[(0, 20 * S)]);
        assert_eq!(single(&idle, &now)[0].utilization, 100.0);
        // Held, and busy, for a fifth of the time.
        let now = with(machine(Chip::Trainium1, 1, 1), 0, 0, &[(0, S / 5), (15, S / 5)]);
        assert_eq!(single(&idle, &now)[0].utilization, 20.0);
    }

    #[test]
    fn a_logical_core_is_the_mean_of_its_physical_ones() {
        let before = machine(Chip::Trainium2, 1, 0);
        let now = with(machine(Chip::Trainium2, 1, 10), 0, 2, &[(0, 3 * S), (15, 10 * S)]);
        let now = with(now, 0, 3, &[(0, 5 * S), (15, 10 * S)]);
        let cores = single(&before, &now);
        assert_eq!(cores.len(), 4);
        assert_eq!((cores[1].utilization, cores[1].physical.as_slice()), (40.0, &[30.0, 50.0][..]));
        // Only the first is counted: it speaks for both.
        let now = with(machine(Chip::Trainium2, 1, 10), 0, 2, &[(0, 3 * S), (15, 10 * S)]);
        let cores = single(&before, &now);
        assert_eq!((cores[1].utilization, cores[1].physical.as_slice()), (30.0, &[30.0, 30.0][..]));
    }

    #[test]
    fn no_time_and_unknown_times_give_nothing() {
        let now = with(machine(Chip::Trainium1, 1, 10), 0, 0, &[(0, S), (15, S)]);
        assert!(core_use(&now, &now).is_empty());
        let mut before = machine(Chip::Trainium1, 1, 9);
        before.devices[0].processes = None;
        assert_eq!(single(&before, &now)[0].utilization, 0.0);
    }
}
