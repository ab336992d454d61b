//! The other programs of the real compiler, on random inputs, against what
//! they compute (isa-layouts.md §8), in fp64.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use npu::number::Element;
use npu::{Program, Tensors};
use support::{Random, fp64, numpy};

fn program(name: &str) -> Program {
    let file = neuron_tests::fixture(format!("profiles/{name}.neff"));
    Program::from_neff(&std::fs::read(file).unwrap()).unwrap()
}

fn numbers(element: Element, bytes: &[u8]) -> Vec<f64> {
    let load = |bytes| f64::from(element.decode(element.load(bytes)));
    bytes.chunks_exact(element.bytes()).map(load).collect()
}

fn random(random: &mut Random, element: Element, count: usize, scale: f32) -> Vec<u8> {
    let bytes: Vec<u8> = (0..count).flat_map(|_| (random.normal() * scale).to_le_bytes()).collect();
    Element::Fp32.convert(&bytes, element)
}

fn tensors(all: Vec<(&str, Vec<u8>)>) -> Tensors {
    all.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

/// Largest difference, as a part of the largest expected number.
fn error(ours: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(ours.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let worst = ours.iter().zip(expected).fold(0.0f64, |most, (a, b)| {
        let difference = (a - b).abs();
        // a NaN must not pass as no difference
        if difference.is_nan() { f64::INFINITY } else { most.max(difference) }
    });
    worst / largest
}

fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

/// [rows, inner] x [inner, columns]
fn product(a: &[f64], b: &[f64], inner: usize, columns: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for a in a.chunks_exact(inner) {
        let mut row = vec![0.0; columns];
        for (a, b) in a.iter().zip(b.chunks_exact(columns)) {
            for (sum, b) in row.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
        out.extend(row);
    }
    out
}

/// fp16 in and out, on two cores: half a unit of the result.
#[test]
fn two_cores_multiply_matrices() {
    let mut seed = Random(50);
    let x = random(&mut seed, Element::Fp16, 128 * 256, 1.0);
    let y = random(&mut seed, Element::Fp16, 256 * 128, 1.0);
    let outputs = program("matmul-small").run(&tensors(vec![("x", x.clone()), ("y", y.clone())]));
    let ours = numbers(Element::Fp16, &outputs.unwrap()["output0"]);
    let expected = product(&numbers(Element::Fp16, &x), &numbers(Element::Fp16, &y), 256, 128);
    let worst = error(&ours, &expected);
    println!("matmul-small: {worst:.1e} of the largest output");
    assert!(worst < 1.0 / 2048.0 + 1e-6, "{worst:e}");

    let Some(numpy) = numpy() else { return };
    let script = r#"
import sys, numpy
x, y = numpy.frombuffer(sys.stdin.buffer.read(), "float16").astype("float64").reshape(2, -1)
sys.stdout.buffer.write((x.reshape(128, 256) @ y.reshape(256, 128)).tobytes())
"#;
    let theirs = fp64(&numpy.run(script, &[], &[x, y].concat()));
    assert!(error(&ours, &theirs) < 1.0 / 2048.0 + 1e-6);
}

/// Sum over experts of weight x (silu(gate) x up) x down: the ids come from an
/// input, so that registers, their arithmetic and offsets in them are used.
#[test]
fn experts_are_chosen_by_registers() {
    const EXPERTS: usize = 128;
    let mut seed = Random(51);
    let ids: [usize; 8] = [3, 127, 64, 0, 17, 100, 31, 32];
    let (gate_bytes, down_bytes) = (2048 * 512 * 2, 256 * 2048 * 2);
    let mut gate_up = vec![0; EXPERTS * gate_bytes];
    let mut down = vec![0; EXPERTS * down_bytes];
    for id in ids {
        gate_up[id * gate_bytes..][..gate_bytes].copy_from_slice(&random(
            &mut seed,
            Element::Bf16,
            2048 * 512,
            0.03,
        ));
        down[id * down_bytes..][..down_bytes].copy_from_slice(&random(
            &mut seed,
            Element::Bf16,
            256 * 2048,
            0.1,
        ));
    }
    let hidden = random(&mut seed, Element::Bf16, 2048, 1.0);
    let weights = random(&mut seed, Element::Fp32, 8, 1.0);
    let mut expected = vec![0.0; 2048];
    for (id, weight) in ids.iter().zip(numbers(Element::Fp32, &weights)) {
        let gate_up = numbers(Element::Bf16, &gate_up[id * gate_bytes..][..gate_bytes]);
        let down = numbers(Element::Bf16, &down[id * down_bytes..][..down_bytes]);
        let both = product(&numbers(Element::Bf16, &hidden), &gate_up, 2048, 512);
        let (gate, up) = both.split_at(256);
        let inner: Vec<f64> = gate.iter().zip(up).map(|(gate, up)| silu(*gate) * up).collect();
        for (sum, value) in expected.iter_mut().zip(product(&inner, &down, 256, 2048)) {
            *sum += weight * value;
        }
    }
    let ids = ids.iter().flat_map(|id| u32::try_from(*id).unwrap().to_le_bytes()).collect();
    let inputs = tensors(vec![
        ("input0", weights),
        ("input1", ids),
        ("input2", down),
        ("input3", gate_up),
        ("input4", hidden),
    ]);
    for name in ["moe-dge", "inspect/neff_171450338541704"] {
        let outputs = program(name).run(&inputs).unwrap();
        let worst = error(&numbers(Element::Bf16, &outputs["output0"]), &expected);
        println!("{name}: {worst:.1e} of the largest output");
        // the inner activation and the result are rounded to bf16
        assert!(worst < 1.5 / 256.0, "{name}: {worst:e}");
    }
}

fn causal_inputs() -> Tensors {
    let mut seed = Random(52);
    let mask = (0..2048)
        .flat_map(|row| (0..2048).map(move |column| if column <= row { 1.0f32 } else { 0.0 }))
        .flat_map(f32::to_le_bytes)
        .collect();
    tensors(vec![
        ("input0", mask),
        ("input1", random(&mut seed, Element::Fp32, 2048 * 128, 1.0)),
        ("input2", random(&mut seed, Element::Fp32, 128 * 2048, 1.0)),
        ("input3", random(&mut seed, Element::Fp32, 2048 * 128, 1.0)),
    ])
}

/// Scores q k, \[2048, 2048\].
fn scores(inputs: &Tensors) -> Vec<f64> {
    let [q, k] = ["input3", "input2"].map(|name| numbers(Element::Fp32, &inputs[name]));
    product(&q, &k, 128, 2048)
}

/// The program loads keys 0 to 511 only and uses them for every tile, as
/// isa-layouts.md §8 says of it: a row has the largest of its scores with the
/// keys up to its own number, of those. It multiplies in bf16.
#[test]
fn scores_of_the_first_keys_have_their_maximum() {
    let inputs = causal_inputs();
    let outputs = program("xla-cache-a").run(&inputs).unwrap();
    let ours = numbers(Element::Bf16, &outputs["output0"]);
    let rows = scores(&inputs);
    let rows = rows.chunks_exact(2048).enumerate();
    let largest = |keys: &[f64]| keys.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let expected: Vec<f64> =
        rows.map(|(row, scores)| largest(&scores[..(row + 1).min(512)])).collect();
    let worst = error(&ours, &expected);
    println!("xla-cache-a: {worst:.1e} of the largest output");
    assert!(worst < 1.5 / 256.0, "{worst:e}");
}

/// Causal attention that is not divided by its sums: the sum over keys of v
/// times the exponential of the score less the largest score. As in
/// `xla-cache-a`, the scores of every tile of 512 keys are those of keys 0 to
/// 511, while the rows of v and the mask are those of the tile. Inputs are
/// rounded to bf16 when they are loaded.
#[test]
fn attention_with_the_first_keys_is_right() {
    let mut inputs = causal_inputs();
    let rounded = |bytes: &[u8]| {
        let narrow = Element::Fp32.convert(bytes, Element::Bf16);
        Element::Bf16.convert(&narrow, Element::Fp32)
    };
    let q = numbers(Element::Fp32, &inputs["input3"]);
    let q: Vec<u8> = q.iter().flat_map(|q| (*q as f32 * 0.1).to_le_bytes()).collect();
    inputs.insert("input3".to_owned(), rounded(&q));
    for name in ["input1", "input2"] {
        let bytes = rounded(&inputs[name]);
        inputs.insert(name.to_owned(), bytes);
    }
    let outputs = program("xla-cache-b").run(&inputs).unwrap();
    let ours = numbers(Element::Bf16, &outputs["output0"]);
    let v = numbers(Element::Fp32, &inputs["input1"]);
    let mut expected = Vec::new();
    for (row, scores) in scores(&inputs).chunks_exact(2048).enumerate() {
        let scores = &scores[..(row + 1).min(512)];
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = (0..=row).map(|key| (scores[key % 512] - most).exp()).collect();
        expected.extend(product(&weights, &v[..weights.len() * 128], weights.len(), 128));
    }
    let worst = error(&ours, &expected);
    println!("xla-cache-b: {worst:.1e} of the largest output");
    // weights, partial results of up to four tiles and the result are rounded
    // to bf16, one after the other
    assert!(worst < 3.0 / 256.0, "{worst:e}");
}
