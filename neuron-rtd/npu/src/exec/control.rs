//! The sequencer: registers, branches, words of memory (isa-layouts.md §4).

use neuron_core::isa::Engine;
use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::control::{
    Alu, Branch, Move, PollSemaphore, PseudoTensorLoad, RangeClear, RegisterPair, TensorLoad,
    TensorStore, Write,
};
use neuron_core::isa::body::pseudo::Pseudo;
use neuron_core::isa::code::{
    BranchCompare, BranchTarget, Dtype, OperandSource, PseudoKind, RangeMode,
};

use super::{Flow, Site, State};
use crate::alu::scalar;
use crate::device;
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::sync::Sync;

/// Registers hold 32-bit numbers; so do the records of real files.
fn word(dtype: Dtype) -> Result<(), Fault> {
    match dtype {
        Dtype::INT32 | Dtype::UINT32 => Ok(()),
        other => Err(Fault::Type(other)),
    }
}

fn single(pair: RegisterPair) -> Result<u8, Fault> {
    if pair.high != 0 {
        return Err(Fault::unknown(format!("the register pair {}, {}", pair.low, pair.high)));
    }
    Ok(pair.low)
}

fn narrow(immediate: u64) -> Result<u32, Fault> {
    u32::try_from(immediate).map_err(|_| Fault::unknown(format!("the immediate {immediate:#x}")))
}

/// MOVE: a number into a register.
pub(super) fn move_number(state: &mut State, engine: Engine, body: &Move) -> Result<(), Fault> {
    word(body.dtype)?;
    if body.count != 1 || body.source != OperandSource::IMMEDIATE {
        return Err(Fault::unknown(format!("a move of {} from {}", body.count, body.source)));
    }
    state.set_register(engine, body.register, body.value);
    Ok(())
}

/// ALU_OP: arithmetic on registers.
pub(super) fn alu(state: &mut State, engine: Engine, body: &Alu) -> Result<(), Fault> {
    word(body.dtype)?;
    let op = scalar(body.op, body.dtype == Dtype::INT32)?;
    let first = state.register(engine, single(body.src0)?);
    let second = match body.src1_source {
        OperandSource::REGISTER => state.register(engine, single(body.src1)?),
        OperandSource::IMMEDIATE => narrow(body.immediate)?,
        other => return Err(Fault::unknown(format!("second operand from {other}"))),
    };
    state.set_register(engine, single(body.dst)?, op(first, second));
    Ok(())
}

/// COMPARE_BRANCH: relative, on a register and a number. Where the second
/// register of the other forms stands is not public.
pub(super) fn branch(state: &State, site: Site<'_>, body: &Branch) -> Result<Flow, Fault> {
    if body.target != BranchTarget::RELATIVE {
        return Err(Fault::unknown(format!("branch target {}", body.target)));
    }
    let taken = body.compare == BranchCompare::ALWAYS || {
        word(body.dtype)?;
        let register = state.register(site.engine, body.register);
        let order = if body.dtype == Dtype::INT32 {
            // a negative number fills its 8 bytes or the low 4 of them
            let bits = body.immediate;
            let wide = bits.cast_signed() >> 32 == -1;
            let low = if wide { bits as u32 } else { narrow(bits)? };
            register.cast_signed().cmp(&low.cast_signed())
        } else {
            register.cmp(&narrow(body.immediate)?)
        };
        match body.compare {
            BranchCompare::LT => order.is_lt(),
            BranchCompare::LE => order.is_le(),
            BranchCompare::EQ => order.is_eq(),
            BranchCompare::NE => order.is_ne(),
            BranchCompare::GE => order.is_ge(),
            BranchCompare::GT => order.is_gt(),
            other => return Err(Fault::unknown(format!("branch condition {other}"))),
        }
    };
    if !taken {
        return Ok(Flow::Next);
    }
    let slot = u32::try_from(site.slot).ok().and_then(|slot| body.target_slot(slot));
    let slot = slot.and_then(|slot| usize::try_from(slot).ok());
    slot.map(Flow::Jump)
        .ok_or_else(|| Fault::address(format!("a branch by {} bytes", body.distance)))
}

/// PSEUDO_INST: the end of the program.
pub(super) fn pseudo(body: Pseudo) -> Result<Flow, Fault> {
    match body.kind {
        PseudoKind::EXIT_EXECUTION => Ok(Flow::Halt),
        other => Err(Fault::unknown(format!("pseudo instruction {other}"))),
    }
}

/// EVENT_SEMAPHORE_RANGE_CLEAR.
pub(super) fn range_clear(sync: &mut Sync, body: &RangeClear) -> Result<(), Fault> {
    if body.mode != RangeMode::SEMAPHORE_ZERO || body.first > body.last {
        let (mode, first, last) = (body.mode, body.first, body.last);
        return Err(Fault::unknown(format!("range mode {mode}, {first} to {last}")));
    }
    sync.clear(body.first, body.last);
    Ok(())
}

