//! Operations on integers and on bits against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{AluOp, Dtype, DtypePair, ImmSource, ReduceDims, Reverse};
use neuron_core::isa::{Engine, Opcode};
use npu::Fault;
use support::neff::{GAP, plain, whole};
use support::oracle::{COUNT, Fill, Near, name, oracle, stops};

fn pair(dtype: Dtype, op: AluOp) -> TensorTensor {
    TensorTensor {
        src_types: DtypePair::new(dtype, dtype).unwrap(),
        dst_type: dtype,
        op,
        channels: 128,
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        dst: whole(2, COUNT),
    }
}

const SIGNED: [Dtype; 3] = [Dtype::INT8, Dtype::INT16, Dtype::INT32];
const UNSIGNED: [Dtype; 3] = [Dtype::UINT8, Dtype::UINT16, Dtype::UINT32];

/// In wide integers, so that NumPy's rules for narrow ones play no part; the
/// cast to the output wraps.
fn wide(expression: &str) -> String {
    format!("(lambda a, b: {expression})(a_raw.astype('int64'), b_raw.astype('int64'))")
}

#[test]
fn the_integer_band_of_pool() {
    let Some(mut oracle) = oracle(70) else { return };
    let either = [
        (AluOp::ADD_INT, "a + b"),
        (AluOp::SUBTRACT_INT, "a - b"),
        (AluOp::IS_EQ_INT, "a == b"),
        (AluOp::IS_NE_INT, "a != b"),
    ];
    let signed = [
        (AluOp::MULTIPLY_INT, "a * b"),
        (AluOp::DIVIDE_INT, "np.trunc(a / b)"),
        (AluOp::MOD_INT, "np.fmod(a, b)"),
        (AluOp::ABS_MAX_INT, "np.maximum(np.abs(a), np.abs(b))"),
        (AluOp::ABS_MIN_INT, "np.minimum(np.abs(a), np.abs(b))"),
        (AluOp::ABS_DIFF_INT, "np.abs(a - b)"),
        (AluOp::ABS_INT, "np.abs(a)"),
        (AluOp::MAX_INT, "np.maximum(a, b)"),
        (AluOp::MIN_INT, "np.minimum(a, b)"),
        (AluOp::IS_GT_INT, "a > b"),
        (AluOp::IS_GE_INT, "a >= b"),
        (AluOp::IS_LE_INT, "a <= b"),
        (AluOp::IS_LT_INT, "a < b"),
    ];
    let unsigned = [
        (AluOp::MULTIPLY_UINT, "a.astype('uint64') * b.astype('uint64')"),
        (AluOp::DIVIDE_UINT, "a // b"),
        (AluOp::MOD_UINT, "a % b"),
        (AluOp::MOD, "a % b"),
        (AluOp::MAX_UINT, "np.maximum(a, b)"),
        (AluOp::MIN_UINT, "np.minimum(a, b)"),
        (AluOp::IS_GT_UINT, "a > b"),
        (AluOp::IS_GE_UINT, "a >= b"),
        (AluOp::IS_LE_UINT, "a <= b"),
        (AluOp::IS_LT_UINT, "a < b"),
    ];
    let all = either.iter().flat_map(|op| SIGNED.iter().chain(&UNSIGNED).map(move |t| (op, t)));
    let all = all.chain(signed.iter().flat_map(|op| SIGNED.iter().map(move |t| (op, t))));
    let all = all.chain(unsigned.iter().flat_map(|op| UNSIGNED.iter().map(move |t| (op, t))));
    for ((op, expression), dtype) in all {
        // small divisors, but never 0
        let second = if expression.contains(['/', '%']) || expression.contains("fmod") {
            Fill::Whole(1, 100)
        } else {
            Fill::Bits
        };
        let inputs = [(*dtype, COUNT, Fill::Bits), (*dtype, COUNT, second)];
        let work = vec![plain(Opcode::TENSOR_TENSOR, pair(*dtype, *op))];
        let output = (*dtype, COUNT);
        oracle.case(Near::Same, &inputs, output, Engine::Pool, work, &wide(expression));
    }
    oracle.check();
}

/// POOL keeps 32-bit integers as they are; the vector engine goes through fp32.
#[test]
fn plain_operations_on_32_bits() {
    let Some(mut oracle) = oracle(71) else { return };
    for (op, expression) in [
        (AluOp::ADD, "a + b"),
        (AluOp::SUBTRACT, "a - b"),
        (AluOp::MULTIPLY, "a * b"),
        (AluOp::MAX, "np.maximum(a, b)"),
        (AluOp::IS_LE, "a <= b"),
    ] {
        for dtype in [Dtype::INT32, Dtype::UINT32] {
            let inputs = [(dtype, COUNT, Fill::Bits), (dtype, COUNT, Fill::Bits)];
            let work = vec![plain(Opcode::TENSOR_TENSOR, pair(dtype, op))];
            let output = (dtype, COUNT);
            oracle.case(Near::Same, &inputs, output, Engine::Pool, work, &wide(expression));
        }
    }
    let input = || (Dtype::INT32, COUNT, Fill::Whole(-(1 << 28), 1 << 28));
    let inputs = [input(), input()];
    let work = vec![plain(Opcode::TENSOR_TENSOR, pair(Dtype::INT32, AluOp::ADD))];
    oracle.case(Near::Same, &inputs, (Dtype::INT32, COUNT), Engine::Dve, work, "a + b");
    oracle.check();
}

