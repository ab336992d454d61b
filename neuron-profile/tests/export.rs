//! `neuron-profile export` as other programs read it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/python.rs"]
mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CAPTURE: &str = "attn-fused-fp32-1024";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn tool(data: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(args).env("NEURON_PROFILE_DATA", data).current_dir(data);
    command.stdin(Stdio::null()).output().unwrap()
}

fn stored(data: &Path) {
    let (neff, trace) = (fixture(&format!("{CAPTURE}.neff")), fixture(&format!("{CAPTURE}.ntff")));
    let (neff, trace) = (neff.to_str().unwrap(), trace.to_str().unwrap());
    let output = tool(data, &["view", "--ingest-only", "-n", neff, "-s", trace]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn export(data: &Path, form: &str, more: &[&str]) -> Output {
    let output = tool(data, &[&["export", CAPTURE, "--format", form][..], more].concat());
    assert!(output.status.success(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Perfetto's own classes, Python's readers of JSON and CSV.
#[test]
fn other_programs_read_them() {
    let packages = ["perfetto==0.59.1", "protobuf==7.36.2"];
    let imports = "from perfetto.protos.perfetto.trace import perfetto_trace_pb2";
    let Some(folder) = python::packages(&packages, imports) else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    stored(data);
    for (form, file) in [
        ("json", "all.json"),
        ("perfetto", "p.pftrace"),
        ("chrome", "c.json"),
        ("folded", "f.txt"),
        ("csv", "tables"),
    ] {
        export(data, form, &["-o", file]);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/trace_check.py");
    let mut check = Command::new("python3");
    check.env("PYTHONPATH", folder).arg(script).current_dir(data);
    check.args(["all.json", "p.pftrace", "c.json", "f.txt", "tables"]);
    let output = check.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 4);
}

#[test]
fn to_stdout_and_to_files() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    stored(data);
    let output = export(data, "csv", &["--table", "Throttle", "-o", "-"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().next(), Some("duration,k,n,timestamp,type,pcore_idx"));
    assert_eq!(text.lines().count(), 5);
    // The files of parquet are those of the store.
    export(data, "parquet", &["-o", "out"]);
    let profile = std::fs::read_dir(data.join("profiles")).unwrap().next().unwrap().unwrap().path();
    let (mut stored, mut copied) = (0, 0);
    for file in std::fs::read_dir(&profile).unwrap().map(|entry| entry.unwrap()) {
        let name = file.file_name();
        if file.path().extension().is_some_and(|extension| extension == "parquet") {
            stored += 1;
            let copy = data.join("out").join(&name);
            assert_eq!(std::fs::read(file.path()).unwrap(), std::fs::read(copy).unwrap());
        }
    }
    copied += std::fs::read_dir(data.join("out")).unwrap().count();
    assert_eq!(stored, copied);
    for (args, told) in [
        (vec!["export", CAPTURE, "--format", "csv", "-o", "-"], "choose it with --table"),
        (vec!["export", "nothing", "--format", "json"], "no profile \"nothing\""),
        (vec!["export", CAPTURE, "--format", "json", "--table", "CcOp"], "no table CcOp"),
    ] {
        let output = tool(data, &args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains(told) && text.lines().count() == 1, "{text}");
    }
}
