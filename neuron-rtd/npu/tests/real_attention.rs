//! The attention programs of the real compiler, on random inputs, against
//! softmax(Q^T K) V^T in fp64: computed here, and by NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use npu::number::Element;
use npu::{Program, Tensors};
use support::neff::changed;
use support::{Random, fp64, numpy};

/// A program, its data type, its sequence length, and the error that its type
/// allows, as a part of the largest output: of fp32 64 units in the last place, of
/// bf16 the rounding of the weights and of the result (1.5 units of 2^-8).
const CASES: [(&str, Element, usize, f64); 4] = [
    ("attn-fused-bf16-512", Element::Bf16, 512, 6e-3),
    ("attn-base-bf16-512", Element::Bf16, 512, 6e-3),
    ("attn-fused-fp32-512", Element::Fp32, 512, 4e-6),
    ("attn-fused-fp32-1024", Element::Fp32, 1024, 4e-6),
];

const ROWS: usize = 128;
const NAMES: [&str; 3] = ["q_ref", "k_ref", "v_ref"];

const SCRIPT: &str = r#"
import sys, numpy, ml_dtypes
kind = numpy.dtype(ml_dtypes.bfloat16 if sys.argv[1] == "2" else "float32")
data = numpy.frombuffer(sys.stdin.buffer.read(), kind).astype("float64")
q, k, v = data.reshape(3, 128, -1)
scores = q.T @ k
weights = numpy.exp(scores - scores.max(1, keepdims=True))
weights /= weights.sum(1, keepdims=True)
sys.stdout.buffer.write((weights @ v.T).tobytes())
"#;

/// Random inputs: scores of about variance 1, so that many keys count.
fn inputs(element: Element, length: usize, seed: u64) -> Tensors {
    let mut random = Random(seed);
    NAMES
        .iter()
        .map(|name| {
            let scale = if *name == "v_ref" { 1.0 } else { 0.3 };
            let numbers = (0..ROWS * length).flat_map(|_| (random.normal() * scale).to_le_bytes());
            let bytes: Vec<u8> = numbers.collect();
            ((*name).to_owned(), Element::Fp32.convert(&bytes, element))
        })
        .collect()
}

fn numbers(element: Element, bytes: &[u8]) -> Vec<f64> {
    let load = |bytes| f64::from(element.decode(element.load(bytes)));
    bytes.chunks_exact(element.bytes()).map(load).collect()
}

/// Attention in fp64 with scores times `scale`, \[length, 128\].
fn attention(element: Element, length: usize, inputs: &Tensors, scale: f64) -> Vec<f64> {
    let [q, k, v] = NAMES.map(|name| numbers(element, &inputs[name]));
    let mut out = Vec::new();
    for query in 0..length {
        let mut scores = vec![0.0; length];
        for row in 0..ROWS {
            let q = q[row * length + query];
            for (score, k) in scores.iter_mut().zip(&k[row * length..]) {
                *score += q * k * scale;
            }
        }
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        out.extend((0..ROWS).map(|row| {
            let v = &v[row * length..];
            weights.iter().zip(v).map(|(weight, v)| weight * v).sum::<f64>() / total
        }));
    }
    out
}

/// Largest difference, as a part of the largest expected number.
fn error(ours: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(ours.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let pairs = ours.iter().zip(expected);
    // a NaN must not pass as no difference
    let worst = pairs.fold(0.0f64, |most, (a, b)| {
        let difference = (a - b).abs();
        if difference.is_nan() { f64::INFINITY } else { most.max(difference) }
    });
    worst / largest
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(neuron_tests::fixture(format!("profiles/{name}.neff"))).unwrap()
}

fn run(name: &str, inputs: &Tensors) -> Tensors {
    Program::from_neff(&file(name)).unwrap().run(inputs).unwrap()
}

/// exp(scale x score - largest score) is, once divided by the sums, softmax of
/// the scaled scores: a copy of a program with another scale in its ACTIVATE
/// records computes that.
#[test]
fn an_altered_copy_computes_what_it_says() {
    let (_, element, length, bound) = CASES[2];
    let copy = changed(&file(CASES[2].0), "sg00/Activation.bin", |stream| {
        let records = stream.chunks_exact_mut(64);
        let exponentials = records.filter(|record| record[0] == 0x21 && record[35] == 7);
        let count =
            exponentials.map(|record| record[36..40].copy_from_slice(&0.5f32.to_le_bytes()));
        assert!(count.count() > 0);
    });
    let inputs = inputs(element, length, 42);
    let outputs = Program::from_neff(&copy).unwrap().run(&inputs).unwrap();
    let ours = numbers(element, &outputs["kernel_out"]);
    let scaled = error(&ours, &attention(element, length, &inputs, 0.5));
    assert!(scaled < bound, "{scaled:e}");
    assert!(error(&ours, &attention(element, length, &inputs, 1.0)) > 0.01);
}

#[test]
fn attention_is_right() {
    for (name, element, length, bound) in CASES {
        let inputs = inputs(element, length, 40);
        let outputs = run(name, &inputs);
        let ours = numbers(element, &outputs["kernel_out"]);
        let error = error(&ours, &attention(element, length, &inputs, 1.0));
        println!("{name}: {error:.1e} of the largest output");
        assert!(error < bound, "{name}: {error:e}");
    }
}

#[test]
fn attention_is_that_of_numpy() {
    let Some(numpy) = numpy() else { return };
    for (name, element, length, bound) in CASES {
        let inputs = inputs(element, length, 41);
        let outputs = run(name, &inputs);
        let data: Vec<u8> = NAMES.iter().flat_map(|name| inputs[*name].clone()).collect();
        let theirs = fp64(&numpy.run(SCRIPT, &[&element.bytes().to_string()], &data));
        let error = error(&numbers(element, &outputs["kernel_out"]), &theirs);
        println!("{name}: {error:.1e} of the largest output");
        assert!(error < bound, "{name}: {error:e}");
    }
}