#[test]
fn bits_of_two_tensors() {
    let Some(mut oracle) = oracle(72) else { return };
    for dtype in SIGNED.into_iter().chain(UNSIGNED) {
        let bits = 8 * u32::from(dtype.bytes().unwrap());
        let unsigned = format!("uint{bits}");
        let as_bits = |expression: &str| {
            format!(
                "(lambda a, b: {expression})(a_raw.view('{unsigned}').astype('uint64'), \
                 b_raw.view('{unsigned}').astype('uint64'))"
            )
        };
        for (op, expression) in [
            (AluOp::AND, "a & b"),
            (AluOp::OR, "a | b"),
            (AluOp::XOR, "a ^ b"),
            (AluOp::NOT, "~a"),
            (AluOp::SHIFT_LEFT, "a << b"),
            (AluOp::SHIFT_LEFT_ARITH, "a << b"),
            (AluOp::SHIFT_RIGHT, "a >> b"),
            (AluOp::BYPASS, "a"),
        ] {
            let shift = expression.contains("<<") || expression.contains(">>");
            // up to the width, which shifts everything out
            let second = if shift { Fill::Whole(0, i64::from(bits)) } else { Fill::Bits };
            let inputs = [(dtype, COUNT, Fill::Bits), (dtype, COUNT, second)];
            let work = vec![plain(Opcode::TENSOR_TENSOR_BITVEC, pair(dtype, op))];
            let output = (dtype, COUNT);
            oracle.case(Near::Same, &inputs, output, Engine::Dve, work, &as_bits(expression));
        }
    }
    let inputs = [(Dtype::INT32, COUNT, Fill::Bits), (Dtype::INT32, COUNT, Fill::Whole(0, 31))];
    let body = pair(Dtype::INT32, AluOp::SHIFT_RIGHT_ARITH);
    let work = vec![plain(Opcode::TENSOR_TENSOR_BITVEC, body)];
    let output = (Dtype::INT32, COUNT);
    oracle.case(Near::Same, &inputs, output, Engine::Dve, work, "a_raw >> b_raw");
    oracle.check();
}

#[test]
fn bits_and_scalars() {
    let Some(mut oracle) = oracle(73) else { return };
    let dtype = Dtype::UINT16;
    let body = TensorScalar {
        src: whole(0, COUNT),
        src_type: dtype,
        dst_type: dtype,
        channels: 128,
        imm0_source: ImmSource::PTR,
        op0: AluOp::XOR,
        op1: AluOp::SHIFT_RIGHT,
        imm0: GAP,
        imm1: 3,
        dst: whole(2, COUNT),
        ..TensorScalar::default()
    };
    let inputs = [(dtype, COUNT, Fill::Bits), (dtype, 1, Fill::Bits)];
    let work = vec![plain(Opcode::TENSOR_SCALAR_BITVEC, body)];
    let output = (dtype, COUNT);
    oracle.case(Near::Same, &inputs, output, Engine::Dve, work, "(a_raw ^ b_raw) >> 3");
    // the order of a shift counts; the number in the record has 16 bits of use
    let reversed =
        TensorScalar { op0: AluOp::SHIFT_LEFT, op1: AluOp::OR, reverse: Reverse::FIRST, ..body };
    let reversed = TensorScalar { imm1: 0x8001, ..reversed };
    let inputs = [(dtype, COUNT, Fill::Whole(0, 15)), (dtype, 1, Fill::Bits)];
    let work = vec![plain(Opcode::TENSOR_SCALAR_BITVEC, reversed)];
    let expression = "(b_raw << a_raw) | np.uint16(0x8001)";
    oracle.case(Near::Same, &inputs, output, Engine::Dve, work, expression);
    let pointers = TensorScalar { imm1_source: ImmSource::PTR, imm1: GAP, ..body };
    let pointers = TensorScalar { op1: AluOp::AND, ..pointers };
    let inputs = [(dtype, COUNT, Fill::Bits), (dtype, 1, Fill::Bits)];
    let work = vec![plain(Opcode::TENSOR_SCALAR_PTR_BITVEC, pointers)];
    let expression = "(a_raw ^ b_raw) & b_raw";
    oracle.case(Near::Same, &inputs, output, Engine::Dve, work, expression);

    let dtype = Dtype::INT32;
    let body = ScalarTensorTensor {
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        op0: AluOp::AND,
        op1: AluOp::OR,
        src_types: DtypePair::new(dtype, dtype).unwrap(),
        dst_type: dtype,
        channels: 128,
        imm0_type: dtype,
        dst: whole(2, COUNT),
        imm0: 0x00ff_00ff,
        ..ScalarTensorTensor::default()
    };
    let inputs = [(dtype, COUNT, Fill::Bits), (dtype, COUNT, Fill::Bits)];
    let work = vec![plain(Opcode::SCALAR_TENSOR_TENSOR_BITVEC, body)];
    let expression = "(a_raw & 0x00ff00ff) | b_raw";
    oracle.case(Near::Same, &inputs, (dtype, COUNT), Engine::Dve, work, expression);
    oracle.check();
}

