//! Numbered codes: data types, ALU operations and the small selectors.
//!
//! Each is the byte of the record, so that a number without a name survives.
//! Names that real captures print are marked in the doc of the table; the
//! others are written in the same style and are ours.

use super::field::newtype_field;
pub use alu::AluOp;
pub use dtype::{Dtype, DtypePair};

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

// after the macro that they use
mod alu;
mod dtype;

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
    /// the numbers for three and four dimensions are from public notes on the
    /// vendor's headers.
    ReduceDims {
        /// Not a reduction.
        0 NONE "NONE",
        /// Dimension 0.
        2 X "X",
        /// Dimensions 0 and 1.
        3 XY "XY",
        /// Dimensions 0 to 2.
        4 XYZ "XYZ",
        /// All four.
        5 XYZW "XYZW",
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
    /// Condition of a branch: the register against the number in the record,
    /// or against another register. ALWAYS and EQ are printed by captures, GT
    /// is in public notes on the runtime, the others are in public notes on
    /// the compiler's tables.
    BranchCompare {
        /// Unconditional.
        0 ALWAYS "ALWAYS",
        /// Less.
        1 LT "LT",
        /// Less or equal.
        2 LE "LE",
        /// Equal.
        3 EQ "EQ",
        /// Not equal.
        4 NE "NE",
        /// Greater or equal.
        5 GE "GE",
        /// Greater.
        6 GT "GT",
        /// Less than a register.
        0x09 LT_REGISTER "LT_REGISTER",
        /// Less than a register, or equal.
        0x0a LE_REGISTER "LE_REGISTER",
        /// Equal to a register.
        0x0b EQ_REGISTER "EQ_REGISTER",
        /// Not equal to a register.
        0x0c NE_REGISTER "NE_REGISTER",
        /// Greater than a register, or equal.
        0x0d GE_REGISTER "GE_REGISTER",
        /// Greater than a register.
        0x0e GT_REGISTER "GT_REGISTER",
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
    /// Kind of a collective. ALL_REDUCE is in the public sample; the other
    /// numbers are in public notes on the compiler's tables.
    CollectiveKind {
        /// Same sum on every rank.
        1 ALL_REDUCE "ALL_REDUCE",
        /// Each rank has its part of the sum.
        2 REDUCE_SCATTER "REDUCE_SCATTER",
        /// Each rank has the parts of all.
        3 ALL_GATHER "ALL_GATHER",
        /// Each rank has its part of every rank.
        4 ALL_TO_ALL "ALL_TO_ALL",
        /// Each rank has what another one has.
        5 PERMUTE "PERMUTE",
        /// The same, added to what is there.
        6 PERMUTE_REDUCE "PERMUTE_REDUCE",
        /// The next rank of a ring.
        7 PERMUTE_IMPLICIT "PERMUTE_IMPLICIT",
        /// The next rank of a ring, added to what is there.
        8 PERMUTE_REDUCE_IMPLICIT "PERMUTE_REDUCE_IMPLICIT",
        /// Parts of different sizes.
        9 ALL_TO_ALL_V "ALL_TO_ALL_V",
    }
}

codes! {
    /// Fold over partitions (public notes on the vendor's headers).
    LaneOp {
        /// Sum.
        0 ADD "ADD",
        /// Sum of the elements, each times a factor.
        1 AVERAGE "AVERAGE",
        /// Largest.
        2 MAX "MAX",
        /// Bitwise or.
        3 OR "OR",
        /// Bitwise and.
        4 AND "AND",
        /// Bitwise exclusive or.
        5 XOR "XOR",
    }
}

codes! {
    /// What a fold over partitions covers (public notes on the vendor's
    /// headers).
    LaneAxis {
        /// Partitions and elements: one result.
        0 ALL "ALL",
        /// Partitions only: a result for each element.
        1 PARTITIONS "PARTITIONS",
    }
}

codes! {
    /// What a gather does with an index outside of its buffer (public notes on
    /// the vendor's headers).
    IndexMiss {
        /// Writes the number in the record.
        0 IMMEDIATE_WRITE "IMMEDIATE_WRITE",
        /// Leaves the result as it is.
        1 SKIP_WRITE "SKIP_WRITE",
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
