//! What each process executed between two samples: outcomes, errors, latency.

use std::collections::BTreeMap;

use super::latency::{Percentiles, percentiles};
use super::span::{Before, Parts, before, by_pid, grown, seconds_between};
use crate::sample::{CoreLatency, Latency, Process, Sample};
use crate::uapi::nds::core_counter as id;

/// Executions by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcomes {
    /// Completed.
    pub completed: u64,
    /// Completed with an error other than a numerical one.
    pub completed_with_err: u64,
    /// Completed with a numerical error.
    pub completed_with_num_err: u64,
    /// Over the runtime's time limit.
    pub timed_out: u64,
    /// Not started because of the input.
    pub incorrect_input: u64,
    /// Refused by the queue.
    pub failed_to_queue: u64,
}

/// Errors by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    /// Of no other kind.
    pub generic: u64,
    /// NaN was produced.
    pub numerical: u64,
    /// Recoverable.
    pub transient: u64,
    /// A bad model.
    pub model: u64,
    /// Of the runtime.
    pub runtime: u64,
    /// Uncorrectable, of the device.
    pub hardware: u64,
}

/// What one process executed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Executions {
    /// Outcomes in the time between the samples.
    pub outcomes: Outcomes,
    /// Errors in the time between the samples.
    pub errors: Errors,
    /// Outcomes since the process was started.
    pub outcomes_total: Outcomes,
    /// Errors since the process was started.
    pub errors_total: Errors,
    /// From the request to the result; `None` when nothing ran or the runtime
    /// does not tell (the vendor's: driver.md §5.6).
    pub total_latency: Option<Percentiles>,
    /// On the device; `None` alike.
    pub device_latency: Option<Percentiles>,
}

/// What each process executed, by pid. Empty when no time has passed.
pub fn executions(earlier: &Sample, now: &Sample) -> BTreeMap<u32, Executions> {
    if seconds_between(earlier, now).is_none() {
        return BTreeMap::new();
    }
    by_pid(now).iter().map(|(pid, parts)| (*pid, of(earlier, parts))).collect()
}

fn of(earlier: &Sample, parts: &Parts<'_>) -> Executions {
    let mut delta: BTreeMap<u32, u64> = BTreeMap::new();
    let mut total: BTreeMap<u32, u64> = BTreeMap::new();
    let mut latencies = [Latency::default(), Latency::default()];
    for (device, process) in parts {
        let before = before(earlier, *device, process);
        for core in process.datastore.iter().flat_map(|store| &store.cores) {
            let old = |counter| match before {
                Before::Process(old) => Some(count(old, core.index, counter)),
                Before::New => Some(0),
                Before::Unknown => None,
            };
            for (counter, value) in &core.counters {
                add(&mut total, *counter, *value);
                if let Some(old) = old(*counter) {
                    add(&mut delta, *counter, grown(old, *value));
                }
            }
        }
        for core in latencies_of(process) {
            let old = match before {
                Before::Process(old) => {
                    latencies_of(old).iter().find(|old| old.core == core.core).cloned()
                }
                Before::New => None,
                Before::Unknown => continue,
            };
            let old = old.unwrap_or_default();
            let [total, device] = &mut latencies;
            since(total, &core.total, &old.total);
            since(device, &core.device, &old.device);
        }
    }
    let [total_latency, device_latency] = latencies;
    Executions {
        outcomes: outcomes(&delta),
        errors: errors(&delta),
        outcomes_total: outcomes(&total),
        errors_total: errors(&total),
        total_latency: percentiles(&total_latency),
        device_latency: percentiles(&device_latency),
    }
}

fn add(sums: &mut BTreeMap<u32, u64>, counter: u32, value: u64) {
    let sum = sums.entry(counter).or_default();
    *sum = sum.wrapping_add(value);
}

fn count(process: &Process, core: u32, counter: u32) -> u64 {
    let cores = process.datastore.iter().flat_map(|store| &store.cores);
    let found = cores.filter(|c| c.index == core).find_map(|c| c.counters.get(&counter));
    found.copied().unwrap_or(0)
}

fn latencies_of(process: &Process) -> &[CoreLatency] {
    let store = process.datastore.as_ref();
    store.and_then(|store| store.latencies.as_deref()).unwrap_or_default()
}

