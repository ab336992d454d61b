//! Operations of the arithmetic units.

use crate::isa::field::newtype_field;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_code() {
        for (op, name) in AluOp::NAMED {
            assert_eq!(AluOp::from_name(name), Some(*op));
        }
        assert_eq!(AluOp(0x1e).to_string(), "0x1e");
    }
}
