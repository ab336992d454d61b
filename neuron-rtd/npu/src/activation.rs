//! Functions of the activation engine.
//!
//! The device evaluates tables of cubic pieces; here the function itself is
//! computed in fp64 and rounded to fp32. So results differ from a device by
//! the error of its tables, and outside of a table's range a device gives
//! other numbers (neuroncore.md §2.2). Left out, and refused: functions with a
//! parameter of which no sheet says where it stands (leaky and parametric
//! relu), and those that need the error function.

use neuron_core::isa::activation::Activation;

use crate::fault::Fault;
use crate::number::Smooth;

/// The function of a number.
pub(crate) fn function(activation: Activation) -> Result<fn(f64) -> f64, Fault> {
    let known = activation.known().map(|(name, _)| name);
    Ok(match known {
        Some("IDENTITY" | "COPY") => |x| x,
        Some("RELU") => |x| if x < 0.0 { 0.0 } else { x },
        Some("TANH") => f64::tanh,
        Some("EXP") => f64::exp,
        Some("LN") => f64::ln,
        Some("SIN") => f64::sin,
        Some("DERIVATIVE_IDENTITY") => |_| 1.0,
        Some("DERIVATIVE_RELU") => |x| if x > 0.0 { 1.0 } else { 0.0 },
        Some("RECIPROCAL_SQRT") => |x| 1.0 / x.sqrt(),
        Some("SQUARE") => |x| x * x,
        Some("SIGN") => |x| if x == 0.0 || x.is_nan() { x } else { x.signum() },
        Some("ABS") => f64::abs,
        Some("IS_FINITE") => |x| if x.is_finite() { 1.0 } else { 0.0 },
        Some("SILU") => |x| x * sigmoid(x),
        Some("MEMSET_ZERO") => |_| 0.0,
        Some("SIGMOID") => sigmoid,
        Some("GELU_APPRX_TANH") => {
            |x| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
        }
        Some("GELU_APPRX_SIGMOID") => |x| x * sigmoid(1.702 * x),
        Some("SILU_DX") => |x| {
            let s = sigmoid(x);
            s + x * s * (1.0 - s)
        },
        Some("SOFTPLUS") => softplus,
        Some("MISH") => |x| x * softplus(x).tanh(),
        Some("ARCTAN") => f64::atan,
        Some("SQRT") => f64::sqrt,
        Some("RECIPROCAL") => f64::recip,
        _ => return Err(Fault::unknown(format!("function {activation}"))),
    })
}

/// The same for a whole row, where there is a form in vectors.
pub(crate) fn smooth(activation: Activation) -> Option<Smooth> {
    Some(match activation.known()?.0 {
        "EXP" => Smooth::Exp,
        "SIGMOID" => Smooth::Sigmoid,
        "SILU" => Smooth::Silu,
        "TANH" => Smooth::Tanh,
        "GELU" => Smooth::Gelu,
        "GELU_APPRX_TANH" => Smooth::GeluTanh,
        "GELU_APPRX_SIGMOID" => Smooth::GeluSigmoid,
        _ => return None,
    })
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// ln(1 + e^x), without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
