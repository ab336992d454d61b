//! Elementwise opcodes against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::control::Move;
use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{AluOp, Dtype, DtypePair, ImmSource, OperandSource, Reverse};
use neuron_core::isa::{Engine, Opcode};
use npu::Fault;
use support::neff::{GAP, plain, whole};
use support::oracle::{COUNT, Fill, Input, Near, normal, oracle, stops};

fn tensor_tensor(types: [Dtype; 3], op: AluOp) -> TensorTensor {
    TensorTensor {
        src_types: DtypePair::new(types[0], types[1]).unwrap(),
        dst_type: types[2],
        op,
        channels: 128,
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        dst: whole(2, COUNT),
    }
}

#[test]
fn every_operation_on_two_tensors() {
    let Some(mut oracle) = oracle(60) else { return };
    let ops = [
        (AluOp::ADD, "a + b"),
        (AluOp::SUBTRACT, "a - b"),
        (AluOp::MULTIPLY, "a * b"),
        (AluOp::DIVIDE, "a / b"),
        (AluOp::MAX, "np.maximum(a, b)"),
        (AluOp::MIN, "np.minimum(a, b)"),
        (AluOp::LOGICAL_AND, "np.logical_and(a, b)"),
        (AluOp::LOGICAL_OR, "np.logical_or(a, b)"),
        (AluOp::LOGICAL_XOR, "np.logical_xor(a, b)"),
        (AluOp::IS_EQ, "a == b"),
        (AluOp::IS_NE, "a != b"),
        (AluOp::IS_GT, "a > b"),
        (AluOp::IS_GE, "a >= b"),
        (AluOp::IS_LE, "a <= b"),
        (AluOp::IS_LT, "a < b"),
        (AluOp::ABS_DIFF, "np.abs(a - b)"),
        (AluOp::ABS, "np.abs(a)"),
        (AluOp::BYPASS, "a"),
    ];
    let types = [Dtype::FP32, Dtype::BFLOAT16, Dtype::FP16, Dtype::FP8_E4M3, Dtype::INT16];
    for (index, (op, expression)) in ops.into_iter().enumerate() {
        let [first, second, result] = [index, index / 3, index + 1].map(|at| types[at % 5]);
        // what leaves an integer's range has no rule in NumPy
        let result = if result == Dtype::INT16 { Dtype::FP32 } else { result };
        let body = tensor_tensor([first, second, result], op);
        let work = vec![plain(Opcode::TENSOR_TENSOR, body)];
        let inputs = [(first, COUNT), (second, COUNT)];
        oracle.same(&inputs, (result, COUNT), Engine::Dve, work, expression);
    }
    oracle.target = "mariana";
    for (op, expression) in [
        (AluOp::ABS_MAX, "np.maximum(np.abs(a), np.abs(b))"),
        (AluOp::ABS_MIN, "np.minimum(np.abs(a), np.abs(b))"),
        (AluOp::RELU, "np.maximum(a, 0)"),
        (AluOp::SQUARE, "a * a"),
    ] {
        let body = tensor_tensor([Dtype::FP16, Dtype::FP32, Dtype::FP32], op);
        let work = vec![plain(Opcode::TENSOR_TENSOR, body)];
        let inputs = [(Dtype::FP16, COUNT), (Dtype::FP32, COUNT)];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
    oracle.check();
}

/// POW and RSQRT are of POOL, once rounded from fp64.
#[test]
fn operations_of_pool() {
    let Some(mut oracle) = oracle(68) else { return };
    for (op, expression) in [
        (AluOp::POW, "np.power(a.astype('float64'), b.astype('float64'))"),
        (AluOp::RSQRT, "1 / np.sqrt(a.astype('float64'))"),
    ] {
        let body = tensor_tensor([Dtype::FP32; 3], op);
        let work = vec![plain(Opcode::TENSOR_TENSOR, body)];
        let inputs = [normal(Dtype::FP32, COUNT), normal(Dtype::FP32, COUNT)];
        let output = (Dtype::FP32, COUNT);
        oracle.case(Near::Ulp(1), &inputs, output, Engine::Pool, work, expression);
    }
    oracle.check();
}

/// What a unit or a generation does not have is named.
#[test]
fn missing_operations_are_named() {
    let inputs = [normal(Dtype::FP32, COUNT), normal(Dtype::FP32, COUNT)];
    let output = (Dtype::FP32, COUNT);
    let stop = |target, engine, op| {
        let work = vec![plain(Opcode::TENSOR_TENSOR, tensor_tensor([Dtype::FP32; 3], op))];
        stops(target, &inputs, output, engine, work)
    };
    for (target, engine, op, reason) in [
        ("cayman", Engine::Dve, AluOp::POW, "is of POOL alone"),
        ("cayman", Engine::Dve, AluOp::RSQRT, "is of POOL alone"),
        ("cayman", Engine::Dve, AluOp::ADD_INT, "is of the integer engine, in POOL"),
        ("cayman", Engine::Dve, AluOp::RELU, "is of a later generation"),
        ("sunda", Engine::Pool, AluOp::MAX_INT, "is of a later generation"),
        ("cayman", Engine::Pool, AluOp::ADD_INT, "does not take operands of these types"),
    ] {
        assert_eq!(stop(target, engine, op), Fault::Operation { op, reason });
    }
    for op in [AluOp::AND, AluOp::CRC32, AluOp::SYMMETRIC_CLAMP, AluOp(0x3f)] {
        let fault = stop("cayman", Engine::Pool, op);
        assert!(matches!(&fault, Fault::NotUnderstood(text) if text.contains(&op.to_string())));
    }
}

/// The bf16 forms of v2 have the operation in the opcode.
#[test]
fn bf16_forms_of_v2() {
    let Some(mut oracle) = oracle(69) else { return };
    oracle.target = "sunda";
    let types = [Dtype::BFLOAT16, Dtype::BFLOAT16, Dtype::FP32];
    for (opcode, op, expression) in [
        (Opcode::TENSOR_TENSOR_ADD_BF16, AluOp::ADD, "a + b"),
        (Opcode::TENSOR_TENSOR_MULT_BF16, AluOp::MULTIPLY, "a * b"),
        (Opcode::TENSOR_TENSOR_SUB_BF16, AluOp::SUBTRACT, "a - b"),
    ] {
        let work = vec![plain(opcode, tensor_tensor(types, op))];
        let inputs = [(Dtype::BFLOAT16, COUNT), (Dtype::BFLOAT16, COUNT)];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
    oracle.check();
}

fn tensor_scalar(op0: AluOp, op1: AluOp, reverse: Reverse) -> TensorScalar {
    TensorScalar {
        src: whole(0, COUNT),
        src_type: Dtype::BFLOAT16,
        dst_type: Dtype::FP32,
        channels: 128,
        imm0_source: ImmSource::PTR,
        op0,
        op1,
        reverse,
        imm0: GAP,
        imm1: 1.7f32.to_bits(),
        dst: whole(2, COUNT),
        ..TensorScalar::default()
    }
}

#[test]
fn a_tensor_and_scalars() {
    let Some(mut oracle) = oracle(61) else { return };
    let inputs = [(Dtype::BFLOAT16, COUNT), (Dtype::FP32, 1)];
    let output = (Dtype::FP32, COUNT);
    for (reverse, expression) in [
        (Reverse::NONE, "(a - b) * f(1.7)"),
        (Reverse::FIRST, "(b - a) * f(1.7)"),
        (Reverse::BOTH, "f(1.7) * (b - a)"),
    ] {
        let body = tensor_scalar(AluOp::SUBTRACT, AluOp::MULTIPLY, reverse);
        let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
        oracle.same(&inputs, output, Engine::Dve, work, expression);
    }
    let body = tensor_scalar(AluOp::MULTIPLY, AluOp::SUBTRACT, Reverse::SECOND);
    let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
    oracle.same(&inputs, output, Engine::Pool, work, "f(1.7) - a * b");
    // on ACT, and the old form with two columns
    let body = tensor_scalar(AluOp::MULTIPLY, AluOp::ADD, Reverse::NONE);
    let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
    oracle.same(&inputs, output, Engine::Act, work, "a * b + f(1.7)");
    let mut body = tensor_scalar(AluOp::MAX, AluOp::MIN, Reverse::NONE);
    (body.imm1_source, body.imm1, body.dst) = (ImmSource::PTR, 2 * GAP, whole(3, COUNT));
    let work = vec![plain(Opcode::TENSOR_SCALAR_PTR, body)];
    let inputs = [(Dtype::BFLOAT16, COUNT), (Dtype::FP32, 1), (Dtype::FP32, 1)];
    let expression = "np.minimum(np.maximum(a, b), c)";
    oracle.same(&inputs, output, Engine::Dve, work, expression);
    // a register holds the address of the column
    let column = Move {
        count: 1,
        dtype: Dtype::UINT32,
        source: OperandSource::IMMEDIATE,
        register: 11,
        value: GAP,
    };
    let mut body = tensor_scalar(AluOp::ADD, AluOp::BYPASS, Reverse::NONE);
    (body.imm0_source, body.imm0) = (ImmSource::REG_PTR, 11);
    let work = vec![plain(Opcode::MOVE, column), plain(Opcode::TENSOR_SCALAR, body)];
    oracle.same(&inputs[..2], output, Engine::Dve, work, "a + b");
    oracle.check();
}

#[test]
fn what_act_has_of_tensor_scalar() {
    let inputs = [normal(Dtype::BFLOAT16, COUNT), normal(Dtype::FP32, 1)];
    let output = (Dtype::FP32, COUNT);
    let stop = |target, op0, op1| {
        let body = tensor_scalar(op0, op1, Reverse::NONE);
        let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
        stops(target, &inputs, output, Engine::Act, work)
    };
    for fault in [
        stop("cayman", AluOp::SUBTRACT, AluOp::BYPASS),
        stop("cayman", AluOp::ADD, AluOp::MULTIPLY),
        stop("sunda", AluOp::MULTIPLY, AluOp::ADD),
    ] {
        assert!(matches!(fault, Fault::Operation { .. }), "{fault}");
    }
}

#[test]
fn scalar_tensor_tensor() {
    let Some(mut oracle) = oracle(66) else { return };
    let body = ScalarTensorTensor {
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        op0: AluOp::MULTIPLY,
        op1: AluOp::SUBTRACT,
        reverse: Reverse::SECOND,
        imm0_source: ImmSource::PTR,
        src_types: DtypePair::new(Dtype::BFLOAT16, Dtype::FP16).unwrap(),
        dst_type: Dtype::FP32,
        channels: 128,
        imm0_type: Dtype::FP32,
        dst: whole(3, COUNT),
        imm0: 2 * GAP,
        ..ScalarTensorTensor::default()
    };
    let work = vec![plain(Opcode::SCALAR_TENSOR_TENSOR, body)];
    let inputs = [(Dtype::BFLOAT16, COUNT), (Dtype::FP16, COUNT), (Dtype::FP32, 1)];
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, "b - a * c");
    oracle.check();
}

fn unary(from: Dtype, to: Dtype) -> Unary {
    Unary {
        src: whole(0, COUNT),
        src_type: from,
        dst_type: to,
        channels: 128,
        dst: whole(1, COUNT),
        ..Unary::default()
    }
}

#[test]
fn copy_cast_and_reciprocal() {
    let Some(mut oracle) = oracle(62) else { return };
    let types = [
        Dtype::FP32,
        Dtype::BFLOAT16,
        Dtype::FP16,
        Dtype::FP8_E3M4,
        Dtype::FP8_E4M3,
        Dtype::FP8_E5M2,
        Dtype::INT32,
        Dtype::INT16,
        Dtype::INT8,
        Dtype::UINT32,
        Dtype::UINT16,
        Dtype::UINT8,
    ];
    for from in types {
        for to in types {
            let signed = |dtype: Dtype| dtype.to_string().starts_with('u');
            // negative to unsigned has no rule in NumPy
            let fill = if signed(to) || signed(from) { Fill::Whole(0, 9) } else { Fill::Normal };
            let work = vec![plain(Opcode::CAST, unary(from, to))];
            let engine = if from == to { Engine::Act } else { Engine::Dve };
            let inputs: [Input; 1] = [(from, COUNT, fill)];
            oracle.case(Near::Same, &inputs, (to, COUNT), engine, work, "a");
        }
        let work = vec![plain(Opcode::COPY, unary(from, from))];
        let inputs = [(from, COUNT, Fill::Bits)];
        oracle.case(Near::Same, &inputs, (from, COUNT), Engine::Act, work, "a_raw");
    }
    let work = vec![plain(Opcode::RECIPROCAL, unary(Dtype::BFLOAT16, Dtype::FP32))];
    let output = (Dtype::FP32, COUNT);
    oracle.same(&[(Dtype::BFLOAT16, COUNT)], output, Engine::Dve, work, "f(1) / a");
    oracle.check();
}
