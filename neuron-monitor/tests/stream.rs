//! The stream of the built program on simulated instances.

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

use std::sync::atomic::{AtomicBool, Ordering};

use neuron_core::uapi::nds::core_counter as id;
use serde_json::{Value, json};

use support::{Lab, Running, valid};

/// sys-tools.md §4.4: levels at once, rates not yet.
#[test]
fn the_first_record_comes_at_once() {
    let lab = Lab::new("trn1.2xlarge");
    let mut running = Running::of(lab.command(&["--period", "1h"]));
    let record = running.record();
    assert_eq!(record["neuron_runtime_data"], json!([]));
    let system: Vec<&String> = record["system_data"].as_object().unwrap().keys().collect();
    assert_eq!(system, ["memory_info"]);
    assert!(record["system_data"]["memory_info"]["memory_total_bytes"].as_u64().unwrap() > 1 << 20);
    let mut hardware = record["neuron_hardware_info"].clone();
    assert_eq!(hardware["error"].take(), "");
    assert_eq!(
        hardware,
        json!({"neuron_device_type": "trainium", "neuron_device_version": "v2",
               "neuroncore_version": "v2", "neuron_device_count": 1,
               "neuron_device_memory_size": 34_359_738_368_u64, "neuroncore_per_device_count": 2,
               "logical_neuroncore_config": 1, "error": null})
    );
    assert_eq!(record["instance_info"]["instance_type"], "trn1.2xlarge");
    running.signal("TERM");
    assert_eq!(running.end(), (Some(0), String::new()));
}

