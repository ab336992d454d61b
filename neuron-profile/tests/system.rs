//! A run of `inspect` as a system profile: `view -d`, its tables, its lanes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use neuron_core::ntff::frames::FrameReader;
use neuron_core::ntff::messages::{CpuUtil, HostMemUsage, NtraceEvent};
use neuron_core::ntff::{self};
use profile_store::{LaneKind, Profile, Store};
use serde_json::{Map, Value};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles/inspect")
}

fn view(folder: &Path, data: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(["view", "--ingest-only", "--data-path"]).arg(data).arg("-d").arg(folder);
    command.args(more).stdin(Stdio::null()).output().unwrap()
}

fn ids(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code == 0 || code == 3), "{told}");
    let id = |line: &str| {
        let id = line.strip_prefix("Profile \"")?.strip_suffix("\" is ready to view")?;
        Some(id.to_owned())
    };
    text.lines().map(|line| id(line).unwrap()).collect()
}

fn rows(profile: &Profile, table: &str) -> Vec<Map<String, Value>> {
    let mut out = Vec::new();
    for batch in profile.batches(table).unwrap() {
        out.extend(profile_store::read::objects(&batch.unwrap()));
    }
    out
}

fn frames<M: ntff::frames::Framed>(name: &str) -> Vec<M> {
    let data = std::fs::read(fixture().join(name)).unwrap();
    let mut reader = FrameReader::new(data.as_slice(), ntff::Options::default());
    std::iter::from_fn(|| reader.next_message().unwrap()).collect()
}

fn number(row: &Map<String, Value>, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} is {}", row[name]))
}

