//! The inspect run becomes a system profile with every event, and its device
//! trace lies on the same clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use neuron_core::neff::{self, Neff, Report};
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::FrameReader;
use neuron_core::ntff::messages::{NtraceEvent, NtraceInfo};
use neuron_core::ntff::{self, Limits, root, schema};
use profile_engine::system::{EventSource, Matcher, Sync, Syncs, SystemCounts, SystemRow};
use profile_engine::{Capture, Options};

fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/profiles");
    std::fs::read(root.join("inspect").join(name)).unwrap()
}

fn events() -> Vec<NtraceEvent> {
    let data = fixture("ntrace.pb");
    let mut reader = FrameReader::new(data.as_slice(), ntff::Options::default());
    std::iter::from_fn(|| reader.next_message().unwrap()).collect()
}

fn run() -> NtraceInfo {
    let mut findings = Findings::new(10);
    let data = fixture("trace_info.pb");
    root::decode_whole(&data, 0, &schema::NTRACE_INFO, &Limits::default(), &mut findings).unwrap()
}

fn rows(events: &[NtraceEvent]) -> (Vec<SystemRow>, Syncs, SystemCounts) {
    let mut syncs = Syncs::default();
    events.iter().for_each(|event| syncs.note(event));
    let mut matcher = Matcher::new(syncs, Some(&run()));
    let rows = events.iter().filter_map(|event| matcher.event(event.clone())).collect();
    let (syncs, counts) = matcher.finish();
    (rows, syncs, counts)
}

/// README of the real profiles: 1676 frames, 837 pairs and 2 instants.
#[test]
fn every_event_is_in_a_row() {
    let (rows, _, counts) = rows(&events());
    let wanted = SystemCounts { events: 1676, rows: 839, ..SystemCounts::default() };
    assert_eq!(counts, SystemCounts { unaligned: counts.unaligned, ..wanted });
    assert_eq!(rows.len(), 839);
    assert_eq!(rows.iter().filter(|row| row.start == row.end && row.kind == 25).count(), 2);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *names.entry(row.name.as_str()).or_default() += 1;
    }
    // Frames by type, halved: 30 and 34 are the copies and allocations.
    assert_eq!(names["dmem_buf_copyin"], 398);
    assert_eq!(names["nrt_dma_mem_alloc"], 395);
    assert_eq!(names["nc_exec_running"], 2);
    assert_eq!(names["timestamp_sync_point"], 2);
    let mut ids: Vec<u64> = rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 839);
    assert!(rows.iter().all(|row| row.core.is_some() && row.end >= row.start));
}

/// The run of the lead core: 982,590 ns on the device's clock, 8,928 ns after
/// the sync point.
#[test]
fn the_device_run_lies_on_the_host_clock() {
    let (rows, syncs, counts) = rows(&events());
    let sync = Sync { device: 257_063_241_489_802, host: 1_773_237_645_757_022_494 };
    assert!(syncs.all().contains(&sync), "{:?}", syncs.all());
    let run = rows
        .iter()
        .find(|row| {
            row.name == "nc_exec_running" && row.attributes["nc_timestamp_ns"] == "257063242481320"
        })
        .unwrap();
    assert_eq!((run.source, run.aligned), (EventSource::Hardware, true));
    assert_eq!(run.start, sync.host + (257_063_241_498_730 - sync.device));
    assert_eq!(run.end - run.start, 982_590);
    // The runtime gives the same host times, to the nanosecond, on both cores.
    let all = events();
    let of = |id: u64, phase: i32| {
        let found = all.iter().find(|event| event.tracking_id == id && event.phase == phase);
        found.unwrap().timestamp
    };
    let runs: Vec<_> = rows.iter().filter(|row| row.name == "nc_exec_running").collect();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!((run.start, run.end), (of(run.id, 1), of(run.id, 2)));
    }
    assert_eq!(counts.unaligned, 0);
}

/// The device trace was taken 1,390 s later on the same device: its window is
/// that much later on the host's clock too.
#[test]
fn the_device_trace_lies_on_the_host_clock() {
    let (rows, syncs, _) = rows(&events());
    let (neff, trace) = (fixture("neff_171450338541704.neff"), fixture("profile_exec_2.ntff"));
    let neff = Neff::open(&neff, &neff::Options::strict()).unwrap();
    let mut report = Report::new(neff::Mode::Strict);
    let capture = Capture::open(&neff, &trace[..], Options::default(), &mut report).unwrap();
    let start = syncs.host(capture.start / 1000).unwrap();
    let end = syncs.host(capture.end / 1000).unwrap();
    assert_eq!(end - start, 258_452_848_997_895 - 258_452_847_994_680);
    let run = rows.iter().find(|row| row.name == "nc_exec_running").unwrap();
    assert_eq!((start - run.start) / 1_000_000_000, 1389);
}

/// An end whose beginning was overwritten, and one that never came.
#[test]
fn what_does_not_match_is_counted() {
    let mut events = events();
    let first = events.iter().position(|event| event.phase == 1).unwrap();
    events.remove(first);
    let last = events.iter().rposition(|event| event.phase == 2).unwrap();
    events.remove(last);
    events.retain(|event| event.event_type != 25);
    let (rows, _, counts) = rows(&events);
    assert_eq!((counts.orphan_ends, counts.open), (1, 1));
    assert_eq!(rows.len(), 835);
    let hardware = rows.iter().filter(|row| row.source == EventSource::Hardware);
    assert_eq!(counts.unaligned, u64::try_from(hardware.count()).unwrap());
}
