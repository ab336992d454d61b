//! A simulated instance with this test as its application, and the program
//! running on it.
#![allow(dead_code, unreachable_pub)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use neuron_core::instance::InstanceType;
use neuron_core::sim::{Attachment, DatastoreWriter, Places, Sim};
use neuron_core::uapi::nds::{core_counter as id, device_counter};
use neuron_core::uapi::nds_ext::{self, Block, CoreLatency, Model, ModelMemory};
use serde_json::Value;

/// A directory with one simulated instance.
pub struct Lab {
    pub dir: tempfile::TempDir,
    pub sim: Sim,
    pub kind: &'static str,
}

impl Lab {
    pub fn new(kind: &'static str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let row = InstanceType::find(kind).unwrap();
        let sim = Sim::open_or_create(&Places::only(dir.path()), kind, row).unwrap();
        Self { dir, sim, kind }
    }

    /// The program on this instance.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program(args);
        command.env("NEURON_SIM_DIR", self.dir.path());
        command.env("NEURON_SOURCE", format!("sim:{}", self.kind));
        command
    }

    /// Attaches this process to a device.
    pub fn worker(&self, device: u32) -> Worker {
        let attachment = self.sim.attach(device).unwrap();
        let store = attachment.datastore().unwrap();
        store.set_device(device_counter::RUNTIME_VERSION, 0x0222_0000_000a).unwrap();
        Worker { store, attachment }
    }
}

/// The program with a clean environment.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-monitor"));
    for variable in ["NEURON_SOURCE", "NO_COLOR", "COLUMNS", "NEURON_LOGICAL_NC_CONFIG"] {
        command.env_remove(variable);
    }
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// This process as an application on one device.
pub struct Worker {
    // Before the attachment: it ends with it.
    pub store: DatastoreWriter,
    pub attachment: Attachment,
}

impl Worker {
    pub fn set(&self, core: u32, counter: u32, value: u64) {
        self.store.set_core(core, counter, value).unwrap();
    }

    /// Writes the block of our runtime: tag, one model on core 0, latencies.
    pub fn block(&self, tag: &str, latencies: &[u64]) {
        let mut core = CoreLatency::default();
        for nanos in latencies {
            core.total.add(*nanos);
            core.device.add(nanos / 2);
        }
        let model = Model {
            id: 10_001,
            running: true,
            name: String::from("mlp.neff"),
            uuid: [0xa5; 16],
            device: ModelMemory { code: 4096, tensors: 8192, ..ModelMemory::default() },
            ..Model::default()
        };
        let block = Block { tag: tag.to_owned(), models: vec![model], cores: vec![core] };
        self.store.write_extension(nds_ext::START, &block.encode().unwrap()).unwrap();
    }

    /// Keeps core 0 and, where `cores` is more, those behind it busy for a
    /// share of the time, until `stop` says so.
    pub fn be_busy(&self, cores: u32, share: f64, stop: &std::sync::atomic::AtomicBool) {
        let begin = Instant::now();
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            let held = begin.elapsed().as_secs_f64() * 1e9;
            for core in 0..cores {
                self.set(core, id::TIME_IN_USE, (held * share) as u64);
                self.set(core, id::CORE_TIME, held as u64);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A running program whose lines are read.
pub struct Running {
    pub child: Child,
    pub lines: BufReader<ChildStdout>,
}

impl Running {
    pub fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next record, which must be a line that the schema accepts.
    pub fn record(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "cut line {line:?}");
        valid(&line)
    }

    pub fn end(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said)
                    .unwrap();
                return (status.code(), said);
            }
            if begin.elapsed() > Duration::from_secs(20) {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), pid]).status().unwrap().success());
    }
}

/// A line as a record, checked against the published schema.
pub fn valid(line: &str) -> Value {
    let record: Value = serde_json::from_str(line).unwrap();
    let schema: Value = serde_json::from_str(neuron_monitor::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?} in {line}");
    record
}

pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
