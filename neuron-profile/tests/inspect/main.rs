//! Runs of the runtime, as `inspect` and `capture --capture-type systrace` keep
//! them: real files of our own, read back with every event.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use neuron_builder::models::SAMPLES;
use neuron_core::ntff;
use neuron_core::ntff::frames::{FrameReader, Framed};
use neuron_core::ntff::messages::{CpuUtil, HostMemUsage, NtraceEvent, NtraceInfo};
use npu::Program;
use npu::time::Timing;
use profile_store::{Profile, Store};
use prost::Message as _;
use serde_json::{Map, Value};

/// A folder with models, an instance and the tool.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new(models: &[&str]) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        for name in models {
            let (_, make) = SAMPLES.iter().find(|(known, _)| known == name).unwrap();
            std::fs::write(lab.path(&format!("{name}.neff")), make().unwrap().built.bytes).unwrap();
        }
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NEURON_") {
                command.env_remove(name);
            }
        }
        command
            .env("NEURON_SIM_DIR", self.path("sim"))
            .env("NEURON_PROFILE_DATA", self.path("data"));
        command
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        ended(self.command(args).output().unwrap())
    }

    /// The program of the tests over our libnrt; `None` without a C compiler.
    fn program(&self) -> Option<String> {
        if !neuron_tests::require("gcc") {
            return None;
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        // the library that cargo built for this test lies beside it
        let library = std::env::current_exe().unwrap().with_file_name("libnrt.so");
        assert!(library.is_file(), "{}", library.display());
        for name in ["libnrt.so", "libnrt.so.1"] {
            std::os::unix::fs::symlink(&library, self.path(name)).unwrap();
        }
        let program = self.path("run");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]);
        gcc.arg("-I").arg(here.join("../neuron-rtd/libnrt/include")).arg("-o").arg(&program);
        gcc.arg(here.join("tests/inspect/run.c")).arg("-L").arg(self.0.path());
        let output = gcc.args(["-lnrt", "-pthread"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(program.display().to_string())
    }

    fn inspect(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["inspect", "--source", "sim:trn1.2xlarge"]);
        command.args(args).env("LD_LIBRARY_PATH", self.0.path());
        command
    }

    /// Stores a folder; the profiles, that of the run first.
    fn view(&self, folder: &Path) -> Vec<Profile> {
        let folder = folder.to_str().unwrap();
        let (code, out, err) = self.run(&["view", "--ingest-only", "-d", folder]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let store = Store::new(self.path("data"));
        let id = |line: &str| line.split('"').nth(1).unwrap().to_owned();
        out.lines().map(|line| store.open(&id(line)).unwrap()).collect()
    }
}

fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn frames<M: Framed>(path: &Path) -> Vec<M> {
    let data = std::fs::read(path).unwrap();
    let options = ntff::Options { mode: ntff::Mode::Strict, ..ntff::Options::default() };
    let mut reader = FrameReader::new(data.as_slice(), options);
    std::iter::from_fn(|| reader.next_message().unwrap()).collect()
}

fn description(folder: &Path) -> NtraceInfo {
    NtraceInfo::decode(std::fs::read(folder.join("trace_info.pb")).unwrap().as_slice()).unwrap()
}

fn rows(profile: &Profile, table: &str) -> Vec<Map<String, Value>> {
    let batches = profile.batches(table).unwrap();
    batches
        .flat_map(|batch| profile_store::read::objects(&batch.unwrap()).collect::<Vec<_>>())
        .collect()
}

fn number(row: &Map<String, Value>, name: &str) -> i64 {
    row[name].as_i64().unwrap_or_else(|| panic!("{name} is {}", row[name]))
}

/// Simulated time of one execution of a sample with inputs of zeros, ns.
fn nanos(name: &str) -> u64 {
    let (_, make) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    let program = Program::from_neff(&make().unwrap().built.bytes).unwrap();
    let timed = program.run_timed(&npu::Tensors::new(), &Timing::only(&program), &mut ()).unwrap();
    timed.summary.total.div_ceil(1000)
}

