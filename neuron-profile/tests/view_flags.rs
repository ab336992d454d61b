//! Flags of `view` for pipelines and parts: folders as JSON and metrics, filters
//! of system traces, parts left out, the status file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/stored.rs"]
mod stored;

use std::path::Path;

use profile_store::Store;
use serde_json::Value;
use stored::{fixture, text, tool};

const CAPTURE: &str = "attn-fused-fp32-512";

fn run(data: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = tool(data, args).current_dir(data).output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_folder_is_written_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let inspect = fixture("inspect");
    let inspect = inspect.to_str().unwrap();
    let (code, out, err) = run(dir.path(), &["view", "-d", inspect, "--output-format", "json"]);
    assert!(code == Some(0) || code == Some(3), "{err}");
    let model = "device_profile_model_171450338541704.json";
    assert_eq!(out, format!("./system_profile.json\n./{model}\n"));
    let system = read(&dir.path().join("system_profile.json"));
    // README of the real profiles: 837 pairs and 2 instants, and the frames of
    // the samples
    let count = |name: &str| system[name].as_array().unwrap().len();
    assert_eq!(count("trace_events"), 839);
    let samples = |file: &str| {
        let path = format!("{inspect}/{file}");
        let (_, out, _) = run(dir.path(), &["ntff", "info", "-o", "json", &path]);
        serde_json::from_str::<Value>(&out).unwrap()["frames"].as_u64().unwrap()
    };
    assert_eq!(count("mem_usage") as u64, samples("host_mem.pb"));
    assert_eq!(count("cpu_util") as u64, samples("cpu_util.pb"));
    let first = &system["trace_events"][0];
    assert_eq!(first["process_id"], "713479");
    assert!(first["group"].as_str().unwrap().contains("-nc-00"), "{first}");
    assert!(first["timestamp"].as_u64().unwrap() > 1_773_237_643_000_000_000);
    let loads = system["trace_events"].as_array().unwrap().iter();
    assert!(loads.filter(|event| event["name"] == "nrt_load").all(|event| event["type"] == 1));
    // the device's document is that of its files
    let files =
        [format!("{inspect}/neff_171450338541704.neff"), format!("{inspect}/profile_exec_2.ntff")];
    let args = ["view", "-n", &files[0], "-s", &files[1], "--output-format", "json"];
    run(dir.path(), &args);
    assert_eq!(read(&dir.path().join(model)), read(&dir.path().join("ntff.json")));

    // metrics of the devices in it, in the form of a pair's
    let (_, of_folder, _) =
        run(dir.path(), &["view", "-d", inspect, "--output-format", "summary-json"]);
    let args = ["view", "-n", &files[0], "-s", &files[1], "--output-format", "summary-json"];
    assert_eq!(of_folder, run(dir.path(), &args).1);
    let args =
        ["view", "-d", inspect, "--ignore-device-profile", "--output-format", "summary-json"];
    let (code, _, err) = run(dir.path(), &args);
    assert_eq!(code, Some(1));
    assert!(err.contains("metrics are of devices"), "{err}");
}

#[test]
fn parts_of_a_run_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let inspect = fixture("inspect");
    let base =
        ["view", "--ingest-only", "--ignore-device-profile", "-d", inspect.to_str().unwrap()];
    let stored = |more: &[&str]| {
        let (code, out, err) = run(dir.path(), &[&base[..], more].concat());
        assert_eq!(code, Some(0), "{err}");
        let id = out.split('"').nth(1).unwrap().to_owned();
        let profile = Store::new(dir.path()).open(&id).unwrap();
        let batches = profile.batches("SystemProfileEvents").unwrap();
        let rows: Vec<_> = batches
            .flat_map(|batch| profile_store::read::objects(&batch.unwrap()).collect::<Vec<_>>())
            .collect();
        (id, rows)
    };
    let (all, every) = stored(&[]);
    let (_, one) = stored(&["--system-trace-filter-neuron-core", "0"]);
    assert_eq!(one.len(), every.iter().filter(|row| row["nc_idx"] == 0).count());
    assert!(!one.is_empty() && one.len() < every.len());
    let names = ["--system-trace-filter-event-type", "nrt_load,nc_exec_running"];
    let (some, two) = stored(&names);
    assert_eq!(
        two.len(),
        every
            .iter()
            .filter(|row| row["name"] == "nrt_load" || row["name"] == "nc_exec_running")
            .count()
    );
    assert_ne!(all, some, "another profile");
    let (code, _, err) =
        run(dir.path(), &[&base[..], &["--system-trace-filter-instance-id", "i-0"]].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains("no run of the instances"), "{err}");
    let own = ["--system-trace-filter-instance-id", "i-0,i-0af76a70a6d3864dd"];
    assert_eq!(stored(&own).0, all);
}

