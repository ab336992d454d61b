//! Events of an inspect run: beginnings and ends matched, device times on the
//! host's clock.
//!
//! Rules (ntff.md §3.10, §8, §9; profiler.md §4.2): an end carries the tracking
//! id of its beginning. An event of the device tells its device time in both;
//! host time = cpu time of the sync point with the same execution and core +
//! (device time - device time of the sync point). A core without such a point
//! takes its nearest one, since both clocks run on; without any, the event keeps
//! the host time that the runtime gave it, and is counted.
//!
//! Two passes over the events: [`Syncs`] first, [`Matcher`] then. Memory is
//! that of the sync points and of what is under way.

pub mod memory;

use std::collections::{BTreeMap, HashMap};

use neuron_core::ntff::event;
use neuron_core::ntff::messages::{NtraceEvent, NtraceEventPhaseType as Phase, NtraceInfo};

/// Events under way at most (our choice).
const OPEN: usize = 1 << 20;

/// Numbers of the events that the device tells (ntff.md §9.2).
const HARDWARE: [u32; 7] = [6, 7, 8, 13, 24, 25, 26];

/// Table of the run description that names the events.
const NAMES: &str = "ntrace_inspect_type";

/// Who told an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventSource {
    /// The runtime on the host.
    Runtime,
    /// The device.
    Hardware,
}

impl EventSource {
    /// The viewer's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "neuron_rt",
            Self::Hardware => "neuron_hw",
        }
    }
}

/// A row of the table of system events. Times are Unix nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRow {
    /// Id of the beginning.
    pub id: u64,
    /// Name.
    pub name: String,
    /// Number of the kind.
    pub kind: u32,
    /// Beginning.
    pub start: u64,
    /// End; the beginning for an instant.
    pub end: u64,
    /// Who told it.
    pub source: EventSource,
    /// Thread of the host.
    pub thread: u64,
    /// Core, local to the process.
    pub core: Option<u64>,
    /// Worker over all instances.
    pub worker: Option<i64>,
    /// Times are aligned by a sync point.
    pub aligned: bool,
    /// What the event told, at its end where both tell it.
    pub attributes: BTreeMap<String, String>,
}

fn number<T: std::str::FromStr>(event: &NtraceEvent, key: &str) -> Option<T> {
    event.attributes.get(key)?.parse().ok()
}

fn core_of(event: &NtraceEvent) -> Option<u64> {
    number(event, "nc_idx")
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync {
    /// Device time, ns.
    pub device: u64,
    /// Unix time, ns.
    pub host: u64,
}

/// The sync points of a run.
#[derive(Debug, Clone, Default)]
pub struct Syncs {
    by_execution: HashMap<(u64, Option<u64>), Vec<Sync>>,
    all: Vec<Sync>,
}

impl Syncs {
    /// Number of the event that tells one.
    const EVENT: u32 = 25;

    /// Takes an event; others than sync points are left out.
    pub fn note(&mut self, event: &NtraceEvent) {
        if event.event_type != Self::EVENT {
            return;
        }
        let device = number(event, "nc_timestamp_ns");
        if let (Some(device), Some(host)) = (device, number(event, "cpu_timestamp_ns")) {
            let sync = Sync { device, host };
            if let Some(execution) = number(event, "exec_id") {
                let list = self.by_execution.entry((execution, core_of(event))).or_default();
                list.push(sync);
            }
            let at = self.all.partition_point(|known| known.device < device);
            self.all.insert(at, sync);
        }
    }

    /// All of them, by device time.
    pub fn all(&self) -> &[Sync] {
        &self.all
    }

    /// Unix time of a device time of an execution, in ns. A logical core has a
    /// point for each of its physical cores, in their order: in the real run
    /// the times that the runtime gives follow to the nanosecond from the point
    /// of the physical core's place.
    fn of(
        &self,
        execution: Option<u64>,
        core: Option<u64>,
        physical: Option<u64>,
        device: u64,
    ) -> Option<u64> {
        let own = execution.and_then(|execution| self.by_execution.get(&(execution, core)));
        let own = own.and_then(|list| {
            let count = u64::try_from(list.len()).ok()?;
            let place = physical.unwrap_or(0).checked_rem(count)?;
            list.get(usize::try_from(place).ok()?)
        });
        own.map_or_else(|| self.host(device), |sync| shift(*sync, device))
    }

    /// Unix time of a device time, in ns, by the nearest sync point: for a
    /// device trace of the run, or of a later one (the clocks run on). `None`
    /// without any.
    pub fn host(&self, device: u64) -> Option<u64> {
        let at = self.all.partition_point(|sync| sync.device < device);
        let before = at.checked_sub(1).and_then(|at| self.all.get(at));
        let near = [before, self.all.get(at)];
        let near = near.into_iter().flatten().min_by_key(|sync| sync.device.abs_diff(device))?;
        shift(*near, device)
    }
}

fn shift(sync: Sync, device: u64) -> Option<u64> {
    match device.checked_sub(sync.device) {
        Some(after) => sync.host.checked_add(after),
        None => sync.host.checked_sub(sync.device - device),
    }
}

/// What was not matched, or not aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SystemCounts {
    /// Events read.
    pub events: u64,
    /// Rows made.
    pub rows: u64,
    /// Ends without a beginning: normal where the oldest events were
    /// overwritten.
    pub orphan_ends: u64,
    /// Beginnings without an end.
    pub open: u64,
    /// Events of no known phase.
    pub unknown_phase: u64,
    /// Events of the device without a sync point.
    pub unaligned: u64,
}

