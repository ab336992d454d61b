//! Runs built models on the software NeuronCore and compares with NumPy.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../../npu/tests/support/mod.rs"]
mod oracle;

use neuron_builder::{Array, ElementType, Graph, Model, Origin};
pub(crate) use oracle::{Random, fp64, numpy};

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
        assert np.isfinite(w).all(), line["name"]
        error = max(error, float(np.abs(g - w).max() / max(np.abs(w).max(), 1e-30))) if np.isfinite(g).all() else np.inf
    sys.stdout.buffer.write(np.float64(error).tobytes())
"#;

fn entry(name: &str, element: ElementType, shape: &[usize]) -> String {
    let (name, word) = (name.replace('/', "_"), element.word());
    format!(r#"{{"name": "{name}", "type": "{word}", "shape": {shape:?}}}"#)
}

/// Runs every case and compares; prints the error of each.
pub fn compare(cases: &[Case]) {
    let Some(numpy) = numpy() else {
        return;
    };
    let (mut lines, mut bytes) = (Vec::new(), Vec::new());
    for case in cases {
        let outputs = run(&case.model, &case.inputs);
        let (mut arrays, mut results) = (Vec::new(), Vec::new());
        for (name, array) in &case.inputs {
            arrays.push(entry(name, array.element(), array.shape()));
            bytes.extend_from_slice(array.data());
        }
        let mut known: Vec<String> = case.inputs.iter().map(|(name, _)| name.clone()).collect();
        for node in &case.model.nodes {
            let neuron_builder::HostNode::Neuron(node) = node else {
                continue;
            };
            for (name, array) in node.cores.iter().flat_map(Graph::constants) {
                if !known.iter().any(|known| known == name) {
                    known.push(name.to_owned());
                    arrays.push(entry(name, array.element(), array.shape()));
                    bytes.extend_from_slice(array.data());
                }
            }
        }
        let ports = case.model.ports().unwrap();
        for port in &ports.last().unwrap().outputs {
            results.push(entry(&port.name, port.element, &port.shape));
            bytes.extend_from_slice(&outputs[&port.name]);
        }
        let (arrays, results) = (arrays.join(", "), results.join(", "));
        let (name, python) = (&case.name, case.python.replace('\n', "\\n"));
        lines.push(format!(
            r#"{{"name": "{name}", "python": "{python}", "arrays": [{arrays}], "outputs": [{results}]}}"#
        ));
    }
    let errors = fp64(&numpy.run(SCRIPT, &[&format!("[{}]", lines.join(","))], &bytes));
    assert_eq!(errors.len(), cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .zip(errors)
        .filter(|(case, error)| !(*error <= case.bound))
        .map(|(case, error)| {
            format!("{}: error {error:.3e}, at most {:.1e}", case.name, case.bound)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a tensor is given to runs.
pub fn is_input(graph: &Graph, name: &str) -> bool {
    graph.inputs().any(|tensor| tensor.name == name && tensor.origin == Origin::Input)
}
