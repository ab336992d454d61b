//! From an inspect run to the files of a system profile.
//!
//! All rows are in memory while they are written, some 300 bytes for an event:
//! a caller ends long after what it called, so rows are in order only once all
//! are known, and the runtime keeps a million for each core at most.
//!
//! Times in the tables are whole nanoseconds from the first moment of the run,
//! as in every profile of the store (our choice); `SystemProfileMetadata` says
//! when that was. `flow_id` and `framework_stream_id` are left out: nothing
//! public writes them.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use neuron_core::ntff::messages::{CpuUtil, HostMemUsage, NtraceInfo};
use profile_engine::system::memory::{MemoryRow, USES};
use profile_engine::system::{EventSource, Syncs, SystemCounts, SystemRow};
use serde_json::{Map, Value, json};

use super::lane::{Event, LaneBuilder};
use super::write::close;
use super::{Settings, small};
use crate::disk::{Draft, write_json};
use crate::encode::{Cells, TableWriter, Values};
use crate::error::Error;
use crate::kinds::{Description, Gathered};
use crate::lanes::{Index, LaneKind};
use crate::manifest::Manifest;
use crate::schema::{self, Table};
use crate::tiles::write::TileFile;

const EVENTS: &str = "SystemProfileEvents";

/// Rows of a lane that become a row group.
const GROUP: usize = 1 << 17;

/// The number of an UltraServer that says there is none (ntff.md).
const NO_SERVER: u32 = u32::MAX;

/// Attributes that have a column of their own.
const OWN: [&str; 3] = ["nc_idx", "device_core_idx", "worker_gid"];

/// A device profile of the same run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceProfile {
    /// Id of the stored profile.
    pub id: String,
    /// Core, counted within the process.
    pub core: u64,
    /// Session, for a trace of all executions.
    pub session: Option<u64>,
    /// Model, for a trace of one.
    pub model: Option<u64>,
    /// When its time 0 was, nanoseconds since 1970; `None` without a sync point.
    pub start: Option<u64>,
}

/// What was read of a run.
#[derive(Debug, Default)]
pub struct SystemRun {
    /// Its description, where there is one.
    pub info: NtraceInfo,
    /// Events, matched.
    pub rows: Vec<SystemRow>,
    /// What was not matched.
    pub counts: SystemCounts,
    /// Moments on both clocks.
    pub syncs: Syncs,
    /// Device memories, in order of time.
    pub memories: Vec<MemoryRow>,
    /// Load of the processors.
    pub processors: Vec<CpuUtil>,
    /// Memory of the host.
    pub host: Vec<HostMemUsage>,
    /// Device profiles that were stored with it.
    pub devices: Vec<DeviceProfile>,
    /// Bytes of device memory, 0 if unknown.
    pub capacity: u64,
    /// First and last moment as dates.
    pub dates: (String, String),
}

impl SystemRun {
    /// First and last moment of anything in the run, nanoseconds since 1970;
    /// both 0 for an empty run.
    pub fn window(&self) -> (u64, u64) {
        let rows = self.rows.iter().map(|row| (row.start, row.end));
        let memories = self.memories.iter().map(|row| (row.time, row.time));
        let processors = self.processors.iter().map(|row| (row.timestamp, row.timestamp));
        let host = self.host.iter().map(|row| (row.timestamp, row.timestamp));
        let all = rows.chain(memories).chain(processors).chain(host);
        let join = |(from, to): (u64, u64), (start, end)| (from.min(start), to.max(end));
        let (from, to) = all.fold((u64::MAX, 0), join);
        if from > to { (0, 0) } else { (from, to) }
    }

