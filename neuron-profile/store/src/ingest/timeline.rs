//! A timeline that was drawn by others, or derived of a profile: rows with names
//! and slices on them, by process.
//!
//! It is stored as a system profile, so that everything that shows and searches
//! such a one shows it too: a row of the timeline is a lane, whose
//! [`group`](crate::Lane::group) is the process; `trace_event_source` of its
//! events is the process, `thread_id` the number of the row, and
//! `extra_attributes_json` what the slice tells of itself.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write as _};

use super::lane::{Event, LaneBuilder};
use super::write::close;
use super::{Settings, begun, small};
use crate::disk::{Draft, write_json};
use crate::encode::{Cells, TableWriter, Values};
use crate::error::Error;
use crate::kinds::{Description, Gathered};
use crate::lanes::{Index, LaneKind};
use crate::manifest::Manifest;
use crate::schema::{self, Table};
use crate::tiles::write::TileFile;

const EVENTS: &str = "SystemProfileEvents";

/// Slices of a row that become a row group.
const GROUP: usize = 1 << 17;

/// A slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineRow {
    /// ns from the begin of the timeline.
    pub start: u64,
    /// ns; the start for a moment.
    pub end: u64,
    /// Place in [`Timeline::names`].
    pub name: u32,
    /// What it tells of itself: a JSON object, empty for nothing.
    pub args: Box<str>,
}

/// A row of the timeline. Slices may stand in any order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineLane {
    /// Process that it belongs to.
    pub group: String,
    /// Its label; empty for none.
    pub name: String,
    /// What is on it.
    pub rows: Vec<TimelineRow>,
}

/// All rows, from top to bottom; those of a process stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Names of slices.
    pub names: Vec<String>,
    /// Rows.
    pub lanes: Vec<TimelineLane>,
    /// What is not shown, in words.
    pub notes: Vec<String>,
}

/// Stores a timeline. Slices of one row should not overlap.
///
/// # Errors
///
/// A disk that cannot be written; then nothing is visible.
pub fn ingest_timeline(
    timeline: Timeline,
    draft: Draft,
    settings: &Settings,
) -> Result<Manifest, Error> {
    let Timeline { names, lanes, notes } = timeline;
    let all = || lanes.iter().flat_map(|lane| &lane.rows);
    let mut manifest = Manifest {
        system: true,
        total_ns: all().map(|row| row.end).max().unwrap_or(0),
        events: u64::try_from(all().count()).unwrap_or(u64::MAX),
        notes,
        simulated: settings.simulated,
        ..begun(&draft, settings)
    };
    events(&draft, lanes, &names, &mut manifest)?;
    let described: Vec<Table> = schema::tables()
        .iter()
        .filter(|table| manifest.tables.contains_key(&table.name))
        .cloned()
        .collect();
    small::describe(draft.dir(), described, &mut manifest)?;
    for table in schema::tables() {
        if !manifest.tables.contains_key(&table.name) {
            let why = String::from("a timeline alone does not have it");
            manifest.absent.insert(table.name.clone(), why);
        }
    }
    draft.commit(&mut manifest, &settings.labels)?;
    Ok(manifest)
}

/// The slices, row by row, and the index of the rows.
fn events(
    draft: &Draft,
    lanes: Vec<TimelineLane>,
    names: &[String],
    manifest: &mut Manifest,
) -> Result<(), Error> {
    let dir = draft.dir();
    let path = dir.join("tiles");
    let told = || Error::io("write", &path);
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let mut tiles = TileFile::new(BufWriter::with_capacity(1 << 18, file));
    let schema = schema::table(EVENTS).ok_or_else(|| Error::NoTable(EVENTS.to_owned()))?;
    let place = |name: &str| schema.column(name).unwrap_or(usize::MAX);
    let seen = [place("start_ts"), place("end_ts"), place("event_type")];
    let mut kinds = Gathered::default();
    let mut known: HashMap<u32, u32> = HashMap::new();
    let mut index = Index { version: 1, ..Index::default() };
    let mut writer: Option<TableWriter> = None;
    let (mut group, mut first, mut id) = (0, 0, 1);
    let mut processes: Vec<String> = Vec::new();
    for (number, lane) in (0_u64..).zip(lanes) {
        let TimelineLane { group: process, name, mut rows } = lane;
        rows.sort_by_key(|row| (row.start, std::cmp::Reverse(row.end)));
        if processes.last() != Some(&process) {
            processes.push(process.clone());
        }
        let mut built = LaneBuilder::new(LaneKind::System, processes.len() - 1, name);
        built.lane.group = Some(process.clone());
        for (part, rows) in (0_u64..).zip(rows.chunks(GROUP)) {
            if writer.is_none() {
                writer = Some(TableWriter::create(dir, schema)?);
            }
            let Some(writer) = &mut writer else { continue };
            let mut keys = BTreeMap::new();
            let mut list = Vec::with_capacity(rows.len());
            for row in rows {
                let kind = *known.entry(row.name).or_insert_with(|| {
                    let name = names.get(row.name as usize).cloned().unwrap_or_default();
                    kinds.place(Description { name, ..Description::default() })
                });
                keys.insert(u64::from(row.name), kind);
                list.push(Event { start: row.start, end: row.end, name: kind, bytes: 0 });
            }
            let columns = Columns::new(rows, names, (&process, number), id);
            id += rows.len();
            let chunk = writer.group((number, part), rows.len(), &columns.values(schema))?;
            let keys: Vec<(u64, u32)> = keys.into_iter().collect();
            built.block(group, &list, &chunk, seen, &keys, &mut tiles).map_err(told())?;
            group += 1;
        }
        let built = built.finish(first, &mut tiles).map_err(told())?;
        first += built.rows;
        index.lanes.push(built);
    }
    index.names = kinds.names;
    if let Some(writer) = writer {
        close(writer, manifest)?;
    }
    tiles.into_inner().flush().map_err(told())?;
    write_json(&dir.join("lanes.json"), &index)?;
    write_json(&dir.join("kinds.json"), &kinds.kinds)
}