#[test]
fn parts_of_a_trace_are_left_out_of_json() {
    let dir = tempfile::tempdir().unwrap();
    let files =
        ["neff", "ntff"].map(|end| fixture(&format!("{CAPTURE}.{end}")).display().to_string());
    let written = |more: &[&str]| {
        let base = ["view", "-n", &files[0], "-s", &files[1], "--output-format", "json"];
        let (code, _, err) = run(dir.path(), &[&base[..], more].concat());
        assert_eq!(code, Some(0), "{err}");
        read(&dir.path().join("ntff.json"))
    };
    let whole = written(&[]);
    for (flag, table) in [
        ("--ignore-dma-trace", "dma"),
        ("--ignore-instruction-trace", "instruction"),
        ("--ignore-event-trace", "semaphore_update"),
        ("--ignore-instruction-hierarchy", "layer_summary"),
    ] {
        let part = written(&[flag]);
        assert!(!whole[table].as_array().unwrap().is_empty());
        assert_eq!(part[table], serde_json::json!([]), "{flag}");
        assert_eq!(part["summary"], whole["summary"], "{flag}");
    }
    assert_eq!(written(&["-F", "ignore-nc-buf-usage=true"]), written(&["--ignore-nc-buf-usage"]));
    let (code, _, err) = run(
        dir.path(),
        &["view", "-n", &files[0], "-s", &files[1], "--output-format", "json", "-F", "x=1"],
    );
    assert_eq!(code, Some(1));
    assert!(err.contains("-F x=1: there is only ignore-nc-buf-usage=true"), "{err}");
}

#[test]
fn how_it_ended_is_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let files =
        ["neff", "ntff"].map(|end| fixture(&format!("{CAPTURE}.{end}")).display().to_string());
    let base =
        ["view", "--ingest-only", "--processing-status-file", "status.json", "-n", &files[0], "-s"];
    let (code, out, _) = run(dir.path(), &[&base[..], &[files[1].as_str()]].concat());
    assert_eq!(code, Some(0));
    let id = out.split('"').nth(1).unwrap();
    let wanted = serde_json::json!({
        "status_code": 0, "profiles": [{ "profile": id, "status": "success" }],
    });
    assert_eq!(read(&dir.path().join("status.json")), wanted);
    assert_eq!(run(dir.path(), &[&base[..], &["gone.ntff"]].concat()).0, Some(1));
    let status = read(&dir.path().join("status.json"));
    assert_eq!(
        (&status["status_code"], &status["profiles"][0]["status"]),
        (&1.into(), &"error".into())
    );
    assert!(status["profiles"][0]["message"].as_str().unwrap().contains("gone.ntff"));
}

/// What `--terminology` and `--show-profile-schema` tell covers a real profile.
#[test]
fn words_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let (neff, trace) = (fixture(&format!("{CAPTURE}.neff")), fixture(&format!("{CAPTURE}.ntff")));
    let pair = ["-n", neff.to_str().unwrap(), "-s", trace.to_str().unwrap()];
    let summary = [&["view", "--output-format", "summary-json"], &pair[..]].concat();
    let (_, out, _) = run(dir.path(), &summary);
    let all: Value = serde_json::from_str(&out).unwrap();
    let (code, told, err) = run(dir.path(), &["view", "--terminology"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let explained: Vec<&str> = told.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let metrics = all.as_object().unwrap().values().next().unwrap().as_object().unwrap();
    // Left out: what the capture ran on, and metrics whose names are its own.
    let own = |name: &str| name.ends_with("_idx") || name.starts_with("throttle_");
    let metrics = metrics.iter().filter(|(name, value)| value.is_number() && !own(name));
    let metrics: Vec<&str> = metrics.map(|(name, _)| name.as_str()).collect();
    assert!(metrics.len() > 80, "{}", metrics.len());
    for name in metrics {
        assert!(explained.contains(&name), "{name}");
    }
    let (code, told, err) = run(dir.path(), &["view", "--show-profile-schema"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, ..) = run(dir.path(), &[&["view", "--ingest-only"], &pair[..]].concat());
    assert_eq!(code, Some(0));
    let sql = "SELECT * FROM Instruction LIMIT 1";
    let (_, out, _) = run(dir.path(), &["query", CAPTURE, sql, "--output-format", "json"]);
    let rows: Value = serde_json::from_str(&out).unwrap();
    let row = rows[0].as_object().unwrap();
    assert!(row.len() > 20, "{row:?}");
    for name in row.keys() {
        let start = format!("Instruction.{name} ");
        assert!(told.lines().any(|line| line.starts_with(&start)), "{name}");
    }
    assert!(told.lines().any(|line| line.starts_with("CcOp ") && line.contains("  absent  ")));
}
