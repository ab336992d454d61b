//! One record of a real trace is changed; exactly what depends on it changes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use neuron_core::neff::{self, Neff, Report};
use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::notification::{Decoder, DmaStep};
use neuron_core::ntff::record::{Record, SIZE};
use neuron_core::ntff::{self, Notification, Reader, Ticks};
use neuron_profile::export::tables::Row;
use neuron_profile::export::{Names, Profile, json};
use profile_engine::{Options, Parts};
use serde_json::Value;

const CAPTURE: &str = "attn-fused-fp32-512";

type Tables = BTreeMap<&'static str, Vec<Row>>;

fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles");
    std::fs::read(root.join(name)).unwrap()
}

fn tables(ntff: &[u8]) -> Tables {
    let neff = fixture(&format!("{CAPTURE}.neff"));
    let neff = Neff::open(&neff, &neff::Options::strict()).unwrap();
    let mut report = Report::new(neff::Mode::Strict);
    let profile =
        Profile::read(&neff, ntff, Options::default(), Parts::default(), &mut report).unwrap();
    json::tables(&profile, &Names::default()).collect()
}

/// Changes the first record for which `change` gives another one.
fn altered(change: impl Fn(u64, &Notification, Record) -> Option<Record>) -> Vec<u8> {
    let mut bytes = fixture(&format!("{CAPTURE}.ntff"));
    let reader = Reader::new(bytes.as_slice(), ntff::Options::default()).unwrap();
    let blobs = reader.header().blobs_start();
    let start = reader.info().execution_timeline[0].start;
    let sections = reader.sections().to_vec();
    for section in sections {
        let Some(kind) = section.trace_type() else { continue };
        let decoder = Decoder::new(kind, 2);
        for at in (0..section.size).step_by(SIZE) {
            let place = usize::try_from(blobs + section.offset + at).unwrap();
            let record = Record::from_bytes(bytes[place..place + SIZE].try_into().unwrap());
            let since = record.time.0.wrapping_sub(start);
            if kind == TraceType::Error || section.core != 4 {
                continue;
            }
            if let Some(new) = change(since, &decoder.decode(record), record) {
                bytes[place..place + SIZE].copy_from_slice(&new.to_bytes());
                return bytes;
            }
        }
    }
    panic!("no record to change");
}

/// Tables that differ, with the fields of the rows that do; `(rows)` where
/// their number does.
fn differences(before: &Tables, after: &Tables) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut out: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (table, rows) in before {
        let new = &after[table];
        if rows.len() != new.len() {
            out.entry(*table).or_default().insert("(rows)".into());
            continue;
        }
        for (old, new) in rows.iter().zip(new) {
            let fields: BTreeSet<_> = old.keys().chain(new.keys()).collect();
            let changed = fields.into_iter().filter(|field| old.get(*field) != new.get(*field));
            for field in changed {
                out.entry(*table).or_default().insert(field.clone());
            }
        }
    }
    out
}

/// How many rows of a table differ.
fn changed_rows(before: &Tables, after: &Tables, table: &str) -> usize {
    before[table].iter().zip(&after[table]).filter(|(old, new)| old != new).count()
}

fn names<'a>(fields: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    fields.into_iter().map(String::from).collect()
}

#[test]
fn a_wait_is_its_row_alone() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let after = tables(&altered(|since, what, record| match what {
        Notification::Start(start) if (20_000_000..40_000_000).contains(&since) => {
            let start =
                ntff::notification::Start { wait_cycles: start.wait_cycles + 600, ..*start };
            Some(Notification::Start(start).encode(record.time))
        }
        _ => None,
    }));
    let found = differences(&before, &after);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["instruction"]);
    assert_eq!(found["instruction"], names(["evt_wait_time"]));
    assert_eq!(changed_rows(&before, &after, "instruction"), 1);
    let row = before["instruction"].iter().zip(&after["instruction"]).find(|(a, b)| a != b);
    let wait = |row: &Row| row["evt_wait_time"].as_u64().unwrap();
    let (old, new) = row.unwrap();
    assert!((499..=501).contains(&(wait(new) - wait(old))), "600 cycles of 1.2 GHz");
}

#[test]
fn a_hash_is_its_row_alone() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let after = tables(&altered(|since, what, record| match what {
        Notification::End(end) if (20_000_000..40_000_000).contains(&since) => {
            let end = ntff::notification::End { crc_out: end.crc_out ^ 0x5a5a, ..*end };
            Some(Notification::End(end).encode(record.time))
        }
        _ => None,
    }));
    let found = differences(&before, &after);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["instruction"]);
    assert_eq!(found["instruction"], names(["crc_out"]));
    assert_eq!(changed_rows(&before, &after, "instruction"), 1);
}

#[test]
fn a_semaphore_value_is_its_row_alone() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let after = tables(&altered(|since, what, record| match what {
        Notification::Update(update)
            if update.is_semaphore && (20_000_000..40_000_000).contains(&since) =>
        {
            let update = ntff::notification::Update { value: update.value + 77, ..*update };
            Some(Notification::Update(update).encode(record.time))
        }
        _ => None,
    }));
    let found = differences(&before, &after);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["semaphore_update"]);
    assert_eq!(found["semaphore_update"], names(["value"]));
    assert_eq!(changed_rows(&before, &after, "semaphore_update"), 1);
}

