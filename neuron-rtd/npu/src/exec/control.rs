//! The sequencer: registers, branches, words of memory (isa-layouts.md §4).

use neuron_core::isa::Engine;
use neuron_core::isa::body::control::{
    Alu, Branch, Move, PseudoTensorLoad, RangeClear, RegisterPair,
};
use neuron_core::isa::code::{BranchCompare, BranchTarget, Dtype, OperandSource, RangeMode};

use super::{Flow, Site, State};
use crate::alu::scalar;
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

/// COMPARE_BRANCH: relative, on a register and a number.
pub(super) fn branch(state: &State, site: Site<'_>, body: &Branch) -> Result<Flow, Fault> {
    if body.target != BranchTarget::RELATIVE {
        return Err(Fault::unknown(format!("branch target {}", body.target)));
    }
    let register = state.register(site.engine, body.register);
    let taken = match body.compare {
        BranchCompare::ALWAYS => true,
        BranchCompare::EQ => {
            word(body.dtype)?;
            register == narrow(body.immediate)?
        }
        other => return Err(Fault::unknown(format!("branch condition {other}"))),
    };
    if !taken {
        return Ok(Flow::Next);
    }
    let slot = u32::try_from(site.slot).ok().and_then(|slot| body.target_slot(slot));
    let slot = slot.and_then(|slot| usize::try_from(slot).ok());
    slot.map(Flow::Jump)
        .ok_or_else(|| Fault::address(format!("a branch by {} bytes", body.distance)))
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
    let place = site.program.variable(u64::from(body.var_id))?;
    let count = usize::from(body.n0) * usize::from(body.n1);
    if count == 0 || count > body.registers.len() {
        return Err(Fault::shape(format!("{} x {} registers", body.n0, body.n1)));
    }
    let [inner, outer] = body.steps.map(i64::from);
    let indices = (0..i64::from(body.n1))
        .flat_map(|i1| (0..i64::from(body.n0)).map(move |i0| i0 * inner + i1 * outer));
    for (index, register) in indices.zip(body.registers) {
        let mut bytes = [0; 4];
        place.read(&state.memory, hbm, i64::from(body.var_offset) + 4 * index, &mut bytes)?;
        state.set_register(site.engine, register, u32::from_le_bytes(bytes));
    }
    Ok(())
}