#[test]
fn what_ran_is_what_is_told() {
    let lab = Lab::new("trn1.32xlarge");
    let worker = lab.worker(1);
    worker.block("train", &[]);
    worker.set(0, id::COMPLETED, 100);
    worker.attachment.allocate(100 << 20, false, 0, 9).unwrap();
    worker.attachment.allocate(5000, false, 1, 8).unwrap();
    worker.attachment.allocate(1 << 20, true, 0, 2).unwrap();
    let mut running = Running::of(lab.command(&["--period", "300ms"]));
    let first = running.record();
    let app = &first["neuron_runtime_data"][0];
    assert_eq!(app["pid"], std::process::id());
    assert_eq!(
        (&app["neuron_runtime_tag"], &app["neuron_runtime_version"]),
        (&json!("train"), &json!("2.34.10"))
    );
    let memory = &app["report"]["memory_used"];
    let used = &memory["neuron_runtime_used_bytes"];
    assert_eq!(used["host"], 1 << 20);
    assert_eq!(used["neuron_device"], (100 << 20) + 8192);
    let cores = &used["usage_breakdown"]["neuroncore_memory_usage"];
    assert_eq!(cores["2"]["tensors"], 100 << 20);
    assert_eq!(
        cores["3"],
        json!({"constants": 0, "model_code": 8192, "model_shared_scratchpad": 0,
        "runtime_memory": 0, "tensors": 0})
    );
    let model = &memory["loaded_models"][0];
    assert_eq!(model["uuid"], "a5".repeat(16));
    assert_eq!((&model["model_id"], &model["is_running"]), (&json!(10_001), &json!(true)));
    assert_eq!(model["subgraphs"]["sg_00"]["memory_used_bytes"]["neuron_device"], 12_288);
    assert_eq!(model["subgraphs"]["sg_00"]["neuron_device_index"], 1);
    assert!(app["report"]["execution_stats"].is_null());

    let stop = AtomicBool::new(false);
    let (mut completed, mut timed_out, mut percent) = (0, 0, Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| worker.be_busy(1, 0.4, &stop));
        worker.set(0, id::COMPLETED, 160);
        worker.set(1, id::COMPLETED, 7);
        worker.set(1, id::TIMED_OUT, 2);
        worker.block("train", &[1_000_000, 1_200_000]);
        for _ in 0..5 {
            let record = running.record();
            let report = &record["neuron_runtime_data"][0]["report"];
            let stats = &report["execution_stats"];
            completed += stats["execution_summary"]["completed"].as_u64().unwrap();
            timed_out += stats["execution_summary"]["timed_out"].as_u64().unwrap();
            assert_eq!(stats["totals"]["execution_summary"]["completed"], 167);
            let counters = &report["neuroncore_counters"];
            // Every core of the instance, as the original lists them.
            assert_eq!(counters["neuroncores_in_use"].as_object().unwrap().len(), 32);
            assert_eq!(counters["neuroncores_owned"], json!([2, 3]));
            percent.push(
                counters["neuroncores_in_use"]["2"]["neuroncore_utilization"].as_f64().unwrap(),
            );
            let period = counters["period"].as_f64().unwrap();
            assert!((0.2..3.0).contains(&period), "{period}");
            assert!(report["neuron_runtime_vcpu_usage"]["error"] == "", "{report}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!((completed, timed_out), (67, 2));
    // The last four are whole periods of the busy time.
    for percent in &percent[1..] {
        assert!((38.0..=42.0).contains(percent), "{percent}");
    }
    running.signal("INT");
    assert_eq!(running.end(), (Some(0), String::new()));
}

#[test]
fn latency_of_the_period_and_null_when_nothing_ran() {
    let lab = Lab::new("inf2.xlarge");
    let worker = lab.worker(0);
    worker.block("", &[]);
    worker.set(0, id::COMPLETED, 1);
    let mut running = Running::of(lab.command(&["--period", "200ms"]));
    running.record();
    let latency = |record: &Value, name: &str| {
        record["neuron_runtime_data"][0]["report"]["execution_stats"]["latency_stats"][name].clone()
    };
    assert!(latency(&running.record(), "total_latency").is_null());
    worker.block("", &[1_000_000; 50]);
    let mut found = Value::Null;
    for _ in 0..5 {
        found = running.record();
        if !latency(&found, "total_latency").is_null() {
            break;
        }
    }
    assert_eq!(latency(&found, "total_latency")["p50"], 0.001);
    assert_eq!(latency(&found, "device_latency")["p99"], 0.0005);
    assert!(latency(&running.record(), "total_latency").is_null());
}

/// The columns of sys-tools.md §4.6 and §4.13 that differ by generation.
#[test]
fn generations() {
    for (kind, lnc, cores, version, physical) in [
        ("inf1.xlarge", "", 4, "v1", None),
        ("trn2.3xlarge", "", 4, "v3d", Some(["nc_v3.2", "nc_v3.3"])),
        ("trn2.3xlarge", "1", 8, "v3", None),
    ] {
        let lab = Lab::new(kind);
        let worker = lab.worker(0);
        worker.set(0, id::CORE_TIME, 1);
        let mut command = lab.command(&["--once", "--period", "100ms"]);
        let output = command.env("NEURON_LOGICAL_NC_CONFIG", lnc).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let record = valid(std::str::from_utf8(&output.stdout).unwrap());
        let all = &record["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"];
        assert_eq!(all.as_object().unwrap().len(), cores, "{kind}");
        assert_eq!(record["neuron_hardware_info"]["neuroncore_version"], version);
        assert_eq!(all["1"]["effective_flops"].is_null(), kind.starts_with("inf1"));
        let keys: Option<Vec<&String>> =
            all["1"]["v3d"].as_object().map(|map| map.keys().collect());
        assert_eq!(keys.is_some(), physical.is_some(), "{kind}");
        if let (Some(keys), Some(physical)) = (keys, physical) {
            assert_eq!(keys, physical);
        }
    }
}

#[test]
fn once_has_every_group_and_count_ends() {
    let lab = Lab::new("trn1.2xlarge");
    let _worker = lab.worker(0);
    let config = lab.dir.path().join("c.json");
    support::write(
        &config,
        r#"{"period": "100ms", "system_metrics": [{"type": "vcpu_usage"},
        {"type": "memory_info", "period": "0.3s"}, {"type": "neuron_hw_counters"}, {"type": "self_stats"}]}"#,
    );
    let file = config.to_str().unwrap();
    let output = lab.command(&["--once", "-c", file]).output().unwrap();
    let record = valid(std::str::from_utf8(&output.stdout).unwrap());
    let system: Vec<&String> = record["system_data"].as_object().unwrap().keys().collect();
    assert_eq!(system, ["memory_info", "neuron_hw_counters", "self_stats", "vcpu_usage"]);
    let report = record["neuron_runtime_data"][0]["report"].as_object().unwrap();
    let groups: Vec<&String> = report.keys().collect();
    assert_eq!(
        groups,
        ["execution_stats", "memory_used", "neuron_runtime_vcpu_usage", "neuroncore_counters"]
    );
    let own = &record["system_data"]["self_stats"];
    assert!(own["resident_memory_bytes"].as_u64().unwrap() > 100_000);
    assert!(own["collection_seconds"]["memory_used"].as_f64().unwrap() > 0.0);
    let device = &record["system_data"]["neuron_hw_counters"]["neuron_devices"][0];
    assert_eq!(device["totals"]["mem_ecc_uncorrected"], 0);

    let output = lab.command(&["--count", "3", "-c", file]).output().unwrap();
    let lines: Vec<Value> =
        std::str::from_utf8(&output.stdout).unwrap().lines().map(valid).collect();
    let memory = |record: &Value| !record["system_data"]["memory_info"].is_null();
    assert_eq!(lines.iter().map(memory).collect::<Vec<_>>(), [false, false, true]);
    assert!(lines.iter().all(|record| !record["system_data"]["vcpu_usage"].is_null()));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn pretty_is_the_same_document() {
    let lab = Lab::new("trn1.2xlarge");
    let output = lab.command(&["--once", "--period", "50ms", "--pretty"]).output().unwrap();
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.lines().count() > 20 && text.starts_with("{\n  \""));
    valid(text);
}

