//! Functions of the activation engine for a whole row, in vectors.
//!
//! Each is computed in fp64, to 2^-32 of its value or better, and rounded once
//! to fp32, so that it is within 0.51 units in the last place: by additions,
//! multiplications, divisions and square roots alone, none of them fused. So a
//! row has the same bits on every host, whatever its vectors.

use fearless_simd::{Level, dispatch};

/// A function that replaces each number of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Smooth {
    /// e^x.
    Exp,
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// x sigmoid(x).
    Silu,
    /// Hyperbolic tangent.
    Tanh,
    /// x times the share of a normal distribution below x.
    Gelu,
    /// x sigmoid(2 x 0.7978846 (x + 0.044715 x^3)), which is gelu with tanh.
    GeluTanh,
    /// x sigmoid(1.702 x).
    GeluSigmoid,
    /// x.
    Identity,
    /// x, and 0 below 0.
    Relu,
    /// x squared.
    Square,
    /// Square root.
    Root,
    /// 1 / sqrt(x).
    InverseRoot,
    /// 1 / x.
    Inverse,
}

impl Smooth {
    /// Replaces each number x of a row by the function of `x scale + bias`,
    /// where product and sum are rounded to fp32 one after the other.
    pub(crate) fn replace(self, row: &mut [f32], scale: f32, bias: f32) {
        dispatch!(Level::new(), _ => match self {
            Self::Exp => each(row, scale, bias, exp),
            Self::Sigmoid => each(row, scale, bias, sigmoid),
            Self::Silu => each(row, scale, bias, |x| x * sigmoid(x)),
            Self::Tanh => each(row, scale, bias, tanh),
            Self::Gelu => each(row, scale, bias, gelu),
            Self::GeluTanh => each(row, scale, bias, |x| {
                x * sigmoid(2.0 * 0.797_884_6 * (x + 0.044_715 * x * x * x))
            }),
            Self::GeluSigmoid => each(row, scale, bias, |x| x * sigmoid(1.702 * x)),
            Self::Identity => each(row, scale, bias, |x| x),
            Self::Relu => each(row, scale, bias, |x| if x < 0.0 { 0.0 } else { x }),
            Self::Square => each(row, scale, bias, |x| x * x),
            Self::Root => each(row, scale, bias, f64::sqrt),
            Self::InverseRoot => each(row, scale, bias, |x| 1.0 / x.sqrt()),
            Self::Inverse => each(row, scale, bias, |x| 1.0 / x),
        });
    }
}

#[inline(always)]
fn each(row: &mut [f32], scale: f32, bias: f32, function: impl Fn(f64) -> f64) {
    for value in row {
        *value = function(f64::from(*value * scale + bias)) as f32;
    }
}

