//! CPU time and memory of the host, in all and for each application.

use std::collections::BTreeMap;

use super::core_use::as_f64;
use super::span::{by_pid, grown, seconds_between};
use crate::sample::{CpuTimes, Ram, Sample};

/// Clock ticks of `/proc` in a second.
const TICKS: f64 = 100.0;

/// Shares of time of one CPU or of all together, percent. They add up to 100
/// or, when no time has passed, to 0. Time stolen by the hypervisor is in
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuShares {
    /// User mode.
    pub user: f64,
    /// User mode at low priority.
    pub nice: f64,
    /// Kernel.
    pub system: f64,
    /// Nothing to do.
    pub idle: f64,
    /// Nothing to do but for disks.
    pub io_wait: f64,
    /// Interrupts.
    pub irq: f64,
    /// Deferred interrupt work.
    pub soft_irq: f64,
}

/// The CPUs of the host between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuUse {
    /// All together.
    pub average: CpuShares,
    /// Each by its number.
    pub each: BTreeMap<u32, CpuShares>,
    /// Context switches.
    pub context_switches: u64,
}

/// CPU time of one application, percent of all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessorShare {
    /// User mode.
    pub user: f64,
    /// Kernel.
    pub system: f64,
}

/// Memory of the host, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostMemory {
    /// In all.
    pub total: u64,
    /// In use: what is not available to new programs (our choice; the
    /// original's formula is not published).
    pub used: u64,
    /// Swap in all.
    pub swap_total: u64,
    /// Swap in use.
    pub swap_used: u64,
}

/// The CPUs between two samples that both have them; the texts say why not.
///
/// # Errors
///
/// Why there are none; `None` when they were not asked for twice.
pub fn cpu_use(earlier: &Sample, now: &Sample) -> Option<Result<CpuUse, String>> {
    let system = now.system.as_ref()?;
    if let Some(error) = &system.cpus_error {
        return Some(Err(super::printable(error)));
    }
    let (before, after) = (earlier.system.as_ref()?.cpus.as_ref()?, system.cpus.as_ref()?);
    let each = after.each.iter().map(|(number, times)| {
        let old = before.each.iter().find(|(old, _)| old == number);
        // A CPU that was offline begins with what it has.
        (*number, shares(old.map_or(*times, |(_, times)| *times), *times))
    });
    Some(Ok(CpuUse {
        average: shares(before.all, after.all),
        each: each.collect(),
        context_switches: grown(before.context_switches, after.context_switches),
    }))
}

fn shares(before: CpuTimes, now: CpuTimes) -> CpuShares {
    // Some of the kernel's counters can go back by a tick or two.
    let spent = |of: fn(&CpuTimes) -> u64| as_f64(of(&now).saturating_sub(of(&before)));
    let times = [
        spent(|t| t.user),
        spent(|t| t.nice),
        spent(|t| t.system),
        spent(|t| t.idle),
        spent(|t| t.io_wait),
        spent(|t| t.irq),
        spent(|t| t.soft_irq),
    ];
    let sum: f64 = times.iter().sum();
    let [user, nice, system, idle, io_wait, irq, soft_irq] =
        times.map(|time| if sum > 0.0 { hundredths(time / sum * 100.0) } else { 0.0 });
    CpuShares { user, nice, system, idle, io_wait, irq, soft_irq }
}

/// CPU time of each application, by pid, or why it is not known. Empty when no
/// time has passed or the number of CPUs is not known.
pub fn processor_shares(
    earlier: &Sample,
    now: &Sample,
) -> BTreeMap<u32, Result<ProcessorShare, String>> {
    let count = now.system.as_ref().and_then(|s| s.cpus.as_ref()).map_or(0, |c| c.each.len());
    let Some(seconds) = seconds_between(earlier, now).filter(|_| count > 0) else {
        return BTreeMap::new();
    };
    let whole = seconds * TICKS * as_f64(count as u64);
    let old = by_pid(earlier);
    let share = |ticks: u64| hundredths((as_f64(ticks) / whole * 100.0).min(100.0));
    let of = |pid: &u32, process: &crate::sample::Process| {
        let Some(used) = process.usage else {
            let reason = process.usage_error.as_deref().unwrap_or("CPU time was not read");
            return Err(super::printable(reason));
        };
        let before = old.get(pid).and_then(|parts| parts.first()?.1.usage);
        let before = before.filter(|before| before.started == used.started);
        let (user, system) = before.map_or((0, 0), |before| (before.user, before.system));
        Ok(ProcessorShare {
            user: share(used.user.saturating_sub(user)),
            system: share(used.system.saturating_sub(system)),
        })
    };
    let parts = by_pid(now);
    let known = parts.iter().filter_map(|(pid, parts)| Some((*pid, of(pid, parts.first()?.1))));
    known.collect()
}

