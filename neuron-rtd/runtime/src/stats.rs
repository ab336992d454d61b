//! What is counted: per core as the datastore has it, and for the daemon's own
//! counters (neuron-rtd.md §3.6, §3.9).
//!
//! Counting takes no lock but for latencies of loads and starts. An inference
//! is counted on the first core of its model; busy time on every core that a
//! node runs on. Where a core is several physical ones, time in use and
//! multiplications are also counted on each of these, which is what the
//! datastore has (driver.md §5.6). Readers may see counters of different moments.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use neuron_core::uapi::nds::core_counter as id;
use neuron_core::uapi::nds_ext::{self, BUCKETS, Histogram};

use crate::backend::CoreCosts;
use crate::failure::{Code, Failure, Subtype};

/// Counters of one core.
#[derive(Debug)]
pub(crate) struct CoreStats {
    pub(crate) counters: Vec<AtomicU64>,
    total: AtomicHistogram,
    device: AtomicHistogram,
    /// Instructions of PE, ACT, POOL, DVE and SP.
    instructions: [AtomicU64; 5],
    /// Time in use and multiplications of each physical core.
    physical: Vec<[AtomicU64; 2]>,
    /// Since when a group holds it.
    owned: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct AtomicHistogram {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl AtomicHistogram {
    fn new() -> Self {
        Self { buckets: std::array::from_fn(|_| AtomicU64::new(0)), sum: AtomicU64::new(0) }
    }

    fn add(&self, nanos: u64) {
        if let Some(bucket) = self.buckets.get(nds_ext::bucket_of(nanos) as usize) {
            bucket.fetch_add(1, Relaxed);
        }
        self.sum.fetch_add(nanos, Relaxed);
    }

    fn read(&self) -> Histogram {
        Histogram {
            buckets: std::array::from_fn(|at| self.buckets[at].load(Relaxed)),
            sum: self.sum.load(Relaxed),
        }
    }
}

impl CoreStats {
    fn new(lnc: u32) -> Self {
        Self {
            physical: (0..lnc).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect(),
            counters: (0..id::FIRST_RESERVED).map(|_| AtomicU64::new(0)).collect(),
            total: AtomicHistogram::new(),
            device: AtomicHistogram::new(),
            instructions: std::array::from_fn(|_| AtomicU64::new(0)),
            owned: Mutex::new(None),
        }
    }

    pub(crate) fn add(&self, counter: u32, amount: u64) {
        if let Some(counter) = usize::try_from(counter).ok().and_then(|at| self.counters.get(at)) {
            counter.fetch_add(amount, Relaxed);
        }
    }

    fn snapshot(&self) -> CoreSnapshot {
        let mut counters: Vec<u64> =
            self.counters.iter().map(|counter| counter.load(Relaxed)).collect();
        // what runs now, on top of the runs that have ended
        let since = *self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(since), Some(time)) = (since, counters.get_mut(id::CORE_TIME as usize)) {
            *time = time.saturating_add(nanos(since.elapsed()));
        }
        let instructions = std::array::from_fn(|at| self.instructions[at].load(Relaxed));
        let (total, device) = (self.total.read(), self.device.read());
        let read = |[busy, macs]: &[AtomicU64; 2]| [busy.load(Relaxed), macs.load(Relaxed)];
        let physical = self.physical.iter().map(read).collect();
        CoreSnapshot { counters, total, device, instructions, physical }
    }
}

/// Counters of one core at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreSnapshot {
    /// By datastore id.
    pub counters: Vec<u64>,
    /// Latencies from request to result.
    pub total: Histogram,
    /// Latencies on the device.
    pub device: Histogram,
    /// Instructions of PE, ACT, POOL, DVE and SP.
    pub instructions: [u64; 5],
    /// Of each physical core: nanoseconds in use, multiplications.
    pub physical: Vec<[u64; 2]>,
}

