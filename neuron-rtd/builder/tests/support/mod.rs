//! Runs built models on the software NeuronCore and compares with NumPy.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../../npu/tests/support/mod.rs"]
mod shared;

use neuron_builder::{Array, ElementType, Graph, Model};
pub(crate) use shared::{Random, fp64, numpy};

/// An array of random numbers, about normal.
pub fn random(seed: u64, element: ElementType, shape: &[usize]) -> Array {
    let mut random = Random(seed);
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| random.normal()).collect();
    Array::from_f32(element, shape, &values).unwrap()
}

/// Something that a graph computes, and the same in NumPy.
pub struct Case {
    pub name: String,
    pub model: Model,
    pub inputs: Vec<(String, Array)>,
    /// Python: makes `out` from the inputs and constants, which are fp64 arrays
    /// by name, with dots as underscores.
    pub python: String,
    /// Largest difference as a part of the largest expected number.
    pub bound: f64,
}

impl Case {
    pub fn new(name: &str, graph: Graph, python: &str, bound: f64) -> Self {
        let inputs = Vec::new();
        let (name, python) = (name.to_owned(), python.to_owned());
        Self { model: Model::new(&name, vec![graph]), name, inputs, python, bound }
    }

    pub fn with(mut self, name: &str, array: Array) -> Self {
        self.inputs.push((name.to_owned(), array));
        self
    }
}

/// The outputs of a model whose inputs are given by name.
pub fn run(model: &Model, inputs: &[(String, Array)]) -> npu::Tensors {
    let built = model.build().unwrap_or_else(|error| panic!("{}: {error}", model.name));
    let program = npu::Program::from_neff(&built.bytes).unwrap();
    let inputs = inputs.iter().map(|(name, array)| (name.clone(), array.data().to_vec()));
    program.run(&inputs.collect()).unwrap_or_else(|error| panic!("{}: {error}", model.name))
}

const SCRIPT: &str = r#"
import sys, json, numpy as np, ml_dtypes
types = {"float32": "<f4", "float16": "<f2", "int32": "<i4", "bfloat16": ml_dtypes.bfloat16}
source = sys.stdin.buffer
def arrays(entries):
    found = {}
    for entry in entries:
        dtype = np.dtype(types[entry["type"]])
        data = source.read(int(np.prod(entry["shape"])) * dtype.itemsize)
        array = np.frombuffer(data, dtype).reshape(entry["shape"])
        found[entry["name"].replace(".", "_")] = array.astype(np.float64 if dtype.kind != "i" else np.int64)
    return found
def sigmoid(x): return 1 / (1 + np.exp(-x))
def gelu(x): return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
def layernorm(x, g, b, eps): return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * g + b
def rmsnorm(x, g, eps): return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * g
def windows(x, size, stride):
    view = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
    return view[:, :, ::stride[0], ::stride[1]]
def conv(x, w, stride=(1, 1), padding=(0, 0)):
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    return np.einsum("nchwij,ocij->nohw", windows(x, w.shape[2:], stride), w)
def attention(q, k, v, heads, scale, more=None):
    split = lambda t: np.moveaxis(t.reshape(*t.shape[:-1], heads, -1), -2, -3)
    s = split(q) @ np.swapaxes(split(k), -1, -2) * scale
    if more is not None:
        i, j = np.indices(s.shape[-2:])
        s = np.where(i + more >= j, s, -np.inf)
    o = np.moveaxis(softmax(s) @ split(v), -3, -2)
    return o.reshape(q.shape)
for line in json.loads(sys.argv[1]):
    scope = dict(globals(), **arrays(line["arrays"]))
    got = list(arrays(line["outputs"]).values())
    exec(line["python"], scope)
    want = scope["out"] if isinstance(scope["out"], tuple) else (scope["out"],)
    assert len(got) == len(want), line["name"]
    error = 0.0
    for g, w in zip(got, want):
        assert g.shape == w.shape, (line["name"], g.shape, w.shape)
        # infinities and NaN must be the same ones
        odd = ~(np.isfinite(g) & np.isfinite(w))
        same = np.array_equal(np.where(odd, g, 0), np.where(odd, w, 0), equal_nan=True)
        g, w = np.where(odd, 0, g), np.where(odd, 0, w)
        error = max(error, float(np.abs(g - w).max() / max(np.abs(w).max(), 1e-30)) if same else np.inf)
    sys.stdout.buffer.write(np.float64(error).tobytes())
"#;

fn entry(name: &str, element: ElementType, shape: &[usize]) -> String {
    let (name, word) = (name.replace('/', "_"), element.word());
    format!(r#"{{"name": "{name}", "type": "{word}", "shape": {shape:?}}}"#)
}

/// Numbers that were computed, and what they should be.
pub struct Check {
    pub name: String,
    /// What the Python may use.
    pub arrays: Vec<(String, Array)>,
    /// What was computed.
    pub outputs: Vec<(String, Array)>,
    pub python: String,
    pub bound: f64,
}

/// Runs every case and compares.
pub fn compare(cases: &[Case]) {
    let checks: Vec<Check> = cases.iter().map(check).collect();
    verify(&checks);
}

fn check(case: &Case) -> Check {
    let outputs = run(&case.model, &case.inputs);
    let mut arrays = case.inputs.clone();
    for node in &case.model.nodes {
        let neuron_builder::HostNode::Neuron(node) = node else {
            continue;
        };
        for (name, array) in node.cores.iter().flat_map(Graph::constants) {
            if !arrays.iter().any(|(known, _)| known == name) {
                arrays.push((name.to_owned(), array.clone()));
            }
        }
    }
    let ports = case.model.ports().unwrap();
    let output = |port: &neuron_builder::HostTensor| {
        let bytes = outputs[&port.name].clone();
        (port.name.clone(), Array::new(port.element, &port.shape, bytes).unwrap())
    };
    let outputs = ports.last().unwrap().outputs.iter().map(output).collect();
    let (name, python) = (case.name.clone(), case.python.clone());
    Check { name, arrays, outputs, python, bound: case.bound }
}

/// Compares with NumPy, where there is one.
pub fn verify(checks: &[Check]) {
    let Some(numpy) = numpy() else {
        return;
    };
    let (mut lines, mut bytes) = (Vec::new(), Vec::new());
    for check in checks {
        let mut list = |arrays: &[(String, Array)]| {
            let mut entries = Vec::new();
            for (name, array) in arrays {
                entries.push(entry(name, array.element(), array.shape()));
                bytes.extend_from_slice(array.data());
            }
            entries.join(", ")
        };
        let (arrays, results) = (list(&check.arrays), list(&check.outputs));
        let (name, python) = (&check.name, check.python.replace('\n', "\\n"));
        lines.push(format!(
            r#"{{"name": "{name}", "python": "{python}", "arrays": [{arrays}], "outputs": [{results}]}}"#
        ));
    }
    let errors = fp64(&numpy.run(SCRIPT, &[&format!("[{}]", lines.join(","))], &bytes));
    assert_eq!(errors.len(), checks.len());
    let wrong: Vec<String> = checks
        .iter()
        .zip(errors)
        .filter(|(check, error)| error.is_nan() || *error > check.bound)
        .map(|(check, error)| {
            format!("{}: error {error:.3e}, at most {:.1e}", check.name, check.bound)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
