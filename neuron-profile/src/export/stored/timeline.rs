//! Events for viewers of timelines: tracks, slices that do not overlap within a
//! track, instants and counters.

use std::collections::HashMap;

use anyhow::Context as _;
use profile_store::Profile;
use profile_store::read::Line;

use super::shape::Shape;
use super::{has, host};

/// A track: a row of a lane, or a counter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Track {
    /// What it is a part of: a core, a process.
    pub(super) process: String,
    /// Name.
    pub(super) name: String,
    /// It is a counter.
    pub(super) counter: bool,
}

/// A field for a look at an event.
pub(super) type Field<'e> = (&'e str, Value<'e>);

/// What happens on a track; times in ns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'e> {
    /// Something lasts.
    Slice {
        /// From.
        start: i64,
        /// To.
        end: i64,
        /// What.
        name: &'e str,
        /// Its fields.
        about: &'e [Field<'e>],
        /// Numbers of flows that leave it, and of those that end in it.
        flows: (&'e [u64], &'e [u64]),
    },
    /// Something happens.
    Instant {
        /// When.
        time: i64,
        /// What.
        name: &'e str,
        /// Its fields.
        about: &'e [Field<'e>],
    },
    /// A counter has a new value.
    Count {
        /// When.
        time: i64,
        /// The value.
        value: f64,
    },
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'e> {
    /// A text.
    Text(&'e str),
    /// A whole number.
    Long(i64),
}

/// Who takes tracks and events. A track comes before its first event.
pub(super) trait Taker {
    /// A new track; `number` counts from 0.
    fn track(&mut self, number: usize, track: &Track) -> anyhow::Result<()>;
    /// An event of a track.
    fn event(&mut self, track: usize, event: Event<'_>) -> anyhow::Result<()>;
}

/// A row of a lane.
#[derive(Debug)]
struct Row {
    track: usize,
    /// Ends of the slices that are under way, the innermost last.
    open: Vec<i64>,
}

/// Gives numbers to tracks, and rows to slices that overlap.
pub(super) struct Tracks<'t> {
    pub(super) taker: &'t mut dyn Taker,
    known: HashMap<Track, usize>,
    rows: HashMap<(String, String), Vec<Row>>,
}

impl<'t> Tracks<'t> {
    pub(super) fn new(taker: &'t mut dyn Taker) -> Self {
        Self { taker, known: HashMap::new(), rows: HashMap::new() }
    }

    pub(super) fn number(&mut self, track: Track) -> anyhow::Result<usize> {
        if let Some(number) = self.known.get(&track) {
            return Ok(*number);
        }
        let number = self.known.len();
        self.taker.track(number, &track)?;
        self.known.insert(track, number);
        Ok(number)
    }

    /// A counter.
    pub(super) fn counter(&mut self, process: &str, name: &str) -> anyhow::Result<usize> {
        self.number(Track { process: process.to_owned(), name: name.to_owned(), counter: true })
    }

    /// The first row of a lane that is free; slices come in order of starts.
    fn row(&mut self, process: &str, lane: &str, span: (i64, i64)) -> anyhow::Result<usize> {
        self.placed(process, lane, span, false)
    }

    /// The first row of a lane where a slice is free or within others as a whole;
    /// slices come in order of starts, the longest first.
    pub(super) fn nested(
        &mut self,
        process: &str,
        lane: &str,
        span: (i64, i64),
    ) -> anyhow::Result<usize> {
        self.placed(process, lane, span, true)
    }

    fn placed(
        &mut self,
        process: &str,
        lane: &str,
        (start, end): (i64, i64),
        nest: bool,
    ) -> anyhow::Result<usize> {
        let key = (process.to_owned(), lane.to_owned());
        let rows = self.rows.entry(key.clone()).or_default();
        for row in rows.iter_mut() {
            while row.open.last().is_some_and(|until| *until <= start) {
                row.open.pop();
            }
            let free = match row.open.last() {
                None => true,
                Some(until) => nest && end <= *until,
            };
            if free {
                row.open.push(end);
                return Ok(row.track);
            }
        }
        let name = match (nest, rows.len()) {
            (true, 0) => lane.to_owned(),
            (_, number) => format!("{lane} - Row {number}"),
        };
        let track = self.number(Track { process: process.to_owned(), name, counter: false })?;
        self.rows.entry(key).or_default().push(Row { track, open: vec![end] });
        Ok(track)
    }
}

