//! Folds, scans and accumulators against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::act::ReadAccumulator;
use neuron_core::isa::body::select::LaneReduce;
use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar, Unary};
use neuron_core::isa::code::{
    AccumulatorCmd, AluOp, Dtype, DtypePair, ImmSource, LaneAxis, LaneOp, ReduceDims, Reverse,
};
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Instruction, Opcode};
use support::neff::{GAP, plain, whole};
use support::oracle::{COUNT, Fill, Near, normal, oracle, stops};

fn unary(op: AluOp, dims: ReduceDims, results: u16) -> Unary {
    let mut body = Unary {
        src: whole(0, COUNT),
        src_type: Dtype::BFLOAT16,
        dst_type: Dtype::FP32,
        channels: 128,
        op,
        dims,
        dst: whole(1, results),
        ..Unary::default()
    };
    body.src.steps = [1, 4, 12, 0];
    body.src.counts = [4, 3, 2, 1];
    body
}

/// NumPy adds pairwise; its running sum adds in order, as we do.
#[test]
fn tensor_reduce() {
    let Some(mut oracle) = oracle(63) else { return };
    let input = [(Dtype::BFLOAT16, COUNT)];
    for (op, dims, negated, count, expression) in [
        (AluOp::ADD, ReduceDims::X, 0, 6, "np.cumsum(a.reshape(128, 6, 4), 2)[:, :, -1]"),
        (AluOp::MAX, ReduceDims::X, 1, 6, "-a.reshape(128, 6, 4).max(2)"),
        (AluOp::MAX, ReduceDims::XY, 0, 2, "a.reshape(128, 2, 12).max(2)"),
        (AluOp::ADD, ReduceDims::XY, 1, 2, "-np.cumsum(a.reshape(128, 2, 12), 2)[:, :, -1]"),
        (AluOp::MIN, ReduceDims::XYZ, 0, 1, "a.min(1)"),
        (AluOp::MULTIPLY, ReduceDims::XYZW, 0, 1, "np.cumprod(a, 1)[:, -1]"),
    ] {
        let body = Unary { negated, ..unary(op, dims, count) };
        let work = vec![plain(Opcode::TENSOR_REDUCE, body)];
        oracle.same(&input, (Dtype::FP32, count), Engine::Dve, work, expression);
    }
    oracle.target = "sunda";
    for (opcode, op, expression) in [
        (
            Opcode::TENSOR_REDUCE_ADD_BF16,
            AluOp::ADD,
            "np.cumsum(a.reshape(128, 6, 4), 2)[:, :, -1]",
        ),
        (Opcode::TENSOR_REDUCE_MAX_BF16, AluOp::MAX, "a.reshape(128, 6, 4).max(2)"),
    ] {
        let work = vec![plain(opcode, unary(op, ReduceDims::X, 6))];
        oracle.same(&input, (Dtype::FP32, 6), Engine::Dve, work, expression);
    }
    oracle.check();
}

