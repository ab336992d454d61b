//! Opcodes against NumPy, one program each: inputs come by DMA, one engine
//! works on them, the result goes back by DMA.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::address::Addr4;
use neuron_core::isa::body::act::{Activate, ReadAccumulator};
use neuron_core::isa::body::control::Move;
use neuron_core::isa::body::tensor::{
    AffineSelect, Iota, Memset, Ramp, ScalarTensorTensor, TensorScalar, TensorTensor, Unary,
};
use neuron_core::isa::code::{
    AccumulatorCmd, AffineCompare, AluOp, BiasSource, Dtype, DtypePair, ImmSource, OperandSource,
    ReduceDims, Reverse,
};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::number::Element;
use npu::{Program, Tensors};
use support::neff::{GAP, ROWS, Small, plain, whole};
use support::{Numpy, Random, numpy};

/// Elements of a row.
const COUNT: u16 = 24;

/// NumPy computes `out` from the inputs, 128 rows each, as fp32 but for those
/// named raw; the result is rounded to the output's type.
const SCRIPT: &str = r#"
import sys, numpy, ml_dtypes
numpy.seterr(all="ignore")
kind = lambda name: numpy.dtype(getattr(ml_dtypes, name, None) or name)
expression, target, *sources = sys.argv[1:]
data, scope = sys.stdin.buffer.read(), {"np": numpy, "f": numpy.float32}
for name, source in zip("abcd", sources):
    source, size = source.split(":")
    raw, data = data[: int(size)], data[int(size) :]
    raw = numpy.frombuffer(raw, kind(source)).reshape(128, -1)
    scope[name + "_raw"] = raw
    scope[name] = raw.astype("float32")
out = eval(expression, scope)
sys.stdout.buffer.write(numpy.ascontiguousarray(out.astype(kind(target))).tobytes())
"#;

struct Oracle {
    numpy: Numpy,
    random: Random,
}

fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::FP32 => "float32",
        Dtype::BFLOAT16 => "bfloat16",
        Dtype::FP16 => "float16",
        Dtype::INT32 => "int32",
        Dtype::INT8 => "int8",
        other => panic!("{other} has no name here"),
    }
}

impl Oracle {
    /// Runs `work` on inputs of these types and element counts, and gives our
    /// result and NumPy's.
    fn both(
        &mut self,
        inputs: &[(Dtype, u16)],
        (dtype, count): (Dtype, u16),
        engine: Engine,
        work: Vec<Instruction>,
        expression: &str,
    ) -> (Vec<u8>, Vec<u8>) {
        let size = |dtype: Dtype| u16::from(dtype.bytes().unwrap());
        let rows: Vec<u16> = inputs.iter().map(|(dtype, count)| size(*dtype) * count).collect();
        let file = Small::around(&rows, size(dtype) * count, engine, work).build();
        let (mut tensors, mut all, mut arguments) = (Tensors::new(), Vec::new(), Vec::new());
        for (letter, (dtype, count)) in ["a", "b", "c"].iter().zip(inputs) {
            let numbers = (0..usize::from(ROWS) * usize::from(*count)).flat_map(|_| {
                // sometimes equal, so that comparisons see that too
                let value = self.random.normal() * 3.0;
                let value =
                    if self.random.next().is_multiple_of(4) { value.round() } else { value };
                value.to_le_bytes()
            });
            let bytes: Vec<u8> = numbers.collect();
            let bytes = Element::Fp32.convert(&bytes, Element::of(*dtype).unwrap());
            arguments.push(format!("{}:{}", name(*dtype), bytes.len()));
            all.extend_from_slice(&bytes);
            tensors.insert((*letter).to_owned(), bytes);
        }
        let ours = Program::from_neff(&file).unwrap().run(&tensors).unwrap();
        let mut list = vec![expression, name(dtype)];
        list.extend(arguments.iter().map(String::as_str));
        (ours["out"].clone(), self.numpy.run(SCRIPT, &list, &all))
    }