/// Every event is a row; beginnings have ends; the files say what they hold.
fn is_whole(folder: &Path, profile: &Profile) -> Vec<Map<String, Value>> {
    let told: Vec<NtraceEvent> = frames(&folder.join("ntrace.pb"));
    let info = description(folder);
    assert_eq!(info.event_count, told.len() as u64);
    assert_eq!(info.event_file.as_ref().unwrap().frame_count, told.len() as u64);
    let manifest = profile.manifest();
    assert!(manifest.system && manifest.notes.is_empty(), "{:?}", manifest.notes);
    let events = rows(profile, "SystemProfileEvents");
    let begun = told.iter().filter(|event| event.phase != 2).count();
    assert_eq!(events.len(), begun, "a row for each beginning and each moment");
    assert_eq!(
        told.iter().filter(|event| event.phase == 2).count(),
        told.iter().filter(|event| event.phase == 1).count()
    );
    let by_id: BTreeMap<u64, &NtraceEvent> = told.iter().map(|event| (event.id, event)).collect();
    assert_eq!(by_id.len(), told.len(), "ids are each once");
    for row in &events {
        let event = by_id[&u64::try_from(number(row, "id")).unwrap()];
        assert_eq!(u64::try_from(number(row, "thread_id")).unwrap(), event.thread_id);
        assert_eq!(number(row, "process_id").unsigned_abs(), info.pid);
        let extra: Map<String, Value> =
            serde_json::from_str(row["extra_attributes_json"].as_str().unwrap()).unwrap();
        assert!(extra.get("aligned").is_none(), "{row:?}");
    }
    events
}

fn named<'r>(events: &'r [Map<String, Value>], name: &str) -> Vec<&'r Map<String, Value>> {
    events.iter().filter(|row| row["name"] == name).collect()
}

#[test]
fn files_that_cannot_be_written_are_told() {
    let lab = Lab::new(&["mlp", "null"]);
    let capture = ["capture", "-t", "systrace", "--source", "sim:trn1.2xlarge"];
    // The instance is made first, without a limit.
    let (code, ..) = lab.run(&[&capture[..], &["-n", "null.neff", "-s", "before"]].concat());
    assert_eq!(code, Some(0));
    // Blocks of 512 bytes: less than the NEFF has, less than the events take.
    for (model, runs, blocks) in [("mlp.neff", "1", "2048"), ("null.neff", "1500", "512")] {
        let runs = ["-n", model, "--num-exec", runs, "-s", blocks];
        let own = lab.command(&[&capture[..], &runs].concat());
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, "sh"]).arg(own.get_program()).args(own.get_args());
        shell.current_dir(lab.path("")).stdin(Stdio::null());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let (code, out, err) = ended(shell.output().unwrap());
        assert_eq!(code, Some(1), "{model}: {out}{err}");
        assert!(!out.contains("system trace on"), "{out}");
        let lines: Vec<_> = err.lines().collect();
        assert_eq!(lines.len(), 1, "{err}");
        assert!(lines[0].contains("cannot write ") && lines[0].contains("file too large"), "{err}");
        let mut found = Vec::new();
        for folder in std::fs::read_dir(lab.path(blocks)).unwrap() {
            for entry in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                found.push(entry.unwrap().path());
            }
        }
        assert!(found.iter().all(|path| path.extension().unwrap() != "part"), "{found:?}");
        // Whatever frames are there are whole.
        let events = found.iter().find(|path| path.ends_with("ntrace.pb")).unwrap();
        let _: Vec<NtraceEvent> = frames(events);
        let has_neff = found.iter().any(|path| path.extension().unwrap() == "neff");
        assert_eq!(has_neff, model == "null.neff", "{found:?}");
    }
}

