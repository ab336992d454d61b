//! Which series a profile has: from its lanes and tables, in the order of the
//! guide (profiler.md §3.3), top to bottom.

use std::collections::{BTreeMap, HashSet};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;

use super::steps::times;
use super::{Measure, Series, Source};
use crate::error::Error;
use crate::lanes::LaneKind;
use crate::read::{Line, Profile};

/// Engines with the lanes that show them; products of Tensor have one of their
/// own.
const ENGINES: [(&str, &[&str]); 5] = [
    ("tensor", &["Tensor", "TensorMatrix"]),
    ("vector", &["Vector"]),
    ("scalar", &["Scalar"]),
    ("gpsimd", &["GpSimd"]),
    ("sync", &["Sync"]),
];

/// Semaphores of all cores together at most.
const SEMAPHORES: usize = 1024;

struct List<'p> {
    profile: &'p Profile,
    out: Vec<Series>,
}

/// What a series is called and means.
struct About<'a> {
    id: &'a str,
    name: &'a str,
    group: &'a str,
    unit: &'a str,
    text: &'a str,
}

impl List<'_> {
    fn push(&mut self, about: About<'_>, core: u32, source: Source) {
        self.stacked(about, core, source, None);
    }

    fn stacked(&mut self, about: About<'_>, core: u32, source: Source, stack: Option<String>) {
        let several = self.profile.lanes().iter().any(|lane| lane.core > 0);
        let name =
            if several { format!("{} (nc{core})", about.name) } else { about.name.to_owned() };
        self.out.push(Series {
            id: format!("{}.{core}", about.id),
            name,
            group: about.group.to_owned(),
            stack,
            unit: about.unit.to_owned(),
            description: about.text.to_owned(),
            core: Some(core),
            source,
            mean_of: None,
            max: 0.0,
            first: 0,
            levels: Vec::new(),
        });
    }

    fn has(&self, table: &str) -> bool {
        self.profile.manifest().tables.contains_key(table)
    }

    fn table(&self, table: &str, value: &str) -> Source {
        Source::Table { table: table.to_owned(), value: value.to_owned(), by: None, id: None }
    }

    /// The mean from 0 on of the series before.
    fn cumulative(&mut self) {
        let Some(last) = self.out.last().cloned() else { return };
        let at = self.out.len() - 1;
        let (stem, core) = last.id.rsplit_once('.').unwrap_or((&last.id, "0"));
        self.out.push(Series {
            id: format!("{stem}_cumulative.{core}"),
            name: format!("Cumulative {}", last.name),
            description: format!("{}; mean from the start on", last.description),
            mean_of: Some(at),
            ..last
        });
    }

    /// Lanes of a core with one of these names.
    fn lanes(&self, core: u32, names: &[&str]) -> Vec<usize> {
        let all = self.profile.lanes().iter().enumerate();
        let own = all.filter(|(_, lane)| lane.core == core && lane.kind == LaneKind::Engine);
        own.filter(|(_, lane)| names.contains(&lane.name.as_str())).map(|(at, _)| at).collect()
    }

    fn memories(&mut self, core: u32) {
        for place in ["avg", "0", "32", "64", "96"] {
            if !self.has("SbufUsage") {
                break;
            }
            let (column, name) = match place {
                "avg" => (String::from("avg_util_percent"), String::from("State Buffer Usage")),
                place => (
                    format!("partition_{place}_util_percent"),
                    format!("State Buffer Partition {place}"),
                ),
            };
            let source = self.table("SbufUsage", &column);
            let (id, text) = (format!("sbuf.{place}"), "State buffer in use");
            let about = About { id: &id, name: &name, group: "sbuf", unit: "%", text };
            let stack = (place != "avg").then(|| format!("sbuf.{core}"));
            self.stacked(about, core, source, stack);
        }
        for place in ["avg", "0", "1", "2", "3", "4", "5", "6", "7"] {
            if !self.has("PsumUsage") {
                break;
            }
            let (column, name) = match place {
                "avg" => (String::from("avg_util_percent"), String::from("PSUM Usage")),
                place => (format!("bank_{place}_util_percent"), format!("PSUM Bank {place}")),
            };
            let source = self.table("PsumUsage", &column);
            let (id, text) = (format!("psum.{place}"), "Sum buffer in use");
            let about = About { id: &id, name: &name, group: "psum", unit: "%", text };
            let stack = (place != "avg").then(|| format!("psum.{core}"));
            self.stacked(about, core, source, stack);
        }
    }

    fn scratchpad(&mut self, core: u32) {
        if self.has("ScratchpadUsage") {
            let source = self.table("ScratchpadUsage", "used_bytes");
            let (id, name) = ("scratchpad", "Scratchpad Usage");
            let text = "Device memory of the program's own tensors, from the first use of each to its last";
            self.push(About { id, name, group: id, unit: "B", text }, core, source);
        }
    }

    fn throttle(&mut self, core: u32) {
        let source = Source::Table {
            table: String::from("Throttle"),
            value: String::from("k"),
            by: Some(String::from("n")),
            id: None,
        };
        let text = "Part of the cycles that may be used; 1 is no limit";
        let about =
            About { id: "throttle", name: "Throttling", group: "throttling", unit: "%", text };
        if self.has("Throttle") {
            self.push(about, core, source);
        }
    }

    fn dma(&mut self, core: u32) {
        if self.has("PendingDma") {
            let source = self.table("PendingDma", "value");
            let text = "DMA triggers of the core so far";
            let (id, name) = ("pending_dma", "Pending DMA Count");
            self.push(About { id, name, group: id, unit: "", text }, core, source);
        }
        let all = self.profile.lanes().iter().enumerate();
        let lanes = all.filter(|(_, lane)| lane.core == core && lane.kind == LaneKind::Dma);
        let lanes: Vec<usize> = lanes.map(|(at, _)| at).collect();
        if !lanes.is_empty() {
            let source = Source::Lanes { lanes: lanes.clone(), measure: Measure::Depth };
            let (id, name) = ("dma_in_flight", "DMA Packets in Flight");
            let text = "Packets under way on all DMA engines";
            self.push(About { id, name, group: "pending_dma", unit: "", text }, core, source);
        }
        if self.has("DmaUsage") {
            let source = self.table("DmaUsage", "current_throughput");
            let (id, name) = ("dma_throughput", "DMA Throughput");
            let text = "Sum of the rates of the packets under way";
            self.push(About { id, name, group: id, unit: "B/s", text }, core, source);
            self.cumulative();
        }
        if !lanes.is_empty() {
            let source = Source::Lanes { lanes, measure: Measure::Active };
            let (id, name) = ("dma_active", "DMA Active");
            let text = "A packet is under way";
            self.push(About { id, name, group: "active", unit: "%", text }, core, source);
        }
    }

    fn engines(&mut self, core: u32, peak: f64) {
        for (engine, names) in ENGINES {
            let lanes = self.lanes(core, names);
            if lanes.is_empty() {
                continue;
            }
            let id = format!("active_{engine}");
            let label = names.first().copied().unwrap_or(engine);
            let name = format!("{label} Active");
            let text = "The engine is busy; waits for semaphores do not count";
            let source = Source::Lanes { lanes, measure: Measure::Active };
            let about = About { id: &id, name: &name, group: "active", unit: "%", text };
            self.push(about, core, source);
        }
        let lanes = self.lanes(core, &["TensorMatrix"]);
        if lanes.is_empty() {
            return;
        }
        let source = Source::Lanes { lanes: lanes.clone(), measure: Measure::Active };
        let (id, name) = ("tensor_matrix", "TensorMatrix Utilization");
        let text = "The matrix unit multiplies";
        self.push(About { id, name, group: "utilisation", unit: "%", text }, core, source);
        for (id, name, useful, text) in [
            ("mfu", "Estimated MFU", true, "Operations without transposes, by those of the peak"),
            ("hfu", "Estimated HFU", false, "Operations by those of the peak"),
        ] {
            let measure = Measure::Flops { peak: peak / 1e9, useful };
            let source = Source::Lanes { lanes: lanes.clone(), measure };
            self.push(About { id, name, group: "utilisation", unit: "%", text }, core, source);
            self.cumulative();
        }
    }

    /// What is active on all cores together, for sums over them: a time in which
    /// two are active counts once.
    fn all(&mut self) {
        let engines = |names: &[&str]| -> Vec<usize> {
            let all = self.profile.lanes().iter().enumerate();
            let own = all.filter(|(_, lane)| lane.kind == LaneKind::Engine);
            own.filter(|(_, lane)| names.contains(&lane.name.as_str())).map(|(at, _)| at).collect()
        };
        let mut wanted: Vec<(String, Vec<usize>)> = Vec::new();
        let lanes = self.profile.lanes();
        if lanes.iter().any(|lane| lane.core > 0) {
            for (engine, names) in ENGINES {
                wanted.push((format!("active_{engine}"), engines(names)));
            }
            let dma = lanes.iter().enumerate().filter(|(_, lane)| lane.kind == LaneKind::Dma);
            wanted.push((String::from("dma_active"), dma.map(|(at, _)| at).collect()));
        }
        wanted.push((String::from("active"), (0..lanes.len()).collect()));
        for (id, lanes) in wanted.into_iter().filter(|(_, lanes)| !lanes.is_empty()) {
            let source = Source::Lanes { lanes, measure: Measure::Active };
            let (name, text) = ("Active on any core", "Something is under way on one of the cores");
            self.push(About { id: &id, name, group: "active", unit: "%", text }, 0, source);
            if let Some(last) = self.out.last_mut() {
                last.id = format!("{id}.all");
                last.core = None;
                last.name = format!("{id}, any core");
            }
        }
    }

    fn semaphores(&mut self, core: u32, known: &BTreeMap<(u32, String), ()>) {
        let own = known.keys().filter(|(of, _)| *of == core).enumerate();
        for (place, (_, name)) in own.take(SEMAPHORES) {
            let source = Source::Table {
                table: String::from("SemaphoreUpdate"),
                value: String::from("value"),
                by: None,
                id: Some(name.clone()),
            };
            let id = format!("semaphore.{place}");
            let text = "Value of a semaphore";
            let about = About { id: &id, name, group: "semaphore", unit: "", text };
            self.push(about, core, source);
        }
    }
}

