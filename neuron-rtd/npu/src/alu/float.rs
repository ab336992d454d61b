//! Operations on fp32 numbers.
//!
//! Comparisons give 1 or 0. MAX and MIN give NaN when an operand is NaN (our
//! choice, as NumPy does; no source says). POW and RSQRT are computed in fp64
//! and rounded once.

use neuron_core::instance::Arch;
use neuron_core::isa::code::AluOp;

use super::Unit;
use crate::fault::Fault;

/// An operation on two numbers.
pub(crate) type Binary = fn(f32, f32) -> f32;

/// The function of an operation.
pub(crate) fn binary(op: AluOp, unit: Unit) -> Result<Binary, Fault> {
    match op {
        AluOp::POW | AluOp::RSQRT => unit.pool_only(op)?,
        AluOp::ABS_MAX | AluOp::ABS_MIN | AluOp::RELU | AluOp::SQUARE => {
            unit.since(Arch::V4, op)?;
        }
        _ => {}
    }
    Ok(match op {
        AluOp::BYPASS => |a, _| a,
        AluOp::ADD => |a, b| a + b,
        AluOp::SUBTRACT => |a, b| a - b,
        AluOp::MULTIPLY => |a, b| a * b,
        AluOp::DIVIDE => |a, b| a / b,
        AluOp::MAX => maximum,
        AluOp::MIN => minimum,
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
        AluOp::ABS => |a, _| a.abs(),
        AluOp::POW => |a, b| libm::pow(f64::from(a), f64::from(b)) as f32,
        AluOp::RSQRT => |a, _| (1.0 / f64::from(a).sqrt()) as f32,
        AluOp::ABS_MAX => |a, b| maximum(a.abs(), b.abs()),
        AluOp::ABS_MIN => |a, b| minimum(a.abs(), b.abs()),
        AluOp::RELU => |a, _| maximum(a, 0.0),
        AluOp::SQUARE => |a, _| a * a,
        other => return Err(Fault::unknown(format!("operation {other} on numbers"))),
    })
}

/// The number that changes nothing, of the operations that accumulate
/// (neuroncore.md §2.4).
pub(crate) fn identity(op: AluOp) -> Result<f32, Fault> {
    Ok(match op {
        AluOp::ADD | AluOp::SUBTRACT => 0.0,
        AluOp::MULTIPLY => 1.0,
        AluOp::MAX => f32::NEG_INFINITY,
        AluOp::MIN => f32::INFINITY,
        op => return Err(Fault::Operation { op, reason: "does not accumulate" }),
    })
}

fn one(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a > b {
        a
    } else {
        b
    }
}

fn minimum(a: f32, b: f32) -> f32 {
    -maximum(-a, -b)
}
