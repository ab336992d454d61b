//! What is measured of a store.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use neuron_core::neff::{self, Neff, Options as NeffOptions, Report};
use profile_engine::{Capture, Nothing, Options, Parts, run};
use profile_store::{Error, Labels, Profile, Settings, Store};
use serde_json::{Value, json};

/// Largest resident size so far, MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Processor seconds of this process, all threads.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

pub(crate) fn ingest(neff: &str, trace: &str, root: &str) -> Value {
    let bytes = std::fs::read(neff).unwrap();
    let neff = Neff::open(&bytes, &NeffOptions::new(neff::Mode::Lenient)).unwrap();
    let file = File::open(trace).unwrap();
    let mut report = Report::new(neff::Mode::Lenient);
    let options = Options { call_stacks: true, ..Options::default() };
    let capture = Capture::open(&neff, &file, options, &mut report).unwrap();
    let _ = std::fs::remove_dir_all(root);
    let store = Store::new(root);
    let draft = store.begin(&format!("n_{:040}", 1), true).unwrap();
    let (begin, before) = (Instant::now(), cpu());
    let settings = Settings { labels: Labels::default(), ..Settings::default() };
    let done = profile_store::ingest(&capture, draft, &settings, &mut |_| {}).unwrap();
    let (wall, cpu) = (begin.elapsed().as_secs_f64(), cpu() - before);
    let manifest = done.manifest;
    let rows: u64 = manifest.tables.values().map(|table| table.rows).sum();
    let events = manifest.events as f64;
    let dir = store.profiles().join(&manifest.id);
    let size = |name: &str| std::fs::metadata(dir.join(name)).unwrap().len() as f64;
    let of_events = size("Instruction.parquet") + size("DmaPacket.parquet");
    let zoom = size("tiles") + size("lanes.json");
    let tables: Vec<Value> =
        manifest.tables.iter().map(|(name, t)| json!([name, t.rows, t.bytes])).collect();
    json!({
        "events": manifest.events,
        "rows": rows,
        "seconds": wall,
        "cpu_seconds": cpu,
        "events_per_second": events / wall,
        "events_per_cpu_second": events / cpu,
        "peak_mib": peak(),
        "bytes_per_event": manifest.bytes as f64 / events,
        "event_tables_bytes_per_event": of_events / events,
        "zoom_bytes_per_event": zoom / events,
        "late": manifest.late,
        "tables": tables,
    })
}

pub(crate) fn rows(neff: &str, trace: &str) -> Value {
    let bytes = std::fs::read(neff).unwrap();
    let neff = Neff::open(&bytes, &NeffOptions::new(neff::Mode::Lenient)).unwrap();
    let file = File::open(trace).unwrap();
    let mut report = Report::new(neff::Mode::Lenient);
    let (begin, before) = (Instant::now(), cpu());
    let capture = Capture::open(&neff, &file, Options::default(), &mut report).unwrap();
    let outcome = run(&capture, Parts { usage: false }, &mut Nothing).unwrap();
    let (wall, cpu) = (begin.elapsed().as_secs_f64(), cpu() - before);
    let instructions: u64 = outcome.totals.cores.iter().flat_map(|core| core.instructions).sum();
    let events = instructions + outcome.totals.packets.count;
    json!({
        "events": events,
        "instructions": instructions,
        "seconds": wall,
        "cpu_seconds": cpu,
        "events_per_cpu_second": events as f64 / cpu,
        "peak_mib": peak(),
    })
}

/// The one profile of a store.
fn open(root: &str) -> Result<Profile, Error> {
    let store = Store::new(Path::new(root));
    let (list, _) = store.list()?;
    store.open(&list.first().unwrap().manifest.id)
}

/// Processor time of all threads so far.
fn work_so_far() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 20) % bound.max(1)
    }
}

fn ms(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let at = ((times.len() - 1) as f64 * share).round() as usize;
    times[at].as_secs_f64() * 1e3
}

pub(crate) fn read(root: &str, count: usize) -> Value {
    let begin = Instant::now();
    let profile = open(root).unwrap();
    let first = profile.lanes().first().unwrap();
    let total = profile.lanes().iter().map(|lane| lane.end).max().unwrap();
    let _ = (first, profile.viewport(0, total, 1000, &[0]).unwrap());
    let opened = begin.elapsed();
    // The twelve lanes with most events.
    let mut lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    lanes.sort_by_key(|lane| std::cmp::Reverse(profile.lanes()[*lane].rows));
    lanes.truncate(12);
    let mut random = Random(7);
    let mut by_zoom = Vec::new();
    let (mut all, mut all_work) = (Vec::new(), Vec::new());
    let mut zoom = 0;
    while total >> zoom >= 1000 {
        let span = total >> zoom;
        let (mut times, mut work) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let start = random.below(total - span + 1);
            let (begin, before) = (Instant::now(), work_so_far());
            let view = profile.viewport(start, start + span, 1000, &lanes).unwrap();
            work.push(work_so_far() - before);
            times.push(begin.elapsed());
            assert!(view.columns >= 1000);
        }
        all.extend_from_slice(&times);
        all_work.extend_from_slice(&work);
        by_zoom.push(json!([
            span,
            ms(&mut times.clone(), 0.5),
            ms(&mut times, 0.99),
            ms(&mut work.clone(), 0.5),
            ms(&mut work, 0.99),
        ]));
        zoom += 1;
    }
    let mut selections = Vec::new();
    let every: Vec<usize> = (0..profile.lanes().len()).collect();
    for _ in 0..count {
        let (a, b) = (random.below(total), random.below(total));
        let begin = Instant::now();
        let sums = profile.selection(a.min(b), a.max(b) + 1, &every).unwrap();
        selections.push(begin.elapsed());
        assert_eq!(sums.len(), every.len());
    }
    let mut details = Vec::new();
    let rows = profile.manifest().tables["Instruction"].rows;
    for _ in 0..count.min(50) {
        let row = random.below(rows);
        let begin = Instant::now();
        let fields = profile.row("Instruction", row).unwrap();
        details.push(begin.elapsed());
        assert!(fields.contains_key("opcode"));
    }
    json!({
        "events": profile.manifest().events,
        "open_ms": opened.as_secs_f64() * 1e3,
        "viewport_p50_ms": ms(&mut all.clone(), 0.5),
        "viewport_p99_ms": ms(&mut all, 0.99),
        "viewport_cpu_p50_ms": ms(&mut all_work.clone(), 0.5),
        "viewport_cpu_p99_ms": ms(&mut all_work, 0.99),
        "selection_p50_ms": ms(&mut selections.clone(), 0.5),
        "selection_p99_ms": ms(&mut selections, 0.99),
        "row_p50_ms": ms(&mut details.clone(), 0.5),
        "row_p99_ms": ms(&mut details, 0.99),
        "zooms": by_zoom,
        "peak_mib": peak(),
    })
}