/// Memory of the host. `None` when it was not asked for.
pub fn host_memory(sample: &Sample) -> Option<Result<HostMemory, String>> {
    let system = sample.system.as_ref()?;
    if let Some(error) = &system.ram_error {
        return Some(Err(super::printable(error)));
    }
    system.ram.as_ref().map(|ram| Ok(in_use(ram)))
}

fn in_use(ram: &Ram) -> HostMemory {
    let old_kernel = || ram.free.saturating_add(ram.buffers).saturating_add(ram.cached);
    let available = ram.available.unwrap_or_else(old_kernel);
    HostMemory {
        total: ram.total,
        used: ram.total.saturating_sub(available),
        swap_total: ram.swap_total,
        swap_used: ram.swap_total.saturating_sub(ram.swap_free),
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, process_mut, with};
    use super::*;
    use crate::instance::Chip;
    use crate::sample::{Cpus, System, Usage};

    fn cpus(all: [u64; 7], each: &[(u32, [u64; 7])], context_switches: u64) -> Sample {
        let times = |[user, nice, system, idle, io_wait, irq, soft_irq]: [u64; 7]| CpuTimes {
            user,
            nice,
            system,
            idle,
            io_wait,
            irq,
            soft_irq,
        };
        let each = each.iter().map(|(number, all)| (*number, times(*all))).collect();
        let cpus = Some(Cpus { all: times(all), each, context_switches });
        Sample { system: Some(System { cpus, ..System::default() }), ..Sample::default() }
    }

    #[test]
    fn seven_fields_add_up() {
        let before = cpus([100; 7], &[(0, [50; 7]), (1, [50; 7])], 1000);
        let now = cpus(
            [110, 103, 107, 150, 110, 111, 112],
            &[(0, [60, 50, 50, 60, 50, 50, 50]), (2, [9; 7])],
            1500,
        );
        let usage = cpu_use(&before, &now).unwrap().unwrap();
        assert_eq!((usage.average.user, usage.average.idle), (9.71, 48.54));
        let shares = usage.average;
        let sum = shares.user
            + shares.nice
            + shares.system
            + shares.idle
            + shares.io_wait
            + shares.irq
            + shares.soft_irq;
        assert!((sum - 100.0).abs() < 0.05, "{sum}");
        assert_eq!(usage.each[&0].user, 50.0);
        assert_eq!(usage.each[&2], CpuShares::default());
        assert_eq!((usage.each.len(), usage.context_switches), (2, 500));
        assert_eq!(cpu_use(&now, &now).unwrap().unwrap().average, CpuShares::default());
        assert!(cpu_use(&Sample::default(), &now).is_none());
    }

    #[test]
    fn one_busy_thread_of_four_cpus_is_a_quarter() {
        let at = |seconds, user, started| {
            let mut sample = with(machine(Chip::Trainium1, 1, seconds), 0, 0, &[(1, 1)]);
            sample.system =
                cpus([0; 7], &[(0, [0; 7]), (1, [0; 7]), (2, [0; 7]), (3, [0; 7])], 0).system;
            process_mut(&mut sample, 0).usage = Some(Usage { user, system: 100, started });
            sample
        };
        let share =
            |before: &Sample, now: &Sample| processor_shares(before, now).remove(&7).unwrap();
        assert_eq!(
            share(&at(1, 1000, 5), &at(2, 1100, 5)),
            Ok(ProcessorShare { user: 25.0, system: 0.0 })
        );
        // Another process of the same pid.
        assert_eq!(share(&at(1, 1000, 5), &at(2, 40, 6)).unwrap().user, 10.0);
        let mut now = at(2, 0, 0);
        process_mut(&mut now, 0).usage = None;
        process_mut(&mut now, 0).usage_error = Some(String::from("open /proc/7/stat: no"));
        assert_eq!(share(&at(1, 0, 0), &now), Err(String::from("open /proc/7/stat: no")));
    }

    #[test]
    fn memory_in_use_is_what_is_not_available() {
        let ram = Ram {
            total: 100,
            available: Some(60),
            free: 10,
            swap_total: 9,
            swap_free: 4,
            ..Ram::default()
        };
        assert_eq!(in_use(&ram), HostMemory { total: 100, used: 40, swap_total: 9, swap_used: 5 });
        let old = Ram { available: None, buffers: 5, cached: 25, ..ram };
        assert_eq!(in_use(&old).used, 60);
    }
}