/// Makes rows of events.
#[derive(Debug)]
pub struct Matcher {
    syncs: Syncs,
    names: HashMap<u32, String>,
    open: HashMap<u64, NtraceEvent>,
    counts: SystemCounts,
}

impl Matcher {
    /// For the events of a run. Names come from its description.
    pub fn new(syncs: Syncs, run: Option<&NtraceInfo>) -> Self {
        let tables = run.into_iter().flat_map(|run| &run.interned_data);
        let names = tables
            .filter(|table| table.name == NAMES)
            .flat_map(|table| &table.entries)
            .filter_map(|(key, name)| Some((u32::try_from(*key).ok()?, name.clone())))
            .collect();
        Self { syncs, names, open: HashMap::new(), counts: SystemCounts::default() }
    }

    /// Takes the next event; a row when it is whole.
    pub fn event(&mut self, event: NtraceEvent) -> Option<SystemRow> {
        self.counts.events += 1;
        match Phase::try_from(event.phase) {
            Ok(Phase::Start) if self.open.len() < OPEN => {
                let key = tracking(&event);
                self.open.insert(key, event);
                None
            }
            Ok(Phase::Stop) => match self.open.remove(&tracking(&event)) {
                Some(start) => Some(self.row(start, Some(event))),
                None => {
                    self.counts.orphan_ends += 1;
                    None
                }
            },
            Ok(Phase::Instant) => Some(self.row(event, None)),
            _ => {
                self.counts.unknown_phase += 1;
                None
            }
        }
    }

    /// All events are seen.
    pub fn finish(mut self) -> (Syncs, SystemCounts) {
        self.counts.open = u64::try_from(self.open.len()).unwrap_or(u64::MAX);
        (self.syncs, self.counts)
    }

    fn row(&mut self, start: NtraceEvent, stop: Option<NtraceEvent>) -> SystemRow {
        self.counts.rows += 1;
        let kind = start.event_type;
        let hardware = HARDWARE.contains(&kind);
        let core = core_of(&start);
        let execution = number(&start, "exec_id");
        let physical = number(&start, "device_core_idx");
        // An end does not repeat its execution and core. A sync point tells
        // its own host time.
        let host = |event: &NtraceEvent| {
            if kind == Syncs::EVENT
                && let Some(told) = number(event, "cpu_timestamp_ns")
            {
                return Some(told);
            }
            self.syncs.of(execution, core, physical, number(event, "nc_timestamp_ns")?)
        };
        let begins = host(&start).filter(|_| hardware);
        let ends = stop.as_ref().map_or(begins, |stop| host(stop).filter(|_| hardware));
        let aligned = begins.zip(ends);
        if hardware && aligned.is_none() {
            self.counts.unaligned += 1;
        }
        let told = stop.as_ref().map_or(start.timestamp, |stop| stop.timestamp);
        let (from, to) = aligned.unwrap_or((start.timestamp, told));
        let name = self.names.get(&kind).cloned().unwrap_or_else(|| event::name(kind));
        let (id, thread, worker) = (start.id, start.thread_id, number(&start, "worker_gid"));
        let mut attributes = start.attributes;
        attributes.extend(stop.into_iter().flat_map(|stop| stop.attributes));
        SystemRow {
            id,
            name,
            kind,
            start: from,
            end: to.max(from),
            source: if hardware { EventSource::Hardware } else { EventSource::Runtime },
            thread,
            core,
            worker,
            aligned: aligned.is_some(),
            attributes,
        }
    }
}

/// What joins an end to its beginning.
const fn tracking(event: &NtraceEvent) -> u64 {
    if event.tracking_id == 0 { event.id } else { event.tracking_id }
}
