//! The driver's ABI as data: request numbers, argument layouts, enumerations,
//! release facts and the layout of the per-process datastore.
//!
//! Everything here is bytes in, values out, and back: no file is opened, no
//! request is made and no `unsafe` is used. `sys` makes the requests. Sources
//! are driver.md §2 to §6 and the recordings of the real driver; the tests pin
//! the numbers to both.

pub mod arg;
pub mod enums;
pub mod fuzz;
pub mod nds;
pub mod nds_ext;
pub mod nrt;
pub mod request;
pub mod version;

#[cfg(test)]
mod recording;

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {reason} at offset {offset}")]
pub struct Malformed {
    /// What was being read, `apps info`.
    pub what: &'static str,
    /// Offset in bytes from the start of what was given.
    pub offset: usize,
    /// What is wrong there.
    pub reason: String,
}

impl Malformed {
    pub(crate) fn new(what: &'static str, offset: usize, reason: impl Into<String>) -> Self {
        Self { what, offset, reason: reason.into() }
    }
}

/// The `N` bytes at `at`, if they are there.
pub(crate) fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The little-endian 64-bit word at `at`, if it is there.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}
