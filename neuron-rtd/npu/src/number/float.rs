//! Small floats: one sign bit, an exponent, a mantissa, as IEEE 754 has them,
//! with subnormals, infinities and NaN.
//!
//! fp32 to a small float rounds to nearest, ties to even; what is too large
//! becomes infinite (neuroncore.md §1.4). The 8-bit formats are taken as the
//! IEEE-like ones (`float8_e3m4`, `float8_e4m3`, `float8_e5m2` of ml_dtypes;
//! our choice: the sheet says that the legacy E4M3 differs from the OCP one,
//! and not how). Saturation by a NEFF's `fp8_conversion_config` is left out.

/// A format, by the bits of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    exponent: u32,
    mantissa: u32,
}

pub(crate) const BF16: Format = Format { exponent: 8, mantissa: 7 };
pub(crate) const FP16: Format = Format { exponent: 5, mantissa: 10 };
pub(crate) const E3M4: Format = Format { exponent: 3, mantissa: 4 };
pub(crate) const E4M3: Format = Format { exponent: 4, mantissa: 3 };
pub(crate) const E5M2: Format = Format { exponent: 5, mantissa: 2 };

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Exponent field of infinities and NaN.
    const fn top(self) -> u32 {
        (1 << self.exponent) - 1
    }

    /// The number that `bits` stand for; exact.
    pub(crate) fn decode(self, bits: u32) -> f32 {
        let sign = bits >> (self.exponent + self.mantissa) & 1;
        let exponent = bits >> self.mantissa & self.top();
        let mantissa = bits & ((1 << self.mantissa) - 1);
        let wide = mantissa << (23 - self.mantissa);
        if exponent == self.top() {
            return f32::from_bits(sign << 31 | 0xff << 23 | wide);
        }
        let magnitude = if exponent == 0 {
            // mantissa x 2^(1 - bias - mantissa bits): both factors are exact
            mantissa as f32 * power_of_two(1 - self.bias() - self.mantissa as i32)
        } else {
            let exponent = (exponent as i32 - self.bias() + 127) as u32;
            f32::from_bits(exponent << 23 | wide)
        };
        f32::from_bits(sign << 31 | magnitude.to_bits())
    }

    /// The bits nearest to a number, ties to even.
    pub(crate) fn encode(self, value: f32) -> u32 {
        let bits = value.to_bits();
        let sign = (bits >> 31) << (self.exponent + self.mantissa);
        let infinity = self.top() << self.mantissa;
        if value.is_nan() {
            return sign | infinity | 1 << (self.mantissa - 1);
        }
        if value.is_infinite() {
            return sign | infinity;
        }
        // |value| = significand x 2^(exponent - 23), significand below 2^24
        let (significand, exponent) = match (bits >> 23 & 0xff, bits & 0x7f_ffff) {
            (0, 0) => return sign,
            (0, small) => {
                let shift = small.leading_zeros() - 8;
                (small << shift, -126 - shift as i32)
            }
            (exponent, fraction) => (fraction | 1 << 23, exponent as i32 - 127),
        };
        let least = 1 - self.bias();
        let below = (least - exponent).max(0) as u32;
        let quanta = round_shift(significand, 23 - self.mantissa + below);
        let magnitude = if below > 0 {
            quanta
        } else {
            // the hidden bit of `quanta` adds one to the exponent field
            (((exponent - least) as u32) << self.mantissa) + quanta
        };
        sign | magnitude.min(infinity)
    }
}

/// As [`Format::encode`] of bf16, without branches.
#[inline(always)]
pub(super) fn encode_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    // a carry out of the mantissa goes into the exponent, as it should
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 & 0x8000 | 0x7fc0;
    (if value.is_nan() { nan } else { rounded }) as u16
}

/// As [`Format::decode`] of bf16.
#[inline(always)]
pub(crate) fn decode_bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// As [`Format::decode`] of fp16, without branches.
#[inline(always)]
pub(crate) fn decode_fp16(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, wide) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    // exponents differ by 112; the product is exact, of subnormals too
    let scaled = (f32::from_bits(wide) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = wide | 0xff << 23;
    f32::from_bits(sign | if bits & 0x7c00 == 0x7c00 { special } else { scaled })
}

/// As [`Format::encode`] of fp16, without branches.
#[inline(always)]
pub(super) fn encode_fp16(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // the exponent is 112 less; 13 bits of the mantissa go
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = rounded.wrapping_sub(112 << 23) >> 13;
    // at 1/2, a unit in the last place is the least subnormal
    let half = f32::from_bits(126 << 23);
    let subnormal = (f32::from_bits(magnitude) + half).to_bits() & 0x7f_ffff;
    let finite = if magnitude < 113 << 23 { subnormal } else { normal };
    let large = if magnitude > 0xff << 23 { 0x7e00 } else { 0x7c00 };
    (sign | if magnitude >= 143 << 23 { large } else { finite }) as u16
}

/// `value / 2^shift`, to nearest, ties to even. `value` is below 2^24.
fn round_shift(value: u32, shift: u32) -> u32 {
    if shift == 0 {
        return value;
    }
    if shift > 25 {
        return 0;
    }
    let half = 1 << (shift - 1);
    let (whole, rest) = (value >> shift, value & ((1 << shift) - 1));
    whole + u32::from(rest > half || rest == half && whole & 1 == 1)
}

/// 2^exponent, for exponents of fp32 including its subnormals.
fn power_of_two(exponent: i32) -> f32 {
    if exponent >= -126 {
        f32::from_bits(((exponent + 127) as u32) << 23)
    } else {
        f32::from_bits(1 << (exponent + 149).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_float_survives_the_round_trip() {
        for format in [BF16, FP16, E3M4, E4M3, E5M2] {
            let width = 1 + format.exponent + format.mantissa;
            for bits in 0..1 << width {
                let value = format.decode(bits);
                if value.is_nan() {
                    assert!(format.decode(format.encode(value)).is_nan());
                } else {
                    assert_eq!(format.encode(value), bits, "{format:?} {bits:#x} {value}");
                }
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_overflow_is_infinite() {
        assert_eq!(BF16.encode(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(BF16.encode(f32::from_bits(0x3f81_8000)), 0x3f82);
        assert_eq!(FP16.encode(65519.0), 0x7bff);
        assert_eq!(FP16.encode(65520.0), 0x7c00);
        assert_eq!(FP16.encode(f32::from_bits(0x3300_0000)), 0);
        assert_eq!(FP16.encode(f32::from_bits(0x3300_0001)), 1);
        assert_eq!(E4M3.encode(-240.0), 0xf7);
        assert_eq!(E4M3.encode(1e9), 0x78);
    }
}