#[test]
fn a_capture_keeps_what_the_runtime_does() {
    let lab = Lab::new(&["mlp"]);
    let source = ["--source", "sim:trn1.2xlarge", "-n", "mlp.neff"];
    let args = [&["capture", "-t", "systrace", "--num-exec", "3"], &source[..]].concat();
    let (code, out, err) = lab.run(&args);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (folder, place) = out.trim().split_once(": ").unwrap();
    assert_eq!(place, "system trace on simulated trn1.2xlarge");
    assert!(folder.starts_with("profile/") && folder.contains("_pid_"), "{folder}");
    let folder = lab.path(folder);
    let profiles = lab.view(&folder);
    assert_eq!(profiles.len(), 1, "no device trace");
    let events = is_whole(&folder, &profiles[0]);
    assert_eq!(named(&events, "nrt_load").len(), 1);
    for name in [
        "nrt_model_submit",
        "kmgr_exec_core",
        "kbl_exec_pre",
        "kbl_exec_wait",
        "kbl_exec_post",
        "nc_exec_running",
        "timestamp_sync_point",
    ] {
        assert_eq!(named(&events, name).len(), 3, "{name}");
    }
    // the device's time is the simulated one, and ends while the host waits
    let waits = named(&events, "kbl_exec_wait");
    for (running, wait) in named(&events, "nc_exec_running").into_iter().zip(waits) {
        assert_eq!(number(running, "duration_ns").unsigned_abs(), nanos("mlp"));
        assert_eq!(running["trace_event_source"], "neuron_hw");
        let within = number(wait, "start_ts")..=number(wait, "end_ts");
        assert!(within.contains(&number(running, "end_ts")), "{running:?} {wait:?}");
    }
    // memory of the device comes and goes
    let memory = rows(&profiles[0], "SystemProfileHbmUsage");
    assert!(memory.iter().any(|row| number(row, "weights_bytes") > 0));
    assert_eq!(number(memory.last().unwrap(), "total_bytes"), 0);
    // host samples as they were written
    let processors: Vec<CpuUtil> = frames(&folder.join("cpu_util.pb"));
    let host: Vec<HostMemUsage> = frames(&folder.join("host_mem.pb"));
    assert!(!processors.is_empty() && host.iter().all(|sample| sample.bytes_used > 0));
    assert_eq!(rows(&profiles[0], "CpuUsage").len(), processors.len());
    assert_eq!(rows(&profiles[0], "HostMemUsage").len(), host.len());
    assert_eq!(
        std::fs::read_dir(lab.path(""))
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "ntff")
            })
            .count(),
        0
    );

    // some events alone
    let filter = ["--systrace-event-filter", "hardware,nrt_load", "-s", "some.ntff"];
    let (code, out, err) = lab.run(&[&args[..], &filter].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let folder = lab.path(out.split(": ").next().unwrap());
    let told: Vec<NtraceEvent> = frames(&folder.join("ntrace.pb"));
    let kinds: std::collections::BTreeSet<u32> =
        told.iter().map(|event| event.event_type).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [1, 7, 25]);
    let (code, _, err) = lab.run(&[&args[..], &["--systrace-event-filter", "nothing"]].concat());
    assert_eq!(code, Some(1));
    assert!(
        err.contains("no event type \"nothing\"; there are hardware, software, nrt_load"),
        "{err}"
    );
}

