//! Registers, branches and words of memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::control::{
    Alu, Branch, Move, PollSemaphore, RegisterPair, TensorLoad, TensorStore, Write,
};
use neuron_core::isa::body::pseudo::Pseudo;
use neuron_core::isa::code::{
    AluOp, BranchCompare, BranchTarget, Dtype, OperandSource, PseudoKind,
};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::time::Timing;
use npu::{Fault, Program, Stop, Tensors};
use support::neff::{GAP, Small, plain, wait};

/// SBUF of the core as the device has it, and its semaphores.
const SBUF: u64 = 0x8020_0000_0000;
const SEMAPHORES: u64 = SBUF + 0x270_0000;

fn set(register: u8, value: u32) -> Instruction {
    let (dtype, source) = (Dtype::UINT32, OperandSource::IMMEDIATE);
    plain(Opcode::MOVE, Move { count: 1, dtype, source, register, value })
}

fn add(register: u8, second: u8) -> Instruction {
    let pair = |low| RegisterPair { low, high: 0 };
    let body = Alu {
        op: AluOp::ADD,
        dtype: Dtype::UINT32,
        src1_source: OperandSource::REGISTER,
        src0: pair(register),
        src1: pair(second),
        dst: pair(register),
        ..Alu::default()
    };
    plain(Opcode::ALU_OP, body)
}

/// Registers from 40 on to words of the output's place in SBUF.
fn store(count: u8) -> Instruction {
    let mut body = TensorStore {
        dtype: Dtype::UINT32,
        source: OperandSource::REGISTER,
        n0: count,
        n1: 1,
        address: Addr8(SBUF + u64::from(GAP)),
        steps: [1, 0],
        ..TensorStore::default()
    };
    for (data, register) in body.data.iter_mut().zip(40..40 + count) {
        *data = register;
    }
    plain(Opcode::TENSOR_STORE, body)
}

fn branch(
    compare: BranchCompare,
    dtype: Dtype,
    register: u8,
    immediate: u64,
    by: i32,
) -> Instruction {
    let target = BranchTarget::RELATIVE;
    let distance = 64 * by;
    let body =
        Branch { compare, dtype, target, immediate, register, distance, ..Branch::default() };
    plain(Opcode::COMPARE_BRANCH, body)
}