impl CoreSnapshot {
    /// A counter by its datastore id.
    pub fn counter(&self, id: u32) -> u64 {
        usize::try_from(id).ok().and_then(|at| self.counters.get(at)).copied().unwrap_or(0)
    }

    /// What the datastore has of each physical core: its own time in use and
    /// multiplications, the time for which the core is held, and at the first
    /// one everything else.
    pub(crate) fn by_physical(self) -> impl Iterator<Item = Self> {
        let held = self.counter(id::CORE_TIME);
        (0_usize..).zip(self.physical.clone()).map(move |(number, [busy, macs])| {
            let mut own = if number == 0 { self.clone() } else { Self::none(self.counters.len()) };
            for (id, value) in
                [(id::TIME_IN_USE, busy), (id::MAC_COUNT, macs), (id::CORE_TIME, held)]
            {
                if let Some(counter) = own.counters.get_mut(id as usize) {
                    *counter = value;
                }
            }
            own
        })
    }

    fn none(counters: usize) -> Self {
        Self {
            counters: vec![0; counters],
            total: Histogram::default(),
            device: Histogram::default(),
            instructions: [0; 5],
            physical: Vec::new(),
        }
    }
}

/// What is measured per call (neuron-rtd.md §1.4, metric_type).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// 0, seconds.
    InferLatency,
    /// 1, seconds.
    DeviceLatency,
    /// 2, seconds.
    StartLatency,
    /// 3, seconds.
    StopLatency,
    /// 4, seconds.
    LoadLatency,
    /// 5, seconds.
    UnloadLatency,
    /// 6, bytes.
    ModelSize,
    /// 7, cores.
    ModelCores,
    /// 8.
    ModelMajor,
}

impl Metric {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::InferLatency,
        Self::DeviceLatency,
        Self::StartLatency,
        Self::StopLatency,
        Self::LoadLatency,
        Self::UnloadLatency,
        Self::ModelSize,
        Self::ModelCores,
        Self::ModelMajor,
    ];

    const fn at(self) -> usize {
        self as usize
    }
}

/// Values of a metric, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Aggregate {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// How many.
    pub count: u64,
    /// Sum.
    pub sum: f64,
}

impl Aggregate {
    fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = if self.count == 0 { value } else { self.max.max(value) };
        self.count += 1;
        self.sum += value;
    }
}

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Stats {
    /// Physical cores of each core.
    lnc: u32,
    pub(crate) cores: Vec<CoreStats>,
    subtypes: [AtomicU64; 6],
    outcomes: [AtomicU64; 5],
    pub(crate) drops: AtomicU64,
    pub(crate) inferences: AtomicU64,
    pub(crate) starts: AtomicU64,
    pub(crate) stops: AtomicU64,
    pub(crate) loads: AtomicU64,
    pub(crate) unloads: AtomicU64,
    metrics: Mutex<[Aggregate; 9]>,
    neffs: Mutex<Neffs>,
    /// Something has changed since it was published.
    dirty: AtomicBool,
}

/// Extremes of the NEFFs loaded so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Neffs {
    max_version: (u64, u64),
    min_version: Option<(u64, u64)>,
    size_max: u64,
    cores_max: u64,
}

