//! Payloads of the systolic array (isa-layouts.md §3.1, §3.2).
//!
//! v4 adds fields (bytes 12, 40, 42 and 47 of one or the other record) whose
//! meaning is only partly published; they stay in the rest of the record.

use std::fmt;

use crate::isa::address::Pattern;
use crate::isa::code::{Dtype, Fp32Mode, TransposeMode};
use crate::isa::field::{layout, newtype_field};

/// Parts of the array in use, one bit per 32 rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayGroup(pub u8);
newtype_field!(ArrayGroup(u8));

impl Default for ArrayGroup {
    /// The whole array.
    fn default() -> Self {
        Self(0x0f)
    }
}

/// `q0`, `q0,q1`, or the number where it is none of the four quarters.
impl fmt::Display for ArrayGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 || self.0 > 0x0f {
            return write!(f, "{:#04x}", self.0);
        }
        let quarters = (0..4).filter(|quarter| self.0 >> quarter & 1 == 1);
        for (index, quarter) in quarters.enumerate() {
            let gap = if index == 0 { "" } else { "," };
            write!(f, "{gap}q{quarter}")?;
        }
        Ok(())
    }
}

impl serde::Serialize for ArrayGroup {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a product does to PSUM (isa-layouts.md §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct AccumulateFlags(pub u8);
newtype_field!(AccumulateFlags(u8));

impl AccumulateFlags {
    /// Bit 0: the result replaces what is there; else it is added.
    pub const fn overwrites(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 1: last of a group. It does not change the numbers.
    pub const fn ends_group(self) -> bool {
        self.0 & 2 != 0
    }
}

layout! {
    /// LDWEIGHTS: loads the stationary matrix. Element k of the walk becomes
    /// column `columns - 1 - k`.
    LoadWeights {
        /// Stationary data, in SBUF; real code starts at the last column and
        /// steps by -1.
        16 src: Pattern<3>,
        /// Its type.
        32 src_type: Dtype,
        /// Part of an fp32 source.
        33 fp32_mode: Fp32Mode,
        /// Exact transpose, from v3.
        34 transpose_mode: TransposeMode,
        /// Unknown option, 0 in real files.
        35 perf_opt: u8,
        /// Partitions (K).
        38 rows: u8,
        /// Columns (M).
        39 columns: u8,
        /// Rows of the array in use.
        44 row_group: ArrayGroup,
        /// Columns of the array in use.
        45 column_group: ArrayGroup,
        /// v2: 0x02 with fp32, 0x0f with 2-byte types; 0 from v3 on.
        46 bus_select: u8,
    }
}

layout! {
    /// MATMUL: dst[m, n] (+)= sum over k of weights[k, m] x src[k, n].
    MatMul {
        /// Moving data, in SBUF.
        16 src: Pattern<3>,
        /// Its type.
        32 src_type: Dtype,
        /// Part of an fp32 source.
        33 fp32_mode: Fp32Mode,
        /// Exact transpose, from v3: PSUM then holds the source type.
        34 transpose_mode: TransposeMode,
        /// Partitions (K).
        38 rows: u8,
        /// Columns (M), which are the partitions of the destination.
        39 columns: u8,
        /// Overwrite or add.
        43 accumulate: AccumulateFlags,
        /// Rows of the array in use.
        44 row_group: ArrayGroup,
        /// Columns of the array in use.
        45 column_group: ArrayGroup,
        /// v2: 0x10; 0 from v3 on.
        46 bus_select: u8,
        /// Banks to zero, 0 in real files; 0 to 3 for 1, 2, 4, 8 banks
        /// (public notes).
        47 zero_region: u8,
        /// Result, in PSUM.
        48 dst: Pattern<3>,
    }
}
