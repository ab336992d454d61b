//! The networks among the sample models against onnxruntime, as a second
//! oracle that knows nothing of this repository's NumPy formulas.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use neuron_builder::models::SAMPLES;

const PACKAGE: &str = "onnxruntime==1.31.1";

/// Folder with onnxruntime; `None` when it cannot be had here, with a line that
/// says which test was skipped.
fn onnxruntime() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE.replace("==", "-"));
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&part);
        install.arg(PACKAGE).stdout(Stdio::null()).stderr(Stdio::null());
        let done = install.status().is_ok_and(|status| status.success());
        // another test program may have been faster; then its copy is as good
        if !done || fs::rename(&part, &folder).is_err() {
            let _ = fs::remove_dir_all(&part);
        }
    }
    if folder.exists() {
        return Some(folder);
    }
    let thread = std::thread::current();
    let line = format!("{}: needs onnxruntime", thread.name().unwrap_or("a test"));
    let _ = writeln!(std::io::stderr(), "skipped: {line}");
    if let Some(path) = std::env::var_os("NEURON_TESTS_SKIP_LOG") {
        let log = fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
    }
    None
}

/// Writes the network as ONNX, runs it, and gives the largest difference as a
/// part of the largest number. Operators: name, inputs, output, attributes.
const SCRIPT: &str = r#"
import sys, json
folder, text = sys.argv[1:]
sys.path.insert(0, folder)
import numpy as np, onnxruntime
def varint(n):
    out = b""
    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def num(field, n): return varint(field << 3) + varint(n)
