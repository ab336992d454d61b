//! Encodes what was gathered: the writing half of an ingest.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use neuron_core::engine::Engine;
use profile_engine::chip::Chip;
use profile_engine::cores::{Core, QueueKind};
use profile_engine::{Capture, Outcome, ReadAt};

use super::facts::Known;
use super::gather::{Moved, Ran, TRACKS};
use super::lane::{Event, LaneBuilder, STAY};
use super::{Job, Settings, allocations, small};
use crate::disk::write_json;
use crate::encode::table::Finished;
use crate::encode::{Cells, Dictionary, Stream, TableWriter, Values};
use crate::error::Error;
use crate::kinds::{Description, Gathered};
use crate::lanes::{Index, LaneKind};
use crate::manifest::{self, Manifest};
use crate::schema::{self, Table};
use crate::tiles::write::TileFile;

/// A lane of an engine.
struct EngineLane {
    lane: LaneBuilder,
    core: usize,
    engine: Engine,
    known: Known,
    /// Compact place of a slot in the block, and the block that it is of.
    places: Vec<(u32, u32)>,
    blocks: u32,
    stay: Vec<Ran>,
}

/// A lane of a DMA engine.
struct DmaLane {
    lane: LaneBuilder,
    core: usize,
    engine: u32,
    stay: Vec<Moved>,
}

/// See the module.
pub(super) struct Writer<'a> {
    dir: PathBuf,
    cores: &'a [Core],
    chip: Chip,
    tables: BTreeMap<&'static str, (TableWriter, u64)>,
    tiles: TileFile<BufWriter<File>>,
    kinds: Gathered,
    engines: BTreeMap<usize, EngineLane>,
    dma: BTreeMap<usize, DmaLane>,
}

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The writer of a table, made when it is needed.
fn table<'t>(
    tables: &'t mut BTreeMap<&'static str, (TableWriter, u64)>,
    dir: &Path,
    name: &'static str,
) -> Result<&'t mut (TableWriter, u64), Error> {
    if !tables.contains_key(name) {
        let table = schema::table(name).ok_or_else(|| Error::NoTable(name.to_owned()))?;
        tables.insert(name, (TableWriter::create(dir, table)?, 0));
    }
    tables.get_mut(name).ok_or_else(|| Error::NoTable(name.to_owned()))
}

impl<'a> Writer<'a> {
    pub(super) fn new(dir: &Path, cores: &'a [Core], chip: Chip) -> Result<Self, Error> {
        let path = dir.join("tiles");
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        Ok(Self {
            dir: dir.to_owned(),
            cores,
            chip,
            tables: BTreeMap::new(),
            tiles: TileFile::new(BufWriter::with_capacity(1 << 18, file)),
            kinds: Gathered::default(),
            engines: BTreeMap::new(),
            dma: BTreeMap::new(),
        })
    }

    pub(super) fn job(&mut self, job: Job) -> Result<(), Error> {
        match job {
            Job::Ran(lane, rows) => self.ran(lane, rows, STAY),
            Job::Moved(lane, rows) => self.moved(lane, rows, STAY),
            Job::Part(part) => {
                let (writer, count) = table(&mut self.tables, &self.dir, part.rows.table())?;
                let at = *count;
                *count += 1;
                part.write(writer, self.cores, at)
            }
        }
    }

