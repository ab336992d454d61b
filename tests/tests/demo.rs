//! The demo shows everything and leaves nothing, also when it is interrupted.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The demo with the built programs; what it makes goes below `folder`.
fn demo(folder: &Path, more: &[&str]) -> Command {
    let tools = ["neuron-ls", "neuron-top", "neuron-monitor", "neuron-profile", "neuron-rtd"];
    let programs: Vec<PathBuf> = tools.map(neuron_tests::bin).into();
    let _built = neuron_tests::bin("neuron-cli");
    let mut command = Command::new(neuron_tests::bin("xtask"));
    command.arg("demo").arg("--programs").arg(programs[0].parent().unwrap());
    command.args(more).env("TMPDIR", folder).stdin(Stdio::null());
    command
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Processes whose command line names the folder.
fn processes(folder: &Path) -> Vec<String> {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&name))
        .collect()
}

#[test]
fn the_demo_shows_every_tool_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &[]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{said}");
    for part in [
        "mlp: loaded as 10001",
        "transformer: loaded as 10002",
        "simulated instance",
        "neuron-rtd",
        "NeuronCore v2 Utilization",
        "\"neuron_runtime_data\":[{",
        "neuroncore_utilization_ratio{",
        "answers with a page of",
        "everything is stopped and removed",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}\n{said}");
    }
    // three records, each cut
    assert_eq!(text.matches("characters more)").count(), 3, "{text}");
    assert!(is_empty(folder.path()), "files are left");
    assert_eq!(processes(folder.path()), Vec::<String>::new());
}

#[test]
fn an_interrupt_ends_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = demo(folder.path(), &["--serve"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("Ctrl-C ends it")), "it ended before");
    assert!(!processes(folder.path()).is_empty(), "nothing stays up");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success());
    assert!(rest.iter().any(|line| line.contains("stopped and removed")), "{rest:?}");
    assert!(is_empty(folder.path()), "files are left");
    assert_eq!(processes(folder.path()), Vec::<String>::new());
}
