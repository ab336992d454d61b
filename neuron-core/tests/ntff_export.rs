//! The vendor viewer's export of the same captures says the same as we read.
//!
//! Its tables of instructions, packets, updates and throttling were made by
//! other code from the same bytes, so every row is an independent check.

#![cfg(feature = "ntff")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod ntff_support;

use std::collections::{BTreeMap, HashMap};

use neuron_core::ntff::notification::{Dma, DmaStep, Engine};
use neuron_core::ntff::pairs::Pairs;
use neuron_core::ntff::program::{self, PatchMap};
use neuron_core::ntff::{DeviceTime, Mode, Notification, SectionKind, layout};
use ntff_support::{Event, Whole, bytes};
use serde_json::Value;

/// Rows of the tables instruction, dma, semaphore_update, ham; total ns.
const EXPORTS: [(&str, [usize; 4], u64); 4] = [
    ("attn-fused-fp32-512", [442, 481, 733, 2], 38091),
    ("attn-fused-bf16-512", [436, 977, 747, 2], 36351),
    ("attn-base-bf16-512", [452, 2670, 887, 2], 54276),
    ("attn-fused-fp32-1024", [857, 738, 909, 4], 73289),
];

struct Capture {
    name: &'static str,
    export: Value,
    whole: Whole,
    start: DeviceTime,
    end: DeviceTime,
}

impl Capture {
    fn all() -> impl Iterator<Item = Self> {
        EXPORTS.iter().map(|(name, rows, total)| {
            let export: Value = serde_json::from_slice(&bytes(&format!("{name}.json"))).unwrap();
            let whole = Whole::read(&bytes(&format!("{name}.ntff")), Mode::Strict);
            let window = &whole.info.execution_timeline[0];
            let (start, end) = (DeviceTime::from_ps(window.start), DeviceTime::from_ps(window.end));
            assert_eq!(end.whole_ns_since(start), Some(*total), "{name}");
            let found = ["instruction", "dma", "semaphore_update", "ham"]
                .map(|table| export[table].as_array().unwrap().len());
            assert_eq!(found, *rows, "{name}");
            Self { name, export, whole, start, end }
        })
    }

    fn rows(&self, table: &str) -> &[Value] {
        self.export[table].as_array().unwrap()
    }

    fn since(&self, time: DeviceTime) -> Option<u64> {
        time.whole_ns_since(self.start)
    }

    fn inside(&self, time: DeviceTime) -> bool {
        (self.start..=self.end).contains(&time)
    }

    /// `sg00` for the first core, `sg01` for the second.
    fn subgraph(&self, core: u32) -> &str {
        let mut graphs = layout::subgraphs(&self.whole.info);
        &graphs.find(|graph| graph.nc_idx == core).unwrap().name
    }

    /// Starts with their ends, first in first out by (core, engine, pc).
    fn instructions(&self) -> Vec<(Event, Event)> {
        let mut open = Pairs::new(1 << 20);
        let mut pairs = Vec::new();
        for event in self.whole.events() {
            match event.notification {
                Notification::Start(start) => {
                    open.begin((event.core, start.engine, start.pc), event).unwrap();
                }
                Notification::End(end) => {
                    let key = (event.core, end.engine, end.pc);
                    pairs.push((open.end(&key).expect("every end has its start"), event));
                }
                _ => {}
            }
        }
        // §7.3: the last start of PE on each core has no end.
        let left: Vec<_> = open.into_open().collect();
        assert_eq!(left.len(), 2, "{}", self.name);
        assert!(left.iter().all(|((_, engine, _), list)| *engine == Engine::Pe && list.len() == 1));
        pairs
    }
}

fn number(row: &Value, key: &str) -> u64 {
    let value = &row[key];
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or_else(|| panic!("{key}: {row}"))
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_else(|| panic!("{key}: {row}"))
}

/// `8`, or `S[8] (qSyncDynamicHW)`.
fn semaphore(id: &str) -> u64 {
    let id = id.strip_prefix("S[").and_then(|id| id.split(']').next()).unwrap_or(id);
    id.parse().unwrap_or_else(|_| panic!("{id}"))
}

/// Names of the engines in the export, in the order of [`Engine::ALL`].
const LABELS: [&str; 5] = ["Tensor", "Scalar", "GpSimd", "Vector", "Sync"];

