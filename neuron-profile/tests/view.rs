//! `neuron-profile view` as it is called.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const CAPTURE: &str = "attn-base-bf16-512";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn view(neff: &Path, trace: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("view").arg("-n").arg(neff).arg("-s").arg(trace).args(more);
    command.stdin(Stdio::null()).output().unwrap()
}

fn pair() -> (PathBuf, PathBuf) {
    (fixture(&format!("{CAPTURE}.neff")), fixture(&format!("{CAPTURE}.ntff")))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// One line, an object by the profile's id; notes go to stderr.
#[test]
fn summary_json_is_one_line() {
    let (neff, trace) = pair();
    let output = view(&neff, &trace, &["--output-format", "summary-json"]);
    assert!(output.status.success());
    let line = text(&output.stdout);
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.ends_with('\n'));
    let all: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
    assert_eq!(all.len(), 1);
    let (id, metrics) = all.iter().next().unwrap();
    let digits = id.strip_prefix("n_").unwrap();
    assert!(digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let export: Value =
        serde_json::from_slice(&std::fs::read(fixture(&format!("{CAPTURE}.json"))).unwrap())
            .unwrap();
    let theirs = export["summary"][0].as_object().unwrap();
    assert_eq!(metrics.as_object().unwrap().len(), theirs.len());
    assert_eq!(metrics["hardware_flops"], theirs["hardware_flops"]);
    assert!(text(&output.stderr).contains("6 packets of ring 14 are left out"));
    // The same files are the same profile, another trace is another.
    let again = view(&neff, &trace, &["--output-format", "summary-json"]);
    assert_eq!(again.stdout, output.stdout);
}

#[test]
fn summary_text_has_every_metric() {
    let (neff, trace) = pair();
    let output = view(&neff, &trace, &["--output-format", "summary-text"]);
    assert!(output.status.success());
    let lines: Vec<Vec<&str>> =
        text(&output.stdout).lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.iter().all(|line| line.len() >= 2), "{lines:?}");
    let of = |name: &str| lines.iter().find(|line| line[0] == name).unwrap()[1];
    assert_eq!(of("total_time").parse::<f64>().unwrap(), 5.427_658_2e-5);
    assert_eq!(of("hbm_read_bytes"), "2588672");
    assert_eq!(of("instance_type"), "trn2.3xlarge");
}

/// The file appears whole, under the name asked for or `ntff.json`.
#[test]
fn json_goes_to_a_file() {
    let (neff, trace) = pair();
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
        command.current_dir(&folder).arg("view").arg("-n").arg(&neff).arg("-s").arg(&trace);
        command.args(["--output-format", "json"]).args(more).output().unwrap()
    };
    let output = run(&[]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
    let plain = std::fs::read(folder.path().join("ntff.json")).unwrap();
    let tables: Value = serde_json::from_slice(&plain).unwrap();
    assert_eq!(tables["instruction"].as_array().unwrap().len(), 452);
    assert_eq!(tables["profile_info"][0]["profile_name"], CAPTURE);
    let pretty = ["--output-file", "p.json", "--json-pretty-print", "--display-name", CAPTURE];
    assert!(run(&pretty).status.success());
    let pretty = std::fs::read(folder.path().join("p.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&pretty).unwrap(), tables);
    assert!(pretty.len() > plain.len());
    let piped = run(&["--output-file", "-"]);
    assert_eq!(piped.stdout, plain);
    assert!(run(&["--ignore-nc-buf-usage", "--output-file", "q.json"]).status.success());
    let less: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("q.json")).unwrap()).unwrap();
    assert_eq!(less["instruction_usage"], serde_json::json!([]));
    assert_eq!(less["dma"], tables["dma"]);
    // Nothing but the results is left.
    let mut left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["ntff.json", "p.json", "q.json"]);
}