/// Every event of the recording is a row, at the time that it tells, and
/// samples are as they were written.
#[test]
fn a_run_is_stored_whole() {
    let data = tempfile::tempdir().unwrap();
    let output = view(&fixture(), data.path(), &[]);
    let ids = ids(&output);
    assert_eq!(ids.len(), 2, "the run and the trace beside it");
    let store = Store::new(data.path());
    let profile = store.open(&ids[0]).unwrap();
    let manifest = profile.manifest();
    assert!(manifest.system && manifest.notes.is_empty(), "{:?}", manifest.notes);
    let about = rows(&profile, "SystemProfileMetadata");
    let base: u64 = about[0]["first_ts_ns"].as_str().unwrap().parse().unwrap();
    assert_eq!(about[0]["first_ts"], "2026-03-11T14:00:43Z");
    assert_eq!(number(&about[0], "hbm_capacity_bytes"), 96 << 30);

    // The trace was taken on the same device 1,390 s after the run, and its
    // window is 258452847994680685 ps on a clock of which 257063241489802 ns
    // was 1773237645757022494 (README of the real profiles).
    let devices = rows(&profile, "DeviceProfileList");
    assert_eq!(
        (devices.len(), &devices[0]["device_profile_name"]),
        (1, &Value::from(ids[1].as_str()))
    );
    assert_eq!(number(&devices[0], "model_id"), 171_450_338_541_704);
    let later = 258_452_847_994_680 - 257_063_241_489_802;
    let start = 1_773_237_645_757_022_494 + later - base;
    // The nearest sync point may be that of the other core, 1.5 us aside.
    assert!(number(&devices[0], "start_ts").abs_diff(start) < 2000);
    assert_eq!(store.open(&ids[1]).unwrap().manifest().total_ns, 1_003_215);

    // README of the real profiles: 837 pairs and 2 instants.
    let events = rows(&profile, "SystemProfileEvents");
    assert_eq!((events.len(), manifest.events), (839, 839));
    let told: Vec<NtraceEvent> = frames("ntrace.pb");
    let by_id: BTreeMap<u64, &NtraceEvent> = told.iter().map(|event| (event.id, event)).collect();
    let mut hardware = 0;
    for row in &events {
        let event = by_id[&number(row, "id")];
        // The device's times are equal to the nanosecond to those of the
        // runtime in this run (engine's tests/system.rs); a sync point has its
        // own.
        let sync = event.attributes.get("cpu_timestamp_ns").map(|told| told.parse().unwrap());
        assert_eq!(number(row, "start_ts") + base, sync.unwrap_or(event.timestamp));
        assert_eq!(number(row, "end_ts") - number(row, "start_ts"), number(row, "duration_ns"));
        assert_eq!(number(row, "thread_id"), event.thread_id);
        assert_eq!(
            (number(row, "process_id"), number(row, "event_type")),
            (713_479, event.event_type.into())
        );
        let extra: Map<String, Value> =
            serde_json::from_str(row["extra_attributes_json"].as_str().unwrap()).unwrap();
        for (key, value) in &event.attributes {
            let own = match key.as_str() {
                "nc_idx" => row["nc_idx"].to_string(),
                "device_core_idx" => row["pcore_idx"].to_string(),
                "worker_gid" => row["worker_gid"].to_string(),
                _ => extra[key].as_str().unwrap().to_owned(),
            };
            // An end may say it anew.
            assert!(own == *value || key.ends_with("timestamp_ns"), "{key}: {own}, {value}");
        }
        hardware += usize::from(row["trace_event_source"] == "neuron_hw");
    }
    assert_eq!(
        hardware,
        told.iter().filter(|e| [7, 25, 26].contains(&e.event_type)).count() / 2 + 1
    );
    let loaded = events.iter().find(|row| row["name"] == "nrt_execute").unwrap();
    assert!(loaded["extra_attributes_json"].as_str().unwrap().contains("model.MODULE_29709"));

    let processors = rows(&profile, "CpuUsage");
    let samples: Vec<CpuUtil> = frames("cpu_util.pb");
    assert_eq!((processors.len(), samples.len()), (7200, 7200));
    for (row, sample) in processors.iter().zip(&samples) {
        assert_eq!(number(row, "timestamp") + base, sample.timestamp);
        assert_eq!(row["cpu_id"], sample.cpu.to_string());
        assert!(row["util_percent"].as_f64().unwrap() as f32 == sample.value);
    }
    let host = rows(&profile, "HostMemUsage");
    let samples: Vec<HostMemUsage> = frames("host_mem.pb");
    assert_eq!((host.len(), samples.len()), (600, 600));
    for (row, sample) in host.iter().zip(&samples) {
        assert_eq!(number(row, "used_bytes"), sample.bytes_used);
        let share = sample.bytes_used as f64 * 100.0 / 133_975_228_416.0;
        assert!((row["used_percent"].as_f64().unwrap() - share).abs() < 1e-4);
    }
}

/// Bytes of device memory: what each allocation and release says of its memory.
#[test]
fn device_memory_follows_the_allocations() {
    let data = tempfile::tempdir().unwrap();
    let ids = ids(&view(&fixture(), data.path(), &["--ignore-device-profile"]));
    assert_eq!(ids.len(), 1);
    let profile = Store::new(data.path()).open(&ids[0]).unwrap();
    let usage = rows(&profile, "SystemProfileHbmUsage");
    let told: Vec<NtraceEvent> = frames("ntrace.pb");
    let totals: Vec<u64> = told
        .iter()
        .filter(|event| event.phase == 2)
        .filter_map(|event| event.attributes.get("total_bytes")?.parse().ok())
        .collect();
    assert_eq!(usage.len(), totals.len());
    assert!(totals.len() > 390, "{}", totals.len());
    for (row, total) in usage.iter().zip(totals) {
        assert_eq!(number(row, "total_bytes"), total);
        let uses =
            row.iter().filter(|(name, _)| name.ends_with("_bytes") && *name != "total_bytes");
        let sum: u64 = uses.map(|(_, bytes)| bytes.as_u64().unwrap()).sum();
        assert!(sum >= total, "{row:?}");
    }
    let memories: std::collections::BTreeSet<u64> =
        usage.iter().map(|row| number(row, "hbm_idx")).collect();
    assert_eq!(memories.len(), 4, "one for each logical core: {memories:?}");
    assert!(profile.manifest().absent.contains_key("Instruction"));
}

