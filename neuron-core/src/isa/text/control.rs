//! Items of the sequencer's payloads (isa-layouts.md §4).

use super::register::{Assignment, Register, RegisterOrNumber};
use super::value::{Hex, HexBytes, List, OneOrTwo};
use super::walk::{MemoryWalk, Walk};
use super::{Outcome, Text, When};
use crate::isa::address::Addr8;
use crate::isa::body::control::{
    Alu, Branch, EventSemaphore, Move, Notify, PollSemaphore, PseudoTensorLoad, RegisterPair,
    TensorLoad, TensorStore, Write,
};
use crate::isa::code::{BranchCompare, BranchTarget, Dtype, NotifyKind, OperandSource};
use crate::isa::event::Events;
use crate::isa::header::Header;

/// In a line, `setter` is there when it is not 0 or a second block follows;
/// the public sample has neither.
pub(crate) fn event_semaphore<T: Text>(b: &mut EventSemaphore, t: &mut T) -> Outcome {
    let when = if b.events == Events::default() { When::Viewer } else { When::Always };
    t.entry(when, "setter", &mut b.setter, 0)?;
    t.second_events(&mut b.events)
}

pub(crate) fn write<T: Text>(b: &mut Write, t: &mut T) -> Outcome {
    let two = b.size1 != 0;
    let second = |value| two.then_some(Hex(value));
    let mut data = OneOrTwo(Hex(b.data0), second(b.data1));
    let mut size = OneOrTwo(b.size0, two.then_some(b.size1));
    let mut dst = OneOrTwo(Hex(b.dst0), second(b.dst1));
    t.item("data", &mut data)?;
    t.item("size", &mut size)?;
    t.item("dst", &mut dst)?;
    if data.1.is_some() != size.1.is_some() || dst.1.is_some() != size.1.is_some() {
        return Err(String::from("data, size and dst differ in length"));
    }
    (b.data0, b.size0, b.dst0) = (data.0.0, size.0, dst.0.0);
    b.size1 = size.1.unwrap_or(0);
    match (data.1, dst.1) {
        (Some(data), Some(dst)) => (b.data1, b.dst1) = (data.0, dst.0),
        _ => {
            hidden_hex(t, "data1", &mut b.data1)?;
            hidden_hex(t, "dst1", &mut b.dst1)?;
        }
    }
    Ok(())
}

fn hidden_hex<T: Text>(t: &mut T, key: &str, place: &mut u64) -> Outcome {
    let mut value = Hex(*place);
    t.hidden(key, &mut value, Hex(0))?;
    *place = value.0;
    Ok(())
}

/// Which byte gives `trace=START` is unknown; it is written for the one
/// combination of bytes that captures have.
pub(crate) fn notify<T: Text>(header: &Header, b: &mut Notify, t: &mut T) -> Outcome {
    t.gap();
    t.item("hint", &mut b.code)?;
    t.item("notification", &mut b.kind)?;
    t.gap();
    let captured = header.debug_cmd == 9 && b.kind == NotifyKind::EXPLICIT;
    t.constant("trace", "START", captured)?;
    t.hidden("code2", &mut b.code2, 0)?;
    t.hidden("kind2", &mut b.kind2, 0)
}

pub(crate) fn mov<T: Text>(b: &mut Move, t: &mut T) -> Outcome {
    t.item("dtype", &mut b.dtype)?;
    let mut assignment = Assignment { register: b.register, value: b.value };
    t.bare("$R[N]=VALUE", &mut assignment)?;
    (b.register, b.value) = (assignment.register, assignment.value);
    t.hidden("source", &mut b.source, OperandSource::IMMEDIATE)?;
    t.hidden("count", &mut b.count, 1)
}

pub(crate) fn alu<T: Text>(b: &mut Alu, t: &mut T) -> Outcome {
    t.item("op", &mut b.op)?;
    t.item("dtype", &mut b.dtype)?;
    t.item("src0", &mut b.src0)?;
    let mut operand = match b.src1_source {
        OperandSource::REGISTER => RegisterOrNumber::Register(b.src1),
        _ => RegisterOrNumber::Number(b.immediate),
    };
    t.item("src1", &mut operand)?;
    t.item("dst", &mut b.dst)?;
    match operand {
        RegisterOrNumber::Register(pair) => {
            b.src1 = pair;
            t.hidden("src1_source", &mut b.src1_source, OperandSource::REGISTER)?;
            hidden_hex(t, "imm_unused", &mut b.immediate)
        }
        RegisterOrNumber::Number(number) => {
            b.immediate = number;
            t.hidden("src1_source", &mut b.src1_source, OperandSource::IMMEDIATE)?;
            t.hidden("src1_unused", &mut b.src1, RegisterPair::default())
        }
    }
}