fn folded(src_type: Dtype, dst_type: Dtype, op: AluOp, results: u16) -> Unary {
    let mut body = Unary {
        src: whole(0, COUNT),
        src_type,
        dst_type,
        channels: 128,
        op,
        dims: ReduceDims::X,
        dst: whole(1, results),
        ..Unary::default()
    };
    body.src.steps = [1, 4, 12, 0];
    body.src.counts = [4, 3, 2, 1];
    body
}

#[test]
fn folds_of_integers_and_bits() {
    let Some(mut oracle) = oracle(74) else { return };
    for dtype in [Dtype::INT8, Dtype::INT32, Dtype::UINT16] {
        let input = [(dtype, COUNT, Fill::Bits)];
        for (op, expression) in [
            (AluOp::AND, "np.bitwise_and.reduce(a_raw.reshape(128, 6, 4), 2)"),
            (AluOp::OR, "np.bitwise_or.reduce(a_raw.reshape(128, 6, 4), 2)"),
            (AluOp::XOR, "np.bitwise_xor.reduce(a_raw.reshape(128, 6, 4), 2)"),
        ] {
            let work = vec![plain(Opcode::TENSOR_REDUCE_BITVEC, folded(dtype, dtype, op, 6))];
            oracle.case(Near::Same, &input, (dtype, 6), Engine::Dve, work, expression);
        }
        let work = vec![plain(Opcode::TENSOR_REDUCE, folded(dtype, dtype, AluOp::ADD_INT, 6))];
        let expression =
            format!("a_raw.astype('int64').reshape(128, 6, 4).sum(2).astype('{}')", name(dtype));
        oracle.case(Near::Same, &input, (dtype, 6), Engine::Pool, work, &expression);
    }
    for (op, dtype, function) in [
        (AluOp::ARGMAX_INT, Dtype::INT8, "argmax"),
        (AluOp::ARGMIN_INT, Dtype::INT16, "argmin"),
        (AluOp::ARGMAX_UINT, Dtype::UINT8, "argmax"),
        (AluOp::ARGMIN_UINT, Dtype::UINT32, "argmin"),
    ] {
        // few numbers, so that some are equal
        let input = [(dtype, COUNT, Fill::Whole(0, 5))];
        let work = vec![plain(Opcode::TENSOR_REDUCE, folded(dtype, Dtype::UINT32, op, 6))];
        let expression = format!("a_raw.reshape(128, 6, 4).{function}(2)");
        oracle.case(Near::Same, &input, (Dtype::UINT32, 6), Engine::Pool, work, &expression);
    }
    let running = |op| Unary { dst: whole(1, COUNT), ..folded(Dtype::INT32, Dtype::INT32, op, 1) };
    let input = [(Dtype::INT32, COUNT, Fill::Bits)];
    let output = (Dtype::INT32, COUNT);
    for (opcode, op, expression) in [
        (
            Opcode::TENSOR_CUMULATIVE,
            AluOp::ADD_INT,
            "a_raw.astype('int64').reshape(128, 6, 4).cumsum(2)",
        ),
        (
            Opcode::TENSOR_CUMULATIVE_BITVEC,
            AluOp::XOR,
            "np.bitwise_xor.accumulate(a_raw.reshape(128, 6, 4), 2)",
        ),
    ] {
        let work = vec![plain(opcode, running(op))];
        oracle.case(Near::Same, &input, output, Engine::Dve, work, expression);
    }
    oracle.check();
}

#[test]
fn division_by_zero_and_mixed_signs_are_faults() {
    let stop = |body| {
        let inputs = [(Dtype::INT32, COUNT, Fill::Bits), (Dtype::INT32, COUNT, Fill::Bits)];
        let work = vec![plain(Opcode::TENSOR_TENSOR, body)];
        stops("cayman", &inputs, (Dtype::INT32, COUNT), Engine::Pool, work)
    };
    // the inputs of `stops` are zeros
    let op = AluOp::DIVIDE_INT;
    let fault = stop(pair(Dtype::INT32, op));
    assert_eq!(fault, Fault::Operation { op, reason: "divides by zero" });
    let types = DtypePair::new(Dtype::INT32, Dtype::UINT32).unwrap();
    let fault = stop(TensorTensor { src_types: types, ..pair(Dtype::INT32, AluOp::ADD_INT) });
    assert!(matches!(fault, Fault::Operation { .. }), "{fault}");
    // the sign of a remainder of signed numbers is in no sheet
    let fault = stop(pair(Dtype::INT32, AluOp::MOD));
    assert!(matches!(fault, Fault::Operation { .. }), "{fault}");
}