    pub(super) fn ran(&mut self, at: usize, rows: Vec<Ran>, stay: usize) -> Result<(), Error> {
        let cores = self.cores;
        let lane = self.engines.entry(at).or_insert_with(|| {
            let core = at / TRACKS;
            let track = at % TRACKS;
            let engine = Engine::ALL.get(track).copied().unwrap_or(Engine::Pe);
            let name =
                if track < Engine::ALL.len() { engine.display_name() } else { "TensorMatrix" };
            EngineLane {
                lane: LaneBuilder::new(LaneKind::Engine, core, name.to_owned()),
                core,
                engine,
                known: Known::new(core, engine, cores),
                places: Vec::new(),
                blocks: 0,
                stay: Vec::new(),
            }
        });
        let rows = in_order(&mut lane.stay, rows, stay, |row| (row.start, row.id));
        if rows.is_empty() {
            return Ok(());
        }
        // Slots of the block, each once.
        lane.blocks += 1;
        let mut used = Vec::new();
        let slots: Vec<u32> = rows
            .iter()
            .map(|row| {
                let key = if row.slot == u32::MAX { 0 } else { row.slot as usize + 1 };
                if key >= lane.places.len() {
                    lane.places.resize(key + 1, (0, 0));
                }
                let Some((block, place)) = lane.places.get_mut(key) else { return 0 };
                if *block != lane.blocks {
                    (*block, *place) = (lane.blocks, used.len() as u32);
                    used.push(row.slot);
                }
                *place
            })
            .collect();
        let kinds: Vec<Description> =
            used.iter().map(|slot| lane.known.facts(*slot, cores).kind()).collect();
        let facts = lane.known.columns(&used, cores);
        let (core, engine) = (lane.core, lane.engine);
        let names: Vec<u32> = kinds.into_iter().map(|kind| self.kinds.place(kind)).collect();
        let Some(lane) = self.engines.get_mut(&at) else { return Ok(()) };
        let column = |of: &dyn Fn(&Ran) -> i64| -> Vec<i64> { rows.iter().map(of).collect() };
        let start = column(&|row| long(row.start / 1000));
        let end = column(&|row| long(row.end / 1000));
        let length = column(&|row| long((row.end - row.start) / 1000));
        let id = column(&|row| long(row.id));
        let pc = column(&|row| i64::from(if row.slot == u32::MAX { row.pc } else { row.slot }));
        let chip = self.chip;
        let wait = column(&|row| long(chip.wait_ns(row.wait)));
        let crc_in = column(&|row| i64::from(row.crc_in));
        let crc_out = column(&|row| i64::from(row.crc_out));
        let events: Vec<Event> = rows
            .iter()
            .zip(&slots)
            .map(|(row, slot)| Event {
                start: row.start / 1000,
                end: row.end / 1000,
                name: names.get(*slot as usize).copied().unwrap_or(u32::MAX),
                bytes: 0,
            })
            .collect();
        // Rows outside every program have the number of their record.
        let keys: Vec<(u64, u32)> = used
            .iter()
            .zip(&names)
            .filter(|(slot, _)| **slot != u32::MAX)
            .map(|(slot, name)| (u64::from(*slot), *name))
            .collect();
        let stream = Stream::new(slots);
        let (writer, count) = table(&mut self.tables, &self.dir, "Instruction")?;
        let place = |name: &str| writer.table().column(name).unwrap_or(usize::MAX);
        let mut columns = vec![Values::Null; writer.table().columns.len()];
        let mut set = |name: &str, values| {
            if let Some(column) = columns.get_mut(place(name)) {
                *column = values;
            }
        };
        set("start_ts", Values::Longs(&start));
        set("end_ts", Values::Longs(&end));
        set("duration_ns", Values::Repeated(&length));
        set("engine", Values::Text(engine.display_name()));
        set("timeline_track", Values::Text(&lane.lane.lane.name));
        set("pcore_idx", Values::Long(long(core as u64)));
        set("id", Values::Repeated(&id));
        set("pc", Values::Longs(&pc));
        set("evt_wait_time_ns", Values::Repeated(&wait));
        set("crc_in", Values::Longs(&crc_in));
        set("crc_out", Values::Longs(&crc_out));
        for (name, dictionary) in &facts {
            set(name, Values::Indexed(dictionary, &stream));
        }
        let seen = [place("start_ts"), place("end_ts"), place("pc")];
        let key = (at as u64, lane.lane.groups.len() as u64);
        let chunk = writer.group(key, rows.len(), &columns)?;
        let group = usize::try_from(*count).unwrap_or(usize::MAX);
        *count += 1;
        let path = self.dir.join("tiles");
        let done = lane.lane.block(group, &events, &chunk, seen, &keys, &mut self.tiles);
        done.map_err(Error::io("write", &path))
    }

