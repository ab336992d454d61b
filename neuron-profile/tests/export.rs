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

fn perfetto() -> Option<PathBuf> {
    let packages = ["perfetto==0.59.1", "protobuf==7.36.2"];
    python::packages(&packages, "from perfetto.protos.perfetto.trace import perfetto_trace_pb2")
}

fn json(data: &Path, profile: &str, sql: &str, file: &str) {
    let output = tool(data, &["query", profile, sql, "--output-format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(data.join(file), output.stdout).unwrap();
}

/// A run of `inspect` with its device trace, as `view` writes both for Perfetto,
/// beside the rows of the store.
#[test]
fn runs_and_flows_are_read_by_perfetto() {
    let Some(folder) = perfetto() else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let run = fixture("inspect");
    let run = run.to_str().unwrap();
    let output = tool(data, &["view", "--ingest-only", "-d", run]);
    let text = String::from_utf8(output.stdout).unwrap();
    let id = |line: &str| line.split('"').nth(1).unwrap().to_owned();
    let ids: Vec<String> = text.lines().map(id).collect();
    json(data, &ids[0], "SELECT * FROM SystemProfileEvents", "events.json");
    let both =
        "in_table IN ('Instruction', 'DmaPacket') AND out_table IN ('Instruction', 'DmaPacket')";
    json(data, &ids[1], &format!("SELECT in_id, out_id FROM Flow WHERE {both}"), "flows.json");
    let usual = ("{instance_id}-pid{process_id}", "gid{gid}-nc{nc}-tid{thread_id}-{source}");
    let other = ("tid{thread_id}", "pid{process_id}-{source}");
    let groups = [
        "--system-trace-primary-group",
        "thread_id",
        "--system-trace-secondary-group",
        "process_id",
    ];
    for ((process, row), more) in [(usual, &[][..]), (other, &groups[..])] {
        let view = ["view", "-d", run, "--output-format", "perfetto", "--output-file", "traces"];
        let output = tool(data, &[&view[..], &["--show-perfetto-flows"], more].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let text = String::from_utf8(output.stdout).unwrap();
        let files: Vec<_> = text.lines().collect();
        assert_eq!(files.len(), 2);
        assert_eq!(files[0], "traces/system_profile.pftrace");
        assert!(files[1].starts_with("traces/device_profile_model_"), "{}", files[1]);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/system_check.py");
        let mut check = Command::new("python3");
        check.env("PYTHONPATH", &folder).arg(script).current_dir(data);
        check.args(["events.json", "flows.json", files[0], files[1], process, row]);
        let output = check.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    }
    // The same of a stored one; nothing more was stored by what was written.
    for form in ["perfetto", "chrome"] {
        let output = tool(data, &["export", &ids[0], "--format", form, "-o", form]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let stored = std::fs::read(data.join("perfetto")).unwrap();
    assert!(!stored.is_empty());
    let chrome = std::fs::read(data.join("chrome")).unwrap();
    let chrome: serde_json::Value = serde_json::from_slice(&chrome).unwrap();
    let events: serde_json::Value =
        serde_json::from_slice(&std::fs::read(data.join("events.json")).unwrap()).unwrap();
    let of = |kinds: [&str; 2]| {
        let all = chrome["traceEvents"].as_array().unwrap().iter();
        all.filter(|event| kinds.contains(&event["ph"].as_str().unwrap())).count()
    };
    assert_eq!(of(["X", "i"]), events.as_array().unwrap().len());
    assert_eq!(std::fs::read_dir(data.join("profiles")).unwrap().count(), ids.len());
}

/// Ctrl-C at any moment leaves neither a part of a trace nor what it was made of.
#[test]
fn an_interrupted_trace_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (for_now, traces) = (dir.path().join("now"), dir.path().join("traces"));
    std::fs::create_dir(&for_now).unwrap();
    let mut interrupted = 0;
    for wait in [50, 150, 400, 800, 1500] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
        command.args(["view", "--output-format", "perfetto", "-d"]).arg(fixture("inspect"));
        command.arg("--output-file").arg(&traces).env("TMPDIR", &for_now);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let pid = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let status = child.wait().unwrap();
        interrupted += i32::from(status.signal() == Some(2));
        assert!(status.success() || status.code().is_none(), "{status}");
        assert_eq!(std::fs::read_dir(&for_now).unwrap().count(), 0, "after {wait} ms");
        for file in std::fs::read_dir(&traces).into_iter().flatten() {
            let path = file.unwrap().path();
            assert_eq!(path.extension().unwrap(), "pftrace", "{path:?}");
        }
    }
    assert!(interrupted > 0);
}

/// Perfetto's own classes, Python's readers of JSON and CSV.
#[test]
fn other_programs_read_them() {
    let Some(folder) = perfetto() else { return };
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
