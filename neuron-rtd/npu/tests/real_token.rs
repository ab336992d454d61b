//! attn-tkg, attention of one token with a cache of 640, on random inputs.
//!
//! Its public source (KevGomes1403/nki-moe-megakernel, f1fe87a,
//! kernels/attn_tkg/agents/v6_ultimate.py) means usual attention with
//! projections, norms of each head and rotary positions. It hands the tiles of
//! its weights and its caches to the matrix product as they lie in memory,
//! where the product sums over the partitions of the stationary tile. So each
//! tile of 128 x 128 acts turned: rows take the part of columns. The program
//! says the same, and this is what NumPy computes here; the test of the source
//! holds a bound of 0.1 on numbers around 0.05, and does not see it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use neuron_core::neff::Usage;
use npu::number::Element;
use npu::{Program, Tensors};
use support::{Random, fp64, numpy};

/// Inputs as fp32 from the last one to the first: hidden state, weights of
/// q, k, v, norms of q and k, caches of k and v, cosine, sine.
const SCRIPT: &str = r#"
import sys, numpy as np, ml_dtypes
data = np.frombuffer(sys.stdin.buffer.read(), ml_dtypes.bfloat16)
data, at = data.astype("float64"), 0
def take(*shape):
    global at
    size = int(np.prod(shape))
    at += size
    return data[at - size : at].reshape(shape)
turned = sys.argv[1] == "turned"
rounded = lambda x: x.astype("float32").astype(ml_dtypes.bfloat16).astype("float64")
hidden, wq, wk, wv = take(2048), take(8, 128, 2048), take(4, 128, 2048), take(4, 128, 2048)
nq, nk, kc, vc = take(128), take(128), take(4, 640, 128), take(4, 640, 128)
cos, sin = take(128), take(128)

def project(w):
    if not turned:
        return w @ hidden
    return sum(w[:, t : t + 128].T @ hidden[t : t + 128] for t in range(0, 2048, 128))

def rope(x, norm):
    x = x / np.sqrt(np.mean(rounded(x * x)) + 1e-6) * norm
    return x * cos + np.concatenate([-x[64:], x[:64]]) * sin

out = []
for head in range(8):
    group = head // 2
    q = rope(project(wq[head]), nq) / np.sqrt(128)
    k, v = rope(project(wk[group]), nk), project(wv[group])
    tiles = range(0, 640, 128)
    if turned:
        scores = np.concatenate([kc[group, t : t + 128].T @ rounded(q) for t in tiles])
    else:
        scores = kc[group] @ rounded(q)
    # the sum over the products with the newest key is one of bf16 numbers
    newest = rounded(k * q).sum()
    most = max(scores.max(), newest)
    weights, last = np.exp(scores - most), np.exp(newest - most)
    if turned:
        mixed = sum(vc[group, t : t + 128] @ weights[t : t + 128] for t in tiles)
    else:
        mixed = weights @ vc[group]
    out.append((mixed + last * v) / (weights.sum() + last))
sys.stdout.buffer.write(np.concatenate(out).tobytes())
"#;

/// Inputs of the reference, in its order.
const ORDER: [&str; 10] = [
    "input10", "input9", "input8", "input7", "input6", "input5", "input4", "input3", "input2",
    "input1",
];

fn random(random: &mut Random, count: usize, mean: f32, scale: f32) -> Vec<u8> {
    let number = |_| (mean + random.normal() * scale).to_le_bytes();
    Element::Fp32.convert(&(0..count).flat_map(number).collect::<Vec<u8>>(), Element::Bf16)
}

/// Largest difference, as a part of the largest expected number.
fn error(ours: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(ours.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let worst = ours.iter().zip(expected).fold(0.0f64, |most, (a, b)| {
        let difference = (a - b).abs();
        if difference.is_nan() { f64::INFINITY } else { most.max(difference) }
    });
    worst / largest
}

#[test]
fn one_token_attention_is_that_of_its_source() {
    let Some(numpy) = numpy() else { return };
    let file = neuron_tests::fixture("profiles/attn-tkg.neff");
    let program = Program::from_neff(&std::fs::read(file).unwrap()).unwrap();
    let mut seed = Random(54);
    let mut inputs = Tensors::new();
    for tensor in program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input) {
        let count = usize::try_from(tensor.bytes).unwrap();
        let data = match tensor.name.as_str() {
            "input0" => 640i32.to_le_bytes().to_vec(),
            "input5" | "input6" => random(&mut seed, count / 2, 1.0, 0.3),
            // large enough that the softmax is not flat
            "input3" | "input4" => random(&mut seed, count / 2, 0.0, 0.8),
            "input1" | "input2" => random(&mut seed, count / 2, 0.0, 0.7),
            _ => random(&mut seed, count / 2, 0.0, 0.05),
        };
        inputs.insert(tensor.name.clone(), data);
    }
    let ours = &program.run(&inputs).unwrap()["output0"];
    let ours: Vec<f64> = ours
        .chunks_exact(2)
        .map(|bytes| f64::from(Element::Bf16.decode(Element::Bf16.load(bytes))))
        .collect();
    let data: Vec<u8> = ORDER.iter().flat_map(|name| inputs[*name].clone()).collect();
    let expected = |form| fp64(&numpy.run(SCRIPT, &[form], &data));
    let (turned, straight) = (error(&ours, &expected("turned")), error(&ours, &expected("plain")));
    assert!(turned < 0.01, "{turned}");
    assert!(straight > 0.5, "{straight}");
}
