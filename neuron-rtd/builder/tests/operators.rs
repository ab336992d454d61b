//! Each operator alone against NumPy, at several shapes.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use neuron_builder::{
    Activation, Array, Attention, ElementType, Graph, Op, PoolKind, TensorId, TwoTensors, Window,
};
use support::{Case, Random, compare, random};

use ElementType::{Bf16, F16, F32, I32};

/// Bound for a type, as a part of the largest number: half a unit of the last
/// place of the result, and for attention's powers another one.
fn bound(element: ElementType) -> f64 {
    match element {
        // sums of up to 3000 terms
        F32 | I32 => 2e-6,
        F16 => 5e-4,
        Bf16 => 4e-3,
    }
}

/// A graph with random inputs of these shapes, named x0, x1, ..
fn case(
    name: &str,
    python: &str,
    element: ElementType,
    shapes: &[&[usize]],
    build: impl FnOnce(&mut Graph, &[TensorId]) -> TensorId,
) -> Case {
    let mut graph = Graph::new(name);
    let mut ids = Vec::new();
    let mut inputs = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        let name = format!("x{index}");
        ids.push(graph.input(&name, element, shape).unwrap());
        inputs.push((name, random(7 + index as u64, element, shape)));
    }
    let out = build(&mut graph, &ids);
    graph.output("out", out).unwrap();
    let title = format!("{name} {} {shapes:?}", element.word());
    let mut case = Case::new(&title, graph, python, bound(element));
    case.inputs = inputs;
    case
}

#[test]
fn matmul() {
    let mut cases = Vec::new();
    let sizes = [
        (1, 1, 1),
        (1, 127, 129),
        (127, 1, 513),
        (129, 513, 1),
        (128, 128, 512),
        (200, 300, 700),
        (513, 129, 127),
    ];
    for element in [F32, F16, Bf16] {
        for (m, k, n) in sizes {
            let product = |g: &mut Graph, x: &[TensorId]| g.matmul("product", x[0], x[1]).unwrap();
            cases.push(case("matmul", "out = x0 @ x1", element, &[&[m, k], &[k, n]], product));
        }
    }
    for (a, b, python) in [
        ([513, 129], [513, 127], "out = x0.T @ x1"),
        ([129, 127], [200, 127], "out = x0 @ x1.T"),
        ([1, 130], [600, 1], "out = x0.T @ x1.T"),
    ] {
        let op = Op::MatMul {
            transpose_a: python.contains("x0.T"),
            transpose_b: python.contains("x1.T"),
        };
        for element in [F32, Bf16] {
            let op = op.clone();
            cases.push(case("turned", python, element, &[&a, &b], |g, x| {
                g.apply("product", op, x).unwrap()
            }));
        }
    }
    let op = Op::MatMul { transpose_a: false, transpose_b: true };
    cases.push(case(
        "scores",
        "out = x0 @ x1.swapaxes(1, 2)",
        F32,
        &[&[2, 30, 140], &[2, 9, 140]],
        |g, x| g.apply("product", op, x).unwrap(),
    ));
    let product = |g: &mut Graph, x: &[TensorId]| g.matmul("product", x[0], x[1]).unwrap();
    for shapes in [[&[3, 5, 70][..], &[3, 70, 9]], [&[2, 3, 130, 40], &[40, 33]]] {
        cases.push(case("batched", "out = x0 @ x1", F32, &shapes, product));
    }
    compare(&cases);
}

#[test]
fn chains_of_products_with_bias_and_function() {
    let mut cases = Vec::new();
    for element in [F32, Bf16] {
        for (m, k, n, o) in [(64, 784, 512, 10), (1, 127, 129, 3), (513, 5, 200, 130)] {
            let shapes: [&[usize]; 5] = [&[m, k], &[k, n], &[n], &[n, o], &[o]];
            let python = "h = np.maximum(x0 @ x1 + x2, 0)\ny = h @ x3 + x4\nout = y * sigmoid(y)";
            let mut case = case("chain", python, element, &shapes, |g, x| {
                let h = g.matmul("one", x[0], x[1]).unwrap();
                let h = g.bias("one", h, x[2]).unwrap();
                let h = g.activation("one", Activation::Relu, h).unwrap();
                let y = g.matmul("two", h, x[3]).unwrap();
                let y = g.bias("two", y, x[4]).unwrap();
                g.activation("two", Activation::Silu, y).unwrap()
            });
            // two roundings on the way
            case.bound *= 2.0;
            cases.push(case);
        }
    }
    compare(&cases);
}