/// Counters of the runtime at one moment; the names are those of
/// `nmgr_counters`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Errors by class, in the order of [`Subtype::ALL`].
    pub subtypes: [u64; 6],
    /// Inferences by outcome: ok, numerical error, error, bad input, timeout.
    pub outcomes: [u64; 5],
    /// Requests that found the queue full.
    pub drops: u64,
    /// Inferences that were accepted and have ended.
    pub inferences: u64,
    /// Models started.
    pub starts: u64,
    /// Models stopped.
    pub stops: u64,
    /// Models loaded.
    pub loads: u64,
    /// Models unloaded.
    pub unloads: u64,
    /// Highest NEFF version.
    pub neff_max: (u64, u64),
    /// Lowest NEFF version.
    pub neff_min: (u64, u64),
    /// Largest NEFF in bytes.
    pub neff_size_max: u64,
    /// Most cores of a NEFF.
    pub neff_cores_max: u64,
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Stats {
    /// For `cores` cores of `lnc` physical ones each.
    pub(crate) fn new(cores: u32, lnc: u32) -> Self {
        Self {
            lnc: lnc.max(1),
            cores: (0..cores).map(|_| CoreStats::new(lnc.max(1))).collect(),
            subtypes: std::array::from_fn(|_| AtomicU64::new(0)),
            outcomes: std::array::from_fn(|_| AtomicU64::new(0)),
            drops: AtomicU64::new(0),
            inferences: AtomicU64::new(0),
            starts: AtomicU64::new(0),
            stops: AtomicU64::new(0),
            loads: AtomicU64::new(0),
            unloads: AtomicU64::new(0),
            metrics: Mutex::default(),
            neffs: Mutex::default(),
            dirty: AtomicBool::new(false),
        }
    }

    pub(crate) fn core(&self, index: u32) -> Option<&CoreStats> {
        self.cores.get(usize::try_from(index).ok()?)
    }

    pub(crate) fn take_dirty(&self) -> bool {
        self.dirty.swap(false, Relaxed)
    }

    pub(crate) fn touch(&self) {
        self.dirty.store(true, Relaxed);
    }

    /// A group takes cores, or gives them back.
    pub(crate) fn own(&self, first: u32, count: u32, owned: bool) {
        for core in (first..first.saturating_add(count)).filter_map(|index| self.core(index)) {
            let mut since = core.owned.lock().unwrap_or_else(PoisonError::into_inner);
            if owned {
                *since = Some(Instant::now());
            } else if let Some(since) = since.take() {
                core.add(id::CORE_TIME, nanos(since.elapsed()));
            }
        }
        self.touch();
    }

    /// A node was busy on these cores, with so many physical ones from the first
    /// on.
    pub(crate) fn busy(&self, first: u32, count: u32, physical: u32, time: Duration) {
        for core in (first..first.saturating_add(count)).filter_map(|index| self.core(index)) {
            core.add(id::TIME_IN_USE, nanos(time));
        }
        for number in 0..physical {
            if let Some([busy, _]) = self.physical(first, number) {
                busy.fetch_add(nanos(time), Relaxed);
            }
        }
        self.touch();
    }

    /// A physical core, counted from the first one of a core.
    fn physical(&self, first: u32, number: u32) -> Option<&[AtomicU64; 2]> {
        let core = self.core(first.checked_add(number / self.lnc)?)?;
        core.physical.get(usize::try_from(number % self.lnc).ok()?)
    }

    /// A run of a node from this core on: what each of its physical ones did.
    pub(crate) fn spent(&self, first: u32, costs: &[CoreCosts]) {
        for (number, cost) in (0..).zip(costs) {
            let Some(core) = self.core(first.saturating_add(number / self.lnc)) else { continue };
            core.add(id::MAC_COUNT, cost.macs);
            for (sum, count) in core.instructions.iter().zip(cost.instructions) {
                sum.fetch_add(count, Relaxed);
            }
            if let Some([_, macs]) = self.physical(first, number) {
                macs.fetch_add(cost.macs, Relaxed);
            }
        }
    }

    /// An inference has ended: `home` is the first core of its model, `None`
    /// for one without.
    pub(crate) fn ended(
        &self,
        home: Option<u32>,
        failure: Option<&Failure>,
        subtype: Option<Subtype>,
        latency: Duration,
        device_nanos: Option<u64>,
    ) {
        let code = failure.map_or(Code::Ok, |failure| failure.code);
        let (outcome, counter) = match code {
            Code::Ok => (0, id::COMPLETED),
            Code::NumErr => (1, id::COMPLETED_WITH_NUM_ERR),
            Code::BadInput => (3, id::INCORRECT_INPUT),
            Code::Timeout => (4, id::TIMED_OUT),
            _ => (2, id::COMPLETED_WITH_ERR),
        };
        if let Some(count) = self.outcomes.get(outcome) {
            count.fetch_add(1, Relaxed);
        }
        self.inferences.fetch_add(1, Relaxed);
        if let Some(subtype) = subtype {
            let at = usize::try_from(subtype.number()).unwrap_or(0);
            if let Some(count) = self.subtypes.get(at) {
                count.fetch_add(1, Relaxed);
            }
        }
        let finished = matches!(code, Code::Ok | Code::NumErr);
        if finished {
            self.measure(Metric::InferLatency, latency.as_secs_f64());
            if let Some(nanos) = device_nanos {
                self.measure(Metric::DeviceLatency, Duration::from_nanos(nanos).as_secs_f64());
            }
        }
        let Some(core) = home.and_then(|home| self.core(home)) else { return };
        core.add(counter, 1);
        core.add(id::INFERENCE_COUNT, 1);
        if finished {
            core.add(id::LATENCY_TOTAL, nanos(latency));
            core.total.add(nanos(latency));
            if let Some(nanos) = device_nanos {
                core.add(id::LATENCY_DEVICE, nanos);
                core.device.add(nanos);
            }
        }
        if let Some(subtype) = subtype {
            core.add(
                match subtype {
                    Subtype::None => id::ERROR_GENERIC,
                    Subtype::Numerical => id::ERROR_NUMERICAL,
                    Subtype::Model => id::ERROR_MODEL,
                    Subtype::Transient => id::ERROR_TRANSIENT,
                    Subtype::Hardware => id::ERROR_HARDWARE,
                    Subtype::Runtime => id::ERROR_RUNTIME,
                },
                1,
            );
        }
        self.touch();
    }

    /// A request found the queue full.
    pub(crate) fn dropped(&self, home: Option<u32>) {
        self.drops.fetch_add(1, Relaxed);
        if let Some(core) = home.and_then(|home| self.core(home)) {
            core.add(id::FAILED_TO_QUEUE, 1);
        }
        self.touch();
    }

    pub(crate) fn measure(&self, metric: Metric, value: f64) {
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(aggregate) = metrics.get_mut(metric.at()) {
            aggregate.add(value);
        }
    }

    /// A NEFF was loaded.
    pub(crate) fn loaded(&self, version: (u64, u64), size: u64, cores: u64) {
        self.loads.fetch_add(1, Relaxed);
        let mut neffs = self.neffs.lock().unwrap_or_else(PoisonError::into_inner);
        neffs.max_version = neffs.max_version.max(version);
        neffs.min_version = Some(neffs.min_version.map_or(version, |low| low.min(version)));
        neffs.size_max = neffs.size_max.max(size);
        neffs.cores_max = neffs.cores_max.max(cores);
        drop(neffs);
        self.touch();
    }

    pub(crate) fn metrics(&self) -> Vec<(Metric, Aggregate)> {
        let metrics = *self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        Metric::ALL.into_iter().zip(metrics).collect()
    }

    pub(crate) fn core_snapshot(&self, index: u32) -> Option<CoreSnapshot> {
        Some(self.core(index)?.snapshot())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let neffs = *self.neffs.lock().unwrap_or_else(PoisonError::into_inner);
        Snapshot {
            subtypes: std::array::from_fn(|at| self.subtypes[at].load(Relaxed)),
            outcomes: std::array::from_fn(|at| self.outcomes[at].load(Relaxed)),
            drops: self.drops.load(Relaxed),
            inferences: self.inferences.load(Relaxed),
            starts: self.starts.load(Relaxed),
            stops: self.stops.load(Relaxed),
            loads: self.loads.load(Relaxed),
            unloads: self.unloads.load(Relaxed),
            neff_max: neffs.max_version,
            neff_min: neffs.min_version.unwrap_or_default(),
            neff_size_max: neffs.size_max,
            neff_cores_max: neffs.cores_max,
        }
    }
}
