//! Operations of the arithmetic units (neuroncore.md §2.10).
//!
//! Three kinds, by the operation and the opcode that carries it: on numbers in
//! fp32 ([`float`]), on integers of the operand's own width ([`integer`]), on
//! bits ([`bits`]). An operation that a unit or a generation does not have is a
//! fault that names it.

pub(crate) mod bits;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod rows;

use neuron_core::instance::Arch;
use neuron_core::isa::Engine;
use neuron_core::isa::code::AluOp;

use crate::fault::Fault;

/// What carries out an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) engine: Engine,
    pub(crate) arch: Arch,
}

impl Unit {
    /// POW, RSQRT and CRC32 are of POOL alone (neuroncore.md §2.10).
    pub(super) fn pool_only(self, op: AluOp) -> Result<(), Fault> {
        if self.engine == Engine::Pool {
            return Ok(());
        }
        Err(Fault::Operation { op, reason: "is of POOL alone" })
    }

    /// The first generation that has an operation.
    pub(super) fn since(self, arch: Arch, op: AluOp) -> Result<(), Fault> {
        if self.arch >= arch {
            return Ok(());
        }
        Err(Fault::Operation { op, reason: "is of a later generation" })
    }
}

/// Whether an operation is in the band of the integer engine (bits 7:6).
pub(crate) const fn is_integer(op: AluOp) -> bool {
    op.0 >> 6 == 3
}

/// The function of ALU_OP on registers: 32 bits, with wrap (isa-layouts.md
/// §4.2). Comparisons, MAX, MIN and DIVIDE have the sign of the record's type.
pub(crate) fn scalar(op: AluOp, signed: bool) -> Result<fn(u32, u32) -> u32, Fault> {
    Ok(match op {
        AluOp::BYPASS => |a, _| a,
        AluOp::ADD | AluOp::ADD_INT => u32::wrapping_add,
        AluOp::SUBTRACT | AluOp::SUBTRACT_INT => u32::wrapping_sub,
        AluOp::MULTIPLY | AluOp::MULTIPLY_INT | AluOp::MULTIPLY_UINT => u32::wrapping_mul,
        AluOp::AND => |a, b| a & b,
        AluOp::OR => |a, b| a | b,
        AluOp::XOR => |a, b| a ^ b,
        AluOp::NOT => |a, _| !a,
        AluOp::SHIFT_LEFT | AluOp::SHIFT_LEFT_ARITH => |a, b| a.checked_shl(b).unwrap_or(0),
        AluOp::SHIFT_RIGHT => |a, b| a.checked_shr(b).unwrap_or(0),
        AluOp::SHIFT_RIGHT_ARITH => |a, b| ((a as i32) >> b.min(31)) as u32,
        AluOp::LOGICAL_AND => |a, b| u32::from(a != 0 && b != 0),
        AluOp::LOGICAL_OR => |a, b| u32::from(a != 0 || b != 0),
        AluOp::LOGICAL_XOR => |a, b| u32::from((a != 0) != (b != 0)),
        AluOp::IS_EQ => |a, b| u32::from(a == b),
        AluOp::IS_NE => |a, b| u32::from(a != b),
        _ if signed => return scalar_signed(op),
        AluOp::MAX => u32::max,
        AluOp::MIN => u32::min,
        AluOp::IS_GT => |a, b| u32::from(a > b),
        AluOp::IS_GE => |a, b| u32::from(a >= b),
        AluOp::IS_LE => |a, b| u32::from(a <= b),
        AluOp::IS_LT => |a, b| u32::from(a < b),
        other => return Err(Fault::unknown(format!("operation {other} on registers"))),
    })
}

fn scalar_signed(op: AluOp) -> Result<fn(u32, u32) -> u32, Fault> {
    Ok(match op {
        AluOp::MAX => |a, b| (a as i32).max(b as i32) as u32,
        AluOp::MIN => |a, b| (a as i32).min(b as i32) as u32,
        AluOp::IS_GT => |a, b| u32::from(a as i32 > b as i32),
        AluOp::IS_GE => |a, b| u32::from(a as i32 >= b as i32),
        AluOp::IS_LE => |a, b| u32::from(a as i32 <= b as i32),
        AluOp::IS_LT => |a, b| u32::from((a as i32) < b as i32),
        other => return Err(Fault::unknown(format!("operation {other} on registers"))),
    })
}