#[test]
fn functions() {
    let mut cases = Vec::new();
    let all = [
        (Activation::Identity, "out = x0"),
        (Activation::Relu, "out = np.maximum(x0, 0)"),
        (Activation::Gelu, "out = gelu(x0)"),
        (Activation::Silu, "out = x0 * sigmoid(x0)"),
        (Activation::Tanh, "out = np.tanh(x0)"),
        (Activation::Sigmoid, "out = sigmoid(x0)"),
        (Activation::Exp, "out = np.exp(x0)"),
        (Activation::Square, "out = x0 * x0"),
    ];
    for (function, python) in all {
        for (element, shape) in
            [(F32, &[129, 513][..]), (F32, &[1]), (Bf16, &[3, 127, 2]), (F16, &[2, 5000])]
        {
            let build = |g: &mut Graph, x: &[TensorId]| g.activation("f", function, x[0]).unwrap();
            cases.push(case(function.name(), python, element, &[shape], build));
        }
    }
    compare(&cases);
}

#[test]
fn two_tensors() {
    let mut cases = Vec::new();
    let all = [
        (TwoTensors::Add, "out = x0 + x1"),
        (TwoTensors::Subtract, "out = x0 - x1"),
        (TwoTensors::Multiply, "out = x0 * x1"),
        (TwoTensors::Divide, "out = x0 / x1"),
        (TwoTensors::Maximum, "out = np.maximum(x0, x1)"),
    ];
    for (op, python) in all {
        for (element, shapes) in [
            (F32, [&[129, 513][..], &[129, 513]]),
            (F32, [&[300, 127], &[127]]),
            (Bf16, [&[1], &[1]]),
            (F16, [&[2, 130, 33], &[33]]),
        ] {
            let build = |g: &mut Graph, x: &[TensorId]| g.two("op", op, x[0], x[1]).unwrap();
            cases.push(case(op_name(op), python, element, &shapes, build));
        }
    }
    compare(&cases);
}

fn op_name(op: TwoTensors) -> &'static str {
    match op {
        TwoTensors::Add => "add",
        TwoTensors::Subtract => "subtract",
        TwoTensors::Multiply => "multiply",
        TwoTensors::Divide => "divide",
        TwoTensors::Maximum => "maximum",
    }
}

#[test]
fn softmax_and_norms() {
    let mut cases = Vec::new();
    for (element, shape) in [
        (F32, &[1, 1][..]),
        (F32, &[129, 513]),
        (F32, &[3, 7, 127]),
        (F32, &[2, 3000]),
        (Bf16, &[127, 129]),
        (F16, &[5, 128]),
    ] {
        let last = *shape.last().unwrap();
        let softmax =
            |g: &mut Graph, x: &[TensorId]| g.apply("softmax", Op::Softmax, &[x[0]]).unwrap();
        cases.push(case("softmax", "out = softmax(x0)", element, &[shape], softmax));
        let norm = Op::LayerNorm { eps: 1e-5 };
        let python = "out = layernorm(x0, x1, x2, 1e-5)";
        cases.push(case("layernorm", python, element, &[shape, &[last], &[last]], |g, x| {
            g.apply("norm", norm, x).unwrap()
        }));
        let norm = Op::RmsNorm { eps: 1e-6 };
        cases.push(case(
            "rmsnorm",
            "out = rmsnorm(x0, x1, 1e-6)",
            element,
            &[shape, &[last]],
            |g, x| g.apply("norm", norm, x).unwrap(),
        ));
    }
    compare(&cases);
}

#[test]
fn convolutions() {
    let mut cases = Vec::new();
    let window = |size, stride, padding| Window { size, stride, padding };
    for (element, x, w, window) in [
        (F32, [1, 1, 28, 28], [6, 1, 5, 5], Window::square(5, 1)),
        (F32, [3, 6, 14, 14], [16, 6, 5, 5], Window::square(5, 1)),
        (F32, [2, 3, 17, 19], [7, 3, 3, 3], window([3, 3], [2, 2], [1, 1])),
        (F32, [1, 130, 9, 40], [129, 130, 3, 2], window([3, 2], [1, 3], [0, 2])),
        (F32, [1, 2, 3, 600], [5, 2, 1, 1], Window::square(1, 1)),
        (Bf16, [1, 16, 10, 10], [8, 16, 3, 3], window([3, 3], [1, 1], [1, 1])),
    ] {
        let mut graph = Graph::new("convolution");
        let input = graph.input("x", element, &x).unwrap();
        let weights = graph.constant("w", random(3, element, &w)).unwrap();
        let bias = graph.constant("b", random(4, element, &w[..1])).unwrap();
        let y = graph.apply("c", Op::Convolution(window), &[input, weights, bias]).unwrap();
        let y = graph.activation("c", Activation::Relu, y).unwrap();
        graph.output("out", y).unwrap();
        let python = format!(
            "out = np.maximum(conv(x, w, {:?}, {:?}) + b[:, None, None], 0)",
            window.stride, window.padding
        );
        let python = python
            .replace('[', "(")
            .replace(']', ")")
            .replace("b(:, None, None)", "b[:, None, None]");
        let case = Case::new(&format!("convolution {x:?} {w:?}"), graph, &python, bound(element));
        cases.push(case.with("x", random(5, element, &x)));
    }
    compare(&cases);
}