/// Lines of the timeline: the device's before the runtime's, and the same
/// events in them as in the table.
#[test]
fn lines_have_the_events() {
    let data = tempfile::tempdir().unwrap();
    let ids = ids(&view(&fixture(), data.path(), &["--ignore-device-profile"]));
    let profile = Store::new(data.path()).open(&ids[0]).unwrap();
    let names: Vec<&str> = profile.lanes().iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names[0], "neuron_hw/NC0:4");
    assert_eq!(names.last(), Some(&"neuron_rt/NC:3"));
    assert_eq!(profile.labels().display_name, "i-0af76a70a6d3864dd_pid_713479");
    let events = rows(&profile, "SystemProfileEvents");
    let total = profile.manifest().total_ns + 1;
    let all: Vec<usize> = (0..names.len()).collect();
    let sums = profile.selection(0, total, &all).unwrap();
    let mut at = 0;
    for (lane, sums) in profile.lanes().iter().zip(sums) {
        assert_eq!((lane.kind, lane.first_row), (LaneKind::System, at));
        let own = &events[usize::try_from(at).unwrap()..][..usize::try_from(lane.rows).unwrap()];
        at += lane.rows;
        let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for row in own {
            let sum = expected.entry(row["name"].as_str().unwrap()).or_default();
            *sum = (sum.0 + 1, sum.1 + number(row, "duration_ns"));
        }
        let found: BTreeMap<&str, (u64, u64)> =
            sums.names.iter().map(|sum| (profile.name(sum.name), (sum.count, sum.time))).collect();
        assert_eq!(found, expected);
    }
    assert_eq!(at, 839);
}

/// What is damaged, missing or of others is told, and the rest is shown.
#[test]
fn folders_that_are_not_whole() {
    let dir = tempfile::tempdir().unwrap();
    let empty = view(dir.path(), &dir.path().join("data"), &[]);
    assert_eq!(empty.status.code(), Some(1));
    let told = String::from_utf8_lossy(&empty.stderr).into_owned();
    assert!(told.contains("no device or system profiles found"), "{told}");
    assert_eq!(told.trim_end().lines().count(), 1, "{told}");

    // Deeper, cut, without samples, beside a trace whose NEFF is not there.
    let run = dir.path().join("i-1_pid_2/later");
    std::fs::create_dir_all(&run).unwrap();
    let events = std::fs::read(fixture().join("ntrace.pb")).unwrap();
    std::fs::write(run.join("ntrace.pb"), &events[..events.len() - 7]).unwrap();
    let about = std::fs::read(fixture().join("trace_info.pb")).unwrap();
    std::fs::write(run.join("trace_info.pb"), &about[..1000]).unwrap();
    std::fs::copy(fixture().join("profile_exec_2.ntff"), run.join("x.ntff")).unwrap();
    std::fs::write(run.join("bad.neff"), b"no NEFF").unwrap();
    std::os::unix::fs::symlink(dir.path(), run.join("around")).unwrap();
    let data = tempfile::tempdir().unwrap();
    let output = view(dir.path(), data.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in ["x.ntff: the NEFF that it is of", "bad.neff", "ntrace.pb: ", "trace_info.pb: "] {
        assert_eq!(told.matches(part).count(), 1, "{part}: {told}");
    }
    let ids = ids(&output);
    assert_eq!(ids.len(), 1);
    let profile = Store::new(data.path()).open(&ids[0]).unwrap();
    assert!(profile.manifest().notes.iter().any(|note| note.contains("no end")));
    assert!(profile.manifest().events >= 837);
    // The same again is told, not stored twice.
    let again = view(dir.path(), data.path(), &["--ignore-device-profile"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("stored already"));
}
