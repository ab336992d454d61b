//! Constants, ramps, selections and gathers against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::act::ReadAccumulator;
use neuron_core::isa::body::control::Move;
use neuron_core::isa::body::select::{
    BufferLoad, Gather, PredicatedScalar, RangeSelect, ScalarSelect,
};
use neuron_core::isa::body::tensor::{
    AffineSelect, Iota, Memset, Ramp, ScalarTensorTensor, TensorTensor, Unary,
};
use neuron_core::isa::code::{
    AccumulatorCmd, AffineCompare, AluOp, Dtype, DtypePair, ImmSource, IndexMiss, OperandSource,
    Reverse,
};
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Instruction, Opcode};
use support::neff::{GAP, plain, whole};
use support::oracle::{COUNT, Fill, Near, normal, oracle};

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
    oracle.check();
}

/// Copies variable 0 to where the result stands.
fn first(dtype: Dtype, variable: u32) -> Instruction {
    let body = Unary {
        src: whole(0, COUNT),
        src_type: dtype,
        dst_type: dtype,
        channels: 128,
        dst: whole(variable, COUNT),
        ..Unary::default()
    };
    plain(Opcode::COPY, body)
}

/// Where the predicate is 0, the result keeps what a copy put there.
#[test]
fn copies_under_a_predicate() {
    let Some(mut oracle) = oracle(66) else { return };
    for (opcode, src, dst) in [
        (Opcode::COPY_PREDICATED, Dtype::FP32, Dtype::FP32),
        (Opcode::CAST_PREDICATED, Dtype::FP16, Dtype::BFLOAT16),
        (Opcode::CAST_PREDICATED, Dtype::FP32, Dtype::INT16),
    ] {
        let body = TensorTensor {
            src_types: DtypePair::new(Dtype::INT8, src).unwrap(),
            dst_type: dst,
            op: AluOp::BYPASS,
            channels: 128,
            src0: whole(1, COUNT),
            src1: whole(2, COUNT),
            dst: whole(3, COUNT),
        };
        let work = vec![first(dst, 3), plain(opcode, body)];
        let inputs = [(dst, COUNT), (Dtype::INT8, COUNT), (src, COUNT)];
        let expression = "np.where(b, c, a)";
        oracle.same(&inputs, (dst, COUNT), Engine::Dve, work, expression);
    }
    for (reversed, expression) in [(0, "np.where(b, a, f(-1e30))"), (1, "np.where(b, c, a)")] {
        let pointer = reversed == 1;
        let body = PredicatedScalar {
            predicate: whole(1, COUNT),
            predicate_type: Dtype::INT16,
            reversed,
            channels: 128,
            src_type: Dtype::FP32,
            dst_type: Dtype::FP32,
            scalar_source: if pointer { ImmSource::PTR } else { ImmSource::INSTRUCTION },
            scalar: if pointer { 2 * GAP } else { (-1e30f32).to_bits() },
            dst: whole(3, COUNT),
        };
        let work = vec![first(Dtype::FP32, 3), plain(Opcode::COPY_PREDICATED_SCALAR, body)];
        let inputs = [(Dtype::FP32, COUNT), (Dtype::INT16, COUNT), (Dtype::FP32, 1)];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
    oracle.check();
}

#[test]
fn one_choice_a_partition() {
    let Some(mut oracle) = oracle(97) else { return };
    for (reversed, expression) in [(0, "np.where(b, a, 9)"), (1, "np.where(b, 9, a)")] {
        let body = ScalarSelect {
            src: whole(0, COUNT),
            reversed,
            channels: 128,
            dtype: Dtype::BFLOAT16,
            predicate_type: Dtype::INT16,
            predicate_source: ImmSource::PTR,
            scalar: 0x4110,
            predicate: GAP,
            dst: whole(2, COUNT),
            ..ScalarSelect::default()
        };
        let work = vec![plain(Opcode::TENSOR_SCALAR_SELECT, body)];
        let inputs = [normal(Dtype::BFLOAT16, COUNT), (Dtype::INT16, 1, Fill::Whole(0, 1))];
        let output = (Dtype::BFLOAT16, COUNT);
        oracle.case(Near::Same, &inputs, output, Engine::Dve, work, expression);
    }
    oracle.check();
}

fn maximum(variable: u32) -> Instruction {
    let body = ReadAccumulator {
        count: 1,
        dst_type: Dtype::FP32,
        negated: 0,
        channels: 128,
        dst: whole(variable, 1),
    };
    plain(Opcode::DVE_READ_ACCUMULATOR, body)
}

/// Keys that a query sees: index within two bounds of each row.
#[test]
fn range_select() {
    let Some(mut oracle) = oracle(98) else { return };
    let body = |op0, op1, accumulator| RangeSelect {
        channels: 128,
        types: DtypePair::new(Dtype::FP32, Dtype::BFLOAT16).unwrap(),
        accumulator,
        reduce_op: AluOp::MAX,
        base: Fp32::new(100.0),
        fill: Fp32::new(f32::MIN),
        src: whole(0, COUNT),
        op0,
        op1,
        bound0_source: ImmSource::PTR,
        bound1_source: ImmSource::INSTRUCTION,
        bound0: GAP,
        bound1: 118f32.to_bits(),
        dst: whole(2, COUNT),
    };
    let inputs = [normal(Dtype::FP32, COUNT), (Dtype::FP32, 1, Fill::Whole(98, 125))];
    let select = |first: &str, second: &str| {
        format!("np.where((i {first} b) & (i {second} 118), a, np.finfo('float32').min)")
    };
    let with_index = |text: String| format!("(lambda i: {text})(np.arange(100, 124))");
    for (op0, op1, first, second) in [
        (AluOp::IS_GE, AluOp::IS_LT, ">=", "<"),
        (AluOp::IS_GT, AluOp::IS_LE, ">", "<="),
        (AluOp::IS_EQ, AluOp::IS_LE, "==", "<="),
    ] {
        let work = vec![plain(Opcode::RANGE_SELECT, body(op0, op1, AccumulatorCmd::IDLE))];
        let expression = with_index(select(first, second));
        let output = (Dtype::BFLOAT16, COUNT);
        oracle.case(Near::Same, &inputs, output, Engine::Dve, work, &expression);
        let zero = AccumulatorCmd::ZERO_ACCUMULATE;
        let work = vec![plain(Opcode::RANGE_SELECT, body(op0, op1, zero)), maximum(2)];
        let expression = with_index(format!("{}.max(1)", select(first, second)));
        oracle.case(Near::Same, &inputs, (Dtype::FP32, 1), Engine::Dve, work, &expression);
    }
    oracle.check();
}

#[test]
fn select_reduce() {
    let Some(mut oracle) = oracle(99) else { return };
    let body = |reverse, accumulator| ScalarTensorTensor {
        src0: whole(0, COUNT),
        src1: whole(1, COUNT),
        op0: AluOp::BYPASS,
        op1: AluOp::MAX,
        reverse,
        imm0_source: ImmSource::PTR,
        src_types: DtypePair::new(Dtype::INT8, Dtype::FP16).unwrap(),
        dst_type: Dtype::FP32,
        channels: 128,
        imm0_type: Dtype::FP32,
        accumulator,
        dst: whole(3, COUNT),
        imm0: 2 * GAP,
    };
    let inputs = [(Dtype::INT8, COUNT), (Dtype::FP16, COUNT), (Dtype::FP32, 1)];
    for (reverse, expression) in
        [(Reverse::NONE, "np.where(a, b, c)"), (Reverse::FIRST, "np.where(a, c, b)")]
    {
        let work = vec![plain(Opcode::SELECT_REDUCE, body(reverse, AccumulatorCmd::IDLE))];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Dve, work, expression);
    }
    let step = |reverse, accumulator| plain(Opcode::SELECT_REDUCE, body(reverse, accumulator));
    let work = vec![
        step(Reverse::NONE, AccumulatorCmd::ZERO_ACCUMULATE),
        step(Reverse::FIRST, AccumulatorCmd::ACCUMULATE),
        maximum(3),
    ];
    let expression = "np.maximum(b, c).max(1)";
    oracle.same(&inputs, (Dtype::FP32, 1), Engine::Dve, work, expression);
    oracle.check();
}