#[test]
fn pooling() {
    let mut cases = Vec::new();
    for (element, shape, window, text) in [
        (F32, [2, 6, 24, 24], Window::square(2, 2), "(2, 2), (2, 2)"),
        (F32, [1, 129, 7, 9], Window::square(3, 1), "(3, 3), (1, 1)"),
        (
            F16,
            [1, 1, 5, 5],
            Window { size: [5, 1], stride: [1, 2], padding: [0; 2] },
            "(5, 1), (1, 2)",
        ),
    ] {
        for (kind, fold) in [(PoolKind::Max, "max"), (PoolKind::Average, "mean")] {
            let python = format!("out = windows(x0, {text}).{fold}((-1, -2))");
            cases.push(case(fold, &python, element, &[&shape], |g, x| {
                g.apply("pool", Op::Pool(kind, window), x).unwrap()
            }));
        }
    }
    compare(&cases);
}

#[test]
fn attention() {
    let mut cases = Vec::new();
    for (element, q, k, heads, causal) in [
        (F32, &[128, 128][..], &[128, 128][..], 2, None),
        (F32, &[128, 128], &[128, 128], 2, Some(0)),
        (F32, &[2, 200, 96], &[2, 330, 96], 3, None),
        (F32, &[300, 64], &[700, 64], 1, Some(400)),
        (F32, &[1, 8], &[513, 8], 1, Some(512)),
        (Bf16, &[129, 128], &[129, 128], 1, Some(0)),
    ] {
        let scale = 1.0 / ((q[q.len() - 1] / heads) as f32).sqrt();
        let more = causal.map_or("None".to_owned(), |more: usize| more.to_string());
        let python = format!("out = attention(x0, x1, x2, {heads}, {scale}, {more})");
        let attention = Attention { heads, scale, causal };
        cases.push(case("attention", &python, element, &[q, k, k], |g, x| {
            g.apply("attention", Op::Attention(attention), x).unwrap()
        }));
    }
    compare(&cases);
}

#[test]
fn embedding() {
    let mut cases = Vec::new();
    for (element, entries, size, count) in
        [(F32, 1, 1, 1), (F32, 1000, 129, 127), (Bf16, 129, 600, 200)]
    {
        let mut graph = Graph::new("embedding");
        let table = graph.constant("table", random(1, element, &[entries, size])).unwrap();
        let ids = graph.input("ids", I32, &[count]).unwrap();
        let out = graph.apply("embedding", Op::Embedding, &[table, ids]).unwrap();
        graph.output("out", out).unwrap();
        let mut random = Random(9);
        let values: Vec<f32> =
            (0..count).map(|_| (random.next() % entries as u64) as f32).collect();
        let ids = Array::from_f32(I32, &[count], &values).unwrap();
        let name = format!("embedding {entries} {size} {count}");
        cases.push(Case::new(&name, graph, "out = table[ids]", 0.0).with("ids", ids));
    }
    compare(&cases);
}

#[test]
fn movement() {
    let mut cases = Vec::new();
    let shapes: [&[usize]; 3] = [&[3, 130, 5], &[3, 1, 5], &[3, 7, 5]];
    let concat =
        |axis| move |g: &mut Graph, x: &[TensorId]| g.apply("c", Op::Concat { axis }, x).unwrap();
    cases.push(case("concat", "out = np.concatenate([x0, x1, x2], 1)", F32, &shapes, concat(1)));
    let shapes: [&[usize]; 2] = [&[127, 513], &[127, 1]];
    cases.push(case("concat", "out = np.concatenate([x0, x1], 1)", Bf16, &shapes, concat(1)));
    let python = "a, b = np.split(x0, [2], 1)\nout = np.exp(a.reshape(2, 130).T.reshape(130, 2).T) + 0 * b.sum()";
    cases.push(case("split", python, F32, &[&[130, 129]], |g, x| {
        let pieces = g.split("s", x[0], 1, &[2, 127]).unwrap();
        let flat = g.reshape("r", pieces[0], &[2, 130]).unwrap();
        g.activation("e", Activation::Exp, flat).unwrap()
    }));
    // a tensor that one operator makes by images and another takes by rows
    let python = "y = windows(x0, (2, 2), (2, 2)).max((-1, -2))\nout = y.reshape(4, 54) @ x1";
    cases.push(case("flatten", python, F32, &[&[4, 6, 6, 6], &[54, 10]], |g, x| {
        let y = g.apply("p", Op::Pool(PoolKind::Max, Window::square(2, 2)), &[x[0]]).unwrap();
        let y = g.reshape("r", y, &[4, 54]).unwrap();
        g.matmul("m", y, x[1]).unwrap()
    }));
    for case in &mut cases {
        case.bound = case.bound.min(4e-6);
    }
    compare(&cases);
}
