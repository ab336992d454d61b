//! The screen, the JSON and neuron-monitor say the same of one recording, field
//! by field.

mod samples;

use std::path::Path;
use std::process::Command;

use neuron_core::sample::{Hardware, Sample};
use serde_json::{Value, json};

/// What a program prints of a recording.
fn said(program: &Path, recording: &Path, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(["--source", &format!("replay:{}", recording.display()), "--period", "100ms"])
        .args(args)
        .env("COLUMNS", "200")
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("NEURON_LOGICAL_NC_CONFIG")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn near(a: &Value, b: f64, what: &str) {
    let a = a.as_f64().unwrap_or_else(|| panic!("{what}: {a}"));
    assert!((a - b).abs() < 1e-9, "{what}: {a} {b}");
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Another way to the same text than the program's: whole tenths, half up.
fn bytes(count: u64) -> String {
    let mut unit = 0;
    let mut divisor = 1_u128;
    let tenths = |divisor: u128| (u128::from(count) * 10 + divisor / 2) / divisor;
    while tenths(divisor) >= 10_240 {
        divisor *= 1024;
        unit += 1;
    }
    let tenths = tenths(divisor);
    format!("{}.{}{}", tenths / 10, tenths % 10, ["B", "KB", "MB", "GB", "TB"][unit])
}

fn agree(name: &str, recorded: &[Sample]) {
    let recording = samples::record(recorded);
    let monitor = neuron_tests::bin("neuron-monitor");
    let top = Path::new(env!("CARGO_BIN_EXE_neuron-top"));
    let record: Value =
        serde_json::from_str(&said(&monitor, recording.path(), &["--once"])).unwrap();
    let line: Value =
        serde_json::from_str(&said(top, recording.path(), &["--once", "-j"])).unwrap();
    let text = said(top, recording.path(), &["--once"]);
    machine(name, &record, &line);
    let mut busiest: Vec<f64> = Vec::new();
    let mut flops: Vec<f64> = Vec::new();
    let processes = record["neuron_runtime_data"].as_array().unwrap();
    let ours = line["neuron_runtime_data"].as_array().unwrap();
    assert_eq!(processes.len(), ours.len(), "{name}");
    for (theirs, ours) in processes.iter().zip(ours) {
        process(name, theirs, ours);
        let cores =
            theirs["report"]["neuroncore_counters"]["neuroncores_in_use"].as_object().unwrap();
        busiest.resize(cores.len(), 0.0);
        flops.resize(cores.len(), 0.0);
        for (index, core) in cores {
            let at: usize = index.parse().unwrap();
            busiest[at] = busiest[at].max(float(&core["neuroncore_utilization"]));
            flops[at] += core["effective_flops"].as_f64().unwrap_or(0.0);
        }
    }
    let all = line["neuroncores"].as_array().unwrap();
    let told = || all.iter().filter(|core| core["neuroncore_utilization"].is_number());
    for core in told() {
        let at = usize::try_from(core["neuroncore"].as_u64().unwrap()).unwrap();
        near(&core["neuroncore_utilization"], busiest.get(at).copied().unwrap_or(0.0), name);
        let sum = flops.get(at).copied().unwrap_or(0.0);
        assert!((float(&core["effective_flops"]) - sum).abs() < 1.0, "{name}: {core} {sum}");
    }
    on_screen(name, &text, &record, &line, &busiest);
}

fn machine(name: &str, record: &Value, line: &Value) {
    let hardware = &record["neuron_hardware_info"];
    assert_eq!(line["instance_id"], record["instance_info"]["instance_id"], "{name}");
    assert_eq!(line["instance_type"], record["instance_info"]["instance_type"], "{name}");
    assert_eq!(line["neuroncore_version"], hardware["neuroncore_version"], "{name}");
    assert_eq!(line["logical_neuroncore_config"], hardware["logical_neuroncore_config"], "{name}");
    let there = line["neuron_devices"].as_array().unwrap();
    let there = there.iter().filter(|device| device["status"] != "lost").count();
    assert_eq!(json!(there), hardware["neuron_device_count"], "{name}");
    let system = &record["system_data"];
    let average = &system["vcpu_usage"]["average_usage"];
    near(&line["vcpu_usage"]["user"], float(&average["user"]) + float(&average["nice"]), name);
    let in_kernel = ["system", "irq", "soft_irq"].map(|key| float(&average[key])).iter().sum();
    near(&line["vcpu_usage"]["system"], in_kernel, name);
    for key in ["memory_total_bytes", "memory_used_bytes", "swap_total_bytes", "swap_used_bytes"] {
        assert_eq!(line["memory_info"][key], system["memory_info"][key], "{name} {key}");
    }
    assert_eq!(line["period"], system["vcpu_usage"]["period"], "{name}");
    assert_eq!(line["timestamp"], record["neuron_monitor"]["timestamp"], "{name}");
}

fn process(name: &str, theirs: &Value, ours: &Value) {
    let report = &theirs["report"];
    for key in ["pid", "neuron_runtime_tag"] {
        assert_eq!(ours[key], theirs[key], "{name}");
    }
    let version = theirs.get("neuron_runtime_version").cloned().unwrap_or(json!(""));
    assert_eq!(ours["neuron_runtime_version"], version, "{name}");
    let vcpu = &report["neuron_runtime_vcpu_usage"]["vcpu_usage"];
    assert_eq!(&ours["vcpu_usage"], vcpu, "{name}");
    // Those that it holds, to the last digit; all others are at nothing there.
    let cores = report["neuroncore_counters"]["neuroncores_in_use"].as_object().unwrap();
    let held = ours["neuroncores_in_use"].as_object().unwrap();
    let owned = report["neuroncore_counters"]["neuroncores_owned"].as_array().unwrap();
    assert_eq!(owned.len(), held.len(), "{name}");
    for (index, core) in cores {
        match held.get(index) {
            Some(own) => {
                assert_eq!(own["neuroncore_utilization"], core["neuroncore_utilization"], "{name}");
                let flops = float(&own["effective_flops"]).round();
                near(&core["effective_flops"], flops, name);
            }
            None => near(&core["neuroncore_utilization"], 0.0, name),
        }
    }
    let used = &report["memory_used"]["neuron_runtime_used_bytes"];
    assert_eq!(&ours["neuron_runtime_used_bytes"], used, "{name}");
    let models = report["memory_used"]["loaded_models"].as_array().unwrap();
    let loaded = ours["loaded_models"].as_array().unwrap();
    assert_eq!(models.len(), loaded.len(), "{name}");
    for (theirs, ours) in models.iter().zip(loaded) {
        for key in ["model_id", "name", "uuid", "is_running"] {
            assert_eq!(ours[key], theirs[key], "{name}");
        }
        let parts = theirs["subgraphs"].as_object().unwrap();
        assert_eq!(parts.len(), ours["subgraphs"].as_object().unwrap().len());
        for (number, part) in parts {
            let own = &ours["subgraphs"][number];
            assert_eq!(own["neuroncore_index"], part["neuroncore_index"], "{name}");
            assert_eq!(own["neuron_device_index"], part["neuron_device_index"], "{name}");
            for key in ["host", "neuron_device"] {
                assert_eq!(own[key], part["memory_used_bytes"][key], "{name}");
            }
        }
    }
}

/// The figures of the text, read back from it.
fn on_screen(name: &str, text: &str, record: &Value, line: &Value, busiest: &[f64]) {
    for device in line["neuron_devices"].as_array().unwrap() {
        let index = device["neuron_device_index"].as_u64().unwrap();
        let row = format!("ND{index} ");
        let row = text.lines().find(|line| line.starts_with(&row)).unwrap();
        let cells: Vec<&str> =
            row.split('[').skip(1).map(|cell| cell.split(']').next().unwrap()).collect();
        let count = usize::try_from(device["neuroncores"].as_u64().unwrap()).unwrap();
        assert_eq!(cells.len(), count, "{name}: {row}");
        for (within, cell) in cells.iter().enumerate() {
            let at = usize::try_from(index).unwrap() * count + within;
            match device["status"].as_str().unwrap() {
                "ready" => {
                    let shown: f64 = cell.trim_end_matches('%').trim().parse().unwrap();
                    let value = busiest.get(at).copied().unwrap_or(0.0);
                    assert!((shown - value).abs() < 0.0051, "{name}: {row}: {value}");
                }
                status => assert_eq!(cell.trim(), status, "{name}: {row}"),
            }
        }
    }
    let sum = |path: &[&str]| -> u64 {
        let processes = record["neuron_runtime_data"].as_array().unwrap();
        let used =
            processes.iter().map(|p| &p["report"]["memory_used"]["neuron_runtime_used_bytes"]);
        used.map(|used| path.iter().fold(used, |value, key| &value[key]).as_u64().unwrap_or(0))
            .sum()
    };
    let on_cores = |key: &str| -> u64 {
        let processes = record["neuron_runtime_data"].as_array().unwrap();
        let used =
            processes.iter().map(|p| &p["report"]["memory_used"]["neuron_runtime_used_bytes"]);
        let cores = used.flat_map(|used| {
            used["usage_breakdown"]["neuroncore_memory_usage"].as_object().unwrap().values()
        });
        cores.map(|core| core[key].as_u64().unwrap()).sum()
    };
    let host = |key: &str| sum(&["usage_breakdown", "host", key]);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    for (row, figures) in [
        (
            row("Host Used Memory"),
            vec![
                ("Total: ", sum(&["host"])),
                ("Tensors: ", host("tensors")),
                ("Constants: ", host("constants")),
                ("DMA Buffers: ", host("dma_buffers")),
                ("App. Memory: ", host("application_memory")),
            ],
        ),
        (
            row("Device Used Memory"),
            vec![
                ("Total: ", sum(&["neuron_device"])),
                ("Tensors: ", on_cores("tensors")),
                ("Constants: ", on_cores("constants")),
                ("Model Code: ", on_cores("model_code")),
                ("Runtime Memory: ", on_cores("runtime_memory")),
                ("Model Scratchpad: ", on_cores("model_shared_scratchpad")),
            ],
        ),
    ] {
        for (label, count) in figures {
            let shown = row.split(label).nth(1).unwrap().split_whitespace().next().unwrap();
            assert_eq!(shown, bytes(count), "{name}: {row}");
        }
    }
    // The tree's devices add up to what the processes hold.
    let share =
        |line: &str| line.split("Usage ").nth(1).unwrap().split('[').nth(1).unwrap().to_owned();
    let average = &record["system_data"]["vcpu_usage"]["average_usage"];
    let expected = format!("{:5.2}%,{:5.2}%]", float(&average["user"]), float(&average["system"]));
    assert_eq!(share(row("System vCPU Usage")), expected, "{name}");
}

#[test]
fn the_monitor_and_the_screen_agree() {
    agree("idle", &samples::idle());
    agree("one", &samples::one());
    agree("picture", &samples::picture());
    agree("many", &samples::many());
}

/// ECC errors and a device that has gone, as the monitor tells them.
#[test]
fn health_agrees_with_the_monitor() {
    let mut samples = samples::many();
    for sample in &mut samples {
        sample.devices[2].hardware =
            Some(Hardware { mem_ecc_uncorrected: Some(3), ..Hardware::default() });
    }
    agree("ecc", &samples);
    let recording = samples::record(&samples);
    let config = tempfile::NamedTempFile::new().unwrap();
    let groups = json!({"period": "100ms", "system_metrics": [{"type": "neuron_hw_counters"}]});
    std::fs::write(config.path(), groups.to_string()).unwrap();
    let path = config.path().display().to_string();
    let monitor = neuron_tests::bin("neuron-monitor");
    let record = said(&monitor, recording.path(), &["--once", "-c", &path]);
    let record: Value = serde_json::from_str(&record).unwrap();
    let device = &record["system_data"]["neuron_hw_counters"]["neuron_devices"][2];
    let total = device["totals"]["mem_ecc_uncorrected"].as_u64().unwrap();
    let top = Path::new(env!("CARGO_BIN_EXE_neuron-top"));
    let text = said(top, recording.path(), &["--once"]);
    assert!(text.contains(&format!("neuron2: {total} uncorrected ECC errors of HBM")), "{text}");
}