/// A table of 40 elements in two windows of 32: the second one fills in what
/// the first one missed; what neither has is 0.
#[test]
fn gather_by_windows() {
    let Some(mut oracle) = oracle(100) else { return };
    let load = |start: u32, count: u16| {
        let mut src = whole(0, count);
        src.start.0 += start * 2;
        let body = BufferLoad {
            src,
            src_type: Dtype::BFLOAT16,
            channels: 128,
            start_index: start,
            mask: 31,
        };
        plain(Opcode::POOL_BUFFER_LOAD, body)
    };
    let gather = |miss, free_buffer| {
        let body = Gather {
            src: whole(1, COUNT),
            src_type: Dtype::UINT16,
            dst_type: Dtype::BFLOAT16,
            channels: 128,
            miss,
            free_buffer,
            immediate: 0,
            dst: whole(2, COUNT),
        };
        plain(Opcode::GATHER, body)
    };
    let work = vec![
        load(0, 32),
        gather(IndexMiss::IMMEDIATE_WRITE, 0),
        load(32, 8),
        gather(IndexMiss::SKIP_WRITE, 1),
    ];
    let inputs = [normal(Dtype::BFLOAT16, 40), (Dtype::UINT16, COUNT, Fill::Whole(0, 45))];
    let expression = "np.take_along_axis(np.pad(a, ((0, 0), (0, 6))), b_raw.astype('int64'), 1)";
    let output = (Dtype::BFLOAT16, COUNT);
    oracle.case(Near::Same, &inputs, output, Engine::Pool, work, expression);
    oracle.check();
}