/// Adds to `sum` what `now` has counted since `old`.
fn since(sum: &mut Latency, now: &Latency, old: &Latency) {
    for (bucket, count) in &now.buckets {
        let old = old.buckets.get(bucket).copied().unwrap_or(0);
        let new = grown(old, *count);
        if new > 0 {
            add(&mut sum.buckets, *bucket, new);
        }
    }
    sum.sum = sum.sum.wrapping_add(now.sum.wrapping_sub(old.sum));
}

fn outcomes(counts: &BTreeMap<u32, u64>) -> Outcomes {
    let of = |counter| counts.get(&counter).copied().unwrap_or(0);
    Outcomes {
        completed: of(id::COMPLETED),
        completed_with_err: of(id::COMPLETED_WITH_ERR),
        completed_with_num_err: of(id::COMPLETED_WITH_NUM_ERR),
        timed_out: of(id::TIMED_OUT),
        incorrect_input: of(id::INCORRECT_INPUT),
        failed_to_queue: of(id::FAILED_TO_QUEUE),
    }
}

fn errors(counts: &BTreeMap<u32, u64>) -> Errors {
    let of = |counter| counts.get(&counter).copied().unwrap_or(0);
    Errors {
        generic: of(id::ERROR_GENERIC),
        numerical: of(id::ERROR_NUMERICAL),
        transient: of(id::ERROR_TRANSIENT),
        model: of(id::ERROR_MODEL),
        runtime: of(id::ERROR_RUNTIME),
        hardware: of(id::ERROR_HARDWARE),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, with};
    use super::*;
    use crate::instance::Chip;

    #[test]
    fn counts_of_the_period_and_of_all_time() {
        let before = with(machine(Chip::Trainium1, 2, 1), 0, 0, &[(1, 100), (8, 2)]);
        let before = with(before, 1, 1, &[(1, 50)]);
        let now = with(machine(Chip::Trainium1, 2, 2), 0, 0, &[(1, 130), (8, 3), (4, 1)]);
        let now = with(now, 1, 1, &[(1, 55), (6, 2), (12, 4)]);
        let executions = executions(&before, &now).remove(&7).unwrap();
        let outcomes = executions.outcomes;
        assert_eq!((outcomes.completed, outcomes.timed_out, outcomes.failed_to_queue), (35, 1, 2));
        assert_eq!((executions.errors.numerical, executions.errors.runtime), (1, 4));
        assert_eq!(
            (executions.outcomes_total.completed, executions.errors_total.numerical),
            (185, 3)
        );
        assert_eq!(executions.total_latency, None);
    }

    /// A process that came between two samples counts in full; one on a
    /// device that could not be asked does not.
    #[test]
    fn new_processes_and_blind_devices() {
        let now = with(machine(Chip::Trainium1, 1, 2), 0, 0, &[(1, 9)]);
        let completed = |before: &Sample| {
            executions(before, &now)
                .get(&7)
                .map(|e| (e.outcomes.completed, e.outcomes_total.completed))
        };
        assert_eq!(completed(&machine(Chip::Trainium1, 1, 1)), Some((9, 9)));
        let mut blind = machine(Chip::Trainium1, 1, 1);
        blind.devices[0].processes = None;
        assert_eq!(completed(&blind), Some((0, 9)));
        assert_eq!(completed(&now), None);
    }

    #[test]
    fn latencies_of_the_period() {
        let latency = |count, sum| CoreLatency {
            core: 0,
            total: Latency { buckets: [(20, count)].into(), sum },
            device: Latency::default(),
        };
        let with_latency = |mut sample: Sample, latency| {
            let store =
                sample.devices[0].processes.as_mut().unwrap()[0].datastore.as_mut().unwrap();
            store.latencies = Some(vec![latency]);
            sample
        };
        let before = with_latency(
            with(machine(Chip::Trainium1, 1, 1), 0, 0, &[(1, 4)]),
            latency(4, 4_400_000),
        );
        let now = with_latency(
            with(machine(Chip::Trainium1, 1, 2), 0, 0, &[(1, 6)]),
            latency(6, 7_200_000),
        );
        let found = executions(&before, &now).remove(&7).unwrap();
        assert_eq!(found.total_latency.unwrap().p50, 0.0014);
        assert_eq!(found.device_latency, None);
    }
}
