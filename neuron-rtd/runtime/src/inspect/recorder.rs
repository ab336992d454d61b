//! Events of a run, in a ring for each core.
//!
//! An event has the wall clock's time of the moment that it tells. One of the
//! device has the device's time too: a clock for each core, which begins where
//! every device trace of the software NeuronCore does, goes with the host's while
//! nothing is executed, and with simulated time while something is. After each execution a sync point tells
//! one moment on both clocks, so that the end of an execution is when the host
//! had its results, and its length is the simulated one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use neuron_core::ntff::messages::{NtraceEvent, NtraceEventPhaseType as Phase};

use super::kinds::{Kind, Kinds};
use super::options::InspectOptions;

/// Where an id keeps its core.
const CORE_SHIFT: u32 = 50;

/// An attribute of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Attribute {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Attributes of an event.
pub type Attributes = Vec<(&'static str, Attribute)>;

/// Makes [`Attributes`].
#[macro_export]
macro_rules! attributes {
    ($($key:literal: $value:expr),* $(,)?) => {
        vec![$(($key, $crate::inspect::Attribute::from($value))),*]
    };
}

/// An event as it is kept.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its type.
    pub kind: Kind,
    /// Beginning, end or moment.
    pub phase: Phase,
    /// Unix nanoseconds.
    pub time: u64,
    /// Thread of the host.
    pub thread: u64,
    /// Its number, with the core.
    pub id: u64,
    /// The number of the beginning.
    pub tracking: u64,
    /// Core, counted within the process.
    pub core: u32,
    /// What it tells.
    pub attributes: Attributes,
}

impl Event {
    /// The message of a trace file. Every event tells its core; the worker is
    /// the core, as long as there is one process.
    pub fn message(&self) -> NtraceEvent {
        let own = self.attributes.iter().map(|(key, value)| {
            let text = match value {
                Attribute::Number(number) => number.to_string(),
                Attribute::Text(text) => text.clone(),
            };
            ((*key).to_owned(), text)
        });
        let mut attributes: BTreeMap<String, String> = own.collect();
        for key in ["nc_idx", "worker_gid"] {
            attributes.entry(key.to_owned()).or_insert_with(|| self.core.to_string());
        }
        NtraceEvent {
            timestamp: self.time,
            event_type: self.kind.0,
            thread_id: self.thread,
            id: self.id,
            attributes,
            phase: self.phase.into(),
            tracking_id: self.tracking,
            nrta_seq_id: None,
        }
    }
}

/// The events of one core.
#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Event>,
    /// Events that came.
    came: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Recorder {
    most: u64,
    cores: Option<BTreeSet<u32>>,
    kinds: Kinds,
    rings: Mutex<BTreeMap<u32, Ring>>,
    last_id: AtomicU64,
    executions: AtomicU64,
    begun: Instant,
    /// Device time by core, ns from the begin.
    clocks: Mutex<BTreeMap<u32, u64>>,
}

/// An event that has begun.
#[derive(Debug)]
#[must_use]
pub struct Begun {
    id: u64,
    kind: Kind,
    core: u32,
}

/// Unix nanoseconds.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

thread_local! {
    /// Number of this thread: the kernel is asked once.
    static THREAD: u64 = read_thread().unwrap_or(0);
}

fn read_thread() -> Option<u64> {
    let own = std::fs::read_link("/proc/thread-self").ok()?;
    own.file_name()?.to_str()?.parse().ok()
}

fn thread() -> u64 {
    // one that is ending tells none
    THREAD.try_with(|number| *number).unwrap_or(0)
}

impl Recorder {
    /// A recorder of what is wanted.
    pub fn new(options: &InspectOptions) -> Self {
        Self {
            most: options.most,
            cores: options.cores.clone(),
            kinds: options.kinds,
            rings: Mutex::default(),
            last_id: AtomicU64::new(0),
            executions: AtomicU64::new(0),
            begun: Instant::now(),
            clocks: Mutex::default(),
        }
    }

