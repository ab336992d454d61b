//! Records of the activity manager, Trn2 layout (ntff.md §6.3).

use serde::Serialize;

use super::bits::{byte, half, kind};

/// From here to the next such record, at most k of n cycles are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Throttle {
    /// Meaning unknown; 0 to 204 seen.
    pub metadata: u16,
    /// Cycles.
    pub n: u8,
    /// Cycles of them that may be used.
    pub k: u8,
    /// Which activity limit: 0 or 1.
    pub activity: u8,
}

impl Throttle {
    pub(super) const fn decode(word: u64) -> Self {
        Self {
            metadata: half(word, 0),
            n: byte(word, 16),
            k: byte(word, 32),
            activity: byte(word, 40),
        }
    }

    pub(super) fn encode(self) -> u64 {
        u64::from(self.metadata)
            | (u64::from(self.n) << 16)
            | kind(0x1e)
            | (u64::from(self.k) << 32)
            | (u64::from(self.activity) << 40)
    }
}