#[test]
fn names_of_events_are_told() {
    let lab = Lab::new(&[]);
    let list = ["capture", "--systrace-get-event-types"];
    let (code, own, err) = lab.run(&[&list[..], &["--source", "sim:trn1.2xlarge"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, all, _) = lab.run(&list);
    assert_eq!((code, all.lines().count()), (Some(0), 39));
    assert!(
        own.lines().count() > 10 && own.lines().all(|name| all.lines().any(|known| known == name))
    );
}

/// A C program over libnrt: events of its calls, each model's NEFF and first
/// device trace, on one clock with the run.
#[test]
fn a_program_is_inspected() {
    let lab = Lab::new(&["mlp", "null"]);
    let Some(program) = lab.program() else { return };
    let mut command =
        lab.inspect(&["-o", "out", "-n", "5000", &program, "2", "mlp.neff", "null.neff"]);
    let (code, out, err) = ended(command.output().unwrap());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let folder = PathBuf::from(out.trim());
    assert_eq!(folder.parent().unwrap(), lab.path("out").canonicalize().unwrap());
    let profiles = lab.view(&folder);
    assert_eq!(profiles.len(), 3, "the run and two traces");
    let events = is_whole(&folder, &profiles[0]);
    for (name, count) in
        [("nrt_load", 2), ("nrt_execute", 4), ("nc_exec_running", 4), ("nrt_model_submit", 4)]
    {
        assert_eq!(named(&events, name).len(), count, "{name}");
    }
    assert!(named(&events, "nrt_tensor_write").len() > 1);
    assert!(named(&events, "nrt_tensor_allocate").len() > 3);
    // each trace begins and lasts as the run says of the first execution
    let devices = rows(&profiles[0], "DeviceProfileList");
    assert_eq!(devices.len(), 2);
    let running = named(&events, "nc_exec_running");
    for device in devices {
        let model = number(&device, "model_id").to_string();
        let first = running.iter().find(|row| {
            let extra: Map<String, Value> =
                serde_json::from_str(row["extra_attributes_json"].as_str().unwrap()).unwrap();
            extra["model_id"] == *model
        });
        let first = first.unwrap();
        let own = profiles.iter().find(|of| device["device_profile_name"] == *of.manifest().id);
        assert_eq!(number(&device, "start_ts"), number(first, "start_ts"), "{model}");
        let total = own.unwrap().manifest().total_ns;
        assert!(total.abs_diff(number(first, "duration_ns").unsigned_abs()) <= 1, "{model}");
    }
    // the oldest events go first
    let mut command = lab.inspect(&["-o", "few", "-n", "1024", &program, "200", "null.neff"]);
    let (code, out, err) = ended(command.output().unwrap());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let told: Vec<NtraceEvent> = frames(&Path::new(out.trim()).join("ntrace.pb"));
    let own = told.iter().filter(|event| event.id >> 50 == 0).count();
    assert_eq!(own, 1024);
    assert!(told.iter().map(|event| event.id & ((1 << 50) - 1)).max().unwrap() > 2000);
}

/// Session mode: all executions of a core are in one trace; each is shown with its
/// NEFF, and as if it had been traced alone. One of a program that was killed, too.
#[test]
fn a_session_is_shown_by_execution() {
    let lab = Lab::new(&["mlp", "null"]);
    let Some(program) = lab.program() else { return };
    let mut command = lab.inspect(&["-o", "out", &program, "2", "mlp.neff", "null.neff"]);
    command.env("NEURON_RT_INSPECT_DEVICE_PROFILE", "session");
    let (code, out, err) = ended(command.output().unwrap());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let folder = PathBuf::from(out.trim());
    let trace = folder.join("profile_nc_0_session_0.ntff");
    let path = trace.to_str().unwrap();
    let (code, _, err) = lab.run(&["ntff", "verify", path]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    // the first of each model, in a file of its own
    let mut command = lab.inspect(&["-o", "alone", &program, "2", "mlp.neff", "null.neff"]);
    let (code, out, err) = ended(command.output().unwrap());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let alone = lab.view(Path::new(out.trim()));
    let first = |name: &str| {
        let total = i64::try_from(nanos(name)).unwrap();
        let near = |of: &&Profile| of.manifest().total_ns.abs_diff(total.unsigned_abs()) <= 1;
        alone[1..].iter().find(near).unwrap()
    };

    let running = {
        let profiles = lab.view(&folder);
        assert_eq!(profiles.len(), 2, "the run and the trace of its core");
        let devices = rows(&profiles[0], "DeviceProfileList");
        assert_eq!((devices.len(), number(&devices[0], "session_id")), (1, 0));
        let events = is_whole(&folder, &profiles[0]);
        let running = named(&events, "nc_exec_running");
        assert_eq!(running.len(), 4);
        assert_eq!(number(&devices[0], "start_ts"), number(running[0], "start_ts"));
        running.into_iter().map(|row| number(row, "duration_ns").unsigned_abs()).collect::<Vec<_>>()
    };
    let store = Store::new(lab.path("data"));
    let show = |execution: &str, folder: &Path| {
        let folder = folder.to_str().unwrap();
        let view = ["view", "--ingest-only", "--ignore-system-profile", "-d", folder];
        lab.run(&[&view[..], &["--execution", execution]].concat())
    };
    for (at, name) in ["mlp", "mlp", "null", "null"].into_iter().enumerate() {
        let (code, out, err) = show(&(at + 1).to_string(), &folder);
        assert_eq!(code, Some(0), "{err}");
        let own = store.open(out.split('"').nth(1).unwrap()).unwrap();
        let (own, other) = (own.manifest(), first(name).manifest());
        assert!(
            own.neff.ends_with(if name == "mlp" { "1.neff" } else { "2.neff" }),
            "{}",
            own.neff
        );
        assert!(own.total_ns.abs_diff(running[at]) <= 1, "{name}");
        assert_eq!(own.notes, other.notes);
        for table in ["Instruction", "DmaPacket", "SemaphoreUpdate"] {
            let count = |of: &profile_store::Manifest| of.tables.get(table).map(|of| of.rows);
            assert_eq!(count(own), count(other), "{name} {at} {table}");
            assert!(count(own).is_some_and(|rows| rows > 0), "{name} {table}");
        }
    }
    let (code, out, err) = show("5", &folder);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let said = "profile_nc_0_session_0.ntff: it has 4 executions, number 5 was asked for";
    assert!(err.contains(said), "{err}");

    // killed: up to the last execution that is whole
    let mut command = lab.command(&[]);
    let mut command = {
        let mut own = Command::new(&program);
        own.args(["0", "null.neff"]).current_dir(lab.path("")).stdin(Stdio::null());
        for (name, value) in command.env("LD_LIBRARY_PATH", lab.path("")).get_envs() {
            match value {
                Some(value) => own.env(name, value),
                None => own.env_remove(name),
            };
        }
        own
    };
    command
        .env("NEURON_SOURCE", "sim:trn1.2xlarge")
        .env("NEURON_RT_INSPECT_ENABLE", "1")
        .env("NEURON_RT_INSPECT_DEVICE_PROFILE", "session")
        .env("NEURON_RT_INSPECT_OUTPUT_DIR", lab.path("killed"));
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let executions = |folder: &Path| {
        let file = std::fs::File::open(folder.join("profile_nc_0_session_0.ntff")).ok()?;
        let reader = ntff::Reader::new(file, ntff::Options::default()).unwrap();
        Some(reader.info().execution_timeline.len())
    };
    let folder = lab.path(&format!("killed/trn1.2xlarge_pid_{}", child.id()));
    while executions(&folder).is_none_or(|count| count < 50) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let last = executions(&folder).unwrap();
    let (code, out, err) = show(&last.to_string(), &folder);
    assert_eq!(code, Some(0), "{err}");
    let own = store.open(out.split('"').nth(1).unwrap()).unwrap();
    let (own, other) = (&own.manifest().tables, &first("null").manifest().tables);
    assert_eq!(own["Instruction"].rows, other["Instruction"].rows);
}

#[test]
fn what_fails_is_told() {
    let lab = Lab::new(&[]);
    let (code, out, err) = ended(lab.inspect(&["-o", "out", "true"]).output().unwrap());
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("\"true\" left nothing in ") && err.contains("libnrt.so.1"), "{err}");
    let (code, _, err) = ended(lab.inspect(&["sh", "-c", "exit 7"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(err.contains("\"sh\": exit status 7"), "{err}");
    let (code, _, err) = ended(lab.inspect(&["./none"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot run \"./none\": no such file or directory"), "{err}");
    let (code, _, err) = lab.run(&["inspect"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("PROGRAM"), "{err}");
}

/// The program is ended in the middle; what the run has written is whole.
#[test]
fn ctrl_c_leaves_readable_files() {
    let lab = Lab::new(&["null"]);
    let Some(program) = lab.program() else { return };
    let mut command = lab.inspect(&["-o", "out", &program, "0", "null.neff"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let written = || {
        let run = std::fs::read_dir(lab.path("out")).ok()?.flatten().next()?.path();
        let size = std::fs::metadata(run.join("ntrace.pb")).ok()?.len();
        (size > 10_000).then_some(run)
    };
    let folder = loop {
        assert!(begun.elapsed() < Duration::from_secs(60));
        match written() {
            Some(run) => break run,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let (code, out, err) = ended(child.wait_with_output().unwrap());
    assert_eq!(code, Some(1));
    assert_eq!(Path::new(out.trim()), folder.canonicalize().unwrap());
    assert!(err.contains("interrupted; what it left above can be read"), "{err}");
    let told: Vec<NtraceEvent> = frames(&folder.join("ntrace.pb"));
    let (code, out, err) = lab.run(&["view", "--ingest-only", "-d", folder.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    let id = out.split('"').nth(1).unwrap();
    let profile = Store::new(lab.path("data")).open(id).unwrap();
    let rows = profile.manifest().tables["SystemProfileEvents"].rows;
    let ends = told.iter().filter(|event| event.phase != 1).count();
    assert_eq!(rows, ends as u64);
}