/// 1 / n!, n from 12 down to 0: e^x of x up to 0.35, to 2^-52 of its value.
const LONG: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// The same from 8 down, to 2^-32: what fp32 shows of it is 0.01 units.
const SHORT: [f64; 9] =
    [1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

/// e^x to 2^-32 of its value.
#[inline(always)]
fn exp(x: f64) -> f64 {
    power(x, &SHORT)
}

/// e^x; infinite or 0 from 700 on, which is far outside of fp32.
#[inline(always)]
fn power<const N: usize>(x: f64, series: &[f64; N]) -> f64 {
    // ln 2 in two parts: a whole number times the first is exact
    const HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1.5 x 2^52: adding it rounds to a whole number, left in the low bits
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let whole = shifted - WHOLE;
    let rest = x - whole * HIGH - whole * LOW;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let inside = polynomial(rest, series) * scale;
    let below = if x < -700.0 { 0.0 } else { inside };
    if x > 700.0 { f64::INFINITY } else { below }
}

#[inline(always)]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// 1 - 2 / (e^2x + 1), and x - x^3/3 + 2 x^5/15 where that would lose digits.
#[inline(always)]
fn tanh(x: f64) -> f64 {
    let square = x * x;
    let small = x - x * square * (1.0 / 3.0 - square * (2.0 / 15.0));
    // the difference of 1 and its like needs more digits
    let large = 1.0 - 2.0 / (power(2.0 * x, &LONG) + 1.0);
    if square < 1e-6 { small } else { large }
}

/// x Phi(x).
#[inline(always)]
fn gelu(x: f64) -> f64 {
    let tail = 0.5 * upper(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
    let share = if x > 0.0 { 1.0 - tail } else { tail };
    x * share
}

/// erfc(x) of x from 0 up: e^(-x^2) / (1 + 2 x) times a smooth function of
/// t = (x - 2) / (x + 2), which is its Chebyshev expansion to t^21, fitted here
/// to 7e-15 of its value.
#[inline(always)]
fn upper(x: f64) -> f64 {
    let x = if x > 1e9 { 1e9 } else { x };
    let smooth = [
        9.029_183_624_998_81e-8,
        1.264_747_426_006_273_4e-7,
        -5.879_864_686_681_434e-7,
        -1.258_784_308_400_971_5e-6,
        1.081_810_735_750_396e-6,
        5.757_700_915_091_2e-6,
        4.118_399_212_711_419e-6,
        -1.383_474_381_054_645_2e-5,
        -3.667_058_690_299_81e-5,
        -1.361_276_532_108_617_5e-6,
        1.511_358_288_188_038e-4,
        2.063_241_332_742_19e-4,
        -4.543_648_875_075_65e-4,
        -1.456_805_941_152_994_7e-3,
        1.271_342_606_267_190_6e-3,
        8.722_652_989_451_488e-3,
        -8.034_015_387_574_98e-3,
        -5.422_000_094_090_233e-2,
        1.640_512_800_452_26e-1,
        -1.660_303_976_164_549e-1,
        -9.276_382_658_588_03e-2,
        1.276_978_381_552_533_2,
    ];
    let t = (x - 2.0) / (x + 2.0);
    power(-(x * x), &LONG) * polynomial(t, &smooth) / (1.0 + 2.0 * x)
}

/// The sum of coefficients times powers, from the highest power down.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for coefficient in coefficients {
        sum = sum * x + coefficient;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every size, both signs.
    fn numbers() -> Vec<f32> {
        let bits = (0..400_000u32).map(|i| i.wrapping_mul(0x0001_0dcd));
        let near = (-20_000..20_000i16).map(|i| f32::from(i) / 400.0);
        let ends = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, -0.0];
        bits.map(f32::from_bits).filter(|x| !x.is_nan()).chain(near).chain(ends).collect()
    }

    /// erfc by its series, and by its continued fraction from 2 on.
    fn erfc(x: f64) -> f64 {
        if x < 0.0 {
            return 2.0 - erfc(-x);
        }
        if x < 2.0 {
            let (mut term, mut sum) = (x, x);
            for n in 1..80 {
                term *= 2.0 * x * x / f64::from(2 * n + 1);
                sum += term;
            }
            return 1.0 - sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI;
        }
        if x > 30.0 {
            return 0.0;
        }
        let mut fraction = x;
        for n in (1..200).rev() {
            fraction = x + f64::from(n) / 2.0 / fraction;
        }
        (-x * x).exp() / fraction / std::f64::consts::PI.sqrt()
    }

    fn compare(function: Smooth, bound: f64, reference: impl Fn(f64) -> f64) {
        let (row, mut out) = (numbers(), numbers());
        function.replace(&mut out, 1.0, 0.0);
        for (x, ours) in row.iter().zip(out) {
            // a bias of 0 leaves no negative zero
            let exact = reference(f64::from(*x + 0.0));
            let rounded = exact as f32;
            // half a unit for the rounding, and what fp64 leaves open
            let unit =
                f64::from(f32::from_bits(rounded.abs().to_bits() + 1)) - f64::from(rounded.abs());
            let error = (f64::from(ours) - exact).abs() / unit;
            let nan = ours.is_nan() && rounded.is_nan();
            let same = nan || ours == rounded || error < 0.5 + bound;
            assert!(same, "{function:?} of {x:e}: {ours:e} is not {exact:e}, {error} units");
        }
        let mut special = [f32::NAN; 3];
        function.replace(&mut special, 1.0, 0.0);
        assert!(special.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn rows_are_within_rounding_of_the_functions() {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        compare(Smooth::Exp, 0.01, f64::exp);
        compare(Smooth::Sigmoid, 0.01, sigmoid);
        compare(Smooth::Tanh, 1e-6, f64::tanh);
        compare(Smooth::Silu, 0.01, |x| x * sigmoid(x));
        compare(Smooth::GeluSigmoid, 0.01, |x| x * sigmoid(1.702 * x));
        compare(Smooth::GeluTanh, 0.01, |x| {
            x * sigmoid(2.0 * 0.797_884_6 * (x + 0.044_715 * x * x * x))
        });
        compare(Smooth::Identity, 0.0, |x| x);
        compare(Smooth::Relu, 0.0, |x| if x > 0.0 { x } else { 0.0 });
        compare(Smooth::Square, 0.0, |x| x * x);
        compare(Smooth::Root, 0.0, f64::sqrt);
        compare(Smooth::InverseRoot, 0.0, |x| 1.0 / x.sqrt());
        compare(Smooth::Inverse, 0.0, f64::recip);
        // the series above loses digits where erfc is small
        compare(Smooth::Gelu, 1e-4, |x| x * (0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)));
    }

    #[test]
    fn scale_and_bias_are_rounded_one_after_the_other() {
        let mut row = [3.0f32, -0.7, 100.25];
        Smooth::Exp.replace(&mut row, 0.1, -0.3);
        for (ours, x) in row.iter().zip([3.0f32, -0.7, 100.25]) {
            assert_eq!(*ours, f64::from(x * 0.1 - 0.3).exp() as f32);
        }
    }
}
