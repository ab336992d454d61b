//! Numerical errors are counted where they arise and stop nothing; faults have
//! the classes of the device.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::activation::Activation;
use neuron_core::isa::address::{Addr4, PSUM_BASE, Pattern};
use neuron_core::isa::body::act::Activate;
use neuron_core::isa::body::pe::{AccumulateFlags, ArrayGroup, LoadWeights, MatMul};
use neuron_core::isa::body::tensor::{Memset, TensorTensor, Unary};
use neuron_core::isa::code::{AluOp, BiasSource, Dtype, DtypePair};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::errors::{ErrorClass, Errors};
use npu::time::Timing;
use npu::{At, Fault, Limits, Observer, Program, Stop, Tensors};
use support::neff::{GAP, Small, plain, raising, wait, whole};

#[derive(Default)]
struct Seen(Vec<(At, Errors)>);

impl Observer for Seen {
    fn errors(&mut self, at: At, errors: &Errors) {
        self.0.push((at, *errors));
    }
}

/// Rows of four numbers, all alike.
fn rows(row: [f32; 4]) -> Vec<u8> {
    row.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>().repeat(128)
}

fn seen(file: &Small, tensors: &Tensors) -> Vec<(Engine, usize, Errors)> {
    let (program, mut seen) = (Program::from_neff(&file.build()).unwrap(), Seen::default());
    program.run_with(tensors, &Limits::default(), &mut seen).unwrap();
    // a timed run counts the same
    let timed = program.run_timed(tensors, &Timing::of(&program), &mut ()).unwrap();
    let mut all = Errors::default();
    seen.0.iter().for_each(|(_, errors)| all.add(errors));
    assert_eq!(timed.summary.cores[0].errors, all);
    seen.0.into_iter().map(|(at, errors)| (at.engine, at.slot, errors)).collect()
}

fn tensor_tensor(op: AluOp, dst_type: Dtype) -> Instruction {
    let body = TensorTensor {
        op,
        src0: whole(0, 4),
        src1: whole(1, 4),
        src_types: DtypePair::new(Dtype::FP32, Dtype::FP32).unwrap(),
        dst_type,
        channels: 128,
        dst: whole(2, 4),
    };
    plain(Opcode::TENSOR_TENSOR, body)
}

#[test]
fn wrong_numbers_are_counted_by_instruction() {
    let a = rows([0.0, 1.0, 1e-30, 3e38]);
    let b = rows([0.0, 0.0, 1e10, 1e-10]);
    let tensors: Tensors = [("a".to_owned(), a), ("b".to_owned(), b)].into();
    let none = Errors::default();
    let cases = [
        // NaN, infinity, 1e-40, infinity
        (AluOp::DIVIDE, Dtype::FP32, Errors { nan: 128, infinity: 256, underflow: 128, ..none }),
        // 0, 1, 1e10, 3e38
        (AluOp::ADD, Dtype::FP32, none),
        (AluOp::ADD, Dtype::BFLOAT16, none),
        (AluOp::ADD, Dtype::FP16, Errors { overflow: 256, ..none }),
        (AluOp::ADD, Dtype::INT8, Errors { overflow: 256, ..none }),
        // 0, 0, 1e-20, 3e28
        (AluOp::MULTIPLY, Dtype::FP32, none),
        (AluOp::MULTIPLY, Dtype::FP16, Errors { underflow: 128, overflow: 128, ..none }),
        // no result of a comparison is wrong
        (AluOp::IS_GT, Dtype::FP32, none),
    ];
    for (op, dtype, errors) in cases {
        let work = vec![tensor_tensor(AluOp::MAX, Dtype::FP32), tensor_tensor(op, dtype)];
        let file = Small::around(&[16, 16], 16, Engine::Dve, work);
        let expected = if errors.is_none() { vec![] } else { vec![(Engine::Dve, 2, errors)] };
        assert_eq!(seen(&file, &tensors), expected, "{op} {dtype}");
    }
}

/// A cast counts, a copy of the same bits and a transfer do not.
#[test]
fn copies_produce_nothing() {
    let tensors: Tensors = [("a".to_owned(), rows([f32::NAN, f32::INFINITY, 1e-42, 7e4]))].into();
    let unary = |opcode, dst_type| {
        let body = Unary {
            src: whole(0, 4),
            src_type: Dtype::FP32,
            dst_type,
            channels: 128,
            dst: whole(1, 4),
            ..Unary::default()
        };
        plain(opcode, body)
    };
    let file = |work| Small::around(&[16], 16, Engine::Dve, vec![work]);
    assert_eq!(seen(&file(unary(Opcode::COPY, Dtype::FP32)), &tensors), []);
    let found = seen(&file(unary(Opcode::CAST, Dtype::FP16)), &tensors);
    let expected = Errors { nan: 128, infinity: 128, underflow: 128, overflow: 128 };
    assert_eq!(found, [(Engine::Dve, 1, expected)]);
}

