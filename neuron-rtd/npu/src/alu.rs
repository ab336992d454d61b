//! Operations of the arithmetic units on fp32 (neuroncore.md §2.10).
//!
//! Comparisons give 1 or 0. MAX and MIN give NaN when an operand is NaN (our
//! choice, as NumPy does; no source says). Left out, and refused: bitwise and
//! integer operations, MOD and CRC32, whose rules no sheet gives.

use neuron_core::isa::code::AluOp;

use crate::fault::Fault;

/// An operation on two numbers.
pub(crate) type Binary = fn(f32, f32) -> f32;

/// The function of an operation.
pub(crate) fn binary(op: AluOp) -> Result<Binary, Fault> {
    Ok(match op {
        AluOp::BYPASS => |a, _| a,
        AluOp::ADD => |a, b| a + b,
        AluOp::SUBTRACT => |a, b| a - b,
        AluOp::MULTIPLY => |a, b| a * b,
        AluOp::DIVIDE => |a, b| a / b,
        AluOp::MAX => maximum,
        AluOp::MIN => |a, b| -maximum(-a, -b),
        AluOp::LOGICAL_AND => |a, b| one(a != 0.0 && b != 0.0),
        AluOp::LOGICAL_OR => |a, b| one(a != 0.0 || b != 0.0),
        AluOp::LOGICAL_XOR => |a, b| one((a != 0.0) != (b != 0.0)),
        AluOp::IS_EQ => |a, b| one(a == b),
        AluOp::IS_NE => |a, b| one(a != b),
        AluOp::IS_GT => |a, b| one(a > b),
        AluOp::IS_GE => |a, b| one(a >= b),
        AluOp::IS_LE => |a, b| one(a <= b),
        AluOp::IS_LT => |a, b| one(a < b),
        AluOp::ABS_DIFF => |a, b| (a - b).abs(),
        AluOp::ABS_MAX => |a, b| maximum(a.abs(), b.abs()),
        AluOp::ABS_MIN => |a, b| -maximum(-a.abs(), -b.abs()),
        AluOp::POW => |a, b| f64::from(a).powf(f64::from(b)) as f32,
        other => return Err(Fault::unknown(format!("operation {other} on numbers"))),
    })
}

fn one(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a > b {
        a
    } else {
        b
    }
}

/// The function of ALU_OP on registers: 32 bits, with wrap (isa-layouts.md
/// §4.2).
pub(crate) fn scalar(op: AluOp) -> Result<fn(u32, u32) -> u32, Fault> {
    Ok(match op {
        AluOp::ADD => u32::wrapping_add,
        AluOp::SUBTRACT => u32::wrapping_sub,
        AluOp::MULTIPLY => u32::wrapping_mul,
        AluOp::IS_EQ => |a, b| u32::from(a == b),
        AluOp::LOGICAL_AND => |a, b| u32::from(a != 0 && b != 0),
        other => return Err(Fault::unknown(format!("operation {other} on registers"))),
    })
}