    fn rings(&self) -> MutexGuard<'_, BTreeMap<u32, Ring>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, kind: Kind, core: u32) -> bool {
        self.kinds.has(kind) && self.cores.as_ref().is_none_or(|cores| cores.contains(&core))
    }

    fn put(
        &self,
        kind: Kind,
        phase: Phase,
        core: u32,
        time: u64,
        begun: Option<u64>,
        of: Attributes,
    ) -> u64 {
        let id = (self.last_id.fetch_add(1, Relaxed) + 1) | u64::from(core) << CORE_SHIFT;
        let tracking = begun.unwrap_or(id);
        let event =
            Event { kind, phase, time, thread: thread(), id, tracking, core, attributes: of };
        let mut rings = self.rings();
        let ring = rings.entry(core).or_default();
        ring.events.push_back(event);
        ring.came += 1;
        while u64::try_from(ring.events.len()).unwrap_or(u64::MAX) > self.most {
            ring.events.pop_front();
        }
        id
    }

    /// Something begins on a core.
    pub fn begin(&self, kind: Kind, core: u32, attributes: Attributes) -> Option<Begun> {
        if !self.wants(kind, core) {
            return None;
        }
        let id = self.put(kind, Phase::Start, core, now(), None, attributes);
        Some(Begun { id, kind, core })
    }

    /// It has ended.
    pub fn end(&self, begun: Option<Begun>, attributes: Attributes) {
        if let Some(Begun { id, kind, core }) = begun {
            self.put(kind, Phase::Stop, core, now(), Some(id), attributes);
        }
    }

    /// Something was, from one moment to another.
    pub fn span(
        &self,
        kind: Kind,
        core: u32,
        (from, to): (u64, u64),
        start: Attributes,
        stop: Attributes,
    ) {
        if self.wants(kind, core) {
            let id = self.put(kind, Phase::Start, core, from, None, start);
            self.put(kind, Phase::Stop, core, to, Some(id), stop);
        }
    }

    /// Something happened.
    pub fn instant(&self, kind: Kind, core: u32, attributes: Attributes) {
        if self.wants(kind, core) {
            self.put(kind, Phase::Instant, core, now(), None, attributes);
        }
    }

    /// A number for an execution of a step.
    pub fn execution(&self) -> u64 {
        self.executions.fetch_add(1, Relaxed) + 1
    }

    /// An execution comes to the cores from `first` on: their clocks, which run
    /// on with the host's while nothing is executed, stand at this, ns. It is later
    /// than the end of the last one, so that each moment belongs to one of them.
    pub fn arrive(&self, first: u32, cores: u32) -> u64 {
        let elapsed = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        let own = first..first.saturating_add(cores);
        let known = own.clone().filter_map(|core| clocks.get(&core).map(|at| at.saturating_add(1)));
        let at = known.fold(elapsed, u64::max);
        clocks.extend(own.map(|core| (core, at)));
        at
    }

    /// The clock of a core goes on; gives where it stands.
    pub(super) fn advance(&self, core: u32, nanos: u64) -> u64 {
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = clocks.entry(core).or_default();
        *clock = clock.saturating_add(nanos);
        *clock
    }

    /// The cores from `first` on, each of so many physical ones, have executed
    /// for so long: tells it, and the moment on both clocks.
    pub fn ran(
        &self,
        (first, cores, physical): (u32, u32, u32),
        execution: u64,
        model: u32,
        nanos: u64,
    ) {
        let epoch = npu::time::EPOCH / 1000;
        for core in first..first.saturating_add(cores) {
            let to = self.advance(core, nanos).saturating_add(epoch);
            let from = to.saturating_sub(nanos);
            let host = now();
            for part in 0..physical.max(1) {
                let times = (host.saturating_sub(nanos), host);
                self.span(
                    Kind::RUNNING,
                    core,
                    times,
                    attributes! {
                        "device_core_idx": part, "exec_id": execution, "model_id": model,
                        "nc_timestamp_ns": from,
                    },
                    attributes! { "nc_timestamp_ns": to },
                );
                self.instant(
                    Kind::SYNC,
                    core,
                    attributes! {
                        "exec_id": execution, "nc_timestamp_ns": to, "cpu_timestamp_ns": host,
                    },
                );
            }
        }
    }

    /// Events that came so far.
    pub fn came(&self) -> u64 {
        self.rings().values().map(|ring| ring.came).sum()
    }

    /// Events that are not kept any more.
    pub fn dropped(&self) -> u64 {
        let lost = |ring: &Ring| ring.came - u64::try_from(ring.events.len()).unwrap_or(0);
        self.rings().values().map(lost).sum()
    }

    /// Events that are kept and came after so many of their core; the counts by
    /// core go on with them.
    pub fn fresh(&self, seen: &mut BTreeMap<u32, u64>) -> Vec<Event> {
        let mut out = Vec::new();
        for (core, ring) in self.rings().iter() {
            let before = seen.insert(*core, ring.came).unwrap_or(0);
            let count = usize::try_from(ring.came - before).unwrap_or(usize::MAX);
            let skip = ring.events.len().saturating_sub(count);
            out.extend(ring.events.iter().skip(skip).cloned());
        }
        out
    }

    /// Takes at most `most` of the oldest events away, of one core or of all.
    pub fn take(&self, most: u64, core: Option<u32>) -> Vec<Event> {
        let mut out = Vec::new();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        for (own, ring) in self.rings().iter_mut() {
            if core.is_none_or(|core| core == *own) {
                let count = ring.events.len().min(most);
                out.extend(ring.events.drain(..count));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(most: u64, cores: &[u32], kinds: &str) -> Recorder {
        let cores = (!cores.is_empty()).then(|| cores.iter().copied().collect());
        let kinds = Kinds::listed(kinds).unwrap();
        Recorder::new(&InspectOptions { most, cores, kinds, ..InspectOptions::default() })
    }

    #[test]
    fn ends_know_their_beginnings() {
        let recorder = recorder(100, &[], "");
        let outer = recorder.begin(Kind::EXECUTE, 2, attributes! { "model_id": 7_u32 });
        recorder.instant(Kind::SYNC, 2, Vec::new());
        recorder.end(outer, Vec::new());
        let all = recorder.take(100, None);
        let [start, _, stop] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((start.id, stop.tracking), (1 | 2 << 50, start.id));
        assert!(stop.id != start.id && stop.time >= start.time);
        let message = start.message();
        let has = |key: &str| message.attributes.get(key).map(String::as_str);
        assert_eq!(
            (has("model_id"), has("nc_idx"), has("worker_gid")),
            (Some("7"), Some("2"), Some("2"))
        );
        assert!(recorder.take(100, None).is_empty());
    }

    #[test]
    fn the_oldest_go_and_filters_hold() {
        let recorder = recorder(10, &[0, 1], "^nrt_load");
        for core in 0..3 {
            for _ in 0..25 {
                recorder.instant(Kind::SYNC, core, Vec::new());
            }
            let begun = recorder.begin(Kind::LOAD, core, Vec::new());
            recorder.end(begun, Vec::new());
        }
        assert_eq!((recorder.came(), recorder.dropped()), (50, 30));
        let mut seen = BTreeMap::new();
        assert_eq!(recorder.fresh(&mut seen).len(), 20);
        assert!(recorder.fresh(&mut seen).is_empty());
        recorder.instant(Kind::SYNC, 1, Vec::new());
        assert_eq!(recorder.fresh(&mut seen).len(), 1);
        assert_eq!((recorder.take(3, Some(1)).len(), recorder.take(100, None).len()), (3, 17));
    }

    #[test]
    fn the_device_has_its_own_time() {
        let recorder = recorder(100, &[], "");
        recorder.ran((0, 1, 2), 1, 5, 1000);
        recorder.ran((0, 1, 2), 2, 5, 500);
        let all = recorder.take(100, None);
        assert_eq!(all.len(), 12);
        let device = |event: &Event| {
            event.message().attributes.get("nc_timestamp_ns").unwrap().parse::<u64>().unwrap()
        };
        let epoch = npu::time::EPOCH / 1000;
        let times: Vec<u64> = all.iter().map(|event| device(event) - epoch).collect();
        assert_eq!(times[..3], [0, 1000, 1000]);
        assert_eq!(times[6..9], [1000, 1500, 1500]);
        assert_eq!(all[7].time - all[6].time, 500);
        // while nothing runs, it goes with the host's clock; cores of one
        // program begin together
        let at = recorder.arrive(0, 2);
        assert!(at > 1500);
        recorder.ran((0, 2, 1), 3, 5, 10);
        let all = recorder.take(100, None);
        assert_eq!((device(&all[0]), device(&all[3])), (at + epoch, at + epoch));
    }
}
