//! Functions of the activation engine.
//!
//! The device evaluates tables of cubic pieces; here the function itself is
//! computed in fp64 and rounded once to fp32, with a library that gives the
//! same bits on every host. So results differ from a device by the error of its
//! tables, and outside of a table's range a device gives other numbers
//! (neuroncore.md §2.2). `src/activations.md` has each formula and how near it
//! a result is. Left out, and refused: functions with a parameter of which no
//! source says where it stands.

use neuron_core::isa::activation::Activation;

use crate::fault::Fault;
use crate::number::Smooth;

/// 1 / sqrt(2).
const HALF_ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The function of a number.
pub(crate) fn function(activation: Activation) -> Result<fn(f64) -> f64, Fault> {
    let known = activation.known().map(|(name, _)| name);
    Ok(match known {
        Some("IDENTITY" | "COPY") => |x| x,
        Some("RELU") => |x| if x < 0.0 { 0.0 } else { x },
        Some("TANH") => libm::tanh,
        Some("EXP") => libm::exp,
        Some("LN") => libm::log,
        Some("SIN") => libm::sin,
        Some("DERIVATIVE_IDENTITY") => |x| x * 0.0 + 1.0,
        Some("DERIVATIVE_RELU") => |x| if x > 0.0 { 1.0 } else { 0.0 },
        Some("RECIPROCAL_SQRT") => |x| 1.0 / x.sqrt(),
        Some("SQUARE") => |x| x * x,
        Some("SIGN") => |x| if x == 0.0 || x.is_nan() { x } else { x.signum() },
        Some("ABS") => f64::abs,
        Some("IS_FINITE") => |x| if x.is_finite() { 1.0 } else { 0.0 },
        Some("SILU") => |x| x * sigmoid(x),
        Some("MEMSET_ZERO") => |_| 0.0,
        Some("SIGMOID") => sigmoid,
        Some("GELU") => |x| x * normal(x),
        Some("GELU_DX") => |x| {
            let density = libm::exp(-x * x / 2.0) * HALF_ROOT / std::f64::consts::PI.sqrt();
            normal(x) + x * density
        },
        Some("GELU_APPRX_TANH") => {
            // 0.5 (1 + tanh(y)) is sigmoid(2 y), which keeps the small results
            |x| x * sigmoid(2.0 * 0.797_884_6 * (x + 0.044_715 * x * x * x))
        }
        Some("GELU_APPRX_SIGMOID") => |x| x * sigmoid(1.702 * x),
        Some("GELU_APPRX_SIGMOID_DX") => |x| slope(1.702 * x),
        Some("SILU_DX") => slope,
        Some("SOFTPLUS") => softplus,
        Some("MISH") => |x| x * libm::tanh(softplus(x)),
        Some("ERF") => libm::erf,
        Some("ERF_DX") => |x| std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x),
        Some("ARCTAN") => libm::atan,
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
        "IDENTITY" | "COPY" => Smooth::Identity,
        "RELU" => Smooth::Relu,
        "SQUARE" => Smooth::Square,
        "SQRT" => Smooth::Root,
        "RECIPROCAL_SQRT" => Smooth::InverseRoot,
        "RECIPROCAL" => Smooth::Inverse,
        _ => return None,
    })
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Slope of x sigmoid(x).
fn slope(x: f64) -> f64 {
    let s = sigmoid(x);
    s + x * s * (1.0 - s)
}

/// Share of a normal distribution below x.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * HALF_ROOT)
}

/// ln(1 + e^x), without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}