#[test]
fn tensor_cumulative() {
    let Some(mut oracle) = oracle(75) else { return };
    let input = [(Dtype::BFLOAT16, COUNT)];
    for (op, dims, expression) in [
        (AluOp::ADD, ReduceDims::X, "np.cumsum(a.reshape(128, 6, 4), 2)"),
        (AluOp::MAX, ReduceDims::XY, "np.maximum.accumulate(a.reshape(128, 2, 12), 2)"),
        (AluOp::SUBTRACT, ReduceDims::XYZ, "np.subtract.accumulate(a, 1)"),
    ] {
        let work = vec![plain(Opcode::TENSOR_CUMULATIVE, unary(op, dims, COUNT))];
        oracle.same(&input, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
    oracle.check();
}

/// The recurrence, step by step in fp32.
#[test]
fn tensor_tensor_scan() {
    let Some(mut oracle) = oracle(76) else { return };
    let body = ScalarTensorTensor {
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        imm0_source: ImmSource::PTR,
        src_types: DtypePair::new(Dtype::FP16, Dtype::BFLOAT16).unwrap(),
        dst_type: Dtype::FP32,
        channels: 128,
        imm0_type: Dtype::FP32,
        dst: whole(3, COUNT),
        imm0: 2 * GAP,
        ..ScalarTensorTensor::default()
    };
    let scan = |step: &str, initial: &str| {
        format!(
            "np.stack(list(__import__('itertools').accumulate(range(24), \
             lambda r, i: {step}, initial={initial})), 1)[:, 1:]"
        )
    };
    for (op0, op1, reverse, step) in [
        (AluOp::MULTIPLY, AluOp::ADD, Reverse::NONE, "a[:, i] * r + b[:, i]"),
        (AluOp::MAX, AluOp::SUBTRACT, Reverse::SECOND, "b[:, i] - np.maximum(a[:, i], r)"),
        (AluOp::SUBTRACT, AluOp::MIN, Reverse::FIRST, "np.minimum(r - a[:, i], b[:, i])"),
    ] {
        let body = ScalarTensorTensor { op0, op1, reverse, ..body };
        let work = vec![plain(Opcode::TENSOR_TENSOR_SCAN, body)];
        let inputs = [(Dtype::FP16, COUNT), (Dtype::BFLOAT16, COUNT), (Dtype::FP32, 1)];
        let expression = scan(step, "c[:, 0]");
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, &expression);
    }
    let body = ScalarTensorTensor {
        op0: AluOp::MULTIPLY,
        op1: AluOp::ADD,
        imm0_source: ImmSource::INSTRUCTION,
        imm0: 0.5f32.to_bits(),
        dst: whole(2, COUNT),
        ..body
    };
    let work = vec![plain(Opcode::TENSOR_TENSOR_SCAN, body)];
    let inputs = [(Dtype::FP16, COUNT), (Dtype::BFLOAT16, COUNT)];
    let expression = scan("a[:, i] * r + b[:, i]", "np.full(128, 0.5, 'float32')");
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, &expression);
    oracle.check();
}

fn cache(accumulator: AccumulatorCmd, op1: AluOp) -> TensorScalar {
    TensorScalar {
        accumulator,
        src: whole(0, COUNT),
        src_type: Dtype::FP16,
        dst_type: Dtype::FP32,
        channels: 128,
        imm0_source: ImmSource::PTR,
        op0: AluOp::ADD,
        op1,
        imm0: GAP,
        dst: whole(2, COUNT),
        ..TensorScalar::default()
    }
}

fn read(opcode: Opcode, variable: u32) -> Instruction {
    let body = ReadAccumulator {
        count: 1,
        dst_type: Dtype::FP32,
        negated: 1,
        channels: 128,
        dst: whole(variable, 1),
    };
    plain(opcode, body)
}

/// The number after the operation is the result, its fold stays behind.
#[test]
fn folds_behind_an_operation() {
    let Some(mut oracle) = oracle(77) else { return };
    let inputs = [(Dtype::FP16, COUNT), (Dtype::FP32, 1)];
    let zero = AccumulatorCmd::ZERO_ACCUMULATE;
    let reduce = |command, op| plain(Opcode::TENSOR_SCALAR_CACHE_REDUCE, cache(command, op));
    let work = vec![reduce(zero, AluOp::MAX)];
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, "a + b");
    for (op, expression) in [
        (AluOp::ADD, "-np.cumsum(np.hstack([a + b, a + b]), 1)[:, -1]"),
        (AluOp::MULTIPLY, "-np.cumprod(np.hstack([a + b, a + b]), 1)[:, -1]"),
        (AluOp::MAX, "-(a + b).max(1)"),
        (AluOp::MIN, "-(a + b).min(1)"),
        (
            AluOp::SUBTRACT,
            "-__import__('functools').reduce(lambda r, x: x - r, \
             np.hstack([a + b, a + b]).T, np.zeros(128, 'float32'))",
        ),
    ] {
        let work = vec![
            reduce(zero, op),
            reduce(AccumulatorCmd::ACCUMULATE, op),
            read(Opcode::DVE_READ_ACCUMULATOR, 2),
        ];
        oracle.same(&inputs, (Dtype::FP32, 1), Engine::Dve, work, expression);
    }
    let load = TensorScalar {
        imm1_source: ImmSource::INSTRUCTION,
        imm1: 2.5f32.to_bits(),
        ..cache(AccumulatorCmd::LOAD_ACCUMULATE, AluOp::ADD)
    };
    let work = vec![plain(Opcode::TENSOR_SCALAR_CACHE_CUMULATIVE, load)];
    let expression = "np.cumsum(np.hstack([np.full((128, 1), f(2.5)), a + b]), 1)[:, 1:]";
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    let body = TensorScalar { reverse: Reverse::FIRST, ..cache(zero, AluOp::MAX) };
    let body = TensorScalar { op0: AluOp::SUBTRACT, ..body };
    let work = vec![plain(Opcode::TENSOR_SCALAR_CACHE_CUMULATIVE, body)];
    let expression = "np.maximum.accumulate(b - a, 1)";
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    oracle.check();
}

