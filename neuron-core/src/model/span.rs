//! The time between two samples, and what counters did in it.

use std::collections::BTreeMap;

use crate::sample::{Process, Sample};

/// Seconds from one sample to the next, above 0. On the clock that nobody
/// sets where both have it, so that a wall clock that steps does no harm;
/// `None` when no time has passed.
pub fn seconds_between(before: &Sample, now: &Sample) -> Option<f64> {
    let nanos = match (before.uptime, now.uptime) {
        (Some(before), Some(now)) => now.checked_sub(before),
        _ => now.taken.unix_nanos().checked_sub(before.taken.unix_nanos()),
    }?;
    (nanos > 0).then(|| std::time::Duration::from_nanos(nanos).as_secs_f64())
}

/// By how much a counter has grown. One that is smaller than before began
/// anew, and has counted what it holds since.
pub(super) const fn grown(before: u64, now: u64) -> u64 {
    if now >= before { now - before } else { now }
}

/// A process on each device that it has a datastore on: index of the device
/// and what it is there.
pub(super) type Parts<'a> = Vec<(u32, &'a Process)>;

/// The processes with a Neuron runtime, by pid.
pub(super) fn by_pid(sample: &Sample) -> BTreeMap<u32, Parts<'_>> {
    let mut all: BTreeMap<u32, Parts<'_>> = BTreeMap::new();
    for device in &sample.devices {
        let listed = device.processes.iter().flatten();
        for process in listed.filter(|process| process.datastore.is_some()) {
            all.entry(process.pid).or_default().push((device.index, process));
        }
    }
    all
}

/// What stood in the earlier sample where a process is now.
#[derive(Debug, Clone, Copy)]
pub(super) enum Before<'a> {
    /// The same process.
    Process(&'a Process),
    /// It was not there yet: everything it has counted is of this time.
    New,
    /// The device could not be asked: nothing is known of the time between.
    Unknown,
}

/// Looks for a process on a device in the earlier sample. A pid that was
/// reused by another process does not count.
pub(super) fn before<'a>(sample: &'a Sample, device: u32, process: &Process) -> Before<'a> {
    let Some(device) = sample.devices.iter().find(|d| d.index == device) else {
        return Before::Unknown;
    };
    let Some(listed) = &device.processes else { return Before::Unknown };
    let started = |process: &Process| process.usage.map(|usage| usage.started);
    match listed.iter().find(|old| old.pid == process.pid) {
        Some(old) if started(old).zip(started(process)).is_some_and(|(a, b)| a != b) => Before::New,
        Some(old) if old.datastore.is_some() => Before::Process(old),
        Some(_) | None => Before::New,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Datastore, Device, Usage};
    use crate::units::Timestamp;

    #[test]
    fn a_wall_clock_that_steps_does_no_harm() {
        let at = |wall: u64, uptime| Sample {
            taken: Timestamp::from_unix_nanos(wall),
            uptime,
            ..Sample::default()
        };
        let second = 1_000_000_000;
        assert_eq!(seconds_between(&at(9, Some(second)), &at(3, Some(3 * second))), Some(2.0));
        assert_eq!(seconds_between(&at(second, None), &at(2 * second, Some(1))), Some(1.0));
        assert_eq!(seconds_between(&at(5, None), &at(5, None)), None);
        assert_eq!(seconds_between(&at(5, Some(7)), &at(6, Some(7))), None);
    }

    #[test]
    fn a_counter_that_went_back_began_anew() {
        assert_eq!((grown(3, 10), grown(10, 10), grown(10, 4)), (7, 0, 4));
    }

    #[test]
    fn who_was_there_before() {
        let process = |pid, started| Process {
            pid,
            datastore: Some(Datastore::default()),
            usage: Some(Usage { started, ..Usage::default() }),
            ..Process::default()
        };
        let device = |index, processes| Device { index, processes, ..Device::default() };
        let sample = Sample {
            devices: vec![
                device(0, Some(vec![process(7, 1), Process { pid: 8, ..Process::default() }])),
                device(1, None),
            ],
            ..Sample::default()
        };
        assert!(matches!(before(&sample, 0, &process(7, 1)), Before::Process(old) if old.pid == 7));
        assert!(matches!(before(&sample, 0, &process(7, 2)), Before::New));
        assert!(matches!(before(&sample, 0, &process(8, 1)), Before::New));
        assert!(matches!(before(&sample, 0, &process(9, 1)), Before::New));
        assert!(matches!(before(&sample, 1, &process(7, 1)), Before::Unknown));
        assert!(matches!(before(&sample, 2, &process(7, 1)), Before::Unknown));
    }
}
