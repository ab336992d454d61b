//! Events for viewers of timelines: tracks, slices that do not overlap within a
//! track, instants and counters.

use std::collections::HashMap;

use anyhow::Context as _;
use profile_store::Profile;
use profile_store::read::Line;

use super::has;

/// A track: a row of a lane of a core, or a counter of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Track {
    /// Physical core.
    pub(super) core: i64,
    /// Name.
    pub(super) name: String,
    /// It is a counter.
    pub(super) counter: bool,
}

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
        /// Fields for a look at it.
        about: &'e [(&'static str, Value<'e>)],
    },
    /// Something happens.
    Instant {
        /// When.
        time: i64,
        /// What.
        name: &'e str,
        /// New value.
        value: i64,
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

/// Gives numbers to tracks, and rows to slices that overlap.
struct Tracks<'t> {
    taker: &'t mut dyn Taker,
    known: HashMap<Track, usize>,
    /// End of the last slice of each row of a lane, with its track.
    rows: HashMap<(i64, String), Vec<(i64, usize)>>,
}

impl Tracks<'_> {
    fn number(&mut self, track: Track) -> anyhow::Result<usize> {
        if let Some(number) = self.known.get(&track) {
            return Ok(*number);
        }
        let number = self.known.len();
        self.taker.track(number, &track)?;
        self.known.insert(track, number);
        Ok(number)
    }

    /// The first row of a lane that is free; slices come in order of starts.
    fn row(&mut self, core: i64, lane: &str, start: i64, end: i64) -> anyhow::Result<usize> {
        let key = (core, lane.to_owned());
        let rows = self.rows.entry(key.clone()).or_default();
        if let Some((until, track)) = rows.iter_mut().find(|(until, _)| *until <= start) {
            *until = end;
            return Ok(*track);
        }
        let name = format!("{lane} - Row {}", rows.len());
        let track = self.number(Track { core, name, counter: false })?;
        self.rows.entry(key).or_default().push((end, track));
        Ok(track)
    }
}

/// All events of a profile.
pub(super) fn walk(profile: &Profile, taker: &mut dyn Taker) -> anyhow::Result<()> {
    let mut tracks = Tracks { taker, known: HashMap::new(), rows: HashMap::new() };
    let each = |table: &str, act: &mut dyn FnMut(Line<'_>) -> anyhow::Result<()>| {
        if !has(profile, table) {
            return Ok(());
        }
        for batch in profile.batches(table)? {
            let batch = batch.with_context(|| table.to_owned())?;
            Line::all(&batch).try_for_each(&mut *act)?;
        }
        Ok::<_, anyhow::Error>(())
    };
    each("Instruction", &mut |line| {
        let core = line.long("pcore_idx").unwrap_or(0);
        let (start, end) = (line.long("start_ts").unwrap_or(0), line.long("end_ts").unwrap_or(0));
        let lane = format!("{} Engine", line.text("timeline_track").unwrap_or_default());
        let track = tracks.row(core, &lane, start, end)?;
        let mut about = Vec::new();
        for name in ["operands", "layer", "hlo_name", "nki_source_location", "bir_id"] {
            let text = line.text(name).filter(|text| !text.is_empty());
            about.extend(text.map(|text| (name, Value::Text(text))));
        }
        for name in ["id", "pc", "compiler_pc", "evt_wait_time_ns"] {
            about.extend(line.long(name).map(|number| (name, Value::Long(number))));
        }
        let name = line.text("opcode").unwrap_or_default();
        tracks.taker.event(track, Event::Slice { start, end, name, about: &about })
    })?;
    each("DmaPacket", &mut |line| {
        let core = line.long("pcore_idx").unwrap_or(0);
        let (start, end) = (line.long("start_ts").unwrap_or(0), line.long("end_ts").unwrap_or(0));
        let lane = format!("DMA Engine {}", line.long("engine_idx").unwrap_or(0));
        let track = tracks.row(core, &lane, start, end)?;
        let mut about = Vec::new();
        about.extend(line.text("queue_type").map(|text| ("queue_type", Value::Text(text))));
        for name in ["id", "queue_idx", "transfer_bytes"] {
            about.extend(line.long(name).map(|number| (name, Value::Long(number))));
        }
        let name = line.text("queue_name").unwrap_or("unknown");
        tracks.taker.event(track, Event::Slice { start, end, name, about: &about })
    })?;
    each("SemaphoreUpdate", &mut |line| {
        let core = line.long("pcore_idx").unwrap_or(0);
        let id = line.text("id").unwrap_or_default();
        let track = Track { core, name: String::from("Semaphores"), counter: false };
        let track = tracks.number(track)?;
        let (time, value) = (line.long("timestamp"), line.long("value"));
        let (time, value) = (time.unwrap_or(0), value.unwrap_or(0));
        tracks.taker.event(track, Event::Instant { time, name: id, value })
    })?;
    let counters = [
        ("DmaUsage", "current_throughput", "DMA Throughput"),
        ("PendingDma", "value", "Pending DMA Count"),
        ("SbufUsage", "avg_util_percent", "Sb Usage"),
        ("PsumUsage", "avg_util_percent", "Psum Usage"),
    ];
    for (table, column, name) in counters {
        each(table, &mut |line| {
            let core = line.long("pcore_idx").unwrap_or(0);
            let track = tracks.number(Track { core, name: name.to_owned(), counter: true })?;
            #[allow(clippy::cast_precision_loss, reason = "a counter is a real number")]
            let value = line.real(column).or_else(|| line.long(column).map(|v| v as f64));
            let (time, value) = (line.long("timestamp").unwrap_or(0), value.unwrap_or(0.0));
            tracks.taker.event(track, Event::Count { time, value })
        })?;
    }
    each("Throttle", &mut |line| {
        let core = line.long("pcore_idx").unwrap_or(0);
        let track = Track { core, name: String::from("Throttling"), counter: true };
        let track = tracks.number(track)?;
        let (k, n) = (line.long("k").unwrap_or(1), line.long("n").unwrap_or(1).max(1));
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let value = k as f64 / n as f64;
        let time = line.long("timestamp").unwrap_or(0);
        tracks.taker.event(track, Event::Count { time, value })
    })
}