    /// As `both`, and every bit must be equal.
    fn same(
        &mut self,
        inputs: &[(Dtype, u16)],
        output: (Dtype, u16),
        engine: Engine,
        work: Vec<Instruction>,
        expression: &str,
    ) {
        let (ours, theirs) = self.both(inputs, output, engine, work, expression);
        let size = usize::from(output.0.bytes().unwrap());
        let element = Element::of(output.0).unwrap();
        assert_eq!(ours.len(), theirs.len(), "{expression}");
        for (index, (ours, theirs)) in ours.chunks(size).zip(theirs.chunks(size)).enumerate() {
            let number = |bytes| element.decode(element.load(bytes));
            let (a, b) = (number(ours), number(theirs));
            let same = ours == theirs || a.is_nan() && b.is_nan();
            assert!(same, "{expression}, element {index}: {a} is not {b}");
        }
    }
}

fn oracle(seed: u64) -> Option<Oracle> {
    numpy().map(|numpy| Oracle { numpy, random: Random(seed) })
}

#[test]
fn tensor_tensor() {
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
        (AluOp::BYPASS, "a"),
    ];
    let types = [Dtype::FP32, Dtype::BFLOAT16, Dtype::FP16];
    for (index, (op, expression)) in ops.into_iter().enumerate() {
        let [first, second, result] = [index, index / 3, index + 1].map(|at| types[at % 3]);
        let body = TensorTensor {
            src_types: DtypePair::new(first, second).unwrap(),
            dst_type: result,
            op,
            channels: 128,
            src0: whole(0, COUNT),
            src1: whole(1, COUNT),
            dst: whole(2, COUNT),
        };
        let work = vec![plain(Opcode::TENSOR_TENSOR, body)];
        let inputs = [(first, COUNT), (second, COUNT)];
        oracle.same(&inputs, (result, COUNT), Engine::Dve, work, expression);
    }
}

#[test]
fn tensor_scalar() {
    let Some(mut oracle) = oracle(61) else { return };
    for (reverse, expression) in [
        (Reverse::NONE, "(a - b) * f(1.7)"),
        (Reverse::FIRST, "(b - a) * f(1.7)"),
        (Reverse::BOTH, "f(1.7) * (b - a)"),
    ] {
        let body = TensorScalar {
            src: whole(0, COUNT),
            src_type: Dtype::BFLOAT16,
            dst_type: Dtype::FP32,
            channels: 128,
            imm0_source: ImmSource::PTR,
            op0: AluOp::SUBTRACT,
            op1: AluOp::MULTIPLY,
            reverse,
            imm0: GAP,
            imm1: 1.7f32.to_bits(),
            dst: whole(2, COUNT),
            ..TensorScalar::default()
        };
        let work = vec![plain(Opcode::TENSOR_SCALAR, body)];
        let inputs = [(Dtype::BFLOAT16, COUNT), (Dtype::FP32, 1)];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
}

/// Layouts that are public and in no real file.
#[test]
fn scalar_tensor_tensor_and_predicated_copy() {
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

    // where the rounded predicate is 0, the result keeps what a copy put there
    let first = Unary { dst: whole(3, COUNT), ..unary(Dtype::FP32, Dtype::FP32) };
    let body = TensorTensor {
        src_types: DtypePair::new(Dtype::INT8, Dtype::FP16).unwrap(),
        dst_type: Dtype::FP32,
        op: AluOp::BYPASS,
        channels: 128,
        src0: whole(1, COUNT),
        src1: whole(2, COUNT),
        dst: whole(3, COUNT),
    };
    let work = vec![plain(Opcode::COPY, first), plain(Opcode::COPY_PREDICATED, body)];
    let inputs = [(Dtype::FP32, COUNT), (Dtype::INT8, COUNT), (Dtype::FP16, COUNT)];
    oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, "np.where(b, c, a)");
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
    let types = [Dtype::FP32, Dtype::BFLOAT16, Dtype::FP16, Dtype::INT32, Dtype::INT8];
    for from in types {
        for to in types {
            let work = vec![plain(Opcode::CAST, unary(from, to))];
            let engine = if from == to { Engine::Act } else { Engine::Dve };
            oracle.same(&[(from, COUNT)], (to, COUNT), engine, work, "a");
        }
    }
    for dtype in [Dtype::FP32, Dtype::INT32] {
        let work = vec![plain(Opcode::COPY, unary(dtype, dtype))];
        oracle.same(&[(dtype, COUNT)], (dtype, COUNT), Engine::Act, work, "a_raw");
    }
    let work = vec![plain(Opcode::RECIPROCAL, unary(Dtype::BFLOAT16, Dtype::FP32))];
    let output = (Dtype::FP32, COUNT);
    oracle.same(&[(Dtype::BFLOAT16, COUNT)], output, Engine::Dve, work, "f(1) / a");
}

