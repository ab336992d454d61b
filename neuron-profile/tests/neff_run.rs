//! `neuron-profile neff run`: numbers in, numbers out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/neff.rs"]
mod support;

use neuron_builder::models::SAMPLES;
use neuron_core::neff::Npy;
use npu::number::Element;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use support::{fixture, path, run, tool};

/// An array of halves, by a formula that has both signs and no pattern of the
/// matrix' width.
fn halves(rows: usize, columns: usize, step: usize) -> Vec<f32> {
    let number = |at: usize| ((at * step) % 257) as f32 / 128.0 - 1.0;
    let rounded = |number| Element::Fp16.decode(Element::Fp16.encode(number));
    (0..rows * columns).map(|at| rounded(number(at))).collect()
}

fn save(file: &Path, descr: &str, shape: &[u64], numbers: &[f32]) {
    let mut bytes = Npy::header(descr, shape);
    let element = if descr == "<f4" { Element::Fp32 } else { Element::Fp16 };
    for number in numbers {
        let mut place = [0; 4];
        element.store(element.encode(*number), &mut place);
        bytes.extend(&place[..element.bytes()]);
    }
    fs::write(file, bytes).unwrap();
}

/// matmul-small computes `x y` in fp16 with fp32 sums.
#[test]
fn a_real_product_of_given_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (halves(128, 256, 31), halves(256, 128, 113));
    save(&folder.path().join("x.npy"), "<f2", &[128, 256], &x);
    save(&folder.path().join("y.npy"), "<f2", &[256, 128], &y);
    let file = path("matmul-small.neff");
    let given = ["-i", "x", "x.npy", "-i", "y", "y.npy"];
    let output = tool(folder.path(), &[&["run", &file, "-o", "out"][..], &given].concat());
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*err), (Some(0), ""));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("simulated") && shown.contains("out/output0.npy"), "{shown}");

    let bytes = fs::read(folder.path().join("out/output0.npy")).unwrap();
    let npy = Npy::parse("output0", &bytes).unwrap();
    assert_eq!((npy.descr.as_str(), npy.shape.as_slice()), ("<f2", &[128, 128][..]));
    let found: Vec<f32> = bytes[npy.data_at..]
        .chunks_exact(2)
        .map(|place| Element::Fp16.decode(Element::Fp16.load(place)))
        .collect();
    let mut largest = 0.0_f64;
    for row in 0..128 {
        for column in 0..128 {
            let exact: f64 = (0..256)
                .map(|k| f64::from(x[row * 256 + k]) * f64::from(y[k * 128 + column]))
                .sum();
            let difference = (f64::from(found[row * 128 + column]) - exact).abs();
            // half a step of fp16 at this size, and the fp32 sum
            assert!(difference <= exact.abs() / 2048.0 + 1e-4, "{row} {column}: {exact}");
            largest = largest.max(exact.abs());
        }
    }
    assert!(largest > 1.0, "the product is not all zeros");
    // The JSON tells the same output.
    let all = [&["run", &file, "--format", "json"][..], &given].concat();
    let value: Value = serde_json::from_slice(&tool(folder.path(), &all).stdout).unwrap();
    assert_eq!(value["simulated"], true);
    let max = found.iter().copied().fold(f32::MIN, f32::max);
    assert_eq!(value["outputs"][0]["max"].as_f64(), Some(f64::from(max)));
}

