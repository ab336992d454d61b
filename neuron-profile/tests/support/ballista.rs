//! A Ballista cluster on loopback: the stock scheduler and executors, each a
//! process. `NEURON_TESTS_BALLISTA` names the folder of their programs, which
//! `cargo xtask test --full` builds.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to serve.
const PATIENCE: Duration = Duration::from_secs(90);

/// A cluster; dropped, its processes end.
pub(crate) struct Cluster {
    scheduler: Child,
    executors: Vec<Child>,
    pub(crate) port: u16,
    pub(crate) dir: tempfile::TempDir,
}

/// The folder of the programs; `None` with a line that says what was skipped.
pub(crate) fn programs() -> Option<PathBuf> {
    let folder = std::env::var_os("NEURON_TESTS_BALLISTA").map(PathBuf::from);
    let there = folder.filter(|folder| folder.join("ballista-scheduler").exists());
    if there.is_none() {
        crate::python::skipped("the programs of Ballista in NEURON_TESTS_BALLISTA");
    }
    there
}

/// A port that was free a moment ago.
fn free() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Cluster {
    /// Starts a scheduler and executors and waits until all serve. `env` is
    /// set for all of them.
    pub(crate) fn start(programs: &Path, executors: usize, env: &[(&str, String)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let port = free();
        let text = |list: &[&str]| -> Vec<String> { list.iter().map(|&t| t.to_owned()).collect() };
        let mut args = text(&["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"]);
        args.extend(text(&["--executor-timeout-seconds", "3"]));
        args.extend(text(&["--expire-dead-executor-interval-seconds", "1"]));
        args.extend(["--bind-port".to_owned(), port.to_string()]);
        let scheduler = start(&programs.join("ballista-scheduler"), &args, env, dir.path());
        let mut cluster = Self { scheduler, executors: Vec::new(), port, dir };
        cluster.wait(|| TcpStream::connect(("127.0.0.1", port)).is_ok(), "the scheduler");
        for number in 0..executors {
            let ports = [free(), free(), free()];
            let work = cluster.work(number);
            std::fs::create_dir_all(&work).unwrap();
            let mut args = text(&["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"]);
            args.extend(text(&["--scheduler-host", "127.0.0.1", "--vcores", "2"]));
            args.extend(text(&["--executor-heartbeat-interval-seconds", "1"]));
            args.extend(["--scheduler-port".to_owned(), port.to_string()]);
            for (name, port) in ["port", "grpc-port", "health-port"].iter().zip(ports) {
                args.extend([format!("--bind-{name}"), port.to_string()]);
            }
            args.extend(["--work-dir".to_owned(), work.display().to_string()]);
            let program = programs.join("ballista-executor");
            let executor = start(&program, &args, env, cluster.dir.path());
            cluster.executors.push(executor);
            cluster.wait(|| ready(ports[2]), "an executor");
        }
        cluster
    }

    /// Where an executor keeps what it makes.
    pub(crate) fn work(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("work{number}"))
    }

    fn wait(&self, until: impl Fn() -> bool, what: &str) {
        let start = Instant::now();
        while !until() {
            assert!(start.elapsed() < PATIENCE, "{what} does not serve: {}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The ends of all logs, for people.
    pub(crate) fn logs(&self) -> String {
        let mut out = String::new();
        for entry in std::fs::read_dir(self.dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "log") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let last = lines[lines.len().saturating_sub(40)..].join("\n");
                out += &format!("--- {}\n{last}\n", path.display());
            }
        }
        out
    }

    /// What `--engine` names.
    pub(crate) fn engine(&self) -> String {
        format!("ballista://127.0.0.1:{}", self.port)
    }

    /// Ends an executor at once, as a machine that loses its power.
    pub(crate) fn kill(&mut self, number: usize) {
        self.executors[number].kill().unwrap();
        self.executors[number].wait().unwrap();
    }
}

/// Starts a program whose words go to a log of its own.
fn start(program: &Path, args: &[String], env: &[(&str, String)], logs: &Path) -> Child {
    let count = std::fs::read_dir(logs).unwrap().count();
    let log = File::create(logs.join(format!("{count}.log"))).unwrap();
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.envs(env.iter().map(|(name, value)| (name, value))).spawn().unwrap()
}

/// The executor's heartbeat reached the scheduler.
fn ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