/// The bytes of a packet: its row, the traffic from there on, and the metrics
/// of DMA sizes.
#[test]
fn bytes_of_a_packet() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let after = tables(&altered(|since, what, record| match what {
        Notification::Dma(dma) if (16_000_000..40_000_000).contains(&since) => {
            let DmaStep::End { direction, queue: 0, bytes, crc } = dma.step else { return None };
            let step = DmaStep::End { direction, queue: 0, bytes: bytes + 64, crc };
            let dma = ntff::notification::Dma { step, ..*dma };
            Some(Notification::Dma(dma).encode(record.time))
        }
        _ => None,
    }));
    let found = differences(&before, &after);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["dma", "dma_throughput", "summary"]);
    let sizes = ["read_size", "transfer_rate", "transfer_size", "write_size"];
    assert_eq!(found["dma"], names(sizes));
    assert_eq!(changed_rows(&before, &after, "dma"), 1);
    assert_eq!(found["dma_throughput"], names(["total_transfer_bytes", "transfer_rate"]));
    let metrics = [
        "dynamic_dma_size_percent",
        "hardware_dynamic_dma_size_percent",
        "software_dynamic_dma_size",
        "software_dynamic_dma_size_percent",
        "static_dma_size_percent",
    ];
    assert_eq!(found["summary"], names(metrics));
    let size = |tables: &Tables| tables["summary"][0]["software_dynamic_dma_size"].as_u64();
    assert_eq!(size(&after).unwrap(), size(&before).unwrap() + 64);
}

/// The end of an ACTIVATE moves by 7 ns: its row, the busy time of its engine,
/// the times of its layers and of its engine, the use of memory that ends with
/// it. No packet, no change of a semaphore, no other engine.
#[test]
fn end_of_an_instruction() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let row = before["instruction"].iter().find(|row| row["opcode"] == "ACTIVATE").unwrap();
    let (from, lasts) = (row["timestamp"].as_u64().unwrap(), row["duration"].as_u64().unwrap());
    let after = tables(&altered(|since, what, record| match what {
        Notification::End(end)
            if end.engine == neuron_core::engine::Engine::Act
                && (from + lasts..=from + lasts + 1).contains(&(since / 1000)) =>
        {
            Some(what.encode(Ticks(record.time.0 + 7000)))
        }
        _ => None,
    }));
    let found = differences(&before, &after);
    let wanted = ["active_time", "instruction", "instruction_usage", "layer_summary", "summary"];
    assert!(found.keys().all(|table| wanted.contains(table)), "{found:?}");
    assert_eq!(found["instruction"], names(["duration"]));
    assert_eq!(changed_rows(&before, &after, "instruction"), 1);
    let changed = before["instruction"].iter().zip(&after["instruction"]).find(|(a, b)| a != b);
    let (old, new) = changed.unwrap();
    assert_eq!(new["duration"].as_u64(), old["duration"].as_u64().map(|ns| ns + 7));
    let number = |row: &Row, field: &str| row[field].as_f64().unwrap();
    let (old, new) = (&before["summary"][0], &after["summary"][0]);
    for field in ["activate_instruction_time", "scalar_engine_instruction_time"] {
        let moved = number(new, field) - number(old, field);
        assert!((moved - 7e-9).abs() < 1e-15, "{field} {moved}");
    }
    let other = |field: &String| {
        ["tensor", "vector", "gpsimd", "sync"].iter().any(|name| field.starts_with(name))
    };
    assert!(!found["summary"].iter().any(other), "{:?}", found["summary"]);
    let of_layers = &found["layer_summary"];
    assert!(of_layers.contains("scalar_engine_instruction_time") && !of_layers.iter().any(other));
    let engines: Vec<&Value> = before["active_time"]
        .iter()
        .zip(&after["active_time"])
        .filter(|(old, new)| old != new)
        .map(|(old, _)| &old["engine"])
        .collect();
    assert!(engines.iter().all(|engine| **engine == "scalar"), "{engines:?}");
}

/// A lost end: the row is gone and counted, what only it gave is gone, and the
/// rest stands.
#[test]
fn a_lost_end_is_counted() {
    let before = tables(&fixture(&format!("{CAPTURE}.ntff")));
    let ntff = altered(|since, what, record| match what {
        Notification::End(end)
            if end.engine == neuron_core::engine::Engine::Dve
                && (20_000_000..40_000_000).contains(&since) =>
        {
            Some(Record { word: 0, time: Ticks(0) }).filter(|new| *new != record)
        }
        _ => None,
    });
    let after = tables(&ntff);
    assert_eq!(after["instruction"].len() + 1, before["instruction"].len());
    for table in ["dma", "dma_throughput", "semaphore_update", "ham", "nc_mem_usage"] {
        assert_eq!(before[table], after[table], "{table}");
    }
    let neff = fixture(&format!("{CAPTURE}.neff"));
    let neff = Neff::open(&neff, &neff::Options::strict()).unwrap();
    let mut report = Report::new(neff::Mode::Strict);
    let profile =
        Profile::read(&neff, &ntff[..], Options::default(), Parts::default(), &mut report).unwrap();
    let unmatched = profile.outcome.totals.unmatched;
    // One of PE on each core is normal.
    assert_eq!(unmatched.instruction_starts, 3);
    assert_eq!(unmatched.read.blank, 1);
}
