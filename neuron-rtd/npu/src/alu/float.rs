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

/// Every operation: `$then` with `$function` as its function, or `$else` with
/// the operation where it has none.
macro_rules! each_operation {
    ($op:expr, $function:ident => $then:expr, $other:ident => $else:expr) => {{
        use $crate::alu::float::{maximum, minimum, one};
        macro_rules! with {
            ($body:expr) => {{
                let $function = $body;
                $then
            }};
        }
        match $op {
            AluOp::BYPASS => with!(|a: f32, _: f32| a),
            AluOp::ADD => with!(|a: f32, b: f32| a + b),
            AluOp::SUBTRACT => with!(|a: f32, b: f32| a - b),
            AluOp::MULTIPLY => with!(|a: f32, b: f32| a * b),
            AluOp::DIVIDE => with!(|a: f32, b: f32| a / b),
            AluOp::MAX => with!(maximum),
            AluOp::MIN => with!(minimum),
            AluOp::LOGICAL_AND => with!(|a: f32, b: f32| one(a != 0.0 && b != 0.0)),
            AluOp::LOGICAL_OR => with!(|a: f32, b: f32| one(a != 0.0 || b != 0.0)),
            AluOp::LOGICAL_XOR => with!(|a: f32, b: f32| one((a != 0.0) != (b != 0.0))),
            AluOp::IS_EQ => with!(|a: f32, b: f32| one(a == b)),
            AluOp::IS_NE => with!(|a: f32, b: f32| one(a != b)),
            AluOp::IS_GT => with!(|a: f32, b: f32| one(a > b)),
            AluOp::IS_GE => with!(|a: f32, b: f32| one(a >= b)),
            AluOp::IS_LE => with!(|a: f32, b: f32| one(a <= b)),
            AluOp::IS_LT => with!(|a: f32, b: f32| one(a < b)),
            AluOp::ABS_DIFF => with!(|a: f32, b: f32| (a - b).abs()),
            AluOp::ABS => with!(|a: f32, _: f32| a.abs()),
            AluOp::POW => with!(|a: f32, b: f32| libm::pow(f64::from(a), f64::from(b)) as f32),
            AluOp::RSQRT => with!(|a: f32, _: f32| (1.0 / f64::from(a).sqrt()) as f32),
            AluOp::ABS_MAX => with!(|a: f32, b: f32| maximum(a.abs(), b.abs())),
            AluOp::ABS_MIN => with!(|a: f32, b: f32| minimum(a.abs(), b.abs())),
            AluOp::RELU => with!(|a: f32, _: f32| maximum(a, 0.0)),
            AluOp::SQUARE => with!(|a: f32, _: f32| a * a),
            $other => $else,
        }
    }};
}
pub(super) use each_operation;

/// The function of an operation.
pub(crate) fn binary(op: AluOp, unit: Unit) -> Result<Binary, Fault> {
    match op {
        AluOp::POW | AluOp::RSQRT => unit.pool_only(op)?,
        AluOp::ABS_MAX | AluOp::ABS_MIN | AluOp::RELU | AluOp::SQUARE => {
            unit.since(Arch::V4, op)?;
        }
        _ => {}
    }
    Ok(each_operation!(op, function => function, other => {
        return Err(Fault::unknown(format!("operation {other} on numbers")));
    }))
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

#[inline(always)]
pub(super) fn one(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

#[inline(always)]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a > b {
        a
    } else {
        b
    }
}

#[inline(always)]
pub(super) fn minimum(a: f32, b: f32) -> f32 {
    -maximum(-a, -b)
}