#[test]
fn inputs_are_checked_by_name_type_and_shape() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    save(&at("type.npy"), "<f4", &[128, 256], &vec![0.0; 128 * 256]);
    save(&at("shape.npy"), "<f2", &[256, 128], &vec![0.0; 128 * 256]);
    save(&at("short.npy"), "<f2", &[128, 256], &[0.0; 7]);
    save(&at("good.npy"), "<f2", &[128, 256], &vec![0.0; 128 * 256]);
    fs::write(at("none.npy"), "no array").unwrap();
    let file = path("matmul-small.neff");
    for (arguments, said) in [
        (&[][..], "input x (float16 [128,256]) has no value: give -i x FILE.npy, or --fill random"),
        (&["-i", "z", "good.npy"], "there is no input z; there are x, y"),
        (&["-i", "x", "type.npy"], "type.npy: its elements are <f4, input x has float16"),
        (&["-i", "x", "shape.npy"], "shape.npy: its shape is [256, 128], input x has [128, 256]"),
        (&["-i", "x", "short.npy"], "short.npy: it has 14 bytes of data, input x has 65536"),
        (&["-i", "x", "none.npy"], "none.npy offset 0x0: the magic is absent"),
        (&["-i", "x", "absent.npy"], "cannot open absent.npy: no such file or directory"),
        (&["-i", "x", "good.npy", "-i", "x", "good.npy"], "input x is given twice"),
    ] {
        let output = tool(folder.path(), &[&["run", &file][..], arguments].concat());
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(err.contains(said) && err.lines().count() == 1, "{arguments:?}: {err}");
    }
}

/// Made up inputs are the same each time, and other ones for another seed.
#[test]
fn made_up_inputs_repeat() {
    let file = path("matmul-small.neff");
    let with = |seed: &str| run(&["run", &file, "--fill", "random", "--seed", seed]).1;
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
    let (code, zeros, _) = run(&["run", &file, "--fill", "zeros", "--format", "json"]);
    let value: Value = serde_json::from_str(&zeros).unwrap();
    let output = &value["outputs"][0];
    assert_eq!(
        (code, output["min"].as_f64(), output["max"].as_f64()),
        (Some(0), Some(0.0), Some(0.0))
    );
}

