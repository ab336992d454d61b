//! What a user sees when a part of a cluster is not there, or goes.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::answers::{alike, ask};
use crate::ballista::{Cluster, programs};
use crate::stored::{CAPTURES, refused, store, text, tool};

/// Work for some seconds on two executors.
const LONG: &str = "SELECT a.opcode, count(*) AS n, sum(a.duration_ns + b.duration_ns) AS t \
                    FROM Instruction a JOIN Instruction b ON a.pc < b.pc GROUP BY a.opcode";

fn begin(data: &Path, engine: &str) -> Child {
    let args = ["query", "long", LONG, "--output-format", "json", "--engine", engine];
    let mut command = tool(data, &args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until executors have work.
fn busy(cluster: &Cluster) {
    until("no executor has work", || (0..2).any(|number| files(&cluster.work(number)) > 0));
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let count = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files(&entry.path()),
        _ => 1,
    };
    entries.flatten().map(count).sum()
}

#[test]
fn a_scheduler_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), CAPTURES[0], &["--display-name", "mm"]);
    // Bound and not listened to, so that nobody else takes it.
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    drop(taken);
    let engine = format!("ballista://127.0.0.1:{port}");
    let told =
        refused(dir.path(), &["query", "mm", "SELECT count(*) FROM Flow", "--engine", &engine]);
    let wanted = format!("neuron-profile: {engine}: cannot reach the scheduler: ");
    assert!(told.starts_with(&wanted), "{told}");
    let told = refused(dir.path(), &["report", "dma", "mm", "--engine", &engine]);
    assert!(told.starts_with(&wanted), "{told}");
    // What no cluster is asked for needs none.
    ask(dir.path(), &["mm"], "SELECT id FROM Profiles", &engine);
    // A server that speaks something else.
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let engine = format!("ballista://127.0.0.1:{}", other.local_addr().unwrap().port());
    std::thread::spawn(move || other.accept().map(drop));
    let told =
        refused(dir.path(), &["query", "mm", "SELECT count(*) FROM Flow", "--engine", &engine]);
    assert!(told.contains(&engine), "{told}");
}

#[test]
fn an_executor_that_is_killed_loses_nothing() {
    let Some(programs) = programs() else { return };
    let mut cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), "moe-dge", &["--display-name", "long"]);
    let ours = Value::Array(sorted(ask(dir.path(), &["long"], LONG, "local").0));
    let child = begin(dir.path(), &cluster.engine());
    busy(&cluster);
    cluster.kill(1);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stderr), cluster.logs());
    let theirs: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(alike(&ours, &Value::Array(sorted(theirs))));
    // Without any executor it ends, and says so in one line.
    cluster.kill(0);
    let told = refused(dir.path(), &["query", "long", LONG, "--engine", &cluster.engine()]);
    assert!(told.contains(&cluster.engine()), "{told}");
}

fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(ToString::to_string);
    rows
}

/// Ctrl-C ends the job too, and executors keep nothing of it.
#[test]
fn an_interrupt_ends_the_job() {
    let Some(programs) = programs() else { return };
    let cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), "moe-dge", &["--display-name", "long"]);
    let mut child = begin(dir.path(), &cluster.engine());
    busy(&cluster);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(!child.wait().unwrap().success());
    until("executors keep files of a job that ended", || {
        (0..2).all(|number| files(&cluster.work(number)) == 0)
    });
    assert!(cluster.logs().contains("cancel"), "{}", cluster.logs());
}

/// A damaged file is told in one line, as without a cluster.
#[test]
fn a_damaged_file_is_told() {
    let Some(programs) = programs() else { return };
    let cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    let id = store(dir.path(), CAPTURES[0], &[]);
    let path = dir.path().join("profiles").join(&id).join("Flow.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[4..middle].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let sql = "SELECT sum(in_id), sum(out_id) FROM Flow";
    let told = refused(dir.path(), &["query", &id, sql, "--engine", &cluster.engine()]);
    assert!(told.contains(&cluster.engine()), "{told}");
}
