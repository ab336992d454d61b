//! A notification record as it lies in a trace: 16 bytes (ntff.md §6.1).
//!
//! Only this width was ever found. What the bits mean depends on the kind of
//! trace: see [`Notification`](super::Notification).

use super::Ticks;

/// Size of a record in bytes.
pub const SIZE: usize = 16;

/// Two little-endian words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Record {
    /// Payload A in bits 0 to 23, type in 24 to 28, loss marks in 29 and 30,
    /// phase in 31, payload B in 32 to 63.
    pub word: u64,
    /// Raw time on the clock of its source.
    pub time: Ticks,
}

impl Record {
    /// From the bytes of a trace.
    pub const fn from_bytes(bytes: [u8; SIZE]) -> Self {
        let both = u128::from_le_bytes(bytes);
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = both.to_le_bytes();
        Self {
            word: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            time: Ticks(u64::from_le_bytes([i, j, k, l, m, n, o, p])),
        }
    }

    /// The bytes of a trace.
    pub fn to_bytes(self) -> [u8; SIZE] {
        (u128::from(self.word) | (u128::from(self.time.0) << 64)).to_le_bytes()
    }

    /// Type, 0 to 31; in a DMA trace the engine modulo 32.
    pub const fn kind(self) -> u8 {
        self.word.to_le_bytes()[3] & 0x1f
    }

    /// Bit 29: the ring was full and earlier records are lost.
    pub const fn software_loss(self) -> bool {
        self.word & (1 << 29) != 0
    }

    /// Bit 30: records after this one are lost.
    pub const fn hardware_loss(self) -> bool {
        self.word & (1 << 30) != 0
    }

    /// Bit 31: 1 in every real record.
    pub const fn phase(self) -> bool {
        self.word & (1 << 31) != 0
    }

    /// All zero: an unused slot of the ring (inferred).
    pub const fn is_blank(self) -> bool {
        self.word == 0 && self.time.0 == 0
    }

    /// The same with the phase bit and, if asked for, the loss marks.
    #[must_use]
    pub const fn with_marks(self, software_loss: bool, hardware_loss: bool) -> Self {
        let word = self.word
            | (1 << 31)
            | if software_loss { 1 << 29 } else { 0 }
            | if hardware_loss { 1 << 30 } else { 0 };
        Self { word, ..self }
    }
}

/// The whole records of a piece of a trace; up to 15 bytes at its end are left
/// out.
pub fn records(bytes: &[u8]) -> impl ExactSizeIterator<Item = Record> + '_ {
    bytes.as_chunks::<SIZE>().0.iter().map(|bytes| Record::from_bytes(*bytes))
}
