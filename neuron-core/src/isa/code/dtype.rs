//! Data types of operands.

use crate::isa::field::newtype_field;

codes! {
    /// Data type of an operand (neuroncore.md §1.4). Captures print fp32,
    /// bfloat16, int32 and uint32; fp16, fp8e4 and fp8e5 are in the vendor's
    /// documentation.
    Dtype {
        /// No type, or raw bits.
        0x00 INVALID "invalid",
        /// Unsigned, 8 bytes.
        0x01 UINT64 "uint64",
        /// Signed, 1 byte.
        0x02 INT8 "int8",
        /// Unsigned, 1 byte.
        0x03 UINT8 "uint8",
        /// Signed, 2 bytes.
        0x04 INT16 "int16",
        /// Unsigned, 2 bytes.
        0x05 UINT16 "uint16",
        /// bfloat16, 2 bytes.
        0x06 BFLOAT16 "bfloat16",
        /// IEEE half precision, 2 bytes.
        0x07 FP16 "fp16",
        /// Signed, 4 bytes.
        0x08 INT32 "int32",
        /// Unsigned, 4 bytes.
        0x09 UINT32 "uint32",
        /// IEEE single precision, 4 bytes.
        0x0a FP32 "fp32",
        /// fp32 rounded for the array, output only, 4 bytes.
        0x0b FP32R "fp32r",
        /// Signed, 8 bytes.
        0x0c INT64 "int64",
        /// 3 exponent and 4 mantissa bits, 1 byte.
        0x0d FP8_E3M4 "fp8e3",
        /// 4 exponent and 3 mantissa bits, 1 byte.
        0x0e FP8_E4M3 "fp8e4",
        /// 5 exponent and 2 mantissa bits, 1 byte.
        0x0f FP8_E5M2 "fp8e5",
        /// Two values in a byte, v4.
        0x10 FP4_E2M1 "fp4_e2m1",
    }
}

impl Dtype {
    /// Bytes of one element; `None` where an element is not whole bytes or
    /// the code is unknown.
    pub const fn bytes(self) -> Option<u8> {
        match self.0 {
            0x02 | 0x03 | 0x0d..=0x0f => Some(1),
            0x04..=0x07 => Some(2),
            0x08..=0x0b => Some(4),
            0x01 | 0x0c => Some(8),
            _ => None,
        }
    }
}

/// Two data types in one byte: source 0 in the low nibble, source 1 or bias
/// in the high one. Only types up to 0x0f fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DtypePair(pub u8);
newtype_field!(DtypePair(u8));

impl DtypePair {
    /// Packs two types; `None` when one does not fit a nibble.
    pub fn new(low: Dtype, high: Dtype) -> Option<Self> {
        (low.0 <= 0x0f && high.0 <= 0x0f).then_some(Self(low.0 | high.0 << 4))
    }

    /// The low nibble.
    pub const fn low(self) -> Dtype {
        Dtype(self.0 & 0x0f)
    }

    /// The high nibble.
    pub const fn high(self) -> Dtype {
        Dtype(self.0 >> 4)
    }
}

impl serde::Serialize for DtypePair {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.low(), self.high()).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_type() {
        for (dtype, name) in Dtype::NAMED {
            assert_eq!(Dtype::from_name(name), Some(*dtype));
        }
    }

    #[test]
    fn a_pair_holds_nibbles_only() {
        let pair = DtypePair::new(Dtype::FP32, Dtype::FP16).unwrap();
        assert_eq!(pair.0, 0x7a);
        assert_eq!((pair.low(), pair.high()), (Dtype::FP32, Dtype::FP16));
        assert!(DtypePair::new(Dtype::FP4_E2M1, Dtype::FP32).is_none());
    }
}