#[test]
fn every_instruction_row() {
    for capture in Capture::all() {
        let mut programs = BTreeMap::new();
        for section in &capture.whole.sections {
            if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind {
                programs.insert((section.core, engine), (start_address, section.size / 64));
            }
        }
        let mut patches = BTreeMap::new();
        for graph in layout::subgraphs(&capture.whole.info) {
            for patch in &graph.patch_info {
                let engine = Engine::from_number(patch.engine).unwrap();
                patches.insert((graph.nc_idx, engine), PatchMap::new(patch).unwrap());
            }
        }
        let mut waits = Vec::new();
        let mut mine: Vec<_> = capture
            .instructions()
            .into_iter()
            .filter(|(start, end)| start.time >= capture.start && end.time <= capture.end)
            .map(|(first, last)| {
                let (Notification::Start(start), Notification::End(end)) =
                    (first.notification, last.notification)
                else {
                    panic!()
                };
                let (address, slots) = programs[&(first.core, start.engine)];
                let slot = program::slot(start.pc, address, slots).unwrap();
                let compiler = patches[&(first.core, start.engine)].neff_slot(slot);
                let key = (
                    capture.subgraph(first.core).to_owned(),
                    LABELS[start.engine.index()],
                    capture.since(first.time).unwrap(),
                    slot,
                );
                let body = (
                    last.time.whole_ns_since(first.time).unwrap(),
                    u64::from(end.crc_in),
                    u64::from(end.crc_out),
                    compiler,
                );
                waits.push((key.clone(), start.wait_cycles, start.wait_ns()));
                (key, body)
            })
            .collect();
        let mut theirs: Vec<_> = capture
            .rows("instruction")
            .iter()
            .map(|row| {
                let label = *LABELS.iter().find(|label| **label == text(row, "subgroup")).unwrap();
                let key = (
                    text(row, "subgraph").to_owned(),
                    label,
                    number(row, "timestamp"),
                    number(row, "pc"),
                );
                let compiler = row.get("compiler_pc").map(|_| number(row, "compiler_pc"));
                let crcs = (number(row, "crc_in"), number(row, "crc_out"));
                (key, (number(row, "duration"), crcs.0, crcs.1, compiler))
            })
            .collect();
        // The export names a compiler slot only where it has one.
        mine.sort();
        theirs.sort();
        assert_eq!(mine.len(), theirs.len(), "{}", capture.name);
        assert!(theirs.iter().any(|(_, body)| body.3.is_some()), "no row has a compiler slot");
        for (mine, theirs) in mine.iter().zip(&theirs) {
            assert_eq!(mine.0, theirs.0, "{}", capture.name);
            assert_eq!(
                (mine.1.0, mine.1.1, mine.1.2),
                (theirs.1.0, theirs.1.1, theirs.1.2),
                "{} {:?}",
                capture.name,
                mine.0
            );
            if let Some(compiler) = theirs.1.3 {
                assert_eq!(mine.1.3, Some(compiler), "{} {:?}", capture.name, mine.0);
            }
        }
        // Waits: equal, or one less where 6 divides the cycles.
        let theirs: HashMap<_, _> = capture
            .rows("instruction")
            .iter()
            .map(|row| {
                let key = (
                    text(row, "subgraph"),
                    text(row, "subgroup"),
                    number(row, "timestamp"),
                    number(row, "pc"),
                );
                (key, number(row, "evt_wait_time"))
            })
            .collect();
        for ((graph, label, start, slot), cycles, wait) in waits {
            let shown = theirs[&(graph.as_str(), label, start, slot)];
            let wait = u64::from(wait);
            assert!(
                shown == wait || (cycles % 6 == 0 && shown + 1 == wait),
                "{}: {cycles} cycles, we {wait}, export {shown}",
                capture.name
            );
        }
    }
}

#[test]
fn every_update_row_and_event_count() {
    for capture in Capture::all() {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        let mut mine = Vec::new();
        for event in capture.whole.events() {
            let Notification::Update(update) = event.notification else { continue };
            if !capture.inside(event.time) {
                continue;
            }
            *counts.entry(event.core.into()).or_default() += 1;
            if update.is_semaphore {
                mine.push((
                    capture.subgraph(event.core).to_owned(),
                    capture.since(event.time).unwrap(),
                    u64::from(update.id),
                    u64::from(update.value),
                ));
            }
        }
        let mut theirs: Vec<_> = capture
            .rows("semaphore_update")
            .iter()
            .map(|row| {
                let graph = text(row, "subgraph").to_owned();
                let id = semaphore(text(row, "id"));
                (graph, number(row, "timestamp"), id, number(row, "value"))
            })
            .collect();
        mine.sort();
        theirs.sort();
        assert_eq!(mine, theirs, "{}", capture.name);
        for row in capture.rows("model_info") {
            let core = number(row, "nc_idx");
            assert_eq!(counts[&core], number(row, "event_count"), "{} core {core}", capture.name);
        }
    }
}