#[test]
fn act_and_pe_count_too() {
    let tensors: Tensors = [("a".to_owned(), rows([-1.0, 100.0, -95.0, 2.0]))].into();
    let body = Activate {
        bias_source: BiasSource::INSTRUCTION,
        function: Activation::from_name("EXP").unwrap(),
        src: whole(0, 4),
        types: DtypePair::new(Dtype::FP32, Dtype::FP32).unwrap(),
        dst_type: Dtype::FP32,
        channels: 128,
        scale: 1f32.to_bits(),
        dst: whole(1, 4),
        ..Activate::default()
    };
    let file = Small::around(&[16], 16, Engine::Act, vec![plain(Opcode::ACTIVATE, body)]);
    let errors = Errors { infinity: 128, underflow: 128, ..Errors::default() };
    assert_eq!(seen(&file, &tensors), [(Engine::Act, 1, errors)]);

    // 128 products of 3e38 and of -inf: sums that leave fp32
    let tensors: Tensors =
        [("a".to_owned(), rows([2.0, 3e38, f32::NEG_INFINITY, f32::NAN]))].into();
    let weights = LoadWeights {
        src: Pattern { start: Addr4(0), steps: [1; 3], counts: [1; 3] },
        src_type: Dtype::BFLOAT16,
        rows: 128,
        columns: 1,
        row_group: ArrayGroup(15),
        ..LoadWeights::default()
    };
    let one = Memset {
        count: 1,
        dst_type: Dtype::BFLOAT16,
        channels: 128,
        value: 0x3f80,
        dst: whole(2, 1),
        ..Memset::default()
    };
    let mut half = weights;
    half.src.start = Addr4(2 * GAP);
    let body = MatMul {
        src: whole(3, 4),
        src_type: Dtype::BFLOAT16,
        rows: 128,
        columns: 1,
        accumulate: AccumulateFlags(3),
        row_group: ArrayGroup(15),
        dst: Pattern { start: Addr4(PSUM_BASE), steps: [1; 3], counts: [4, 1, 1] },
        ..MatMul::default()
    };
    let cast = Unary {
        src: whole(0, 4),
        src_type: Dtype::FP32,
        dst_type: Dtype::BFLOAT16,
        channels: 128,
        dst: whole(3, 4),
        ..Unary::default()
    };
    let work = vec![plain(Opcode::MEMSET, one), raising(plain(Opcode::CAST, cast), 5), wait(6, 1)];
    let mut file = Small::around(&[16], 16, Engine::Dve, work);
    file.on(Engine::Pe).push(wait(5, 1));
    file.on(Engine::Pe).push(plain(Opcode::LDWEIGHTS, half));
    file.on(Engine::Pe).push(raising(plain(Opcode::MATMUL, body), 6));
    let found = seen(&file, &tensors);
    let dve = Errors { nan: 128, infinity: 128, ..Errors::default() };
    let pe = Errors { nan: 1, infinity: 2, ..Errors::default() };
    assert_eq!(found, [(Engine::Dve, 2, dve), (Engine::Pe, 2, pe)]);
}

/// What stops one instruction on an engine.
fn fault(engine: Engine, work: Instruction) -> Fault {
    let file = Small::around(&[16], 16, engine, vec![work]).build();
    let tensors: Tensors = [("a".to_owned(), vec![0; 128 * 16])].into();
    match Program::from_neff(&file).unwrap().run(&tensors) {
        Err(Stop::Instruction { fault, .. }) => fault,
        Err(stop) => panic!("{stop}"),
        Ok(_) => panic!("it ran"),
    }
}

#[test]
fn faults_have_classes() {
    let set = |start, dst_type| {
        let body = Memset { count: 4, dst_type, channels: 128, ..Memset::default() };
        let dst = Pattern { start: Addr4(start), ..whole(0, 4) };
        plain(Opcode::MEMSET, Memset { dst, ..body })
    };
    let class = |engine, work| {
        let fault = fault(engine, work);
        (fault.class(), fault.class().id())
    };
    let collision = class(Engine::Pool, set(PSUM_BASE, Dtype::FP32));
    assert_eq!(collision, (ErrorClass::PsumCollision, 8));
    let outside = class(Engine::Dve, set(0x3_fffc, Dtype::FP32));
    assert_eq!(outside, (ErrorClass::Memory, 4));
    let illegal = class(Engine::Dve, set(0, Dtype(0x33)));
    assert_eq!(illegal, (ErrorClass::SequencerFatal, 10));
    let foreign = class(Engine::Act, plain(Opcode::MATMUL, MatMul::default()));
    assert_eq!(foreign, (ErrorClass::SequencerFatal, 10));
}
