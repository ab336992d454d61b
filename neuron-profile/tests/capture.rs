//! `neuron-profile capture` on simulated instances.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../neuron-rtd/runtime/tests/support/neff.rs"]
#[allow(dead_code, unreachable_pub, reason = "helpers of another package's tests")]
mod chain;
#[path = "support/neff.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use chain::{Chain, Node};
use neuron_builder::models::SAMPLES;
use neuron_core::neff::{Npy, Usage};
use npu::time::Timing;
use npu::{Program, Tensors};
use serde_json::Value;
use support::path;

/// The tool in a folder of its own, with simulated instances of its own.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
        command.args(args).current_dir(self.dir());
        command.env("NEURON_SIM_DIR", self.dir().join("sim"));
        for name in ["NEURON_SOURCE", "NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }

    /// A capture on a simulated trn1.2xlarge.
    fn capture(&self, args: &[&str]) -> (Option<i32>, String, String) {
        self.run(&[&["capture", "--source", "sim:trn1.2xlarge"], args].concat())
    }

    /// Names of the files, sorted.
    fn files(&self) -> Vec<String> {
        let all = fs::read_dir(self.dir()).unwrap();
        let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != "sim").collect();
        names.sort();
        names
    }

    /// The metrics of a trace.
    fn metrics(&self, neff: &str, trace: &str) -> serde_json::Map<String, Value> {
        let args = ["view", "-n", neff, "-s", trace, "--output-format", "summary-json"];
        let (code, out, err) = self.run(&args);
        assert_eq!(code, Some(0), "{err}");
        let document: BTreeMap<String, Value> = serde_json::from_str(&out).unwrap();
        document.into_values().next().unwrap().as_object().unwrap().clone()
    }
}

/// What the device did is what the profile tells: times, work, bytes.
#[test]
fn the_truth_of_every_sample_is_in_its_profile() {
    let whole = |name: &str| !["cpu-node", "deadlock", "divide-by-zero"].contains(&name);
    for (name, make) in SAMPLES.iter().filter(|(name, _)| whole(name)) {
        let sample = make().unwrap();
        let program = Program::from_neff(&sample.built.bytes).unwrap();
        let lab = Lab::new();
        fs::write(lab.dir().join("model.neff"), &sample.built.bytes).unwrap();
        let mut args = vec![String::from("-n"), String::from("model.neff")];
        let mut tensors = Tensors::new();
        for (input, array) in &sample.inputs {
            let npy = array.to_npy();
            let at = Npy::parse(input, &npy).unwrap().data_at;
            tensors.insert(input.clone(), npy[at..].to_vec());
            fs::write(lab.dir().join(format!("{input}.npy")), npy).unwrap();
            args.extend([input.clone(), format!("{input}.npy")]);
        }
        for source in ["sim:trn1.32xlarge", "sim:inf1.6xlarge"] {
            let mut all = vec!["capture", "--source", source, "--save-output"];
            all.extend(args.iter().map(String::as_str));
            let (code, out, err) = lab.run(&all);
            assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
            assert!(out.contains(&source.replace("sim:", "simulated ")), "{out}");
            let timed = program.run_timed(&tensors, &Timing::of(&program), &mut ()).unwrap();
            for tensor in program.tensors().iter().filter(|t| t.usage == Usage::Output) {
                let saved = fs::read(lab.dir().join(&tensor.name)).unwrap();
                assert_eq!(saved, timed.outputs[&tensor.name], "{name} {}", tensor.name);
            }
            let metrics = lab.metrics("model.neff", "profile.ntff");
            let number = |key: &str| metrics[key].as_f64().unwrap();
            let sum = |of: &dyn Fn(&npu::time::CoreSummary) -> u64| -> f64 {
                timed.summary.cores.iter().map(of).sum::<u64>() as f64
            };
            assert_eq!(metrics["instance_type"], source.replace("sim:", ""));
            assert_eq!(number("hardware_flops"), sum(&|core| core.hardware_flops), "{name}");
            assert_eq!(number("transpose_flops"), sum(&|core| core.transpose_flops), "{name}");
            assert_eq!(number("hbm_read_bytes"), sum(&|core| core.hbm_read), "{name}");
            assert_eq!(number("hbm_write_bytes"), sum(&|core| core.hbm_written), "{name}");
            let total = timed.summary.total as f64 / 1e12;
            let time = number("total_time");
            assert!((time - total).abs() <= 1e-9, "{name}: {time} {total}");
            let engines = ["tensor", "scalar", "gpsimd", "vector", "sync"];
            for (at, engine) in engines.into_iter().enumerate() {
                let count = number(&format!("{engine}_engine_instruction_count"));
                assert_eq!(count, sum(&|core| core.instructions[at]), "{name} {engine}");
            }
            // Cores of one program run side by side; an engine is busy by the
            // union of them.
            if timed.summary.cores.len() == 1 {
                for (at, engine) in engines.into_iter().enumerate().skip(1) {
                    let busy = sum(&|core| core.busy[at]) / 1e12;
                    let found = number(&format!("{engine}_engine_active_time"));
                    assert!((found - busy).abs() <= 2e-9, "{name} {engine}: {found} {busy}");
                }
            }
        }
    }
}

