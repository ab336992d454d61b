//! `neuron-profile export --format tensorboard` and `neuron-profile tensorboard`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/stored.rs"]
mod stored;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;
use stored::{fixture, rows, said, store_files, tool};

/// The server of a log directory.
struct Board {
    child: Child,
    socket: PathBuf,
}

impl Board {
    fn start(dir: &Path, logdir: &Path) -> Self {
        let socket = dir.join("socket");
        let mut command = tool(dir, &["tensorboard", "--until-stdin-closes", "--logdir"]);
        command.arg(logdir).arg("--socket").arg(&socket).arg("--cache").arg(dir.join("cache"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, format!("Listening on {}\n", socket.display()));
        Self { child, socket }
    }

    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let (status, text) = self.ask("GET", &format!("/api/v1/{path}"));
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// What a tool needs, once it is made.
    fn made(&self, run: &str, tool: &str) -> Value {
        for _ in 0..600 {
            let state = self.json(&format!("runs/{run}?tool={tool}"));
            if state["state"] != "working" {
                return state;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{tool} takes too long");
    }

    fn run(&self) -> String {
        self.json("runs")["runs"][0]["run"].as_str().unwrap().to_owned()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_exported_run_is_served_with_the_figures_of_a_query() {
    let dir = tempfile::tempdir().unwrap();
    let logdir = dir.path().join("logs");
    let (neff, ntff) = (fixture("attn-tkg.neff"), fixture("attn-tkg.ntff"));
    store_files(dir.path(), &neff, &ntff, &["--display-name", "one"]);
    let to = logdir.to_str().unwrap();
    let export = ["export", "one", "--format", "tensorboard", "-o", to];
    let run = said(dir.path(), &export);
    // Again: it takes the place of the one before.
    assert_eq!(said(dir.path(), &export), run);
    let run = PathBuf::from(run.trim_end());
    assert_eq!(run.parent(), Some(logdir.join("plugins/neuron").as_path()));
    for name in ["neuron_framework_op.json", "neuron_hlo_op.json", "neuron_op_timeline.json"] {
        let value: Value = serde_json::from_slice(&std::fs::read(run.join(name)).unwrap()).unwrap();
        assert!(value.is_object(), "{name}");
    }
    let board = Board::start(dir.path(), &logdir);
    let mode = std::fs::metadata(&board.socket).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let key = board.run();
    assert_eq!(board.made(&key, "operator-hlo")["state"], "ready");
    let table = board.json(&format!("runs/{key}/operators?of=hlo"));
    let wanted = rows(
        dir.path(),
        &["one"],
        "SELECT coalesce(hlo_name, '') AS name, pcore_idx AS core, sum(end_ts - start_ts) AS ns \
         FROM Instruction WHERE opcode <> 'EVENT_SEMAPHORE' GROUP BY 1, 2",
    );
    // Each name of this program is that of one instruction.
    let sum = |list: &[Value], key: &str| -> u64 {
        list.iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    let ops = table["ops"].as_array().unwrap();
    assert_eq!(sum(ops, "time_ns"), sum(&wanted, "ns"));
    assert_eq!(table["total_time"].as_u64(), Some(sum(&wanted, "ns")));
    let of = |name: &str| {
        let own = |row: &&Value| row["name"].as_str().is_some_and(|own| own == name);
        ops.iter().filter(own).map(|row| row["time_ns"].as_u64().unwrap()).sum::<u64>()
    };
    let call = |row: &&Value| row["name"].as_str().unwrap().starts_with("%custom-call.1");
    let by_query: Vec<Value> = wanted.iter().filter(call).cloned().collect();
    assert!(of("custom-call") > 0);
    assert_eq!(of("custom-call"), sum(&by_query, "ns"));
    let shown = board.made(&key, "operator-timeline");
    let id = shown["profiles"][0]["id"].as_str().unwrap();
    let lanes = board.json(&format!("profiles/{id}"))["lanes"].clone();
    assert_eq!(lanes[0]["group"], "Process Overview NC 0");
    assert_eq!(lanes[1]["name"], "Compute Busy");
}

/// Copies captures into a run, and gives its directory.
fn copied(logdir: &Path, names: &[&str]) -> PathBuf {
    let run = logdir.join("a/b");
    std::fs::create_dir_all(&run).unwrap();
    for name in names {
        for end in ["neff", "ntff"] {
            let file = format!("{name}.{end}");
            std::fs::copy(fixture(&file), run.join(file)).unwrap();
        }
    }
    run
}

#[test]
fn a_run_of_files_alone_is_ingested() {
    let dir = tempfile::tempdir().unwrap();
    copied(&dir.path().join("logs"), &["attn-tkg"]);
    let board = Board::start(dir.path(), &dir.path().join("logs"));
    let key = board.run();
    let shown = board.made(&key, "device");
    assert_eq!(
        (&shown["state"], &shown["profiles"][0]["name"]),
        (&"ready".into(), &"attn-tkg".into())
    );
    let id = shown["profiles"][0]["id"].as_str().unwrap();
    assert_eq!(board.json(&format!("profiles/{id}"))["display_name"], "attn-tkg");
}

#[test]
fn operators_of_files_alone_are_those_of_the_store_and_nothing_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["attn-tkg", "attn-fused-fp32-512", "moe-dge"];
    copied(&dir.path().join("raw"), &names);
    let raw = Board::start(dir.path(), &dir.path().join("raw"));
    let key = raw.run();
    for tool in ["operator-framework", "operator-hlo"] {
        let shown = raw.made(&key, tool);
        assert_eq!(shown["state"], "ready", "{shown}");
        assert_eq!(shown["profiles"].as_array().unwrap().len(), names.len());
    }
    assert!(!dir.path().join("cache/profiles").exists(), "a pass stores nothing");
    let mut operators = 0;
    for name in names {
        let other = tempfile::tempdir().unwrap();
        let (neff, ntff) = (fixture(&format!("{name}.neff")), fixture(&format!("{name}.ntff")));
        store_files(other.path(), &neff, &ntff, &["--display-name", name]);
        let logdir = other.path().join("logs");
        said(
            other.path(),
            &["export", name, "--format", "tensorboard", "-o", logdir.to_str().unwrap()],
        );
        let stored = Board::start(other.path(), &logdir);
        let its = stored.run();
        for of in ["framework", "hlo"] {
            let shown = stored.made(&its, &format!("operator-{of}"));
            let id = shown["profiles"][0]["id"].as_str().unwrap();
            let whole = stored.json(&format!("runs/{its}/operators?of={of}"));
            // The id is that of the files' content on both ways.
            let own = raw.json(&format!("runs/{key}/operators?of={of}&profile={id}"));
            assert_eq!(own, whole, "{name} {of}");
            operators += whole["ops"].as_array().unwrap().len();
            assert!(whole["total_time"].as_u64() > Some(0), "{name} {of}");
        }
    }
    assert!(operators > 12, "{operators}");
    // All of them are one table where none is asked for by itself.
    let all = raw.json(&format!("runs/{key}/operators?of=hlo"));
    assert!(all["ops"].as_array().unwrap().len() > 3);
}

#[test]
fn a_run_that_changes_and_changes_back_has_its_own_operators() {
    let dir = tempfile::tempdir().unwrap();
    let run = copied(&dir.path().join("logs"), &["attn-tkg", "moe-dge"]);
    let board = Board::start(dir.path(), &dir.path().join("logs"));
    let key = board.run();
    let (trace, away) = (run.join("attn-tkg.ntff"), dir.path().join("away"));
    let ask = || board.json(&format!("runs/{key}?tool=operator-hlo"));
    let profiles = |wanted: usize| {
        // The log directory is looked at once a second at most.
        for _ in 0..300 {
            let made = ask();
            assert_ne!(made["state"], "failed", "{made}");
            if made["profiles"].as_array().map(Vec::len) == Some(wanted) {
                return board.json(&format!("runs/{key}/operators?of=hlo"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("never {wanted} profiles");
    };
    let whole = profiles(2);
    std::fs::rename(&trace, &away).unwrap();
    assert_ne!(profiles(1), whole);
    std::fs::rename(&away, &trace).unwrap();
    assert_eq!(profiles(2), whole);
    let (status, text) =
        board.ask("GET", &format!("/api/v1/runs/{key}/operators?of=hlo&profile=n_x"));
    assert_eq!(status, 404, "{text}");
    // A trace that is damaged hides no other.
    let mut bytes = std::fs::read(&trace).unwrap();
    bytes[300..1200].fill(0xff);
    std::fs::write(&trace, bytes).unwrap();
    profiles(1);
}

#[test]
fn a_trace_that_cannot_be_read_is_told_for_operators_too() {
    let dir = tempfile::tempdir().unwrap();
    let run = copied(&dir.path().join("logs"), &["attn-tkg"]);
    let trace = run.join("attn-tkg.ntff");
    let bytes = std::fs::read(&trace).unwrap();
    std::fs::write(&trace, &bytes[..bytes.len().min(100)]).unwrap();
    let board = Board::start(dir.path(), &dir.path().join("logs"));
    let shown = board.made(&board.run(), "operator-hlo");
    assert_eq!(shown["state"], "failed", "{shown}");
    let error = shown["error"].as_str().unwrap();
    assert!(error.contains("attn-tkg.ntff") || error.contains("no device"), "{error}");
}

#[test]
fn a_run_of_inspect_is_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("logs/run");
    std::fs::create_dir_all(&run).unwrap();
    for name in ["ntrace.pb", "trace_info.pb"] {
        std::fs::copy(fixture("inspect").join(name), run.join(name)).unwrap();
    }
    let board = Board::start(dir.path(), &dir.path().join("logs"));
    let shown = board.made(&board.run(), "trace");
    let id = shown["profiles"][0]["id"].as_str().unwrap_or_else(|| panic!("{shown}"));
    let profile = board.json(&format!("profiles/{id}"));
    let lanes = profile["lanes"].as_array().unwrap();
    // A lane without a name holds what nests in the one above it.
    let named: Vec<&Value> = lanes.iter().filter(|lane| lane["name"] != "").take(3).collect();
    let names: Vec<&str> = named.iter().map(|lane| lane["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["IO Data Transfer", "NeuronDevice Execution", "CC Synchronization"]);
    assert!(named[1]["rows"].as_u64() > Some(0));
}

#[test]
fn it_only_reads_and_ends_with_its_stdin() {
    let dir = tempfile::tempdir().unwrap();
    let logdir = dir.path().join("logs");
    std::fs::create_dir_all(&logdir).unwrap();
    let mut board = Board::start(dir.path(), &logdir);
    assert_eq!(board.json("runs")["runs"], Value::Array(Vec::new()));
    for (method, path) in [("POST", "uploads?name=a"), ("POST", "jobs"), ("DELETE", "profiles/x")] {
        assert_eq!(board.ask(method, &format!("/api/v1/{path}")).0, 403, "{method} {path}");
    }
    assert_eq!(board.ask("GET", "/api/v1/runs/none?tool=device").0, 404);
    assert_eq!(board.ask("GET", "/tensorboard.html").0, 200);
    drop(board.child.stdin.take());
    for _ in 0..100 {
        if board.child.try_wait().unwrap().is_some() {
            assert!(!board.socket.exists());
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it goes on");
}