/// NumPy adds pairwise; its running sum adds in order, as we do.
#[test]
fn tensor_reduce() {
    let Some(mut oracle) = oracle(63) else { return };
    for (op, dims, negated, count, expression) in [
        (AluOp::ADD, ReduceDims::X, 0, 6, "np.cumsum(a.reshape(128, 6, 4), 2)[:, :, -1]"),
        (AluOp::MAX, ReduceDims::X, 1, 6, "-a.reshape(128, 6, 4).max(2)"),
        (AluOp::MAX, ReduceDims::XY, 0, 2, "a.reshape(128, 2, 12).max(2)"),
        (AluOp::ADD, ReduceDims::XY, 1, 2, "-np.cumsum(a.reshape(128, 2, 12), 2)[:, :, -1]"),
    ] {
        let mut body = Unary { op, dims, negated, ..unary(Dtype::BFLOAT16, Dtype::FP32) };
        body.src.steps = [1, 4, 12, 0];
        body.src.counts = [4, 3, 2, 1];
        body.dst = whole(1, count);
        let work = vec![plain(Opcode::TENSOR_REDUCE, body)];
        let output = (Dtype::FP32, count);
        oracle.same(&[(Dtype::BFLOAT16, COUNT)], output, Engine::Dve, work, expression);
    }
}

#[test]
fn memset_iota_and_affine_select() {
    let Some(mut oracle) = oracle(64) else { return };
    let body = Memset {
        count: u32::from(COUNT),
        dst_type: Dtype::BFLOAT16,
        channels: 128,
        value: 0xc61c,
        dst: whole(1, COUNT),
        ..Memset::default()
    };
    let work = vec![plain(Opcode::MEMSET, body)];
    let input = [(Dtype::FP32, COUNT)];
    let output = (Dtype::BFLOAT16, COUNT);
    oracle.same(&input, output, Engine::Dve, work, "np.full((128, 24), -9984.0)");

    let ramp = Ramp { base: -7, steps: [1, -3, 0, 0], counts: [4, 6, 1, 1] };
    let values = "-7 + np.arange(4) - 3 * np.arange(6)[:, None]";
    let values = format!("(({values}).reshape(1, 24) + {{}} * np.arange(128)[:, None])");
    for (dtype, multiplier) in [(Dtype::INT32, 5), (Dtype::FP16, -2)] {
        let body = Iota {
            ramp,
            dst_type: dtype,
            channels: 128,
            channel_multiplier: multiplier,
            dst: whole(1, COUNT),
        };
        let expression = values.replace("{}", &multiplier.to_string());
        let work = vec![plain(Opcode::IOTA, body)];
        oracle.same(&input, (dtype, COUNT), Engine::Pool, work, &expression);
    }
    for (compare, sign) in [
        (AffineCompare::GT, ">"),
        (AffineCompare::GTE, ">="),
        (AffineCompare::EQ, "=="),
        (AffineCompare::NE, "!="),
    ] {
        let fill = Move {
            count: 1,
            dtype: Dtype::UINT32,
            source: OperandSource::IMMEDIATE,
            register: 61,
            value: 2.5f32.to_bits(),
        };
        let body = AffineSelect {
            channels: 128,
            types: DtypePair::new(Dtype::FP32, Dtype::BFLOAT16).unwrap(),
            compare,
            fill_register: 61,
            ramp,
            src: whole(0, COUNT),
            dst: whole(1, COUNT),
            channel_multiplier: 1,
        };
        let work =
            vec![plain(Opcode::MOVE, fill), plain(Opcode::TENSOR_SCALAR_AFFINE_SELECT, body)];
        let values = values.replace("{}", "1");
        let expression = format!("np.where({values} {sign} 0, a, f(2.5))");
        oracle.same(&input, output, Engine::Pool, work, &expression);
    }
}