    pub(super) fn moved(&mut self, at: usize, rows: Vec<Moved>, stay: usize) -> Result<(), Error> {
        let lane = self.dma.entry(at).or_insert_with(|| {
            let engine = u32::try_from(at & 0xffff_ffff).unwrap_or(0);
            DmaLane {
                lane: LaneBuilder::new(LaneKind::Dma, at >> 32, format!("DMA-E{engine}")),
                core: at >> 32,
                engine,
                stay: Vec::new(),
            }
        });
        let rows = in_order(&mut lane.stay, rows, stay, |row| (row.start, row.id));
        if rows.is_empty() {
            return Ok(());
        }
        let (core, engine) = (lane.core, lane.engine);
        let of = self.cores.get(core);
        // Rings of the block, each once.
        let mut rings = [u32::MAX; 256];
        let mut used: Vec<u8> = Vec::new();
        let slots: Vec<u32> = rows
            .iter()
            .map(|row| {
                let Some(place) = rings.get_mut(usize::from(row.queue)) else { return 0 };
                if *place == u32::MAX {
                    *place = used.len() as u32;
                    used.push(row.queue);
                }
                *place
            })
            .collect();
        let named: Vec<String> = used
            .iter()
            .map(|ring| {
                let queue = of.and_then(|core| core.queues.get(&(engine, *ring)));
                queue.map_or_else(|| format!("Q{ring}-E{engine}"), |queue| queue.name.clone())
            })
            .collect();
        let names: Vec<u32> = named
            .iter()
            .map(|name| {
                self.kinds.place(Description { name: name.clone(), ..Description::default() })
            })
            .collect();
        let kinds = used.iter().map(|ring| {
            let kinds = of.map(|core| &core.queue_kinds);
            let kind = kinds.and_then(|kinds| kinds.get(usize::from(*ring)));
            Some(kind.copied().unwrap_or(QueueKind::Unknown).name().to_owned())
        });
        let kinds = Dictionary(Cells::Texts(kinds.collect()));
        let named = Dictionary(Cells::Texts(named.into_iter().map(Some).collect()));
        let numbers = used.iter().map(|ring| Some(long(core as u64 + 1) * 16 + i64::from(*ring)));
        let numbers = Dictionary(Cells::Longs(numbers.collect()));
        let events: Vec<Event> = rows
            .iter()
            .zip(&slots)
            .map(|(row, slot)| Event {
                start: row.start / 1000,
                end: row.end / 1000,
                name: names.get(*slot as usize).copied().unwrap_or(u32::MAX),
                bytes: row.bytes,
            })
            .collect();
        let keys: Vec<(u64, u32)> =
            used.iter().zip(&names).map(|(ring, name)| (u64::from(*ring), *name)).collect();
        let stream = Stream::new(slots);
        let (sizes, size_stream) = sizes(&rows);
        let column = |of: &dyn Fn(&Moved) -> i64| -> Vec<i64> { rows.iter().map(of).collect() };
        let start = column(&|row| long(row.start / 1000));
        let end = column(&|row| long(row.end / 1000));
        let length = column(&|row| long((row.end - row.start) / 1000));
        let id = column(&|row| long(row.id));
        let index = column(&|row| long(row.index));
        let ring = column(&|row| i64::from(row.queue));
        let crc = column(&|row| i64::from(row.crc));
        let rate: Vec<f32> = rows.iter().map(|row| row.rate).collect();
        let (writer, count) = table(&mut self.tables, &self.dir, "DmaPacket")?;
        let place = |name: &str| writer.table().column(name).unwrap_or(usize::MAX);
        let mut columns = vec![Values::Null; writer.table().columns.len()];
        let mut set = |name: &str, values| {
            if let Some(column) = columns.get_mut(place(name)) {
                *column = values;
            }
        };
        set("start_ts", Values::Longs(&start));
        set("end_ts", Values::Longs(&end));
        set("duration_ns", Values::Repeated(&length));
        set("pcore_idx", Values::Long(long(core as u64)));
        set("id", Values::Repeated(&id));
        set("packet_idx", Values::Repeated(&index));
        set("packet_aggregation_id", Values::Indexed(&numbers, &stream));
        set("engine_idx", Values::Long(i64::from(engine)));
        for name in ["read_bytes", "write_bytes", "transfer_bytes"] {
            set(name, Values::Indexed(&sizes, &size_stream));
        }
        set("throughput", Values::Singles(&rate));
        set("queue_type", Values::Indexed(&kinds, &stream));
        set("variable", Values::Text("unknown"));
        set("queue_name", Values::Indexed(&named, &stream));
        set("queue_idx", Values::Longs(&ring));
        set("crc", Values::Longs(&crc));
        let seen = [place("start_ts"), place("end_ts"), place("queue_idx")];
        let Some(lane) = self.dma.get_mut(&at) else { return Ok(()) };
        let key = (at as u64, lane.lane.groups.len() as u64);
        let chunk = writer.group(key, rows.len(), &columns)?;
        let group = usize::try_from(*count).unwrap_or(usize::MAX);
        *count += 1;
        let path = self.dir.join("tiles");
        let done = lane.lane.block(group, &events, &chunk, seen, &keys, &mut self.tiles);
        done.map_err(Error::io("write", &path))
    }