#[test]
fn what_is_no_neff_is_said() {
    let (code, out, err) = run(&["run", fixture("moe-dge.ntff").to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("it is no NEFF but an NTFF"), "{err}");
    let (code, _, err) = run(&["run", "/dev/null"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("rule file-short"), "{err}");
}

/// A cut file has one program of two, and a changed one other numbers: neither
/// gives results.
#[test]
fn damaged_files_do_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(fixture("matmul-small.neff")).unwrap();
    let mut changed = whole.clone();
    changed[5000] ^= 1;
    for (bytes, rule) in [(&whole[..30_000], "rule data-size"), (&changed, "rule digest")] {
        fs::write(folder.path().join("a.neff"), bytes).unwrap();
        let output = tool(folder.path(), &["run", "a.neff", "--fill", "random"]);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{rule}");
        assert!(err.contains(rule) && err.lines().count() == 1, "{err}");
    }
}

fn sample(folder: &Path, name: &str) {
    let (_, make) = SAMPLES.iter().find(|(sample, _)| *sample == name).unwrap();
    fs::write(folder.join("a.neff"), make().unwrap().built.bytes).unwrap();
}

/// The modes agree in what they share, and files have the modes of other files.
#[test]
fn modes_and_files_agree() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    sample(folder.path(), "mlp");
    let json = |arguments: &[&str]| -> Value {
        let all = ["run", "a.neff", "--format", "json"];
        let output = tool(folder.path(), &[&all, arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let whole = json(&["--fill", "random", "-o", "out", "--trace", "a.ntff"]);
    assert!(whole["outputs"][0]["max"].as_f64().unwrap() > 0.0);
    let plain = json(&["--fill", "random", "--no-timing"]);
    assert_eq!(plain["outputs"][0]["max"], whole["outputs"][0]["max"]);
    let timed = json(&["--timing-only"]);
    assert_eq!(timed["outputs"], Value::from([Value::Null; 0]));
    assert_eq!(timed["timing"]["total_ns"], whole["timing"]["total_ns"]);
    let mode = |file: &str| fs::metadata(at(file)).unwrap().permissions().mode();
    fs::write(at("plain"), "").unwrap();
    assert_eq!((mode("out/y.npy"), mode("a.ntff")), (mode("plain"), mode("plain")));
}

/// Neuron nodes around a CPU node run one at a time.
#[test]
fn one_node_of_several_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "cpu-node");
    let output = tool(folder.path(), &["run", "a.neff", "--fill", "random"]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let kelfs = err.split_once("choose one of ").unwrap().1;
    let (kelfs, rest) = kelfs.split_once(", with --node").unwrap();
    assert_eq!(rest, "; nodes of the CPU are not run\n");
    for kelf in kelfs.split(", ") {
        let output = tool(folder.path(), &["run", "a.neff", "--fill", "random", "--node", kelf]);
        assert_eq!(output.status.code(), Some(0), "{kelf}");
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("\na node of the CPU: not run\n"), "{told}");
        assert!(told.contains(": simulated, 1 physical NeuronCore of generation 3\n"), "{told}");
    }
}

/// Infinities are words in JSON; numerical errors are told with and without
/// time, and not where no number was made.
#[test]
fn what_divides_by_zero_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "divide-by-zero");
    let run = |arguments: &[&str]| {
        let output = tool(folder.path(), &[&["run", "a.neff"][..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run(&[arguments, &["--format", "json"]].concat())).unwrap()
    };
    let whole = json(&["--fill", "random"]);
    let max = &whole["outputs"][0]["max"];
    assert_eq!(max, "inf");
    let counts = &whole["numerical_errors"][0];
    assert!(counts["infinity"].as_u64().unwrap() > 0 && counts["nan"].as_u64().unwrap() > 0);
    let fast = json(&["--fill", "random", "--no-timing"]);
    assert_eq!(fast["numerical_errors"], whole["numerical_errors"]);
    assert_eq!(json(&["--timing-only"])["numerical_errors"], Value::Null);
    let lines = |told: String| -> Vec<String> {
        told.lines().filter(|line| line.contains("numerical errors")).map(str::to_owned).collect()
    };
    let told = lines(run(&["--fill", "random"]));
    assert_eq!((told.len(), &told), (1, &lines(run(&["--fill", "random", "--no-timing"]))));
}

/// A run that stops leaves its trace up to there.
#[test]
fn a_deadlock_leaves_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "deadlock");
    let arguments = ["run", "a.neff", "--fill", "random", "--trace", "a.ntff"];
    let output = tool(folder.path(), &arguments);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(err.contains("deadlock: core 0 ") && err.lines().count() == 1, "{err}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    let output = command.args(["ntff", "verify", "a.ntff"]).current_dir(folder.path()).output();
    let told = String::from_utf8(output.unwrap().stdout).unwrap();
    let records = told.split(", ").find_map(|part| part.trim().strip_suffix(" records"));
    assert!(records.unwrap().parse::<u32>().unwrap() > 10, "{told}");
}

/// What cannot be written is told before the run, and nothing that is read is
/// replaced.
#[test]
fn places_of_results_are_checked_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // would stop: one before it shows that nothing ran
    sample(folder.path(), "deadlock");
    fs::write(at("file"), "").unwrap();
    let before = fs::read(at("a.neff")).unwrap();
    std::os::unix::fs::symlink("a.neff", at("link")).unwrap();
    for (arguments, said) in [
        (["-o", "file/out"], "cannot make file/out"),
        (["-o", "file"], "cannot make file"),
        (["--trace", "absent/a.ntff"], "cannot write absent/a.ntff"),
        (["--trace", "a.neff"], "the trace would replace a.neff"),
        (["--trace", "link"], "the trace would replace a.neff"),
    ] {
        let all = [&["run", "a.neff", "--fill", "random"][..], &arguments].concat();
        let output = tool(folder.path(), &all);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(err.contains(said) && err.lines().count() == 1, "{arguments:?}: {err}");
    }
    assert_eq!(fs::read(at("a.neff")).unwrap(), before);
}
