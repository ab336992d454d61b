//! The monitor beside the daemon: what a model really did is what the stream
//! says.
//!
//! The oracle is another path than the monitor's: the totals that a simulated
//! driver keeps when the daemon has ended (as the recorded driver does), and
//! the memory that it charged.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use neuron_builder::models::SAMPLES;
use neuron_tests::bin;
use serde_json::Value;

const INFERENCES: u64 = 12;

/// Ends a child at the end of the test, however that comes.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Ended {
    /// SIGTERM, and waits.
    fn end(mut self) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let begin = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

struct Lab {
    dir: tempfile::TempDir,
    kind: &'static str,
    /// Physical cores of a logical one, where it is not the default.
    lnc: Option<&'static str>,
}

impl Lab {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(bin(program));
        command
            .env("NEURON_SIM_DIR", self.dir.path().join("sim"))
            .env("NEURON_SOURCE", format!("sim:{}", self.kind))
            .env("NEURON_RTD_ADDRESS", self.address())
            .env("NEURON_RTD_ROOT", self.dir.path())
            .env_remove("NEURON_LOGICAL_NC_CONFIG")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if let Some(lnc) = self.lnc {
            command.env("NEURON_LOGICAL_NC_CONFIG", lnc);
        }
        command
    }

    fn address(&self) -> String {
        format!("unix:{}", self.dir.path().join("rtd.sock").display())
    }

    fn daemon(&self) -> Ended {
        let mut command = self.command("neuron-rtd");
        command.args(["-x", "-g", &self.address()]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening =
            lines.by_ref().map_while(Result::ok).any(|line| line.contains("Server listening"));
        assert!(listening, "the daemon does not listen");
        std::thread::spawn(move || lines.for_each(drop));
        Ended(child)
    }

    fn cli(&self, args: &[&str]) -> String {
        let output = self.command("neuron-cli").args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A leaf of a physical core of the tree that the driver would show now.
    fn leaf(&self, tree: &Path, core: u64, leaf: &str) -> u64 {
        let core = format!("sys/devices/virtual/neuron_device/neuron0/neuron_core{core}/stats");
        let path = tree.join(core).join(leaf).join("total");
        std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
    }
}

/// `record["a"]["b"]...` of the one application.
fn report<'a>(record: &'a Value, path: &str) -> &'a Value {
    let report = &record["neuron_runtime_data"][0]["report"];
    path.split('.').fold(report, |value, key| &value[key])
}

