//! Elements: the data types that engines compute with, as bytes and numbers.
//!
//! Engines compute in fp32: an element is widened when read and rounded when
//! written (neuroncore.md §1.4). Rounding is to nearest, ties to even, for
//! floats. To integers, a number is cut towards zero and held within the range
//! of the type, and NaN becomes 0 (our choice: the sheet has the cut from one
//! source of medium trust, and nothing about the rest). 32-bit integers pass
//! through fp32 and lose bits above 2^24, but for raw copies. 64-bit types, the
//! rounded fp32r and packed types are left out: no record uses them.

mod float;
mod integer;
mod run;

pub(crate) use float::{decode_bf16, decode_fp16};

use neuron_core::isa::code::Dtype;

use crate::fault::Fault;

/// A data type that can be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// Two's complement, 1 byte.
    Int8,
    /// 1 byte.
    Uint8,
    /// Two's complement, 2 bytes.
    Int16,
    /// 2 bytes.
    Uint16,
    /// Two's complement, 4 bytes.
    Int32,
    /// 4 bytes.
    Uint32,
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    Fp16,
    /// IEEE single precision.
    Fp32,
    /// 3 exponent bits, 4 mantissa bits.
    Fp8E3M4,
    /// 4 exponent bits, 3 mantissa bits.
    Fp8E4M3,
    /// 5 exponent bits, 2 mantissa bits.
    Fp8E5M2,
}

impl Element {
    /// Every type.
    pub const ALL: [Self; 12] = [
        Self::Int8,
        Self::Uint8,
        Self::Int16,
        Self::Uint16,
        Self::Int32,
        Self::Uint32,
        Self::Bf16,
        Self::Fp16,
        Self::Fp32,
        Self::Fp8E3M4,
        Self::Fp8E4M3,
        Self::Fp8E5M2,
    ];

    /// The type of a record's code.
    ///
    /// # Errors
    ///
    /// For types that are left out.
    pub fn of(dtype: Dtype) -> Result<Self, Fault> {
        Ok(match dtype {
            Dtype::INT8 => Self::Int8,
            Dtype::UINT8 => Self::Uint8,
            Dtype::INT16 => Self::Int16,
            Dtype::UINT16 => Self::Uint16,
            Dtype::INT32 => Self::Int32,
            Dtype::UINT32 => Self::Uint32,
            Dtype::BFLOAT16 => Self::Bf16,
            Dtype::FP16 => Self::Fp16,
            Dtype::FP32 => Self::Fp32,
            Dtype::FP8_E3M4 => Self::Fp8E3M4,
            Dtype::FP8_E4M3 => Self::Fp8E4M3,
            Dtype::FP8_E5M2 => Self::Fp8E5M2,
            other => return Err(Fault::Type(other)),
        })
    }

    /// The type of a word in a NEFF's JSON (neff.md §5.1). The spellings of
    /// 8-bit floats are not published and are left out.
    ///
    /// # Errors
    ///
    /// For words that are left out.
    pub fn of_word(word: &str) -> Result<Self, Fault> {
        Ok(match word {
            "int8" => Self::Int8,
            "uint8" => Self::Uint8,
            "int16" => Self::Int16,
            "uint16" => Self::Uint16,
            "int32" => Self::Int32,
            "uint32" => Self::Uint32,
            "bfloat16" => Self::Bf16,
            "float16" => Self::Fp16,
            "float32" => Self::Fp32,
            other => return Err(Fault::unknown(format!("data type {other:?}"))),
        })
    }