#[test]
fn ecc_events_are_of_the_period() {
    let lab = Lab::new("trn2.3xlarge");
    let config = lab.dir.path().join("c.json");
    support::write(
        &config,
        r#"{"period": "100ms", "neuron_runtimes": [], "system_metrics": [{"type": "neuron_hw_counters"}]}"#,
    );
    lab.sim.inject(0, "mem-ecc=5".parse().unwrap()).unwrap();
    let mut running = Running::of(lab.command(&["-c", config.to_str().unwrap()]));
    let events = |record: &Value| {
        let device = &record["system_data"]["neuron_hw_counters"]["neuron_devices"][0];
        (
            device["mem_ecc_uncorrected"].as_u64().unwrap(),
            device["totals"]["mem_ecc_uncorrected"].as_u64().unwrap(),
        )
    };
    assert_eq!(events(&running.record()), (0, 5));
    lab.sim.inject(0, "mem-ecc=8".parse().unwrap()).unwrap();
    let mut seen = 0;
    for _ in 0..5 {
        seen += events(&running.record()).0;
    }
    assert_eq!(seen, 3);
}

/// A recording shows what the machine showed, at any speed and in every tool.
#[test]
fn a_recording_plays_again() {
    let lab = Lab::new("trn1.2xlarge");
    let worker = lab.worker(0);
    worker.block("train", &[]);
    worker.set(0, id::COMPLETED, 10);
    let path = lab.dir.path().join("a.rec");
    let file = path.to_str().unwrap();
    let record = |count: &str| {
        let args = ["record", file, "--period", "20ms", "--count", count];
        let output = lab.command(&args).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    };
    record("3");
    worker.set(0, id::COMPLETED, 52);
    record("3");
    let size = std::fs::metadata(&path).unwrap().len();
    drop(worker);
    for (source, count) in
        [(format!("replay:{file}"), "5"), (format!("replay:{file},speed=0.5"), "40")]
    {
        let mut command = lab.command(&["--period", "20ms", "--count", count]);
        let output = command.env("NEURON_SOURCE", source).output().unwrap();
        let text = std::str::from_utf8(&output.stdout).unwrap();
        let records: Vec<Value> = text.lines().map(valid).collect();
        let app = |record: &Value| record["neuron_runtime_data"][0].clone();
        assert_eq!(app(&records[0])["neuron_runtime_tag"], "train");
        let completed = |record: &Value| {
            app(record)["report"]["execution_stats"]["execution_summary"]["completed"].as_u64()
        };
        assert_eq!(records.iter().filter_map(completed).sum::<u64>(), 42, "{text}");
        assert_eq!(records[0]["neuron_monitor"]["simulated"], "trn1.2xlarge");
    }
    // Six samples, four of them as changes.
    assert!(size < 3 * 16_000, "{size}");
    let output = lab.command(&["record", lab.dir.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn embedded_metrics() {
    let lab = Lab::new("trn1.2xlarge");
    let worker = lab.worker(0);
    worker.set(1, id::COMPLETED, 1);
    let output = lab
        .command(&["cloudwatch", "--namespace", "Lab", "--period", "50ms", "--count", "2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<Value> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // The instance, a device, an application, a core; twice.
    assert_eq!(lines.len(), 8);
    assert!(lines.iter().all(|line| line["InstanceId"].as_str().unwrap().starts_with("i-")));
    assert_eq!(lines[3]["NeuronCore"], "1");
    assert_eq!(lines[3]["_aws"]["CloudWatchMetrics"][0]["Namespace"], "Lab");
}