/// Columns of the table of events.
struct Columns {
    numbers: HashMap<&'static str, Vec<i64>>,
    texts: HashMap<&'static str, Cells>,
}

impl Columns {
    fn new(
        rows: &[TimelineRow],
        names: &[String],
        (process, number): (&str, u64),
        id: usize,
    ) -> Self {
        let long = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let numbers = |of: &dyn Fn(&TimelineRow) -> i64| rows.iter().map(of).collect();
        let texts = |of: &dyn Fn(&TimelineRow) -> Option<String>| {
            Cells::Texts(rows.iter().map(of).collect())
        };
        let name = |row: &TimelineRow| names.get(row.name as usize).cloned().unwrap_or_default();
        let ids = (id..id + rows.len()).map(|id| i64::try_from(id).unwrap_or(i64::MAX));
        Self {
            numbers: [
                ("id", ids.collect()),
                ("start_ts", numbers(&|row| long(row.start))),
                ("end_ts", numbers(&|row| long(row.end))),
                ("duration_ns", numbers(&|row| long(row.end.saturating_sub(row.start)))),
                ("process_id", vec![0; rows.len()]),
                ("thread_id", vec![long(number); rows.len()]),
                ("event_type", numbers(&|row| i64::from(row.name))),
            ]
            .into(),
            texts: [
                ("name", texts(&|row| Some(name(row)))),
                ("trace_event_source", texts(&|_| Some(process.to_owned()))),
                ("instance_id", texts(&|_| Some(String::new()))),
                (
                    "extra_attributes_json",
                    texts(&|row| (!row.args.is_empty()).then(|| row.args.to_string())),
                ),
            ]
            .into(),
        }
    }

    fn values(&self, table: &Table) -> Vec<Values<'_>> {
        let of = |name: &str| {
            let cells = || self.texts.get(name).map_or(Values::Null, Values::Cells);
            self.numbers.get(name).map_or_else(cells, |list| Values::Longs(list))
        };
        table.columns.iter().map(|column| of(&column.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::manifest::Labels;

    #[test]
    fn rows_keep_their_order_process_and_slices() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let id = format!("n_{:040}", 7);
        let slice =
            |start, end, name, args: &str| TimelineRow { start, end, name, args: args.into() };
        let lane = |group: &str, name: &str, rows| TimelineLane {
            group: group.to_owned(),
            name: name.to_owned(),
            rows,
        };
        let timeline = Timeline {
            names: vec![String::from("b"), String::from("a")],
            lanes: vec![
                lane("Overview", "Busy", vec![slice(5, 9, 0, ""), slice(0, 5, 1, "{\"k\":\"v\"}")]),
                lane("Control", "", Vec::new()),
                lane("Control", "HLO Ops", vec![slice(3, 3, 1, "")]),
            ],
            notes: vec![String::from("note")],
        };
        let settings = Settings {
            labels: Labels { display_name: String::from("t"), tags: Vec::new() },
            ..Settings::default()
        };
        let manifest =
            ingest_timeline(timeline, store.begin(&id, false).unwrap(), &settings).unwrap();
        assert_eq!((manifest.total_ns, manifest.events), (9, 3));
        let profile = store.open(&id).unwrap();
        let lanes: Vec<_> = profile
            .lanes()
            .iter()
            .map(|lane| (lane.group.as_deref(), lane.name.as_str(), lane.core, lane.rows))
            .collect();
        assert_eq!(
            lanes,
            [
                (Some("Overview"), "Busy", 0, 2),
                (Some("Control"), "", 1, 0),
                (Some("Control"), "HLO Ops", 1, 1),
            ]
        );
        let spans = profile.spans(0, 9, &[0, 1, 2], 10).unwrap();
        let found: Vec<_> = spans
            .iter()
            .flat_map(|lane| lane.spans.iter().flatten())
            .map(|span| (span.start, span.end, profile.name(span.name)))
            .collect();
        assert_eq!(found, [(0, 5, "a"), (5, 9, "b"), (3, 3, "a")]);
        let row = profile.row(EVENTS, 0).unwrap();
        assert_eq!(
            row.get("extra_attributes_json").and_then(|v| v.as_str()),
            Some("{\"k\":\"v\"}")
        );
        assert_eq!(row.get("trace_event_source").and_then(|v| v.as_str()), Some("Overview"));
        assert!(profile.viewport(0, 9, 4, &[0, 1, 2]).is_ok());
    }
}