    /// Bytes of one element: 1, 2 or 4.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Fp8E3M4 | Self::Fp8E4M3 | Self::Fp8E5M2 => 1,
            Self::Int16 | Self::Uint16 | Self::Bf16 | Self::Fp16 => 2,
            Self::Int32 | Self::Uint32 | Self::Fp32 => 4,
        }
    }

    /// The bits of the first element of `bytes`, in the low bits; what is
    /// missing reads as zero.
    pub fn load(self, bytes: &[u8]) -> u32 {
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(bytes).take(self.bytes()) {
            *to = *from;
        }
        u32::from_le_bytes(word)
    }

    /// Puts bits where [`Element::load`] takes them from.
    pub fn store(self, bits: u32, bytes: &mut [u8]) {
        for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()).take(self.bytes()) {
            *to = from;
        }
    }

    /// Bits to fp32. Exact but for 32-bit integers, which are rounded to
    /// nearest, ties to even.
    pub fn decode(self, bits: u32) -> f32 {
        match self {
            Self::Int8 => f32::from(bits as u8 as i8),
            Self::Uint8 => f32::from(bits as u8),
            Self::Int16 => f32::from(bits as u16 as i16),
            Self::Uint16 => f32::from(bits as u16),
            Self::Int32 => bits as i32 as f32,
            Self::Uint32 => bits as f32,
            Self::Bf16 => f32::from_bits(bits << 16),
            Self::Fp16 => float::FP16.decode(bits),
            Self::Fp32 => f32::from_bits(bits),
            Self::Fp8E3M4 => float::E3M4.decode(bits),
            Self::Fp8E4M3 => float::E4M3.decode(bits),
            Self::Fp8E5M2 => float::E5M2.decode(bits),
        }
    }

    /// fp32 to bits, rounded as the module says.
    pub fn encode(self, value: f32) -> u32 {
        // `as` cuts, holds the range and takes NaN to 0, as the module says
        match self {
            Self::Int8 => u32::from(value as i8 as u8),
            Self::Uint8 => u32::from(value as u8),
            Self::Int16 => u32::from(value as i16 as u16),
            Self::Uint16 => u32::from(value as u16),
            Self::Int32 => value as i32 as u32,
            Self::Uint32 => value as u32,
            Self::Bf16 => float::BF16.encode(value),
            Self::Fp16 => float::FP16.encode(value),
            Self::Fp32 => value.to_bits(),
            Self::Fp8E3M4 => float::E3M4.encode(value),
            Self::Fp8E4M3 => float::E4M3.encode(value),
            Self::Fp8E5M2 => float::E5M2.encode(value),
        }
    }

    /// Converts elements: the bytes of one type to the bytes of another. A
    /// part of an element at the end is dropped.
    pub fn convert(self, bytes: &[u8], to: Self) -> Vec<u8> {
        const PIECE: usize = 1024;
        let mut out = vec![0; bytes.len() / self.bytes() * to.bytes()];
        let mut numbers = [0.0; PIECE];
        let pieces = bytes.chunks(PIECE * self.bytes());
        for (from, into) in pieces.zip(out.chunks_mut(PIECE * to.bytes())) {
            let numbers = numbers.get_mut(..into.len() / to.bytes()).unwrap_or_default();
            self.decode_slice(from, numbers);
            to.encode_slice(numbers, into);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_cut_and_held_in_range() {
        assert_eq!(Element::Int8.encode(-1.9), 0xff);
        assert_eq!(Element::Int8.encode(1000.0), 127);
        assert_eq!(Element::Uint16.encode(-5.0), 0);
        assert_eq!(Element::Int32.encode(f32::NAN), 0);
        assert_eq!(Element::Int16.decode(0xffff), -1.0);
    }

    #[test]
    fn bytes_convert_in_order() {
        let out = Element::Int8.convert(&[1, 0xff, 3], Element::Fp16);
        assert_eq!(out, [0x00, 0x3c, 0x00, 0xbc, 0x00, 0x42]);
        let long: Vec<u8> = (0..2 * 5001u32).map(|i| (i / 7) as u8).collect();
        let out = Element::Int16.convert(&long[1..], Element::Fp32);
        assert_eq!(out.len(), 4 * 5000);
        for (ours, bytes) in out.chunks(4).zip(long[1..].chunks(2)) {
            assert_eq!(Element::Fp32.decode(Element::Fp32.load(ours)), {
                Element::Int16.decode(Element::Int16.load(bytes))
            });
        }
        assert!(Element::of(Dtype::FP32R).is_err() && Element::of_word("float8e4").is_err());
    }
}