/// `cores` is the number of logical cores that are to be seen.
fn the_stream_is_true(kind: &'static str, lnc: Option<&'static str>, cores: usize) {
    let lab = Lab { dir: tempfile::tempdir().unwrap(), kind, lnc };
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "mlp").unwrap();
    let sample = make().unwrap();
    std::fs::write(lab.dir.path().join("mlp.neff"), &sample.built.bytes).unwrap();
    let mut infer = vec![String::from("infer"), String::new()];
    for (name, array) in &sample.inputs {
        let file = format!("{name}.npy");
        std::fs::write(lab.dir.path().join(&file), array.to_npy()).unwrap();
        infer.extend([String::from("-i"), format!("{name}={file}")]);
    }
    let daemon = lab.daemon();
    let mut monitor = lab.command("neuron-monitor");
    // The daemon shows its counters once a second: in a shorter period a second
    // of work would be more than all of the time.
    let mut monitor =
        Ended(monitor.args(["--period", "1s"]).stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(monitor.0.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || -> Vec<Value> {
        lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap()).collect()
    });
    infer[1] = lab.cli(&["load", "mlp.neff"]).trim().to_owned();
    let args: Vec<&str> = infer.iter().map(String::as_str).collect();
    for _ in 0..INFERENCES {
        lab.cli(&args);
    }
    // The daemon shows its counters a second late at most.
    std::thread::sleep(Duration::from_millis(2500));
    let charged: Value = serde_json::from_slice(
        &lab.command("neuron-ls").args(["-o", "json"]).output().unwrap().stdout,
    )
    .unwrap();
    monitor.end();
    daemon.end();
    let records = reader.join().unwrap();
    let tree = lab.dir.path().join("tree");
    let export =
        lab.command("neuron-ls").args(["sim", "export", kind]).arg(&tree).status().unwrap();
    assert!(export.success());

    let sum = |path: &str| -> u64 { records.iter().filter_map(|r| report(r, path).as_u64()).sum() };
    assert_eq!(sum("execution_stats.execution_summary.completed"), INFERENCES, "{kind}");
    assert_eq!(lab.leaf(&tree, 0, "other_info/inference_count"), INFERENCES);
    assert_eq!(sum("execution_stats.error_summary.runtime"), 0);

    let last = records.iter().rfind(|r| report(r, "memory_used").is_object()).unwrap();
    let used = report(last, "memory_used.neuron_runtime_used_bytes");
    let processes = charged[0]["neuron_processes"].as_array().unwrap();
    let held: u64 = processes.iter().filter_map(|p| p["device_memory"].as_u64()).sum();
    assert!(held > 0, "{charged}");
    assert_eq!(used["neuron_device"], held, "{kind}: {used}");

    let hardware = &last["neuron_hardware_info"];
    let physical = if kind.starts_with("trn2") { 8 } else { cores as u64 };
    assert_eq!(hardware["neuroncore_per_device_count"], cores, "{hardware}");
    assert_eq!(hardware["logical_neuroncore_config"], physical / cores as u64, "{hardware}");
    let in_use = report(last, "neuroncore_counters.neuroncores_in_use").as_object().unwrap();
    assert_eq!(in_use.len(), cores, "{kind}");
    for (index, core) in in_use {
        let shown = core["v3d"].as_object();
        assert_eq!(shown.is_some(), physical > cores as u64, "{kind}: {core}");
        let first = index.parse::<u64>().unwrap() * 2;
        let mean = |cores: &serde_json::Map<String, Value>| -> f64 {
            let names = [first, first + 1].map(|number| format!("nc_v3.{number}"));
            assert_eq!(cores.keys().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
            let each = cores.values().map(|core| core["neuroncore_utilization"].as_f64().unwrap());
            each.sum::<f64>() / 2.0
        };
        if let Some(shown) = shown {
            let whole = core["neuroncore_utilization"].as_f64().unwrap();
            assert!((mean(shown) - whole).abs() < 0.01, "{core}");
        }
    }

    // Busy seconds of each physical core of the first logical one, by the
    // stream and by the driver, within 2 points of the time.
    let lnc = physical / cores as u64;
    for number in 0..lnc {
        let core = "neuroncore_counters.neuroncores_in_use.0".to_owned();
        let path = |record: &Value| -> Value {
            let core = report(record, &core);
            let own = if lnc > 1 { &core["v3d"][format!("nc_v3.{number}")] } else { core };
            own["neuroncore_utilization"].clone()
        };
        let (mut busy, mut seconds) = (0.0, 0.0);
        for (record, share) in records.iter().map(|record| (record, path(record))) {
            let Some(share) = share.as_f64() else { continue };
            let period = report(record, "neuroncore_counters.period").as_f64().unwrap();
            busy += share / 100.0 * period;
            seconds += period;
        }
        let truth = lab.leaf(&tree, number, "other_info/nc_time_in_use");
        let truth = Duration::from_nanos(truth).as_secs_f64();
        assert!(number > 0 || truth > 0.0, "{kind}: nothing was counted");
        assert!(
            (busy - truth).abs() <= 0.02 * seconds,
            "{kind} core {number}: {busy} {truth} {seconds}"
        );
    }
}

#[test]
fn the_stream_is_true_on_inf1() {
    the_stream_is_true("inf1.xlarge", None, 4);
}

#[test]
fn the_stream_is_true_on_trn1() {
    the_stream_is_true("trn1.2xlarge", None, 2);
}

#[test]
fn the_stream_is_true_on_trn2() {
    the_stream_is_true("trn2.3xlarge", None, 4);
}

#[test]
fn the_stream_is_true_on_trn2_with_single_cores() {
    the_stream_is_true("trn2.3xlarge", Some("1"), 8);
}