/// EXPONENTIAL of v4, once rounded from fp64 on the fp32 difference.
#[test]
fn exponential_and_its_sum() {
    let Some(mut oracle) = oracle(78) else { return };
    oracle.target = "mariana";
    let body = |accumulator| TensorScalar {
        op0: AluOp::BYPASS,
        op1: AluOp::BYPASS,
        ..cache(accumulator, AluOp::BYPASS)
    };
    let inputs = [normal(Dtype::FP16, COUNT), normal(Dtype::FP32, 1)];
    let exp = "np.exp((a - b).astype('float64'))";
    let work = vec![plain(Opcode::EXPONENTIAL, body(AccumulatorCmd::IDLE))];
    oracle.case(Near::Ulp(1), &inputs, (Dtype::FP32, COUNT), Engine::Dve, work, exp);
    let work = vec![
        plain(Opcode::EXPONENTIAL, body(AccumulatorCmd::ZERO_ACCUMULATE)),
        read(Opcode::DVE_READ_ACCUMULATOR, 2),
    ];
    let expression = format!("-np.cumsum({exp}.astype('float32'), 1)[:, -1]");
    // 24 rounded terms, each within a unit
    let output = (Dtype::FP32, 1);
    oracle.case(Near::Ulp(24), &inputs, output, Engine::Dve, work, &expression);
    oracle.check();

    let work = vec![plain(Opcode::EXPONENTIAL, body(AccumulatorCmd::IDLE))];
    let fault = stops("cayman", &inputs, (Dtype::FP32, COUNT), Engine::Dve, work);
    assert!(fault.to_string().contains("before v4"), "{fault}");
}

/// The result is in one partition; the others of the output are as they were.
#[test]
fn folds_over_partitions() {
    let Some(mut oracle) = oracle(79) else { return };
    let body = |op, axis, results| LaneReduce {
        src: whole(0, COUNT),
        src_type: Dtype::BFLOAT16,
        dst_type: Dtype::FP32,
        channels: 128,
        op,
        axis,
        scale: Fp32(0),
        dst: whole(1, results),
    };
    let first = |row: &str| format!("np.vstack([{row}, np.zeros((127, {row}.size))])");
    let input = [(Dtype::BFLOAT16, COUNT)];
    for (op, row) in
        [(LaneOp::ADD, "np.cumsum(a, 0)[-1:]"), (LaneOp::MAX, "a.max(0, keepdims=True)")]
    {
        let work = vec![plain(Opcode::CROSS_LANE_REDUCE, body(op, LaneAxis::PARTITIONS, COUNT))];
        oracle.same(&input, (Dtype::FP32, COUNT), Engine::Pool, work, &first(row));
    }
    let average = LaneReduce {
        scale: Fp32::new(1.0 / 128.0),
        ..body(LaneOp::AVERAGE, LaneAxis::PARTITIONS, COUNT)
    };
    let work = vec![plain(Opcode::CROSS_LANE_REDUCE, average)];
    let row = first("np.cumsum(a * f(1 / 128), 0)[-1:]");
    oracle.same(&input, (Dtype::FP32, COUNT), Engine::Pool, work, &row);
    let work = vec![plain(Opcode::CROSS_LANE_REDUCE, body(LaneOp::ADD, LaneAxis::ALL, 1))];
    let row = first("np.cumsum(a.reshape(-1))[-1:].reshape(1, 1)");
    oracle.same(&input, (Dtype::FP32, 1), Engine::Pool, work, &row);
    let bits = LaneReduce {
        src_type: Dtype::INT16,
        dst_type: Dtype::INT16,
        ..body(LaneOp::XOR, LaneAxis::PARTITIONS, COUNT)
    };
    let work = vec![plain(Opcode::CROSS_LANE_REDUCE_BITVEC, bits)];
    let input = [(Dtype::INT16, COUNT, Fill::Bits)];
    let row = first("np.bitwise_xor.reduce(a_raw, 0, keepdims=True)");
    oracle.case(Near::Same, &input, (Dtype::INT16, COUNT), Engine::Pool, work, &row);
    oracle.check();
}
