//! Numbered codes: data types, ALU operations and the small selectors.
//!
//! Each is the byte of the record, so that a number without a name survives.
//! Names that real captures print are marked in the doc of the table; the
//! others are written in the same style and are ours.

use super::field::newtype_field;

/// Declares a code: a byte with names.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident {
        $( $(#[$code_doc:meta])* $value:literal $constant:ident $text:literal ),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
        pub struct $name(pub u8);

        impl $name {
            $( $(#[$code_doc])* pub const $constant: Self = Self($value); )*

            /// Every code with a name, and the name.
            pub const NAMED: &'static [(Self, &'static str)] =
                &[ $( (Self($value), $text), )* ];

            /// The name; `None` for a number that no sheet explains.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $value => Some($text), )*
                    _ => None,
                }
            }

            /// The code of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( $text => Some(Self($value)), )*
                    _ => None,
                }
            }
        }

        /// The name, or the number as `0x1b`.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#04x}", self.0),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        newtype_field!($name(u8));
    };
}

codes! {
    /// Data type of an operand (neuroncore.md §1.4). Captures print fp32,
    /// bfloat16, int32 and uint32; fp16 is in the vendor's documentation.
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
        0x0d FP8_E3M4 "fp8_e3m4",
        /// 4 exponent and 3 mantissa bits, 1 byte.
        0x0e FP8_E4M3 "fp8_e4m3",
        /// 5 exponent and 2 mantissa bits, 1 byte.
        0x0f FP8_E5M2 "fp8_e5m2",
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

codes! {
    /// Operation of the arithmetic units (neuroncore.md §2.10). Captures
    /// print BYPASS, ADD, MULTIPLY and MAX. Codes from 0xC0 run on the
    /// integer engine.
    AluOp {
        /// First operand unchanged.
        0x00 BYPASS "BYPASS",
        /// Bitwise not.
        0x01 NOT "NOT",
        /// Arithmetic shift left.
        0x02 SHIFT_LEFT_ARITH "SHIFT_LEFT_ARITH",
        /// Arithmetic shift right.
        0x03 SHIFT_RIGHT_ARITH "SHIFT_RIGHT_ARITH",
        /// Sum.
        0x04 ADD "ADD",
        /// Difference.
        0x05 SUBTRACT "SUBTRACT",
        /// Product.
        0x06 MULTIPLY "MULTIPLY",
        /// Quotient.
        0x07 DIVIDE "DIVIDE",
        /// Larger.
        0x08 MAX "MAX",
        /// Smaller.
        0x09 MIN "MIN",
        /// Bitwise and.
        0x0a AND "AND",
        /// Bitwise or.
        0x0b OR "OR",
        /// Bitwise exclusive or.
        0x0c XOR "XOR",
        /// Both nonzero.
        0x0d LOGICAL_AND "LOGICAL_AND",
        /// One nonzero.
        0x0e LOGICAL_OR "LOGICAL_OR",
        /// Exactly one nonzero.
        0x0f LOGICAL_XOR "LOGICAL_XOR",
        /// Logical shift left.
        0x10 SHIFT_LEFT "SHIFT_LEFT",
        /// Logical shift right.
        0x11 SHIFT_RIGHT "SHIFT_RIGHT",
        /// 1 if equal, else 0.
        0x12 IS_EQ "IS_EQ",
        /// 1 if greater, else 0.
        0x13 IS_GT "IS_GT",
        /// 1 if greater or equal, else 0.
        0x14 IS_GE "IS_GE",
        /// 1 if less or equal, else 0.
        0x15 IS_LE "IS_LE",
        /// 1 if less, else 0.
        0x16 IS_LT "IS_LT",
        /// Absolute difference.
        0x17 ABS_DIFF "ABS_DIFF",
        /// 1 if not equal, else 0.
        0x18 IS_NE "IS_NE",
        /// Absolute value.
        0x19 ABS "ABS",
        /// Power, POOL only.
        0x1a POW "POW",
        /// Remainder.
        0x1b MOD "MOD",
        /// Checksum, POOL only.
        0x1c CRC32 "CRC32",
        /// Reciprocal square root, POOL only.
        0x1d RSQRT "RSQRT",
        /// Larger absolute value, v4.
        0x20 ABS_MAX "ABS_MAX",
        /// Smaller absolute value, v4.
        0x21 ABS_MIN "ABS_MIN",
        /// Larger of the operand and 0, v4.
        0x22 RELU "RELU",
        /// Square, v4.
        0x23 SQUARE "SQUARE",
        /// Clamp to plus and minus the operand, v5.
        0x24 SYMMETRIC_CLAMP "SYMMETRIC_CLAMP",
        /// Integer sum.
        0xc4 ADD_INT "ADD_INT",
        /// Integer product.
        0xc5 MULTIPLY_INT "MULTIPLY_INT",
        /// Integer difference.
        0xc6 SUBTRACT_INT "SUBTRACT_INT",
        /// Integer quotient, from v3.
        0xc7 DIVIDE_INT "DIVIDE_INT",
        /// Integer remainder, from v3.
        0xc8 MOD_INT "MOD_INT",
        /// Integer equality.
        0xc9 IS_EQ_INT "IS_EQ_INT",
        /// Integer inequality.
        0xca IS_NE_INT "IS_NE_INT",
        /// Larger absolute value of integers.
        0xcb ABS_MAX_INT "ABS_MAX_INT",
        /// Smaller absolute value of integers.
        0xcc ABS_MIN_INT "ABS_MIN_INT",
        /// Absolute difference of integers.
        0xcd ABS_DIFF_INT "ABS_DIFF_INT",
        /// Absolute value of an integer.
        0xce ABS_INT "ABS_INT",
        /// Larger integer.
        0xcf MAX_INT "MAX_INT",
        /// Smaller integer.
        0xd0 MIN_INT "MIN_INT",
        /// Integer greater.
        0xd1 IS_GT_INT "IS_GT_INT",
        /// Integer greater or equal.
        0xd2 IS_GE_INT "IS_GE_INT",
        /// Integer less or equal.
        0xd3 IS_LE_INT "IS_LE_INT",
        /// Integer less.
        0xd4 IS_LT_INT "IS_LT_INT",
        /// Larger unsigned integer.
        0xd5 MAX_UINT "MAX_UINT",
        /// Smaller unsigned integer.
        0xd6 MIN_UINT "MIN_UINT",
        /// Unsigned greater.
        0xd7 IS_GT_UINT "IS_GT_UINT",
        /// Unsigned greater or equal.
        0xd8 IS_GE_UINT "IS_GE_UINT",
        /// Unsigned less or equal.
        0xd9 IS_LE_UINT "IS_LE_UINT",
        /// Unsigned less.
        0xda IS_LT_UINT "IS_LT_UINT",
        /// Unsigned product.
        0xdb MULTIPLY_UINT "MULTIPLY_UINT",
        /// Unsigned quotient.
        0xdc DIVIDE_UINT "DIVIDE_UINT",
        /// Unsigned remainder.
        0xdd MOD_UINT "MOD_UINT",
        /// Index of the largest integer.
        0xde ARGMAX_INT "ARGMAX_INT",
        /// Index of the smallest integer.
        0xdf ARGMIN_INT "ARGMIN_INT",
        /// Index of the largest unsigned integer.
        0xe0 ARGMAX_UINT "ARGMAX_UINT",
        /// Index of the smallest unsigned integer.
        0xe1 ARGMIN_UINT "ARGMIN_UINT",
    }
}

codes! {
    /// Part of an fp32 operand that a pass of the array uses. LOW, HIGH and
    /// LOW_HIGH are printed by captures.
    Fp32Mode {
        /// The operand is not fp32.
        0 NONE "NONE",
        /// Low part of the weights.
        1 LOW "LOW",
        /// High part of the weights, or of the moving data (v2).
        2 HIGH "HIGH",
        /// Both parts of the moving data.
        3 LOW_HIGH "LOW_HIGH",
    }
}

codes! {
    /// Exact transpose through the array (v3). Both are printed by captures.
    TransposeMode {
        /// A product.
        0 DISABLED "DISABLED",
        /// A transpose: PSUM holds the source type.
        1 ENABLED "ENABLED",
    }
}

codes! {
    /// What an engine's accumulator does. Captures print IDLE.
    AccumulatorCmd {
        /// Untouched.
        0 IDLE "IDLE",
        /// Set to zero.
        1 ZERO "ZERO",
        /// Adds up.
        2 ACCUMULATE "ACCUMULATE",
        /// Set to zero, then adds up.
        3 ZERO_ACCUMULATE "ZERO_ACCUMULATE",
        /// Loaded, then adds up.
        4 LOAD_ACCUMULATE "LOAD_ACCUMULATE",
    }
}

codes! {
    /// Where an immediate comes from. INSTRUCTION and PTR are printed by
    /// captures.
    ImmSource {
        /// The record holds the number.
        0 INSTRUCTION "INSTRUCTION",
        /// The record holds the address of a column, one element a partition.
        1 PTR "PTR",
        /// The record holds the number of a register with such an address.
        2 REG_PTR "REG_PTR",
    }
}

codes! {
    /// Where the bias of ACTIVATE comes from: the numbers of [`ImmSource`]
    /// swapped (isa-layouts.md §3.6).
    BiasSource {
        /// The record holds the address of a column.
        0 PTR "PTR",
        /// The record holds the number.
        1 INSTRUCTION "INSTRUCTION",
    }
}

codes! {
    /// Which operand order is reversed (neuroncore.md §3.6).
    Reverse {
        /// None.
        0 NONE "NONE",
        /// The first operation.
        1 FIRST "FIRST",
        /// The second operation.
        2 SECOND "SECOND",
        /// Both.
        3 BOTH "BOTH",
    }
}

codes! {
    /// Dimensions that a reduction folds, innermost first. Captures print X;
    /// the numbers for three and four dimensions are unknown.
    ReduceDims {
        /// Not a reduction.
        0 NONE "NONE",
        /// Dimension 0.
        2 X "X",
        /// Dimensions 0 and 1.
        3 XY "XY",
    }
}

codes! {
    /// Comparison with zero of the affine select (isa-layouts.md §3.9).
    /// AS_GTE is in public test code, the other names follow it.
    AffineCompare {
        /// Greater than zero.
        0 GT "AS_GT",
        /// Zero or greater.
        1 GTE "AS_GTE",
        /// Zero.
        2 EQ "AS_EQ",
        /// Not zero.
        3 NE "AS_NE",
    }
}

codes! {
    /// Condition of a branch. ALWAYS and EQ are printed by captures; GT is
    /// from public notes; the others are unknown.
    BranchCompare {
        /// Unconditional.
        0 ALWAYS "ALWAYS",
        /// Equal.
        3 EQ "EQ",
        /// Greater.
        6 GT "GT",
    }
}

codes! {
    /// Where a branch goes (isa-layouts.md §4.2).
    BranchTarget {
        /// To the address in a register pair.
        1 REGISTER "REGISTER",
        /// By an immediate distance.
        3 RELATIVE "RELATIVE",
        /// By a distance in a register.
        4 RELATIVE_REGISTER "RELATIVE_REGISTER",
    }
}

codes! {
    /// Second operand of MOVE, ALU_OP and TENSOR_STORE.
    OperandSource {
        /// A register.
        0 REGISTER "REGISTER",
        /// The number in the record.
        1 IMMEDIATE "IMMEDIATE",
    }
}

codes! {
    /// Ordering of the records that follow. Both are printed by captures.
    OrderingMode {
        /// Independent records may overlap.
        0 RELAXED "relaxed",
        /// One after the other.
        1 STRICT "strict",
    }
}

codes! {
    /// What a range clear does. Printed by captures.
    RangeMode {
        /// Semaphores become zero.
        1 SEMAPHORE_ZERO "SEMAPHORE_ZERO",
    }
}

codes! {
    /// Kind of a notification. EXPLICIT is printed by captures.
    NotifyKind {
        /// An explicit record.
        1 EXPLICIT "EXPLICIT",
    }
}

codes! {
    /// Arithmetic of a DMA record on its destination (neuroncore.md §3.6).
    /// Captures print NONE.
    DmaCompute {
        /// Copy.
        0 NONE "NONE",
        /// Sum.
        1 ADD "ADD",
        /// Product.
        2 MULTIPLY "MULTIPLY",
        /// Larger.
        3 MAX "MAX",
        /// Smaller.
        4 MIN "MIN",
    }
}

codes! {
    /// The record that PSEUDO_DMA_DIRECT2D becomes. Captures print DIRECT2D.
    DgeKind {
        /// DMA_DIRECT2D.
        0 DIRECT2D "DIRECT2D",
        /// DMA_INDIRECT.
        1 INDIRECT1D "INDIRECT1D",
        /// DMA_TRANSPOSE.
        2 TRANSPOSE "TRANSPOSE",
        /// DMA_GATHER_TRANSPOSE.
        3 GATHER_TRANSPOSE "GATHER_TRANSPOSE",
    }
}

codes! {
    /// Kind of a collective. ALL_REDUCE is in the public sample; the numbers
    /// of the others are unknown.
    CollectiveKind {
        /// Same sum on every rank.
        1 ALL_REDUCE "ALL_REDUCE",
    }
}

codes! {
    /// What PSEUDO_INST stands for (neuroncore.md §3.5).
    PseudoKind {
        /// End of the program.
        1 EXIT_EXECUTION "EXIT_EXECUTION",
        /// Load the custom-operator library again.
        2 LIBRARY_RELOAD "LIBRARY_RELOAD",
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

    fn names_are_unique(named: impl Iterator<Item = &'static str>) {
        let mut names: Vec<_> = named.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_name_leads_back_to_its_code() {
        names_are_unique(AluOp::NAMED.iter().map(|(_, name)| *name));
        names_are_unique(Dtype::NAMED.iter().map(|(_, name)| *name));
        for (op, name) in AluOp::NAMED {
            assert_eq!(AluOp::from_name(name), Some(*op));
        }
        assert_eq!(AluOp(0x1e).to_string(), "0x1e");
    }

    #[test]
    fn a_pair_holds_nibbles_only() {
        let pair = DtypePair::new(Dtype::FP32, Dtype::FP16).unwrap();
        assert_eq!(pair.0, 0x7a);
        assert_eq!((pair.low(), pair.high()), (Dtype::FP32, Dtype::FP16));
        assert!(DtypePair::new(Dtype::FP4_E2M1, Dtype::FP32).is_none());
    }
}
