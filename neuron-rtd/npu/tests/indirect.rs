//! Gather and scatter by DMA against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::address::{Addr4, Addr8, Location};
use neuron_core::isa::body::control::Move;
use neuron_core::isa::body::dma::{DmaDirect, DmaIndirect};
use neuron_core::isa::code::{DmaCompute, Dtype, OperandSource};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::{Fault, Program, Stop, Tensors};
use support::Random;
use support::neff::{GAP, plain, wait};
use support::oracle::{Fill, Input, Near, file, normal, oracle};

const ROW: u16 = 16;
const BYTES: u16 = 4 * ROW;
const PARTITION: i32 = 0x4_0000;
const DONE: u8 = 30;

/// Bits of the flags.
const SCATTER: u8 = 1;
const BOTH: u8 = 2;
const FAILS: u8 = 4;

fn variable(id: u32, offset: u32) -> Addr8 {
    Addr8::of(Location::Variable { id, offset }).unwrap()
}

/// From rows of the first input in HBM to rows at `to` in SBUF, with the
/// second input as indices.
fn rows(to: u32) -> DmaIndirect {
    DmaIndirect {
        semaphore: DONE,
        increment: 16,
        index_channels: 128,
        src: variable(1, 0),
        src_step: i32::from(BYTES),
        src_count: 128,
        src_elem_size: BYTES,
        dst: variable(0, to * GAP),
        dst_step: PARTITION,
        dst_count: 128,
        dst_elem_size: BYTES,
        src_index: Addr4(GAP),
        dst_index: Addr4(GAP),
        src_type: Dtype::FP32,
        dst_type: Dtype::FP32,
        ..DmaIndirect::default()
    }
}

fn work(body: DmaIndirect) -> Vec<Instruction> {
    vec![plain(Opcode::DMA_INDIRECT, body), wait(DONE, 16)]
}

/// The same with the bound 99 in register 7.
fn bound(body: DmaIndirect) -> Vec<Instruction> {
    let bound = Move {
        count: 1,
        dtype: Dtype::UINT32,
        source: OperandSource::IMMEDIATE,
        register: 7,
        value: 99,
    };
    let mut work = work(body);
    work.insert(0, plain(Opcode::MOVE, bound));
    work
}

/// Each row once, in some order.
fn permutation(seed: u64) -> Input {
    let (mut random, mut order) = (Random(seed), (0..128u32).collect::<Vec<_>>());
    for last in (1..order.len()).rev() {
        order.swap(last, random.next() as usize % (last + 1));
    }
    (Dtype::UINT32, 1, Fill::Given(order.iter().flat_map(|index| index.to_le_bytes()).collect()))
}

const ANY: Input = (Dtype::UINT32, 1, Fill::Whole(0, 127));
const FP32: (Dtype, u16) = (Dtype::FP32, ROW);

#[test]
fn rows_are_gathered_and_scattered() {
    let Some(mut oracle) = oracle(130) else { return };
    let numbers = || normal(Dtype::FP32, ROW);
    let inputs = [numbers(), ANY];
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, work(rows(2)), "a[b_raw[:, 0]]");
    let mut narrow = rows(2);
    (narrow.dst_type, narrow.dst_elem_size) = (Dtype::BFLOAT16, BYTES / 2);
    let output = (Dtype::BFLOAT16, ROW);
    oracle.case(Near::Same, &inputs, output, Engine::Pool, work(narrow), "a[b_raw[:, 0]]");
    let scatter = DmaIndirect { flags: SCATTER, ..rows(2) };
    let inputs = [numbers(), permutation(131)];
    let expression = "a[np.argsort(b_raw[:, 0])]";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, work(scatter), expression);
    let both = DmaIndirect { flags: BOTH, dst_index: Addr4(2 * GAP), ..rows(3) };
    let inputs = [numbers(), ANY, permutation(132)];
    let expression = "a[b_raw[:, 0]][np.argsort(c_raw[:, 0])]";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, work(both), expression);
    oracle.check();
}