    fn notes(&self) -> Vec<String> {
        let counts = &self.counts;
        [
            (counts.orphan_ends, "ends of events have no beginning: the oldest were overwritten"),
            (counts.open, "events have no end"),
            (counts.unknown_phase, "events are of no known phase"),
            (
                counts.unaligned,
                "events of the device have no sync point; their times are the host's",
            ),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }

    fn server(&self) -> (Value, Value) {
        match &self.info.ultraserver_info {
            Some(server) if server.id != NO_SERVER => (json!(server.id), Value::Null),
            _ => (Value::Null, Value::Null),
        }
    }
}

/// Stores a system profile. What is in `settings` about executions is not used.
///
/// # Errors
///
/// A disk that cannot be written; then nothing is visible.
pub fn ingest_system(
    mut run: SystemRun,
    draft: Draft,
    settings: &Settings,
) -> Result<Manifest, Error> {
    let (from, to) = run.window();
    let mut manifest = Manifest {
        system: true,
        total_ns: to - from,
        notes: run.notes(),
        ..super::begun(&draft, settings)
    };
    let rows = std::mem::take(&mut run.rows);
    manifest.events = wide(rows.len());
    events(draft.dir(), rows, from, &run.info, &mut manifest)?;
    for (name, rows) in samples(&run, (from, to)) {
        let table = schema::table(name).ok_or_else(|| Error::NoTable(name.to_owned()))?;
        small::store(draft.dir(), table, &rows, &mut manifest)?;
    }
    let described: Vec<Table> = schema::tables()
        .iter()
        .filter(|table| manifest.tables.contains_key(&table.name))
        .cloned()
        .collect();
    small::describe(draft.dir(), described, &mut manifest)?;
    for table in schema::tables() {
        if !manifest.tables.contains_key(&table.name) {
            let own = schema::is_system(&table.name);
            let why = if own { "nothing of it in the run" } else { "only device profiles have it" };
            manifest.absent.insert(table.name.clone(), why.to_owned());
        }
    }
    draft.commit(&mut manifest, &settings.labels)?;
    Ok(manifest)
}

/// Which line of the timeline a row is on; those of the device come first.
fn lane_of(row: &SystemRow) -> (bool, u64, u64) {
    let none = u64::MAX;
    match row.source {
        EventSource::Hardware => (false, row.core.unwrap_or(none), physical(row).unwrap_or(none)),
        EventSource::Runtime => (true, row.core.unwrap_or(none), none),
    }
}

fn physical(row: &SystemRow) -> Option<u64> {
    row.attributes.get("device_core_idx")?.parse().ok()
}

/// The events, line by line, and the index of the lines.
fn events(
    dir: &Path,
    rows: Vec<SystemRow>,
    base: u64,
    info: &NtraceInfo,
    manifest: &mut Manifest,
) -> Result<(), Error> {
    let path = dir.join("tiles");
    let told = || Error::io("write", &path);
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let mut tiles = TileFile::new(BufWriter::with_capacity(1 << 18, file));
    let mut lines: BTreeMap<(bool, u64, u64), Vec<SystemRow>> = BTreeMap::new();
    for row in rows {
        lines.entry(lane_of(&row)).or_default().push(row);
    }
    let mut kinds = Gathered::default();
    let mut index = Index { version: 1, ..Index::default() };
    let schema = schema::table(EVENTS).ok_or_else(|| Error::NoTable(EVENTS.to_owned()))?;
    let mut writer: Option<TableWriter> = None;
    let (mut group, mut first) = (0, 0);
    for (number, ((_, core, _), mut rows)) in (0_u64..).zip(lines) {
        rows.sort_by_key(|row| (row.start, std::cmp::Reverse(row.end), row.id));
        let name = rows.first().map(label).unwrap_or_default();
        let mut lane = LaneBuilder::new(LaneKind::System, usize::try_from(core).unwrap_or(0), name);
        for (part, rows) in (0_u64..).zip(rows.chunks(GROUP)) {
            if writer.is_none() {
                writer = Some(TableWriter::create(dir, schema)?);
            }
            let Some(writer) = &mut writer else { continue };
            let columns = Columns::new(rows, base, info);
            let chunk = writer.group((number, part), rows.len(), &columns.values(schema))?;
            let place = |name: &str| schema.column(name).unwrap_or(usize::MAX);
            let seen = [place("start_ts"), place("end_ts"), place("event_type")];
            let mut keys = BTreeMap::new();
            let events: Vec<Event> = rows
                .iter()
                .map(|row| {
                    let of = || Description { name: row.name.clone(), ..Description::default() };
                    let name =
                        *keys.entry(u64::from(row.kind)).or_insert_with(|| kinds.place(of()));
                    Event { start: row.start - base, end: row.end - base, name, bytes: 0 }
                })
                .collect();
            let keys: Vec<(u64, u32)> = keys.into_iter().collect();
            lane.block(group, &events, &chunk, seen, &keys, &mut tiles).map_err(told())?;
            group += 1;
        }
        manifest.late += lane.late;
        let lane = lane.finish(first, &mut tiles).map_err(told())?;
        first += lane.rows;
        index.lanes.push(lane);
    }
    index.names = kinds.names;
    if let Some(writer) = writer {
        close(writer, manifest)?;
    }
    tiles.into_inner().flush().map_err(told())?;
    write_json(&dir.join("lanes.json"), &index)?;
    write_json(&dir.join("kinds.json"), &kinds.kinds)
}

/// The label of a line: who told, and core (profiler.md §4.3); instance and
/// process before them are those of the whole profile.
fn label(row: &SystemRow) -> String {
    let core = |core: Option<u64>| core.map_or_else(|| String::from("-"), |core| core.to_string());
    let place = match row.source {
        EventSource::Hardware => format!("NC{}:{}", core(row.core), core(physical(row))),
        EventSource::Runtime => format!("NC:{}", core(row.core)),
    };
    format!("{}/{place}", row.source.name())
}

/// Columns of the table of events.
struct Columns {
    numbers: HashMap<&'static str, Vec<i64>>,
    cells: HashMap<&'static str, Cells>,
}

impl Columns {
    fn new(rows: &[SystemRow], base: u64, info: &NtraceInfo) -> Self {
        let numbers = |of: &dyn Fn(&SystemRow) -> u64| -> Vec<i64> {
            rows.iter().map(|row| long(of(row))).collect()
        };
        let maybe =
            |of: &dyn Fn(&SystemRow) -> Option<i64>| Cells::Longs(rows.iter().map(of).collect());
        let texts = |of: &dyn Fn(&SystemRow) -> String| {
            Cells::Texts(rows.iter().map(|row| Some(of(row))).collect())
        };
        let models = info.interned_data.iter().find(|table| table.name == "system_trace");
        let extra = |row: &SystemRow| {
            let own = row.attributes.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
            let mut all: Map<String, Value> =
                own.map(|(key, value)| (key.clone(), json!(value))).collect();
            let model = row.attributes.get("model_id").and_then(|id| id.parse::<u64>().ok());
            let name = model.and_then(|id| models?.entries.get(&id));
            if let Some(name) = name {
                all.entry("model_name").or_insert_with(|| json!(name));
            }
            if row.source == EventSource::Hardware && !row.aligned {
                all.insert(String::from("aligned"), json!("false"));
            }
            Value::Object(all).to_string()
        };
        Self {
            numbers: [
                ("id", numbers(&|row| row.id)),
                ("start_ts", numbers(&|row| row.start - base)),
                ("end_ts", numbers(&|row| row.end - base)),
                ("duration_ns", numbers(&|row| row.end - row.start)),
                ("process_id", numbers(&|_| info.pid)),
                ("thread_id", numbers(&|row| row.thread)),
                ("event_type", numbers(&|row| u64::from(row.kind))),
            ]
            .into(),
            cells: [
                ("name", texts(&|row| row.name.clone())),
                ("trace_event_source", texts(&|row| row.source.name().to_owned())),
                ("instance_id", texts(&|_| info.instance_id.clone())),
                ("nc_idx", maybe(&|row| row.core.map(long))),
                ("pcore_idx", maybe(&|row| physical(row).map(long))),
                ("worker_gid", maybe(&|row| row.worker)),
                ("extra_attributes_json", texts(&extra)),
            ]
            .into(),
        }
    }

