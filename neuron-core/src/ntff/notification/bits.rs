//! Fields of a 64-bit word.

/// `count` bits from `low` on.
pub(super) const fn field(word: u64, low: u32, count: u32) -> u64 {
    (word >> low) & ((1 << count) - 1)
}

/// The byte from bit `low` on.
pub(super) const fn byte(word: u64, low: u32) -> u8 {
    (word >> low).to_le_bytes()[0]
}

/// The 16 bits from `low` on.
pub(super) const fn half(word: u64, low: u32) -> u16 {
    let [a, b, ..] = (word >> low).to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// The 32 bits from `low` on.
pub(super) const fn single(word: u64, low: u32) -> u32 {
    let [a, b, c, d, ..] = (word >> low).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Bit `at`.
pub(super) const fn bit(word: u64, at: u32) -> bool {
    (word >> at) & 1 != 0
}

/// The bits of the type.
pub(super) fn kind(kind: u8) -> u64 {
    u64::from(kind) << 24
}