/// A sum that is set to zero, grows over two records, and is read.
#[test]
fn running_sums_of_act() {
    let Some(mut oracle) = oracle(67) else { return };
    let record = |accumulator| {
        let body = Activate {
            accumulator,
            bias_source: BiasSource::INSTRUCTION,
            src: whole(0, COUNT),
            types: DtypePair::new(Dtype::BFLOAT16, Dtype::FP32).unwrap(),
            dst_type: Dtype::FP32,
            channels: 128,
            function: neuron_core::isa::activation::Activation::from_name("SQUARE").unwrap(),
            scale: 1f32.to_bits(),
            dst: whole(2, COUNT),
            ..Activate::default()
        };
        plain(Opcode::ACTIVATE, body)
    };
    let read = ReadAccumulator {
        count: 1,
        dst_type: Dtype::FP32,
        negated: 1,
        channels: 128,
        dst: whole(1, 1),
    };
    let work = vec![
        record(AccumulatorCmd::ACCUMULATE),
        record(AccumulatorCmd::ZERO_ACCUMULATE),
        record(AccumulatorCmd::IDLE),
        record(AccumulatorCmd::ACCUMULATE),
        plain(Opcode::ACTIVATION_READ_ACCUMULATOR, read),
    ];
    let expression = "-np.cumsum(np.hstack([a * a, a * a]), 1)[:, -1:]";
    let input = [(Dtype::BFLOAT16, COUNT)];
    oracle.same(&input, (Dtype::FP32, 1), Engine::Act, work, expression);
}

/// Functions are computed in fp64 and rounded once, so that each is within one
/// unit in the last place of fp64 NumPy on the same fp32 argument.
#[test]
fn activate() {
    let Some(mut oracle) = oracle(65) else { return };
    for (function, expression) in [
        ("COPY", "x"),
        ("EXP", "np.exp(x)"),
        ("RELU", "np.maximum(x, 0)"),
        ("TANH", "np.tanh(x)"),
        ("SILU", "x / (1 + np.exp(-x))"),
        ("SIGMOID", "1 / (1 + np.exp(-x))"),
        ("SQUARE", "x * x"),
        ("SIN", "np.sin(x)"),
        ("ABS", "np.abs(x)"),
        ("LN", "np.log(x)"),
        ("RECIPROCAL_SQRT", "1 / np.sqrt(x)"),
        ("SOFTPLUS", "np.logaddexp(0, x)"),
    ] {
        let body = Activate {
            imm_source: ImmSource::INSTRUCTION,
            scale_source: ImmSource::INSTRUCTION,
            bias_source: BiasSource::PTR,
            src: whole(0, COUNT),
            types: DtypePair::new(Dtype::FP16, Dtype::FP32).unwrap(),
            dst_type: Dtype::FP32,
            channels: 128,
            function: neuron_core::isa::activation::Activation::from_name(function).unwrap(),
            scale: 0.75f32.to_bits(),
            bias: Addr4(GAP).0,
            dst: whole(2, COUNT),
            ..Activate::default()
        };
        let expression = format!("(lambda x: {expression})((a * f(0.75) + b).astype('float64'))");
        let inputs = [(Dtype::FP16, COUNT), (Dtype::FP32, 1)];
        let work = vec![plain(Opcode::ACTIVATE, body)];
        let (ours, theirs) =
            oracle.both(&inputs, (Dtype::FP32, COUNT), Engine::Act, work, &expression);
        for (ours, theirs) in support::fp32(&ours).iter().zip(support::fp32(&theirs)) {
            let near = (theirs.next_down()..=theirs.next_up()).contains(ours);
            assert!(near || ours.is_nan() && theirs.is_nan(), "{function}: {ours} {theirs}");
        }
    }
}