/// A pipe and a compressed file give what the file gives.
#[test]
fn other_sources_of_a_trace() {
    let (neff, trace) = pair();
    let plain = view(&neff, &trace, &["--output-format", "summary-json"]);
    let bytes = std::fs::read(&trace).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("trace.ntff.gz");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    std::fs::write(&packed, gzip.finish().unwrap()).unwrap();
    let unpacked = view(&neff, &packed, &["--output-format", "summary-json"]);
    assert_eq!(unpacked.stdout, plain.stdout);
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("view").arg("-n").arg(&neff).args(["-s", "-", "--output-format", "summary-json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, plain.stdout);
}

#[test]
fn what_goes_wrong_is_one_line() {
    let (neff, trace) = pair();
    let fails = |neff: &Path, trace: &Path, word: &str| {
        let output = view(neff, trace, &["--output-format", "summary-json"]);
        assert_eq!(output.status.code(), Some(1), "{word}");
        assert!(output.stdout.is_empty());
        let error = text(&output.stderr);
        assert!(error.contains(word) && error.lines().count() == 1, "{error}");
    };
    fails(&fixture("moe-dge.neff"), &trace, "give the NEFF that was running");
    fails(&neff, &fixture("nothing.ntff"), "no such file");
    fails(&trace, &neff, "");
    let output = view(&neff, &trace, &["--output-format", "summary-json", "--execution", "2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("has 1 execution"), "{}", text(&output.stderr));
}

/// A cut trace is shown as far as it goes; what is missing is told.
#[test]
fn a_cut_trace_is_partial() {
    let (neff, trace) = pair();
    let bytes = std::fs::read(&trace).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.ntff");
    std::fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let output = view(&neff, &cut, &["--output-format", "summary-json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("bytes of records are missing"));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = all.as_object().unwrap().values().next().unwrap();
    assert_eq!(metrics["activate_instruction_count"], 4);
}

/// A run on the software NeuronCore: what it says of itself is what a profile
/// of its trace says.
#[test]
fn simulated_truth() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.ntff");
    let neff = fixture("matmul-small.neff");
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(["neff", "run"]).arg(&neff).args(["--fill", "random", "--trace"]).arg(&trace);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    let columns = |start: &str| -> Vec<&str> {
        told.lines().find(|line| line.starts_with(start)).unwrap().split_whitespace().collect()
    };
    // Core, busy shares of five engines, instructions, FLOPs, transposed ones,
    // bytes read and written, packets.
    let cores = [columns("0 "), columns("1 ")];
    let output = view(&neff, &trace, &["--output-format", "summary-json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = all.as_object().unwrap().values().next().unwrap();
    let sum = |column: usize| -> u64 {
        cores.iter().map(|core| core[column].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(metrics["hardware_flops"], sum(7));
    assert_eq!(metrics["transpose_flops"], sum(8));
    assert_eq!(metrics["hbm_read_bytes"], sum(9));
    assert_eq!(metrics["hbm_write_bytes"], sum(10));
    let packets = metrics["software_dynamic_dma_packet_count"].as_u64().unwrap()
        + metrics["hardware_dynamic_dma_packet_count"].as_u64().unwrap();
    assert_eq!(packets, sum(11));
    let percent = |name: &str| metrics[name].as_f64().unwrap() * 100.0;
    let near = |name: &str, shown: f64| {
        assert!((percent(name) - shown).abs() < 0.0051, "{name}: {} {shown}", percent(name));
    };
    // `simulated time 22.015 us, MFU 0.24%, HFU 0.73%, MBU 1.87%`
    let line = columns("simulated time");
    let shown = |at: usize| line[at].trim_end_matches(['%', ',']).parse::<f64>().unwrap();
    assert!((metrics["total_time"].as_f64().unwrap() * 1e6 - shown(2)).abs() < 0.001);
    near("mfu_estimated_percent", shown(5));
    near("hfu_estimated_percent", shown(7));
    near("mbu_estimated_percent", shown(9));
    // Both cores run the same at the same time.
    let engines = ["tensor", "scalar", "gpsimd", "vector", "sync"];
    for (column, name) in (1..).zip(engines) {
        let busy = cores[0][column].trim_end_matches('%').parse().unwrap();
        near(&format!("{name}_engine_active_time_percent"), busy);
    }
}
