//! Batch statistics against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::tensor::{Statistics, TensorScalar};
use neuron_core::isa::code::{AluOp, Dtype, ImmSource};
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Opcode};
use support::neff::{GAP, plain, whole};
use support::oracle::{Near, normal, oracle, stops};

/// Elements of a row: an odd number, so that the halves differ.
const COUNT: u16 = 25;

fn stats(src_type: Dtype, results: u16) -> Statistics {
    Statistics {
        src: whole(0, COUNT),
        src_type,
        dst_type: Dtype::FP32,
        channels: 128,
        even_count: Fp32::new(13.0),
        odd_count: Fp32::new(12.0),
        dst: whole(1, results),
    }
}

/// In fp64, which is rounded once on both sides.
const PARTS: &str = "(lambda x: np.hstack([part for half in (x[:, ::2], x[:, 1::2]) for part in \
    (np.full((128, 1), half.shape[1]), half.mean(1, keepdims=True), \
    half.var(1, keepdims=True) * half.shape[1])]))(a.astype('float64'))";

#[test]
fn statistics_of_even_and_odd_elements() {
    let Some(mut oracle) = oracle(90) else { return };
    for dtype in [Dtype::FP32, Dtype::BFLOAT16] {
        let work = vec![plain(Opcode::BATCH_NORM_STATS2, stats(dtype, 6))];
        let input = [normal(dtype, COUNT)];
        oracle.case(Near::Ulp(1), &input, (Dtype::FP32, 6), Engine::Dve, work, PARTS);
    }
    let one = Statistics { even_count: Fp32::new(25.0), ..stats(Dtype::FP32, 3) };
    let work = vec![plain(Opcode::BATCH_NORM_STATS, one)];
    let expression = "(lambda x: np.hstack([np.full((128, 1), 25), x.mean(1, keepdims=True), \
        x.var(1, keepdims=True) * 25]))(a.astype('float64'))";
    let input = [normal(Dtype::FP32, COUNT)];
    oracle.case(Near::Ulp(1), &input, (Dtype::FP32, 3), Engine::Dve, work, expression);
    let mut turned = stats(Dtype::FP32, 6);
    (turned.src, turned.even_count, turned.odd_count) =
        (whole(0, 64), Fp32::new(32.0), Fp32::new(32.0));
    let work = vec![plain(Opcode::TRANSPOSE_BATCH_NORM_STATS2, turned)];
    let expression = PARTS.replace(
        "(a.astype('float64'))",
        "(a.reshape(4, 32, 2, 32).swapaxes(1, 3).reshape(128, 64).astype('float64'))",
    );
    let input = [normal(Dtype::FP32, 64)];
    oracle.case(Near::Ulp(1), &input, (Dtype::FP32, 6), Engine::Dve, work, &expression);
    oracle.check();
}

/// Mean and variance of two parts of a row, and the norm of it: the two
/// records and the one that a layer norm has after them.
#[test]
fn parts_make_the_whole() {
    let Some(mut oracle) = oracle(91) else { return };
    let part = |first: u16, at: u32| {
        let mut body = stats(Dtype::FP32, 6);
        body.src.start.0 += u32::from(first) * 4;
        body.src.counts[0] = if first == 0 { 20 } else { 5 };
        (body.even_count, body.odd_count) = if first == 0 {
            (Fp32::new(10.0), Fp32::new(10.0))
        } else {
            (Fp32::new(3.0), Fp32::new(2.0))
        };
        body.dst.start.0 = 3 * GAP + at * 4;
        plain(Opcode::BATCH_NORM_STATS2, body)
    };
    let aggregate = Statistics {
        src: whole(3, 12),
        src_type: Dtype::FP32,
        dst_type: Dtype::FP32,
        channels: 128,
        dst: whole(1, 2),
        ..Statistics::default()
    };
    let aggregate = plain(Opcode::BATCH_NORM_AGGREGATE, aggregate);
    let work = vec![part(0, 0), part(20, 6), aggregate];
    // the parts are rounded to fp32, then the whole
    let expression = "(lambda parts: (lambda n, mu, m2: np.stack([(n * mu).sum(0) / 25, \
        (m2 + n * (mu - (n * mu).sum(0) / 25) ** 2).sum(0) / 25], 1))\
        (np.array([[len(p[0])] * 128 for p in parts], 'float64'), \
        np.array([p.mean(1).astype('float32') for p in parts], 'float64'), \
        np.array([(p.var(1) * p.shape[1]).astype('float32') for p in parts], 'float64')))\
        ([half.astype('float64') for part in (a[:, :20], a[:, 20:]) \
        for half in (part[:, ::2], part[:, 1::2])])";
    let input = [normal(Dtype::FP32, COUNT)];
    oracle.case(Near::Ulp(1), &input, (Dtype::FP32, 2), Engine::Dve, work.clone(), expression);
    oracle.check();
    let mut counted = work;
    let mut wrong = Statistics { even_count: Fp32::new(1.0), ..Statistics::default() };
    (wrong.src, wrong.dst, wrong.channels) = (whole(3, 12), whole(1, 2), 128);
    (wrong.src_type, wrong.dst_type) = (Dtype::FP32, Dtype::FP32);
    counted[2] = plain(Opcode::BATCH_NORM_AGGREGATE, wrong);
    let fault = stops("cayman", &input, (Dtype::FP32, 2), Engine::Dve, counted);
    assert!(fault.to_string().contains("counts"), "{fault}");
}

/// (x - mean) x scale with both as columns, as a norm ends.
#[test]
fn a_norm_is_one_record_after_them() {
    let Some(mut oracle) = oracle(92) else { return };
    let body = TensorScalar {
        src: whole(0, COUNT),
        src_type: Dtype::FP32,
        dst_type: Dtype::BFLOAT16,
        channels: 128,
        imm0_source: ImmSource::PTR,
        op0: AluOp::SUBTRACT,
        op1: AluOp::MULTIPLY,
        imm1_source: ImmSource::PTR,
        imm0: GAP,
        imm1: GAP + 4,
        dst: whole(2, COUNT),
        ..TensorScalar::default()
    };
    let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
    let inputs = [(Dtype::FP32, COUNT), (Dtype::FP32, 2)];
    let expression = "(a - b[:, :1]) * b[:, 1:]";
    oracle.same(&inputs, (Dtype::BFLOAT16, COUNT), Engine::Dve, work, expression);
    oracle.check();
}
