//! A process that is killed: its counters move into the totals exactly as the
//! real driver's do, whoever looks first, and with no daemon about.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use neuron_core::driver::Files as _;
use neuron_core::instance::InstanceType;
use neuron_core::sim::{Places, Sim, View};
use neuron_tests::{bin, fixture};

/// Starts a worker and waits until it has done its work.
fn worker(dir: &Path, device: u32) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sim-worker"))
        .args([dir.as_os_str(), "lab".as_ref(), device.to_string().as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// Every number below `stats` of neuron0 in a recorded tree, by path.
fn recorded(moment: &str) -> Vec<(String, String)> {
    let path = fixture(format!("real-driver/2.24.7.0-trn1-16/sysfs-{moment}.txt"));
    let text = std::fs::read_to_string(path).unwrap();
    let leaves: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("644|f|./"))
        .filter_map(|line| line.split_once('|'))
        .filter(|(path, _)| path.contains("stats/") && !path.contains("power"))
        .map(|(path, content)| (path.to_owned(), content.replace("\\n", "\n")))
        .collect();
    assert!(leaves.len() > 200, "{}", leaves.len());
    leaves
}

/// What one reader sees of those leaves, in a process of its own: a tree
/// exported by neuron-ls.
fn exported(dir: &Path, target: &Path) -> Child {
    Command::new(bin("neuron-ls"))
        .args(["sim", "export", "lab"])
        .arg(target)
        .env("NEURON_SIM_DIR", dir)
        .spawn()
        .unwrap()
}

fn compare(target: &Path, moment: &str) {
    let device = target.join("sys/devices/virtual/neuron_device/neuron0");
    for (path, content) in recorded(moment) {
        let got = std::fs::read_to_string(device.join(&path)).unwrap();
        assert_eq!(got, content, "{moment} {path}");
    }
}

#[test]
fn two_readers_see_a_killed_process_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn1.32xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let out = tempfile::tempdir().unwrap();
    let mut child = worker(dir.path(), 0);

    let alive = exported(dir.path(), &out.path().join("alive")).wait().unwrap();
    assert!(alive.success());
    compare(&out.path().join("alive"), "process-alive");

    // SIGKILL; the process has no chance to say goodbye.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(sim.dir().join("nds")).unwrap().count(), 1, "left behind");

    // Two readers at once: one of them moves the counters, both see them moved.
    let mut readers =
        ["first", "second"].map(|name| (name, exported(dir.path(), &out.path().join(name))));
    for (name, reader) in &mut readers {
        assert!(reader.wait().unwrap().success(), "{name}");
        compare(&out.path().join(*name), "after-kill");
    }
    // And a third one later finds nothing left to move.
    assert!(exported(dir.path(), &out.path().join("third")).wait().unwrap().success());
    compare(&out.path().join("third"), "after-kill");
    assert_eq!(std::fs::read_dir(sim.dir().join("nds")).unwrap().count(), 0);
}

/// A reader who may not write sees the same and changes nothing.
#[test]
fn a_reader_without_rights_sees_the_same() {
    if !is_root() {
        println!("skipped: a_reader_without_rights_sees_the_same needs root to become nobody");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // Everybody may go in, as in /run, and run a copy of the program there.
    let open = |path: &Path| std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    open(dir.path());
    let program = dir.path().join("neuron-ls");
    std::fs::copy(bin("neuron-ls"), &program).unwrap();
    open(&program);
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::chown(&out, Some(NOBODY), Some(NOBODY)).unwrap();

    let kind = InstanceType::find("trn1.32xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let mut child = worker(dir.path(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let state = std::fs::read(sim.dir().join("state.json")).unwrap();

    let exported = Command::new(&program)
        .args(["sim", "export", "lab"])
        .arg(out.join("tree"))
        .env("NEURON_SIM_DIR", dir.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    compare(&out.join("tree"), "after-kill");
    assert_eq!(std::fs::read(sim.dir().join("state.json")).unwrap(), state, "nobody wrote");

    let view = View::now(&sim).unwrap();
    let leaf = "sys/devices/virtual/neuron_device/neuron0/neuron_core0/stats/status/success/total";
    assert_eq!(view.read(leaf).unwrap(), b"1000\n");
    assert_ne!(std::fs::read(sim.dir().join("state.json")).unwrap(), state, "root stored it");
}

/// The user that owns nothing.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn neuron_ls_shows_a_process_while_it_lives() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let list = |args: &[&str]| {
        let output = Command::new(bin("neuron-ls"))
            .args(["--source", "sim:trn1.2xlarge,name=lab"])
            .args(args)
            .env("NEURON_SIM_DIR", dir.path())
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut child = worker(dir.path(), 0);
    let devices: serde_json::Value = serde_json::from_str(&list(&["-j"])).unwrap();
    let process = &devices[0]["neuron_processes"][0];
    assert_eq!(process["pid"], child.id());
    assert_eq!(process["neuron_runtime_version"], "2.28.23331");
    let command = process["command"].as_str().unwrap();
    assert!(command.contains("sim-worker") && command.ends_with(" lab 0"), "{command}");
    assert!(list(&[]).contains("| 2.28.23331 |"));
    let rich: serde_json::Value = serde_json::from_str(&list(&["-o", "json"])).unwrap();
    let process = &rich[0]["neuron_processes"][0];
    // 1 MiB and 4 KiB of host memory; 4 MiB, 64 KiB and 8 KiB of the device's.
    assert_eq!(
        (&process["host_memory"], &process["device_memory"]),
        (&serde_json::json!(1_052_672), &serde_json::json!(4_268_032))
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!list(&[]).contains("sim-worker"));
}