/// Calls `act` with the rows of a table, which need not be there.
pub(super) fn each(
    profile: &Profile,
    table: &str,
    act: &mut dyn FnMut(Line<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if !has(profile, table) {
        return Ok(());
    }
    for batch in profile.batches(table)? {
        let batch = batch.with_context(|| table.to_owned())?;
        Line::all(&batch).try_for_each(&mut *act)?;
    }
    Ok(())
}

/// Numbers of the flows that leave an event, and of those that end in it.
#[derive(Default)]
struct Ends {
    leave: Vec<u64>,
    arrive: Vec<u64>,
}

/// The same by table and id.
#[derive(Default)]
struct Flows(HashMap<(&'static str, i64), Ends>);

impl Flows {
    fn of(profile: &Profile) -> anyhow::Result<Self> {
        let mut flows = Self::default();
        let mut count = 0;
        each(profile, "Flow", &mut |line| {
            let end = |table: &str, id: &str| {
                let name = ["Instruction", "DmaPacket"];
                let name = name.into_iter().find(|name| line.text(table) == Some(name))?;
                Some((name, line.long(id)?))
            };
            let (Some(from), Some(to)) = (end("in_table", "in_id"), end("out_table", "out_id"))
            else {
                return Ok(());
            };
            count += 1;
            flows.0.entry(from).or_default().leave.push(count);
            flows.0.entry(to).or_default().arrive.push(count);
            Ok(())
        })?;
        Ok(flows)
    }

    fn at(&self, table: &'static str, id: Option<i64>) -> (&[u64], &[u64]) {
        let found = id.and_then(|id| self.0.get(&(table, id)));
        found.map_or((&[], &[]), |ends| (&ends.leave, &ends.arrive))
    }
}

/// All events of a profile.
pub(super) fn walk(profile: &Profile, shape: &Shape, taker: &mut dyn Taker) -> anyhow::Result<()> {
    let mut tracks = Tracks::new(taker);
    if profile.manifest().system {
        return host::walk(profile, shape, &mut tracks);
    }
    let flows = if shape.flows() { Flows::of(profile)? } else { Flows::default() };
    let each = |table: &str, act: &mut dyn FnMut(Line<'_>) -> anyhow::Result<()>| {
        each(profile, table, act)
    };
    let core = |line: Line<'_>| format!("NeuronCore {}", line.long("pcore_idx").unwrap_or(0));
    each("Instruction", &mut |line| {
        let core = core(line);
        let (start, end) = (line.long("start_ts").unwrap_or(0), line.long("end_ts").unwrap_or(0));
        let lane = format!("{} Engine", line.text("timeline_track").unwrap_or_default());
        let track = tracks.row(&core, &lane, (start, end))?;
        let mut about = Vec::new();
        for name in ["operands", "layer", "hlo_name", "nki_source_location", "bir_id"] {
            let text = line.text(name).filter(|text| !text.is_empty());
            about.extend(text.map(|text| (name, Value::Text(text))));
        }
        for name in ["id", "pc", "compiler_pc", "evt_wait_time_ns"] {
            about.extend(line.long(name).map(|number| (name, Value::Long(number))));
        }
        let name = line.text("opcode").unwrap_or_default();
        let flows = flows.at("Instruction", line.long("id"));
        tracks.taker.event(track, Event::Slice { start, end, name, about: &about, flows })
    })?;
    each("DmaPacket", &mut |line| {
        let core = core(line);
        let (start, end) = (line.long("start_ts").unwrap_or(0), line.long("end_ts").unwrap_or(0));
        let lane = format!("DMA Engine {}", line.long("engine_idx").unwrap_or(0));
        let track = tracks.row(&core, &lane, (start, end))?;
        let mut about = Vec::new();
        about.extend(line.text("queue_type").map(|text| ("queue_type", Value::Text(text))));
        for name in ["id", "queue_idx", "transfer_bytes"] {
            about.extend(line.long(name).map(|number| (name, Value::Long(number))));
        }
        let name = line.text("queue_name").unwrap_or("unknown");
        let flows = flows.at("DmaPacket", line.long("id"));
        tracks.taker.event(track, Event::Slice { start, end, name, about: &about, flows })
    })?;
    each("SemaphoreUpdate", &mut |line| {
        let core = core(line);
        let id = line.text("id").unwrap_or_default();
        let track = Track { process: core, name: String::from("Semaphores"), counter: false };
        let track = tracks.number(track)?;
        let (time, value) = (line.long("timestamp"), line.long("value"));
        let (time, value) = (time.unwrap_or(0), value.unwrap_or(0));
        let about = [("value", Value::Long(value))];
        tracks.taker.event(track, Event::Instant { time, name: id, about: &about })
    })?;
    let counters = [
        ("DmaUsage", "current_throughput", "DMA Throughput"),
        ("PendingDma", "value", "Pending DMA Count"),
        ("SbufUsage", "avg_util_percent", "Sb Usage"),
        ("PsumUsage", "avg_util_percent", "Psum Usage"),
    ];
    for (table, column, name) in counters {
        each(table, &mut |line| {
            let core = core(line);
            let track = tracks.counter(&core, name)?;
            #[allow(clippy::cast_precision_loss, reason = "a counter is a real number")]
            let value = line.real(column).or_else(|| line.long(column).map(|v| v as f64));
            let (time, value) = (line.long("timestamp").unwrap_or(0), value.unwrap_or(0.0));
            tracks.taker.event(track, Event::Count { time, value })
        })?;
    }
    each("Throttle", &mut |line| {
        let core = core(line);
        let track = tracks.counter(&core, "Throttling")?;
        let (k, n) = (line.long("k").unwrap_or(1), line.long("n").unwrap_or(1).max(1));
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let value = k as f64 / n as f64;
        let time = line.long("timestamp").unwrap_or(0);
        tracks.taker.event(track, Event::Count { time, value })
    })
}