/// PSEUDO_TENSOR_LOAD: words of a variable into registers (isa-layouts.md
/// §5.2; steps are elements of 4 bytes).
pub(super) fn tensor_load(
    state: &mut State,
    hbm: &Hbm,
    site: Site<'_>,
    body: &PseudoTensorLoad,
) -> Result<(), Fault> {
    word(body.dtype)?;
    let address = Addr8::of(Location::Variable { id: body.var_id, offset: body.var_offset });
    let address = address.ok_or_else(|| Fault::address(format!("variable {}", body.var_id)))?;
    let steps = walk(body.n0, body.n1, body.steps, body.registers.len())?;
    for (step, register) in steps.zip(body.registers) {
        let value = device::read(state, hbm, site, address, step)?;
        state.set_register(site.engine, register, value);
    }
    Ok(())
}

/// TENSOR_LOAD: the same from an address.
pub(super) fn load(
    state: &mut State,
    hbm: &Hbm,
    site: Site<'_>,
    body: &TensorLoad,
) -> Result<(), Fault> {
    word(body.dtype)?;
    let steps = walk(body.n0, body.n1, body.steps, body.registers.len())?;
    for (step, register) in steps.zip(body.registers) {
        let value = device::read(state, hbm, site, body.address, step)?;
        state.set_register(site.engine, register, value);
    }
    Ok(())
}

/// TENSOR_STORE: registers or numbers into memory.
pub(super) fn store(
    state: &mut State,
    hbm: &mut Hbm,
    site: Site<'_>,
    body: &TensorStore,
) -> Result<(), Fault> {
    word(body.dtype)?;
    let words: Vec<u32> = match body.source {
        OperandSource::REGISTER => {
            body.data.iter().map(|index| state.register(site.engine, *index)).collect()
        }
        OperandSource::IMMEDIATE => {
            body.data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
        }
        other => return Err(Fault::unknown(format!("data from {other}"))),
    };
    let steps = walk(body.n0, body.n1, body.steps, words.len())?;
    for (step, value) in steps.zip(words) {
        device::write(state, hbm, site, body.address, step, &value.to_le_bytes())?;
    }
    Ok(())
}

/// Steps of at most `most` words, inner dimension first.
fn walk(n0: u8, n1: u8, steps: [i32; 2], most: usize) -> Result<impl Iterator<Item = i64>, Fault> {
    let count = usize::from(n0) * usize::from(n1);
    if count == 0 || count > most {
        return Err(Fault::shape(format!("{n0} x {n1} words, at most {most}")));
    }
    let [inner, outer] = steps.map(i64::from);
    Ok((0..i64::from(n1))
        .flat_map(move |i1| (0..i64::from(n0)).map(move |i0| i0 * inner + i1 * outer)))
}

/// WRITE: one or two numbers to addresses.
pub(super) fn write(
    state: &mut State,
    hbm: &mut Hbm,
    site: Site<'_>,
    body: &Write,
) -> Result<(), Fault> {
    if body.size1 == 0 && (body.dst1 != 0 || body.data1 != 0) {
        return Err(Fault::unknown("a second word of no bytes"));
    }
    let words = [(body.size0, body.dst0, body.data0), (body.size1, body.dst1, body.data1)];
    let count = if body.size1 == 0 { 1 } else { 2 };
    for (size, address, data) in words.into_iter().take(count) {
        let bytes = data.to_le_bytes();
        let (part, rest) = match size {
            1 | 2 | 4 | 8 => bytes.split_at(usize::from(size)),
            other => return Err(Fault::shape(format!("a word of {other} bytes"))),
        };
        if rest.iter().any(|byte| *byte != 0) {
            return Err(Fault::shape(format!("{data:#x} in {size} bytes")));
        }
        device::write(state, hbm, site, Addr8(address), 0, part)?;
    }
    Ok(())
}

/// POLL_SEM: folds words of memory into a register and a word of memory. At
/// most 16 words, as the public notes have it.
pub(super) fn poll(
    state: &mut State,
    hbm: &mut Hbm,
    site: Site<'_>,
    body: &PollSemaphore,
) -> Result<(), Fault> {
    if body.count == 0 || body.count > 16 {
        return Err(Fault::shape(format!("{} words, at most 16", body.count)));
    }
    let op = scalar(body.op, false)?;
    let mut value = device::read(state, hbm, site, Addr8(body.address), 0)?;
    for step in 1..i64::from(body.count) {
        value = op(value, device::read(state, hbm, site, Addr8(body.address), step)?);
    }
    state.set_register(site.engine, body.result, value);
    device::write(state, hbm, site, Addr8(body.writeback), 0, &value.to_le_bytes())
}
