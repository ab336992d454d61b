//! What goes wrong around the stream, and what it does then.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    missing_debug_implementations,
    reason = "helpers of tests"
)]

mod support;

use std::io::Read as _;
use std::time::{Duration, Instant};

use neuron_core::uapi::nds::core_counter as id;
use serde_json::json;

use support::{Lab, Running, program, valid, write};

#[test]
fn a_bad_flag_is_exit_1_with_nothing_on_stdout() {
    for args in
        [&["--badflag"][..], &["--period", "1"], &["--source", "x"], &["-c", "/nonexistent"]]
    {
        let output = program(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty());
        assert!(output.stderr.starts_with(b"neuron-monitor: "), "{args:?}");
    }
}

#[test]
fn version_and_schema() {
    let output = program(&["--version"]).output().unwrap();
    let version = concat!("neuron-monitor ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(output.stdout, version.as_bytes());
    let output = program(&["schema"]).output().unwrap();
    assert_eq!(output.stdout, neuron_monitor::SCHEMA.as_bytes());
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
}

/// sys-tools.md §4.4: it keeps running, and the record says what is wrong.
#[test]
fn without_a_driver_it_goes_on() {
    if std::path::Path::new("/sys/class/neuron_device").exists() {
        println!("skipped: this machine has the Neuron driver");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    write(
        &config,
        r#"{"period": "50ms", "system_metrics": [{"type": "neuron_hw_counters"}, {"type": "vcpu_usage"}]}"#,
    );
    let mut command = program(&["-c", config.to_str().unwrap()]);
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    let mut running = Running::of(command);
    running.record();
    let record = running.record();
    assert_eq!(record["neuron_runtime_data"], json!([]));
    assert!(record["system_data"]["neuron_hw_counters"]["neuron_devices"].is_null());
    assert!(record["system_data"]["vcpu_usage"]["average_usage"]["idle"].is_number());
    let hardware = &record["neuron_hardware_info"];
    assert_eq!(hardware["neuron_device_count"], 0);
    assert!(hardware["error"].as_str().unwrap().contains("driver"), "{hardware}");
    running.signal("TERM");
    assert_eq!(running.end(), (Some(0), String::new()));
}

#[test]
fn a_bad_configuration_is_named_by_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    write(&config, "{\n  \"period\": \"5 parsecs\"\n}\n");
    let output = program(&["-c", config.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let begin = format!("neuron-monitor: {}: line 2: period: ", config.display());
    assert!(said.starts_with(&begin) && said.contains("500ms"), "{said}");
}

#[test]
fn a_changed_configuration_is_read_and_a_bad_one_is_not() {
    let lab = Lab::new("trn1.2xlarge");
    let config = lab.dir.path().join("c.json");
    write(&config, r#"{"period": "50ms", "system_metrics": [{"type": "memory_info"}]}"#);
    let mut running = Running::of(lab.command(&["-c", config.to_str().unwrap()]));
    running.record();
    // Replaced by renaming, as editors do.
    let draft = lab.dir.path().join("draft");
    write(&draft, r#"{"period": "50ms", "system_metrics": [{"type": "self_stats"}]}"#);
    std::fs::rename(&draft, &config).unwrap();
    let changed = |running: &mut Running, key: &str| {
        let begin = Instant::now();
        while running.record()["system_data"][key].is_null() {
            assert!(begin.elapsed() < Duration::from_secs(20), "no {key}");
        }
    };
    changed(&mut running, "self_stats");
    write(&config, r#"{"period": "never"}"#);
    std::thread::sleep(Duration::from_millis(400));
    write(&config, r#"{"period": "50ms", "system_metrics": [{"type": "memory_info"}]}"#);
    changed(&mut running, "memory_info");
    running.signal("TERM");
    let (code, said) = running.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("line 1: period: ") && said.contains("stays in force"), "{said}");
}

/// sys-tools.md §13 row 17.
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let lab = Lab::new("trn1.2xlarge");
    for period in ["10ms", "1h"] {
        let mut running = Running::of(lab.command(&["--period", period]));
        running.record();
        let Running { child, lines } = running;
        drop(lines);
        let lines = std::io::BufReader::new(empty());
        assert_eq!(Running { child, lines }.end(), (Some(0), String::new()), "{period}");
    }
}

/// A pipe of a child that prints nothing.
fn empty() -> std::process::ChildStdout {
    let mut child =
        std::process::Command::new("true").stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.wait().unwrap();
    child.stdout.take().unwrap()
}

#[test]
fn a_reader_that_does_not_read_costs_whole_records() {
    let lab = Lab::new("trn1.32xlarge");
    let workers: Vec<_> = (0..16).map(|device| lab.worker(device)).collect();
    workers.iter().for_each(|worker| worker.set(0, id::COMPLETED, 1));
    let mut running = Running::of(lab.command(&["--period", "10ms"]));
    running.record();
    std::thread::sleep(Duration::from_secs(3));
    running.signal("TERM");
    let mut rest = String::new();
    // Read what is left: whole lines, and their numbers have gaps where some were dropped.
    running.lines.read_to_string(&mut rest).unwrap();
    assert_eq!(running.end(), (Some(0), String::new()));
    let numbers: Vec<u64> = rest
        .lines()
        .map(|line| valid(line)["neuron_monitor"]["record"].as_u64().unwrap())
        .collect();
    assert!(rest.ends_with('\n') && numbers.is_sorted(), "{numbers:?}");
}

#[test]
fn a_tag_of_255_characters_and_filters() {
    let lab = Lab::new("trn1.2xlarge");
    let worker = lab.worker(0);
    worker.block(&"t".repeat(255), &[]);
    let config = lab.dir.path().join("c.json");
    for (filter, seen) in [("^t{255}$", 1), ("^u", 0), ("tt", 1)] {
        write(
            &config,
            &json!({"period": "50ms", "neuron_runtimes": [
            {"tag_filter": filter, "metrics": [{"type": "memory_used"}]}]})
            .to_string(),
        );
        let output = lab.command(&["--once", "-c", config.to_str().unwrap()]).output().unwrap();
        let record = valid(std::str::from_utf8(&output.stdout).unwrap());
        assert_eq!(record["neuron_runtime_data"].as_array().unwrap().len(), seen, "{filter}");
    }
}

/// An application that ends, a device in reset, a torn datastore, a device
/// that is gone: the rest goes on at its pace.
#[test]
fn trouble_of_one_hides_no_other() {
    let lab = Lab::new("trn1.32xlarge");
    let good = lab.worker(0);
    good.set(0, id::COMPLETED, 5);
    let torn = lab.worker(1);
    let mut running = Running::of(lab.command(&["--period", "100ms", "--verbose", "1"]));
    assert_eq!(running.record()["neuron_runtime_data"].as_array().unwrap().len(), 1);
    let file = std::fs::read_dir(lab.sim.dir().join("nds")).unwrap().map(|e| e.unwrap().path());
    let of_torn =
        file.into_iter().find(|p| p.file_name().unwrap().to_string_lossy().starts_with("neuron1."));
    std::fs::write(of_torn.unwrap(), b"short").unwrap();
    lab.sim.inject(2, "reset".parse().unwrap()).unwrap();
    lab.sim.inject(3, "gone".parse().unwrap()).unwrap();
    // Counters that go backwards count anew.
    good.set(0, id::COMPLETED, 2);
    let mut completed = 0;
    for _ in 0..4 {
        let record = running.record();
        assert!(record["neuron_hardware_info"]["neuron_device_count"].as_u64().unwrap() >= 15);
        completed += record["neuron_runtime_data"][0]["report"]["execution_stats"]
            ["execution_summary"]["completed"].as_u64().unwrap();
    }
    assert_eq!(completed, 2);
    drop(good);
    drop(torn);
    // Records that were made before may still be in the pipe.
    let begin = Instant::now();
    while running.record()["neuron_runtime_data"] != json!([]) {
        assert!(begin.elapsed() < Duration::from_secs(20), "the application stays");
    }
    running.signal("TERM");
    let (code, said) = running.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("datastore of process") && said.contains("is in reset"), "{said}");
}