/// Sums at the destination; an index that occurs twice counts twice.
#[test]
fn rows_are_added() {
    let Some(mut oracle) = oracle(136) else { return };
    let add = |body| DmaIndirect { compute: DmaCompute::ADD, ..body };
    let inputs = [normal(Dtype::FP32, ROW), ANY];
    let mut twice = work(rows(2));
    twice.extend([plain(Opcode::DMA_INDIRECT, add(rows(2))), wait(DONE, 32)]);
    let expression = "a[b_raw[:, 0]] + a[b_raw[:, 0]]";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, twice, expression);
    // small whole numbers, whose sums are exact in any order
    let whole = (Dtype::BFLOAT16, ROW, Fill::Whole(0, 3));
    let inputs = [whole, (Dtype::UINT32, 1, Fill::Whole(0, 9))];
    let mut scatter = add(DmaIndirect { flags: SCATTER | 8, ..rows(2) });
    (scatter.src_type, scatter.src_elem_size, scatter.src_step) =
        (Dtype::BFLOAT16, BYTES / 2, i32::from(BYTES / 2));
    let expression = "(lambda out: (np.add.at(out, b_raw[:, 0].astype(int), \
        a.astype(np.float64)), out)[1])(np.zeros((128, 16)))";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, work(scatter), expression);
    let direct = |compute: u8| DmaDirect {
        semaphore: DONE,
        increment: 16,
        operation: compute,
        src: variable(1, 0),
        src_steps: [i32::from(BYTES), 0],
        src_counts: [128, 1],
        src_elem_size: BYTES,
        src_type: Dtype::FP32,
        dst: variable(0, GAP),
        dst_steps: [PARTITION, 0],
        dst_counts: [128, 1],
        dst_elem_size: BYTES,
        dst_type: Dtype::FP32,
        ..DmaDirect::default()
    };
    let record = |compute| plain(Opcode::DMA_DIRECT2D, direct(compute));
    let thrice = vec![record(0), wait(DONE, 16), record(1), wait(DONE, 32), record(1)];
    let thrice = [thrice, vec![wait(DONE, 48)]].concat();
    oracle.case(Near::Same, &[normal(Dtype::FP32, ROW)], FP32, Engine::Pool, thrice, "a + a + a");
    oracle.check();
    // products, maxima and minima are documented nowhere; neither are whole sums
    for compute in [DmaCompute::MULTIPLY, DmaCompute::MAX, DmaCompute::MIN] {
        let fault = fault(work(DmaIndirect { compute, ..rows(2) }), 0);
        assert!(matches!(fault, Fault::NotUnderstood(_)), "{compute}: {fault}");
    }
    let whole = DmaIndirect { dst_type: Dtype::INT32, ..add(rows(2)) };
    assert!(matches!(fault(work(whole), 0), Fault::NotUnderstood(_)));
}

/// More indices than partitions go on in the next word.
#[test]
fn elements_one_after_the_other() {
    let Some(mut oracle) = oracle(133) else { return };
    let mut body = rows(2);
    (body.src_step, body.src_elem_size, body.src_count) = (4, 4, 256);
    (body.dst_step, body.dst_elem_size, body.dst_count) = (4, 4, 256);
    let inputs = [normal(Dtype::FP32, ROW), (Dtype::UINT32, 2, Fill::Whole(0, 128 * 16 - 1))];
    let expression =
        "np.vstack([a.ravel()[b_raw.T.ravel()].reshape(1, 256), np.zeros((127, 256))])";
    oracle.case(Near::Same, &inputs, (Dtype::FP32, 256), Engine::Pool, work(body), expression);
    oracle.check();
}

#[test]
fn rows_beyond_the_bound() {
    let Some(mut oracle) = oracle(134) else { return };
    let inputs = [normal(Dtype::FP32, ROW), ANY];
    let skips = DmaIndirect { src_bound: 0x87, ..rows(2) };
    let expression = "np.where(b_raw <= 99, a[b_raw[:, 0]], 0)";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, bound(skips), expression);
    // without its bit the register is no bound
    let free = DmaIndirect { src_bound: 7, ..rows(2) };
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, bound(free), "a[b_raw[:, 0]]");
    let scatter = DmaIndirect { flags: SCATTER, dst_bound: 0x87, ..rows(2) };
    let inputs = [normal(Dtype::FP32, ROW), permutation(135)];
    let expression = "np.where(np.arange(128)[:, None] <= 99, a[np.argsort(b_raw[:, 0])], 0)";
    oracle.case(Near::Same, &inputs, FP32, Engine::Pool, bound(scatter), expression);
    oracle.check();
}

/// What a program of two inputs says with these indices.
fn fault(work: Vec<Instruction>, index: u32) -> Fault {
    let inputs = [normal(Dtype::FP32, ROW), ANY];
    let file = file("cayman", &inputs, FP32, Engine::Pool, work);
    let mut indices = vec![0; 512];
    indices[4 * 70..4 * 71].copy_from_slice(&index.to_le_bytes());
    let tensors: Tensors =
        [("a".to_owned(), vec![0; 128 * usize::from(BYTES)]), ("b".to_owned(), indices)].into();
    match Program::from_neff(&file).unwrap().run(&tensors) {
        Err(Stop::Instruction { fault, .. } | Stop::Transfer { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_index_or_record_stops() {
    let body = DmaIndirect { flags: FAILS, src_bound: 0x87, ..rows(2) };
    let text = "index 100 beyond 99, element 70";
    assert_eq!(fault(bound(body), 100), Fault::Address(text.to_owned()));
    // no bound, and the variable ends
    assert!(matches!(fault(work(rows(2)), 128), Fault::Address(_)));
    let changes: [fn(&mut DmaIndirect); 6] = [
        |body| body.flags = 3,
        |body| body.flags = 0x10,
        |body| body.index_channels = 64,
        |body| body.src_count = 127,
        |body| body.src_index = Addr4(0x4_0000),
        |body| body.config = 8,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut body = rows(2);
        change(&mut body);
        let fault = fault(work(body), 0);
        assert!(matches!(fault, Fault::NotUnderstood(_) | Fault::Shape(_)), "{number}: {fault}");
    }
}