def sub(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data
def attribute(name, value):
    if isinstance(value, str): return sub(5, sub(1, name) + sub(4, value) + num(20, 3))
    if isinstance(value, int): return sub(5, sub(1, name) + num(3, value) + num(20, 2))
    return sub(5, sub(1, name) + b"".join(num(8, i) for i in value) + num(20, 7))
def node(op, inputs, output, attributes={}):
    parts = b"".join(sub(1, i) for i in inputs) + sub(2, output) + sub(4, op)
    return sub(1, parts + b"".join(attribute(*item) for item in attributes.items()))
def tensor(name, array):
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    return sub(5, b"".join(num(1, d) for d in array.shape) + num(2, kind) + sub(8, name) + sub(9, array.tobytes()))
def value(field, name, shape):
    dims = b"".join(sub(1, num(1, d)) for d in shape)
    return sub(field, sub(1, name) + sub(2, sub(1, num(1, 1) + sub(2, dims))))
job = json.loads(text)
arrays = {}
for name, shape in job["arrays"]:
    count = int(np.prod(shape))
    arrays[name] = np.frombuffer(sys.stdin.buffer.read(4 * count), "<f4").reshape(shape)
x, y = arrays.pop("x"), arrays.pop("y")
graph = b"".join(node(*entry) for entry in job["nodes"]) + sub(2, "g")
graph += b"".join(tensor(name, array) for name, array in arrays.items())
graph += b"".join(tensor(name, np.array(v, np.int64)) for name, v in job.get("shapes", {}).items())
graph += value(11, "x", x.shape) + value(12, "y", y.shape)
model = num(1, 9) + sub(7, graph) + sub(8, sub(1, "") + num(2, 20))
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
want = session.run(["y"], {"x": x})[0]
assert want.shape == y.shape
sys.stdout.buffer.write(np.float64(np.abs(want - y).max() / np.abs(want).max()).tobytes())
"#;

/// Compares a sample with the same network in onnxruntime.
fn check(name: &str, network: &str) {
    let (Some(numpy), Some(folder)) = (support::numpy(), onnxruntime()) else {
        return;
    };
    let (_, make) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    let sample = make().unwrap();
    let program = npu::Program::from_neff(&sample.built.bytes).unwrap();
    let inputs = sample.inputs.iter().map(|(name, array)| (name.clone(), array.data().to_vec()));
    let outputs = program.run(&inputs.collect()).unwrap();
    let (mut entries, mut bytes) = (Vec::new(), Vec::new());
    for (name, array) in sample.inputs.iter().chain(&sample.weights) {
        entries.push(format!(r#"["{name}", {:?}]"#, array.shape()));
        bytes.extend_from_slice(array.data());
    }
    let shape = program.tensors().iter().find(|tensor| tensor.name == "y").unwrap();
    entries.push(format!(r#"["y", {:?}]"#, shape.shape.clone().unwrap()));
    bytes.extend_from_slice(&outputs["y"]);
    let job = format!(r#"{{"arrays": [{}], {network}}}"#, entries.join(", "));
    let answer = numpy.run(SCRIPT, &[folder.to_str().unwrap(), &job], &bytes);
    let error = support::fp64(&answer)[0];
    assert!(error <= 4e-6, "{name}: error {error:.3e}");
}

#[test]
fn mlp_equals_onnxruntime() {
    let network = r#""nodes": [
        ["Gemm", ["x", "fc1.w", "fc1.b"], "a"], ["Relu", ["a"], "b"],
        ["Gemm", ["b", "fc2.w", "fc2.b"], "c"], ["Relu", ["c"], "d"],
        ["Gemm", ["d", "fc3.w", "fc3.b"], "y"]]"#;
    check("mlp", network);
}

#[test]
fn cnn_equals_onnxruntime() {
    let network = r#""shapes": {"flat": [4, 400]}, "nodes": [
        ["Conv", ["x", "conv1.w", "conv1.b"], "a", {"pads": [2, 2, 2, 2]}], ["Relu", ["a"], "b"],
        ["MaxPool", ["b"], "c", {"kernel_shape": [2, 2], "strides": [2, 2]}],
        ["Conv", ["c", "conv2.w", "conv2.b"], "d"], ["Relu", ["d"], "e"],
        ["MaxPool", ["e"], "f", {"kernel_shape": [2, 2], "strides": [2, 2]}],
        ["Reshape", ["f", "flat"], "g"],
        ["Gemm", ["g", "fc1.w", "fc1.b"], "h"], ["Relu", ["h"], "i"],
        ["Gemm", ["i", "fc2.w", "fc2.b"], "j"], ["Relu", ["j"], "k"],
        ["Gemm", ["k", "fc3.w", "fc3.b"], "y"]]"#;
    check("cnn", network);
}

#[test]
fn transformer_equals_onnxruntime() {
    let linear = |x: &str, name: &str, y: &str| {
        format!(
            r#"["MatMul", ["{x}", "{name}.w"], "{name}1"], ["Add", ["{name}1", "{name}.b"], "{y}"]"#
        )
    };
    let heads = |x: &str, y: &str, order: &str| {
        format!(
            r#"["Reshape", ["{x}", "heads"], "{x}h"], ["Transpose", ["{x}h"], "{y}", {{"perm": {order}}}]"#
        )
    };
    let norm = |x: &str, name: &str, y: &str| {
        format!(r#"["LayerNormalization", ["{x}", "{name}.gamma", "{name}.beta"], "{y}"]"#)
    };
    let nodes = [
        linear("x", "q", "q"),
        linear("x", "k", "k"),
        linear("x", "v", "v"),
        heads("q", "qt", "[1, 0, 2]"),
        heads("k", "kt", "[1, 2, 0]"),
        heads("v", "vt", "[1, 0, 2]"),
        // the scale is 1 / sqrt(64)
        r#"["MatMul", ["qt", "kt"], "s"], ["Cast", ["size"], "sizef", {"to": 1}]"#.to_owned(),
        r#"["Div", ["s", "sizef"], "t"], ["Softmax", ["t"], "p"]"#.to_owned(),
        r#"["MatMul", ["p", "vt"], "w"], ["Transpose", ["w"], "u", {"perm": [1, 0, 2]}]"#
            .to_owned(),
        r#"["Reshape", ["u", "rows"], "seen"]"#.to_owned(),
        linear("seen", "o", "o"),
        r#"["Add", ["x", "o"], "x1"]"#.to_owned(),
        norm("x1", "norm1", "h"),
        linear("h", "up", "up"),
        r#"["Gelu", ["up"], "g", {"approximate": "tanh"}]"#.to_owned(),
        linear("g", "down", "down"),
        r#"["Add", ["h", "down"], "h1"]"#.to_owned(),
        norm("h1", "norm2", "y"),
    ];
    let shapes = r#""shapes": {"heads": [128, 2, 64], "rows": [128, 128], "size": [8]}"#;
    check("transformer", &format!(r#"{shapes}, "nodes": [{}]"#, nodes.join(", ")));
}
