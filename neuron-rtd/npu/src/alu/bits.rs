//! Operations on bits of 8, 16 or 32.
//!
//! A shift by the width or more gives 0, or copies of the sign. An arithmetic
//! shift right needs 32 bits (public notes on the vendor's headers). CRC32 is
//! left out, and refused: no source gives its polynomial.

use neuron_core::isa::code::AluOp;

use super::Unit;
use crate::fault::Fault;

/// An operation on two patterns, which stand in the low bits.
pub(crate) type Binary = fn(u32, u32) -> u32;

/// The function of an operation on patterns of `bytes`; what it gives above
/// them does not count.
pub(crate) fn binary(op: AluOp, bytes: usize, unit: Unit) -> Result<Binary, Fault> {
    if op == AluOp::CRC32 {
        unit.pool_only(op)?;
    }
    if op == AluOp::SHIFT_RIGHT_ARITH && bytes != 4 {
        return Err(Fault::Operation { op, reason: "needs 32 bits" });
    }
    Ok(match op {
        AluOp::BYPASS => |a, _| a,
        AluOp::NOT => |a, _| !a,
        AluOp::AND => |a, b| a & b,
        AluOp::OR => |a, b| a | b,
        AluOp::XOR => |a, b| a ^ b,
        AluOp::SHIFT_LEFT | AluOp::SHIFT_LEFT_ARITH => |a, b| a.checked_shl(b).unwrap_or(0),
        AluOp::SHIFT_RIGHT => |a, b| a.checked_shr(b).unwrap_or(0),
        AluOp::SHIFT_RIGHT_ARITH => |a, b| ((a as i32) >> b.min(31)) as u32,
        other => return Err(Fault::unknown(format!("operation {other} on bits"))),
    })
}
