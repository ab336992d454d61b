//! Operations on integers: the band from 0xC4, MOD, and on POOL the plain
//! operations when every operand is of one 32-bit type (neuroncore.md §1.4,
//! §2.5).
//!
//! Numbers are wide enough for any operand; what comes out wraps to the width
//! of the result. Division cuts towards zero, and a remainder has the sign of
//! the dividend, as NumPy's `fmod` (public notes on the vendor's headers). MOD
//! is taken for unsigned types alone: no source gives its sign. Division by
//! zero has no result.

use neuron_core::instance::Arch;
use neuron_core::isa::code::AluOp;

use super::Unit;
use crate::fault::Fault;
use crate::number::Element;

/// An operation on two numbers; `None` for a division by zero.
pub(crate) type Binary = fn(i64, i64) -> Option<i64>;

/// Which signs an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
    Either,
}

/// The function of an operation of the band on operands of these types, which
/// must have one sign.
pub(crate) fn binary(op: AluOp, unit: Unit, types: &[Element]) -> Result<Binary, Fault> {
    let early = [AluOp::ADD_INT, AluOp::MULTIPLY_INT, AluOp::SUBTRACT_INT, AluOp::MOD];
    if !early.contains(&op) {
        unit.since(Arch::V3, op)?;
    }
    let (sign, function): (Sign, Binary) = match op {
        AluOp::ADD_INT => (Sign::Either, |a, b| Some(a + b)),
        AluOp::SUBTRACT_INT => (Sign::Either, |a, b| Some(a - b)),
        AluOp::MULTIPLY_INT => (Sign::Signed, |a, b| Some(a.wrapping_mul(b))),
        AluOp::DIVIDE_INT => (Sign::Signed, i64::checked_div),
        AluOp::MOD_INT => (Sign::Signed, i64::checked_rem),
        AluOp::MOD => (Sign::Unsigned, i64::checked_rem),
        AluOp::IS_EQ_INT => (Sign::Either, |a, b| Some(i64::from(a == b))),
        AluOp::IS_NE_INT => (Sign::Either, |a, b| Some(i64::from(a != b))),
        AluOp::ABS_MAX_INT => (Sign::Signed, |a, b| Some(a.abs().max(b.abs()))),
        AluOp::ABS_MIN_INT => (Sign::Signed, |a, b| Some(a.abs().min(b.abs()))),
        AluOp::ABS_DIFF_INT => (Sign::Signed, |a, b| Some((a - b).abs())),
        AluOp::ABS_INT => (Sign::Signed, |a, _| Some(a.abs())),
        AluOp::MAX_INT => (Sign::Signed, |a, b| Some(a.max(b))),
        AluOp::MIN_INT => (Sign::Signed, |a, b| Some(a.min(b))),
        AluOp::IS_GT_INT => (Sign::Signed, |a, b| Some(i64::from(a > b))),
        AluOp::IS_GE_INT => (Sign::Signed, |a, b| Some(i64::from(a >= b))),
        AluOp::IS_LE_INT => (Sign::Signed, |a, b| Some(i64::from(a <= b))),
        AluOp::IS_LT_INT => (Sign::Signed, |a, b| Some(i64::from(a < b))),
        AluOp::MAX_UINT => (Sign::Unsigned, |a, b| Some(a.max(b))),
        AluOp::MIN_UINT => (Sign::Unsigned, |a, b| Some(a.min(b))),
        AluOp::IS_GT_UINT => (Sign::Unsigned, |a, b| Some(i64::from(a > b))),
        AluOp::IS_GE_UINT => (Sign::Unsigned, |a, b| Some(i64::from(a >= b))),
        AluOp::IS_LE_UINT => (Sign::Unsigned, |a, b| Some(i64::from(a <= b))),
        AluOp::IS_LT_UINT => (Sign::Unsigned, |a, b| Some(i64::from(a < b))),
        AluOp::MULTIPLY_UINT => (Sign::Unsigned, |a, b| Some(a.wrapping_mul(b))),
        AluOp::DIVIDE_UINT => (Sign::Unsigned, i64::checked_div),
        AluOp::MOD_UINT => (Sign::Unsigned, i64::checked_rem),
        other => return Err(Fault::unknown(format!("operation {other} on integers"))),
    };
    check_sign(op, sign, types)?;
    Ok(function)
}

fn check_sign(op: AluOp, sign: Sign, types: &[Element]) -> Result<(), Fault> {
    let fits = |element: &Element| match (element.is_signed(), sign) {
        (None, _) => false,
        (Some(signed), Sign::Signed) => signed,
        (Some(signed), Sign::Unsigned) => !signed,
        (Some(signed), Sign::Either) => types.first().and_then(|e| e.is_signed()) == Some(signed),
    };
    if types.iter().all(fits) {
        return Ok(());
    }
    Err(Fault::Operation { op, reason: "does not take operands of these types" })
}

/// The plain operation on 32-bit integers as POOL does it; `None` where it goes
/// through fp32.
pub(crate) fn native(op: AluOp) -> Option<Binary> {
    Some(match op {
        AluOp::ADD => |a, b| Some(a + b),
        AluOp::SUBTRACT => |a, b| Some(a - b),
        AluOp::MULTIPLY => |a, b| Some(a.wrapping_mul(b)),
        AluOp::MAX => |a, b| Some(a.max(b)),
        AluOp::MIN => |a, b| Some(a.min(b)),
        AluOp::LOGICAL_AND => |a, b| Some(i64::from(a != 0 && b != 0)),
        AluOp::LOGICAL_OR => |a, b| Some(i64::from(a != 0 || b != 0)),
        AluOp::LOGICAL_XOR => |a, b| Some(i64::from((a != 0) != (b != 0))),
        AluOp::IS_EQ => |a, b| Some(i64::from(a == b)),
        AluOp::IS_NE => |a, b| Some(i64::from(a != b)),
        AluOp::IS_GT => |a, b| Some(i64::from(a > b)),
        AluOp::IS_GE => |a, b| Some(i64::from(a >= b)),
        AluOp::IS_LE => |a, b| Some(i64::from(a <= b)),
        AluOp::IS_LT => |a, b| Some(i64::from(a < b)),
        AluOp::ABS_DIFF => |a, b| Some((a - b).abs()),
        _ => return None,
    })
}

/// Whether a number takes the place of the best one before it.
pub(crate) type Better = fn(i64, i64) -> bool;

/// Whether the later of two numbers takes the place of the earlier, in
/// ARGMAX and ARGMIN; the first of equal ones stays (our choice, as NumPy).
pub(crate) fn replaces(op: AluOp, unit: Unit, types: &[Element]) -> Result<Option<Better>, Fault> {
    let (sign, function): (Sign, Better) = match op {
        AluOp::ARGMAX_INT => (Sign::Signed, |best, new| new > best),
        AluOp::ARGMIN_INT => (Sign::Signed, |best, new| new < best),
        AluOp::ARGMAX_UINT => (Sign::Unsigned, |best, new| new > best),
        AluOp::ARGMIN_UINT => (Sign::Unsigned, |best, new| new < best),
        _ => return Ok(None),
    };
    unit.since(Arch::V3, op)?;
    check_sign(op, sign, types)?;
    Ok(Some(function))
}