pub(crate) fn branch<T: Text>(b: &mut Branch, t: &mut T) -> Outcome {
    t.item("cmp_op", &mut b.compare)?;
    let when = match b.compare {
        BranchCompare::ALWAYS => When::UnusualInLine,
        _ => When::Always,
    };
    t.entry(when, "dtype", &mut b.dtype, Dtype::INVALID)?;
    let mut register = Register(b.register);
    t.entry(when, "cmp0", &mut register, Register(0))?;
    b.register = register.0;
    t.entry(when, "cmp1", &mut b.immediate, 0)?;
    // the viewer prints the distance as an unsigned word
    t.item_as(
        "label_id",
        &mut b.distance,
        |distance| u32::from_le_bytes(distance.to_le_bytes()),
        |label| i32::from_le_bytes(label.to_le_bytes()),
    )?;
    t.hidden("target_mode", &mut b.target, BranchTarget::RELATIVE)?;
    t.hidden("target", &mut b.target_registers, RegisterPair::default())
}

/// Registers that a walk of `n0 x n1` words names, and further ones that are
/// not zero, since the record has room for 32.
fn listed(bytes: &[u8; 32], words: usize) -> usize {
    let last = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    words.min(bytes.len()).max(last)
}

fn fill(place: &mut [u8; 32], bytes: &[u8]) -> Outcome {
    let mut filled = [0; 32];
    filled
        .get_mut(..bytes.len())
        .ok_or_else(|| String::from("data has room for 32 bytes"))?
        .copy_from_slice(bytes);
    *place = filled;
    Ok(())
}

fn register_list<T: Text>(t: &mut T, words: usize, registers: &mut [u8; 32]) -> Outcome {
    let shown = listed(registers, words);
    let mut list = List(registers.iter().take(shown).map(|byte| Register(*byte)).collect());
    t.item("data", &mut list)?;
    fill(registers, &list.0.iter().map(|register| register.0).collect::<Vec<_>>())
}

/// `addr=TYPE@ADDRESS[steps][counts]`.
fn memory_walk<T: Text>(
    t: &mut T,
    dtype: &mut Dtype,
    address: &mut Addr8,
    steps: &mut [i32; 2],
    counts: (&mut u8, &mut u8),
) -> Outcome {
    let walk = Walk { steps: *steps, counts: [*counts.0, *counts.1] };
    let mut value = MemoryWalk { address: address.0, walk };
    t.typed("addr", dtype, &mut value)?;
    let [n0, n1] = value.walk.counts;
    (address.0, *steps, *counts.0, *counts.1) = (value.address, value.walk.steps, n0, n1);
    Ok(())
}

pub(crate) fn tensor_load<T: Text>(b: &mut TensorLoad, t: &mut T) -> Outcome {
    memory_walk(t, &mut b.dtype, &mut b.address, &mut b.steps, (&mut b.n0, &mut b.n1))?;
    register_list(t, usize::from(b.n0) * usize::from(b.n1), &mut b.registers)
}

pub(crate) fn pseudo_tensor_load<T: Text>(b: &mut PseudoTensorLoad, t: &mut T) -> Outcome {
    t.item("dtype", &mut b.dtype)?;
    t.item("var_id", &mut b.var_id)?;
    t.item("var_offset", &mut b.var_offset)?;
    let mut walk = Walk { steps: b.steps, counts: [b.n0, b.n1] };
    t.item("pattern", &mut walk)?;
    b.steps = walk.steps;
    [b.n0, b.n1] = walk.counts;
    register_list(t, usize::from(b.n0) * usize::from(b.n1), &mut b.registers)
}

pub(crate) fn tensor_store<T: Text>(b: &mut TensorStore, t: &mut T) -> Outcome {
    memory_walk(t, &mut b.dtype, &mut b.address, &mut b.steps, (&mut b.n0, &mut b.n1))?;
    let words = usize::from(b.n0) * usize::from(b.n1);
    let form = match b.source {
        OperandSource::REGISTER => 0,
        OperandSource::IMMEDIATE => 1,
        _ => 2,
    };
    match t.choose(&["data", "imm", "source"], form) {
        0 => {
            b.source = OperandSource::REGISTER;
            register_list(t, words, &mut b.data)
        }
        1 => {
            b.source = OperandSource::IMMEDIATE;
            let (numbers, _) = b.data.as_chunks::<4>();
            let shown = listed(&b.data, words.saturating_mul(4)).div_ceil(4);
            let numbers = numbers.iter().take(shown).map(|n| Hex(u32::from_le_bytes(*n)));
            let mut list = List(numbers.collect());
            t.item("imm", &mut list)?;
            let bytes = list.0.iter().flat_map(|number| number.0.to_le_bytes());
            fill(&mut b.data, &bytes.collect::<Vec<_>>())
        }
        _ => {
            t.item("source", &mut b.source)?;
            let mut bytes = HexBytes(b.data.to_vec());
            t.item("raw_data", &mut bytes)?;
            fill(&mut b.data, &bytes.0)
        }
    }
}

pub(crate) fn poll_semaphore<T: Text>(b: &mut PollSemaphore, t: &mut T) -> Outcome {
    t.item("op", &mut b.op)?;
    t.item("count", &mut b.count)?;
    t.item_as("addr", &mut b.address, |v| Hex(*v), |v| v.0)?;
    t.item_as("writeback", &mut b.writeback, |v| Hex(*v), |v| v.0)?;
    t.item_as("result", &mut b.result, |v| Register(*v), |v| v.0)
}