#[test]
fn executions_and_ranks_have_files_of_their_names() {
    let neff = path("matmul-small.neff");
    let lab = Lab::new();
    let (code, out, err) = lab.capture(&[
        "-n",
        &neff,
        "--num-exec",
        "3",
        "--save-output",
        "--save-output-npy",
        "--save-nth-output",
        "2",
        "--check-output-determinism",
    ]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let wanted = [
        "output0.2",
        "output0.2.npy",
        "profile.ntff",
        "profile_exec_2.ntff",
        "profile_exec_3.ntff",
    ];
    assert_eq!(lab.files(), wanted);
    assert!(out.contains("saved output \"output0\" as \"output0.2\"\n"), "{out}");
    let raw = fs::read(lab.dir().join("output0.2")).unwrap();
    let npy = fs::read(lab.dir().join("output0.2.npy")).unwrap();
    assert!(npy.ends_with(&raw) && raw.len() == 32_768);

    // The second execution alone, though one was asked for.
    let lab = Lab::new();
    let nth = ["-n", &neff, "-s", "a.ntff", "--profile-nth-exec", "2", "--exec-mode", "async"];
    assert_eq!(lab.capture(&nth).0, Some(0));
    assert_eq!(lab.files(), ["a_exec_2.ntff"]);
    for none in [&["--disable-profile"][..], &["--profile-nth-exec", "0"]] {
        let lab = Lab::new();
        assert_eq!(lab.capture(&[&["-n", &neff], none].concat()).0, Some(0));
        assert!(lab.files().is_empty());
    }

    // Four cores are enough for two workers of two.
    let lab = Lab::new();
    let ranks = ["capture", "--source", "sim:trn1.32xlarge", "-n", &neff, "-r", "2"];
    let more = ["--collectives-worker-start-id", "2", "--save-output", "--exec-mode", "async-wait"];
    let (code, _, err) = lab.run(&[&ranks[..], &more].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(
        lab.files(),
        ["output_worker_2", "output_worker_3", "profile_rank_2.ntff", "profile_rank_3.ntff"]
    );
    let lab = Lab::new();
    let (code, _, err) = lab.run(&[&ranks[..], &["-i", "1", "--num-exec", "2"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(lab.files(), ["profile_rank_1.ntff", "profile_rank_1_exec_2.ntff"]);
}

/// Ranks that the NEFF's definition names are workers, unless one has them all.
#[test]
fn collectives_say_how_many_workers_there_are() {
    let lab = Lab::new();
    let neff = path("matmul-small.neff");
    assert_eq!(lab.run(&["neff", "unpack", &neff, "parts"]).0, Some(0));
    let place = lab.dir().join("parts/sg00/def.json");
    let mut definition: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    definition["replica_groups"] = serde_json::json!([[0, 2], [1, 3]]);
    definition["#rank_world_size"] = serde_json::json!(0);
    fs::write(&place, definition.to_string()).unwrap();
    let packed = lab.run(&["neff", "pack", "parts", "four.neff", "--like", &neff]);
    assert_eq!(packed.0, Some(0), "{packed:?}");
    // Two cores of the program are two of the four ranks.
    let capture = ["capture", "--source", "sim:trn1.32xlarge", "-n", "four.neff", "-s", "p.ntff"];
    let (code, _, err) = lab.run(&capture);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("over 4 ranks, so there are 2 workers"), "{err}");
    let traces = |lab: &Lab| -> Vec<String> {
        lab.files().into_iter().filter(|name| name.ends_with(".ntff")).collect()
    };
    assert_eq!(traces(&lab), ["p_rank_0.ntff", "p_rank_1.ntff"]);
    // Another number wins, and nothing is told.
    let (code, _, err) = lab.run(&[&capture[..], &["-r", "1", "-i", "0"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    // A rank that there is not, by the ranks that were found.
    let (code, _, err) = lab.run(&[&capture[..], &["-i", "2"]].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains("the ranks here are 0 to 1"), "{err}");
    // A machine with fewer cores.
    let small = ["capture", "--source", "sim:trn1.2xlarge", "-n", "four.neff"];
    let (code, _, err) = lab.run(&small);
    assert!(code == Some(1) && err.lines().count() == 2, "{err}");
}

#[test]
fn each_worker_has_its_inputs() {
    let lab = Lab::new();
    for (file, value) in [("one", 1.0_f32), ("two", 2.0)] {
        fs::write(lab.dir().join(file), [value.to_le_bytes(); 16].concat()).unwrap();
    }
    let chain = Chain::new("copy", &[Node::Copy(4)]);
    fs::write(lab.dir().join("copy.neff"), chain.build()).unwrap();
    fs::write(lab.dir().join("list"), "x one\n\nx two\n").unwrap();
    let args = ["capture", "-n", "copy.neff", "-r", "2", "-m", "list", "--save-output"];
    let (code, _, err) = lab.run(&[&args[..], &["--source", "sim:inf1.6xlarge"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for (worker, file) in [("output_worker_0", "one"), ("output_worker_1", "two")] {
        let read = |path: &Path| fs::read(path).unwrap();
        let (got, given) = (read(&lab.dir().join(worker).join("y")), read(&lab.dir().join(file)));
        assert_eq!(got, given, "{worker}");
    }
}

/// NaN in an output is an error that can be passed over; the trace is there.
#[test]
fn errors_of_executions_are_told_or_passed_over() {
    let lab = Lab::new();
    let chain = Chain::new("copy", &[Node::Copy(1)]);
    fs::write(lab.dir().join("copy.neff"), chain.build()).unwrap();
    fs::write(lab.dir().join("nan"), [f32::NAN.to_le_bytes(); 16].concat()).unwrap();
    let args = ["-n", "copy.neff", "x", "nan", "--num-exec", "2", "--save-output"];
    let (code, out, err) = lab.capture(&args);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("execution 1: --ignore-exec-errors goes on after this: "), "{err}");
    assert!(err.contains("NaN in output y") && err.lines().count() == 1, "{err}");
    let (code, out, err) = lab.capture(&[&args[..], &["--ignore-exec-errors"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("profile_exec_2.ntff: execution 2"), "{out}");
    assert_eq!(err.matches("NaN in output y").count(), 2, "{err}");
    assert!(lab.files().contains(&String::from("y.2")));
}

#[test]
fn what_cannot_be_run_is_told_in_one_line() {
    let lab = Lab::new();
    let neff = path("matmul-small.neff");
    fs::write(lab.dir().join("short"), [0; 3]).unwrap();
    fs::write(lab.dir().join("lines"), "x short\n").unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["-n", "gone.neff"], "cannot open gone.neff: no such file or directory"),
        (&["-n", "short"], "short: "),
        (&["-n", &neff, "x"], "input x has no file: give pairs NAME FILE"),
        (&["-n", &neff, "z", "short"], "there is no input z; there are x, y"),
        (&["-n", &neff, "x", "short"], "short: it has 3 bytes, input x has 65536"),
        (&["-n", &neff, "x", "gone"], "cannot open gone: no such file or directory"),
        (&["-n", &neff, "-r", "2"], "Requested number of NCs"),
        (&["-n", &neff, "-r", "2", "-m", "lines"], "lines: it has 1 lines for 2 workers"),
        (&["-n", &neff, "-i", "1"], "--collectives-profile-id 1: the ranks here are 0 to 0"),
        (&["-n", &neff, "-s", "gone/a.ntff"], "cannot write profile gone/a.ntff: "),
        (&["-n", &neff, "--num-exec", "2000000"], "2000000 executions are too many"),
        (&["-n", &neff, "--source", "replay:x"], "a capture runs on --source kernel or on"),
    ];
    for (args, said) in cases {
        let (code, out, err) = match args.contains(&"--source") {
            true => lab.run(&[&["capture"], args].concat()),
            false => lab.capture(args),
        };
        assert_eq!((code, out.as_str()), (Some(1), ""), "{args:?}: {err}");
        assert!(err.contains(said) && err.lines().count() == 1, "{args:?}: {err}");
    }
    assert_eq!(lab.files(), ["lines", "short"]);
}

/// A program that stands still leaves its trace up to there.
#[test]
fn a_deadlock_leaves_its_trace() {
    let lab = Lab::new();
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "deadlock").unwrap();
    fs::write(lab.dir().join("deadlock.neff"), make().unwrap().built.bytes).unwrap();
    let (code, out, err) = lab.capture(&["-n", "deadlock.neff"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains(": deadlock: core 0 ACT slot 2") && err.lines().count() == 1, "{err}");
    let metrics = lab.metrics("deadlock.neff", "profile.ntff");
    assert!(metrics["trace_count"].as_u64().unwrap() > 0);
}

/// Executions end with the first signal, and what was traced is whole.
#[test]
fn ctrl_c_ends_a_capture() {
    let lab = Lab::new();
    let neff = path("matmul-small.neff");
    let args = ["capture", "--source", "sim:trn1.2xlarge", "-n", &neff, "--num-exec", "1000000"];
    let mut child =
        lab.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !lab.dir().join("profile_exec_3.ntff").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(1), "{}", String::from_utf8_lossy(&stderr));
    assert!(String::from_utf8_lossy(&stderr).contains("interrupted; the traces above are whole"));
    let told = String::from_utf8(stdout).unwrap();
    let traces = lab.files();
    assert_eq!(told.lines().count(), traces.len());
    for trace in traces {
        assert!(told.contains(&format!("{trace}: ")), "{trace}");
        assert!(lab.metrics(&neff, &trace)["total_time"].as_f64().unwrap() > 0.0);
    }
}