    /// Writes what stayed back and the index.
    pub(super) fn finish_lanes(mut self, manifest: &mut Manifest) -> Result<(), Error> {
        for lane in self.engines.keys().copied().collect::<Vec<_>>() {
            self.ran(lane, Vec::new(), 0)?;
        }
        for lane in self.dma.keys().copied().collect::<Vec<_>>() {
            self.moved(lane, Vec::new(), 0)?;
        }
        let Self { dir, mut tables, mut tiles, kinds, engines, dma, .. } = self;
        let mut index = Index { version: 1, names: kinds.names, lanes: Vec::new() };
        let path = dir.join("tiles");
        let mut lanes = Vec::new();
        lanes.extend(engines.into_values().map(|lane| ("Instruction", lane.lane)));
        lanes.extend(dma.into_values().map(|lane| ("DmaPacket", lane.lane)));
        let mut firsts = HashMap::new();
        for name in ["Instruction", "DmaPacket"] {
            if let Some((writer, _)) = tables.remove(name) {
                let done = close(writer, manifest)?;
                manifest.events += done.rows;
                firsts.insert(name, done.first_rows);
            }
        }
        for (table, lane) in lanes {
            let group = lane.groups.first().copied().unwrap_or(0);
            let first = firsts.get(table).and_then(|list| list.get(group));
            manifest.late += lane.late;
            let first = first.map_or(0, |(row, _)| *row);
            let lane = lane.finish(first, &mut tiles).map_err(Error::io("write", &path))?;
            if lane.rows > 0 {
                index.lanes.push(lane);
            }
        }
        index.lanes.sort_by_key(|lane| (lane.core, lane.kind == LaneKind::Dma));
        let mut out = tiles.into_inner();
        out.flush().map_err(Error::io("write", &path))?;
        write_json(&dir.join("lanes.json"), &index)?;
        write_json(&dir.join("kinds.json"), &kinds.kinds)?;
        for (writer, _) in tables.into_values() {
            close(writer, manifest)?;
        }
        Ok(())
    }

    /// Writes all that is left: lanes, index, and the tables of few rows.
    pub(super) fn finish<S: ReadAt + ?Sized>(
        self,
        capture: &Capture<'_, S>,
        outcome: &Outcome,
        settings: &Settings,
        manifest: &mut Manifest,
    ) -> Result<(), Error> {
        let Outcome { totals, usage, allocations: lives, tensors } = outcome;
        let dir = self.dir.clone();
        self.finish_lanes(manifest)?;
        let sampled = (&usage[..], &tensors[..]);
        for (table, columns, rows) in small::tables(capture, totals, sampled, settings, manifest) {
            small::write(&dir, &table, &columns, rows, manifest)?;
        }
        if let Some(table) = schema::table("SbufAllocation")
            && lives.iter().any(|lives| !lives.is_empty())
        {
            let mut writer = TableWriter::create(&dir, table)?;
            allocations::write(&mut writer, &capture.cores, lives)?;
            close(writer, manifest)?;
        }
        // The schema of what there is, itself too.
        let mut described: Vec<Table> = schema::tables()
            .iter()
            .filter(|table| manifest.tables.contains_key(&table.name))
            .cloned()
            .collect();
        described.push(small::summary(capture, totals, manifest).0);
        small::describe(&dir, described, manifest)?;
        for table in schema::tables() {
            if !manifest.tables.contains_key(&table.name) {
                let system = schema::is_system(&table.name);
                let why = if system {
                    "only profiles of inspect runs have it"
                } else {
                    "nothing of it in the trace"
                };
                manifest.absent.insert(table.name.clone(), why.to_owned());
            }
        }
        for (name, reason) in schema::ABSENT {
            manifest.absent.insert(name.to_owned(), reason.to_owned());
        }
        Ok(())
    }
}

/// Closes a table and takes note of it.
pub(super) fn close(writer: TableWriter, manifest: &mut Manifest) -> Result<Finished, Error> {
    let about = [
        ("profile_id", manifest.id.clone()),
        ("profile_schema_version", schema::VERSION.to_owned()),
        ("time_unit", String::from("ns from the start of the execution")),
    ];
    let name = writer.table().name.clone();
    let done = writer.finish(&about)?;
    manifest.tables.insert(name, manifest::Table { rows: done.rows, bytes: done.bytes });
    Ok(done)
}

/// Rows in order of their starts; the last `stay` wait for the next block.
fn in_order<T: Copy>(
    waiting: &mut Vec<T>,
    mut rows: Vec<T>,
    stay: usize,
    key: impl Fn(&T) -> (u64, u64),
) -> Vec<T> {
    // Few are appended to many; the sort sees the two runs.
    rows.append(waiting);
    rows.sort_by_key(&key);
    let keep = rows.len().saturating_sub(stay);
    waiting.extend_from_slice(rows.get(keep..).unwrap_or_default());
    rows.truncate(keep);
    rows
}

/// Sizes of packets, each once, and the rows' places among them.
fn sizes(rows: &[Moved]) -> (Dictionary, Stream) {
    let mut known: HashMap<u32, u32> = HashMap::new();
    let mut list = Vec::new();
    let mut last = (u32::MAX, u32::MAX);
    let slots = rows
        .iter()
        .map(|row| {
            if last.0 != row.bytes || last.1 == u32::MAX {
                let place = *known.entry(row.bytes).or_insert_with(|| {
                    list.push(Some(i64::from(row.bytes)));
                    list.len() as u32 - 1
                });
                last = (row.bytes, place);
            }
            last.1
        })
        .collect();
    let stream = Stream::new(slots);
    (Dictionary(Cells::Longs(list)), stream)
}