#[test]
fn every_packet_row() {
    for capture in Capture::all() {
        let mut open = Pairs::new(1 << 20);
        let mut mine: HashMap<_, usize> = HashMap::new();
        let mut ours = 0;
        for event in capture.whole.events() {
            let Notification::Dma(Dma { step, .. }) = event.notification else { continue };
            let Notification::Dma(dma) = event.notification else { continue };
            let engine = dma.device_engine(event.core);
            match step {
                DmaStep::Start { queue, .. } => {
                    open.begin((engine, queue), event.time).unwrap();
                }
                DmaStep::End { queue, bytes, crc, .. } => {
                    let start = open.end(&(engine, queue)).expect("every packet begins");
                    if start < capture.start || event.time > capture.end {
                        continue;
                    }
                    ours += 1;
                    let key = (
                        (u64::from(engine), u64::from(queue)),
                        capture.since(start).unwrap(),
                        event.time.whole_ns_since(start).unwrap(),
                        u64::from(bytes),
                        u64::from(crc),
                    );
                    *mine.entry(key).or_default() += 1;
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{}", capture.name);
        let theirs = capture.rows("dma");
        for row in theirs {
            let key = (
                (number(row, "dma_engine"), number(row, "dma_queue")),
                number(row, "timestamp"),
                number(row, "duration"),
                number(row, "transfer_size"),
                number(row, "crc"),
            );
            let count = mine.get_mut(&key).filter(|count| **count > 0);
            *count.unwrap_or_else(|| panic!("{}: not found {key:?}", capture.name)) -= 1;
        }
        // What the export leaves out are packets of ring 14 (§7.4).
        assert!(ours >= theirs.len());
        for ((place, ..), left) in mine {
            assert!(left == 0 || place.1 == 14, "{}: {place:?} is not exported", capture.name);
        }
    }
}

/// The export counts what it traced of a core: instructions, packets, updates.
#[test]
fn every_trace_count() {
    for capture in Capture::all() {
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        let mut add = |core| *ours.entry(capture.subgraph(core).to_owned()).or_default() += 1;
        for (start, end) in capture.instructions() {
            if start.time >= capture.start && end.time <= capture.end {
                add(start.core);
            }
        }
        for event in capture.whole.events() {
            if matches!(event.notification, Notification::Update(_)) && capture.inside(event.time) {
                add(event.core);
            }
        }
        // Of the packets those that are exported; every_packet_row finds them.
        for row in capture.rows("dma") {
            *ours.entry(text(row, "subgraph").to_owned()).or_default() += 1;
        }
        let theirs: BTreeMap<String, u64> = capture
            .rows("model_info")
            .iter()
            .map(|row| (text(row, "sg_name").to_owned(), number(row, "trace_count")))
            .collect();
        assert_eq!(ours, theirs, "{}", capture.name);
    }
}

#[test]
fn every_throttle_row() {
    for capture in Capture::all() {
        let mut mine: Vec<_> = capture
            .whole
            .events()
            .filter_map(|event| match event.notification {
                Notification::Throttle(throttle) => Some((event.time, throttle)),
                _ => None,
            })
            .collect();
        mine.sort_by_key(|(time, _)| *time);
        let rows = capture.rows("ham");
        assert_eq!(mine.len(), rows.len(), "{}", capture.name);
        let ends = mine.iter().skip(1).map(|(time, _)| *time).chain([capture.end]);
        let mut expected: Vec<_> = mine
            .iter()
            .zip(ends)
            .map(|((time, throttle), end)| {
                let (n, k, kind) = (throttle.n, throttle.k, throttle.activity);
                let duration = end.whole_ns_since(*time).unwrap();
                [capture.since(*time).unwrap(), n.into(), k.into(), kind.into(), duration]
            })
            .collect();
        let mut theirs: Vec<_> = rows
            .iter()
            .map(|row| ["timestamp", "n", "k", "type", "duration"].map(|key| number(row, key)))
            .collect();
        expected.sort_unstable();
        theirs.sort_unstable();
        // One of the four exports closes the last record 1 ns early.
        let early = expected.last().unwrap()[4] - theirs.last().unwrap()[4];
        assert!(early <= u64::from(capture.name == "attn-fused-fp32-512"), "{}", capture.name);
        expected.last_mut().unwrap()[4] -= early;
        assert_eq!(expected, theirs, "{}", capture.name);
    }
}