    fn values(&self, table: &Table) -> Vec<Values<'_>> {
        let of = |name: &str| {
            let cells = || self.cells.get(name).map_or(Values::Null, Values::Cells);
            self.numbers.get(name).map_or_else(cells, |list| Values::Longs(list))
        };
        table.columns.iter().map(|column| of(&column.name)).collect()
    }
}

/// The tables of samples.
fn samples(run: &SystemRun, (from, to): (u64, u64)) -> Vec<(&'static str, Vec<small::Row>)> {
    let instance = &run.info.instance_id;
    let (server, place) = run.server();
    let memory = |row: &MemoryRow| {
        let mut out = Map::new();
        out.insert(String::from("timestamp"), json!(long(row.time - from)));
        out.insert(String::from("total_bytes"), json!(long(row.total)));
        out.insert(String::from("unknown_bytes"), json!(long(row.unknown)));
        for ((_, column), bytes) in USES.iter().zip(row.uses) {
            out.insert(format!("{column}_bytes"), json!(long(bytes)));
        }
        out.insert(String::from("device_idx"), json!(long(row.device)));
        out.insert(String::from("hbm_idx"), json!(long(row.memory)));
        out.insert(String::from("instance_id"), json!(instance));
        out
    };
    let processor = |row: &CpuUtil| {
        small::object(json!({
            "timestamp": long(row.timestamp - from),
            "util_percent": row.value,
            "cpu_id": row.cpu.to_string(),
            "instance_id": instance,
            "ultraserver_id": server,
            "ultraserver_instance_index": place,
        }))
    };
    let room = run.info.host_stats.as_ref().map_or(0, |host| host.memory_bytes);
    let host = |row: &HostMemUsage| {
        let share = if room == 0 { f64::NAN } else { row.bytes_used as f64 * 100.0 / room as f64 };
        small::object(json!({
            "timestamp": long(row.timestamp - from),
            "used_bytes": long(row.bytes_used),
            "used_percent": share,
            "instance_id": instance,
            "ultraserver_id": server,
            "ultraserver_instance_index": place,
        }))
    };
    let device = |device: &DeviceProfile| {
        small::object(json!({
            "device_profile_name": device.id,
            "instance_id": instance,
            "process_id": long(run.info.pid),
            "nc_id": long(device.core),
            "session_id": device.session.map(long),
            "model_id": device.model.map(long),
            "start_ts": device.start.map(|start| long(start) - long(from)),
        }))
    };
    let about = small::object(json!({
        "first_ts": run.dates.0,
        "last_ts": run.dates.1,
        "first_ts_ns": from.to_string(),
        "last_ts_ns": to.to_string(),
        "ntff_version": long(run.info.data_version),
        "hbm_capacity_bytes": long(run.capacity),
    }));
    vec![
        ("SystemProfileHbmUsage", run.memories.iter().map(memory).collect()),
        ("CpuUsage", run.processors.iter().map(processor).collect()),
        ("HostMemUsage", run.host.iter().map(host).collect()),
        ("DeviceProfileList", run.devices.iter().map(device).collect()),
        ("SystemProfileMetadata", vec![about]),
    ]
}

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