/// The series of a profile, without levels. `peak` is operations per second of
/// a matrix unit.
pub(super) fn series(profile: &Profile, peak: f64) -> Result<Vec<Series>, Error> {
    let mut semaphores = BTreeMap::new();
    if profile.manifest().tables.contains_key("SemaphoreUpdate") {
        for batch in profile.batches("SemaphoreUpdate")? {
            let path = || profile.dir().join("SemaphoreUpdate.parquet");
            let batch = batch.map_err(|error| Error::damaged(&path(), error))?;
            // Few ids occur in many rows: the rows of each are looked at once.
            let mut seen = HashSet::new();
            let ids = batch.column_by_name("id").and_then(|c| c.as_dictionary_opt::<Int32Type>());
            let keys = ids.map(|ids| ids.keys().values().iter().copied()).into_iter().flatten();
            let cores = times(&batch, "pcore_idx").into_iter();
            for ((core, key), line) in cores.zip(keys).zip(Line::all(&batch)) {
                if seen.insert((core, key))
                    && let (Ok(core), Some(id)) = (u32::try_from(core), line.text("id"))
                {
                    semaphores.insert((core, id.to_owned()), ());
                }
            }
        }
    }
    let mut cores: Vec<u32> = profile.lanes().iter().map(|lane| lane.core).collect();
    cores.sort_unstable();
    cores.dedup();
    let mut list = List { profile, out: Vec::new() };
    for core in cores {
        list.memories(core);
        list.scratchpad(core);
        list.throttle(core);
        list.semaphores(core, &semaphores);
        list.dma(core);
        list.engines(core, peak);
    }
    list.all();
    Ok(list.out)
}