/// Words of the first partition of the output.
fn run(work: Vec<Instruction>) -> Result<Vec<u32>, Stop> {
    let file = Small::around(&[64], 64, Engine::Pool, work).build();
    let input = (0..128 * 16u32).flat_map(|word| (1000 + word).to_le_bytes()).collect();
    let tensors: Tensors = [("a".to_owned(), input)].into();
    let program = Program::from_neff(&file).unwrap();
    let out = program.run(&tensors)?;
    let timed = program.run_timed(&tensors, &Timing::of(&program), &mut ())?;
    assert_eq!(out, timed.outputs, "in time");
    let words = out["out"][..64].as_chunks().0.iter();
    Ok(words.map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

fn fault(work: Vec<Instruction>) -> Fault {
    match run(work) {
        Err(Stop::Instruction { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// Every comparison, once passing over a record and once not.
#[test]
fn branches_compare_with_a_number() {
    let minus = u64::from(u32::MAX);
    let cases = [
        (BranchCompare::LT, Dtype::UINT32, 7, 8, true),
        (BranchCompare::LT, Dtype::UINT32, 8, 8, false),
        (BranchCompare::LE, Dtype::UINT32, 8, 8, true),
        (BranchCompare::LE, Dtype::UINT32, 9, 8, false),
        (BranchCompare::EQ, Dtype::UINT32, 8, 8, true),
        (BranchCompare::EQ, Dtype::UINT32, 9, 8, false),
        (BranchCompare::NE, Dtype::UINT32, 9, 8, true),
        (BranchCompare::NE, Dtype::UINT32, 8, 8, false),
        (BranchCompare::GE, Dtype::UINT32, 8, 8, true),
        (BranchCompare::GE, Dtype::UINT32, 7, 8, false),
        (BranchCompare::GT, Dtype::UINT32, 9, 8, true),
        (BranchCompare::GT, Dtype::UINT32, 8, 8, false),
        // as signed numbers -1 is less than 8, and both forms of it are one
        (BranchCompare::LT, Dtype::INT32, u32::MAX, 8, true),
        (BranchCompare::LT, Dtype::UINT32, u32::MAX, 8, false),
        (BranchCompare::GE, Dtype::INT32, 0, minus, true),
        (BranchCompare::EQ, Dtype::INT32, u32::MAX, minus, true),
        (BranchCompare::EQ, Dtype::INT32, u32::MAX, u64::MAX, true),
        (BranchCompare::ALWAYS, Dtype::INVALID, 0, 0, true),
    ];
    for (compare, dtype, register, immediate, taken) in cases {
        let work = vec![
            set(40, 1),
            set(60, register),
            branch(compare, dtype, 60, immediate, 2),
            set(40, 2),
            store(1),
        ];
        let label = format!("{compare} {dtype} {register} {immediate}");
        assert_eq!(run(work).unwrap()[0], if taken { 1 } else { 2 }, "{label}");
    }
    let at = |compare, dtype, target| {
        let distance = 64;
        fault(vec![plain(
            Opcode::COMPARE_BRANCH,
            Branch { compare, dtype, target, distance, ..Branch::default() },
        )])
    };
    let relative = BranchTarget::RELATIVE;
    assert_eq!(at(BranchCompare::LT, Dtype::FP32, relative), Fault::Type(Dtype::FP32));
    let faults = [
        at(BranchCompare::LT_REGISTER, Dtype::INT32, relative),
        at(BranchCompare::ALWAYS, Dtype::INT32, BranchTarget::REGISTER),
    ];
    assert!(faults.iter().all(|fault| matches!(fault, Fault::NotUnderstood(_))), "{faults:?}");
    let nowhere = vec![branch(BranchCompare::ALWAYS, Dtype::INT32, 0, 0, -7)];
    assert!(matches!(fault(nowhere), Fault::Address(_)));
}

/// Two loops, one in the other: 5 rounds of 3.
#[test]
fn loops_nest() {
    let work = vec![
        set(1, 1),
        set(40, 0),
        set(50, 0),
        set(51, 0),
        add(51, 1),
        add(40, 51),
        branch(BranchCompare::LT, Dtype::UINT32, 51, 3, -2),
        add(50, 1),
        branch(BranchCompare::NE, Dtype::INT32, 50, 5, -5),
        store(1),
    ];
    assert_eq!(run(work).unwrap()[0], 5 * (1 + 2 + 3));
}

#[test]
fn words_are_loaded_and_stored() {
    let input = Addr8::of(Location::Variable { id: 1, offset: 8 }).unwrap();
    let mut load = TensorLoad {
        dtype: Dtype::UINT32,
        n0: 3,
        n1: 2,
        address: input,
        steps: [2, 16],
        ..TensorLoad::default()
    };
    for (data, register) in load.registers.iter_mut().zip([40, 41, 42, 43, 44, 45]) {
        *data = register;
    }
    let from_hbm = vec![plain(Opcode::TENSOR_LOAD, load), store(6)];
    assert_eq!(run(from_hbm).unwrap()[..7], [1002, 1004, 1006, 1018, 1020, 1022, 0]);
    // the input as it stands in SBUF: the next partition has the next row
    let far = 0x4_0000 / 4;
    let sbuf = TensorLoad { address: Addr8(SBUF + 4), steps: [1, far], ..load };
    let from_sbuf = vec![plain(Opcode::TENSOR_LOAD, sbuf), store(6)];
    assert_eq!(run(from_sbuf).unwrap()[..6], [1001, 1002, 1003, 1017, 1018, 1019]);
    // numbers of the record, every third word
    let mut numbers = TensorStore {
        dtype: Dtype::INT32,
        source: OperandSource::IMMEDIATE,
        n0: 4,
        n1: 1,
        address: Addr8(SBUF + u64::from(GAP)),
        steps: [3, 0],
        ..TensorStore::default()
    };
    for (bytes, number) in numbers.data.as_chunks_mut().0.iter_mut().zip([5u32, 6, 7, u32::MAX]) {
        *bytes = number.to_le_bytes();
    }
    let work = vec![plain(Opcode::TENSOR_STORE, numbers)];
    assert_eq!(run(work).unwrap()[..10], [5, 0, 0, 6, 0, 0, 7, 0, 0, u32::MAX]);
    let many = TensorStore { n0: 9, ..numbers };
    assert!(matches!(fault(vec![plain(Opcode::TENSOR_STORE, many)]), Fault::Shape(_)));
    let lost = TensorLoad { address: Addr8(0x1000), ..load };
    assert!(matches!(fault(vec![plain(Opcode::TENSOR_LOAD, lost)]), Fault::Address(_)));
}

/// Events and semaphores as words of the device.
#[test]
fn writes_reach_memory_and_semaphores() {
    let two = |dst0, data0, dst1, data1| {
        let body = Write { size0: 4, size1: 4, dst0, dst1, data0, data1 };
        plain(Opcode::WRITE, body)
    };
    let one =
        |dst0, data0| plain(Opcode::WRITE, Write { size0: 4, dst0, data0, ..Write::default() });
    let at = |block: u64, index: u64| SEMAPHORES + block + 4 * index;
    let mut load = TensorLoad {
        dtype: Dtype::UINT32,
        n0: 1,
        n1: 1,
        address: Addr8(at(0x1000, 70)),
        ..TensorLoad::default()
    };
    load.registers[0] = 40;
    let mut event = TensorLoad { address: Addr8(at(0, 200)), ..load };
    event.registers[0] = 41;
    let work = vec![
        two(at(0x1400, 70), 100, at(0x1800, 70), 11),
        one(at(0x1c00, 70), 1),
        one(at(0, 200), 1),
        wait(70, 110),
        plain(Opcode::TENSOR_LOAD, load),
        plain(Opcode::TENSOR_LOAD, event),
        store(2),
        two(SBUF + u64::from(GAP) + 8, 77, SBUF + u64::from(GAP) + 16, 78),
    ];
    assert_eq!(run(work).unwrap()[..6], [110, 1, 77, 0, 78, 0]);
    let below = fault(vec![one(at(0x1c00, 71), 1)]);
    assert_eq!(below.class().id(), 6, "{below}");
    let faults = [one(at(0x1000, 70), 1), one(at(0, 200), 2), one(SBUF - 4, 1)];
    for work in faults {
        assert_eq!(fault(vec![work]).class().id(), 4);
    }
    let long = Write { size0: 8, dst0: at(0x1400, 1), data0: 1, ..Write::default() };
    assert!(matches!(fault(vec![plain(Opcode::WRITE, long)]), Fault::Address(_)));
    let odd = Write { size0: 3, dst0: SBUF, data0: 1, ..Write::default() };
    assert!(matches!(fault(vec![plain(Opcode::WRITE, odd)]), Fault::Shape(_)));
}

#[test]
fn semaphores_are_folded() {
    let value = |index: u64, data0| {
        let dst0 = SEMAPHORES + 0x1400 + 4 * index;
        plain(Opcode::WRITE, Write { size0: 4, dst0, data0, ..Write::default() })
    };
    let poll = |op, count| {
        let body = PollSemaphore {
            count,
            result: 40,
            op,
            address: SEMAPHORES + 0x1000 + 4 * 100,
            writeback: SBUF + u64::from(GAP) + 4,
        };
        plain(Opcode::POLL_SEM, body)
    };
    for (op, result) in [(AluOp::MIN, 5), (AluOp::MAX, 30), (AluOp::ADD, 44)] {
        let work = vec![value(100, 9), value(101, 30), value(102, 5), poll(op, 3), store(1)];
        assert_eq!(run(work).unwrap()[..2], [result, result], "{op}");
    }
    assert!(matches!(fault(vec![poll(AluOp::MIN, 17)]), Fault::Shape(_)));
}

/// What stands after the end of a program is not looked at.
#[test]
fn an_exit_ends_the_engine() {
    let exit = |kind| plain(Opcode::PSEUDO_INST, Pseudo { kind });
    let work = vec![set(40, 9), store(1)];
    let mut file = Small::around(&[64], 64, Engine::Pool, work);
    file.on(Engine::Pool).push(exit(PseudoKind::EXIT_EXECUTION));
    file.on(Engine::Pool).push(wait(99, 1));
    let tensors: Tensors = [("a".to_owned(), vec![0; 128 * 64])].into();
    let out = Program::from_neff(&file.build()).unwrap().run(&tensors).unwrap();
    assert_eq!(out["out"][0], 9);
    let other = fault(vec![exit(PseudoKind::LIBRARY_RELOAD)]);
    assert!(matches!(other, Fault::NotUnderstood(_)), "{other}");
}
