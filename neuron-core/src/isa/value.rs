//! Plain values of records that are neither codes nor addresses.

use std::fmt;

use serde::{Serialize, Serializer};

use super::field::{Field, RecordBytes, newtype_field};

/// A 32-bit float as its bits, so that every NaN survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fp32(pub u32);
newtype_field!(Fp32(u32));

impl Fp32 {
    /// From a number.
    pub const fn new(value: f32) -> Self {
        Self(value.to_bits())
    }

    /// The number.
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

impl Serialize for Fp32 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f32(self.get())
    }
}

/// For each of 32 partitions, the one that it copies from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct LaneMap(pub [u8; 32]);
newtype_field!(LaneMap([u8; 32]));

/// A name of `N` bytes, zero padded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name<const N: usize>(pub [u8; N]);

impl<const N: usize> Name<N> {
    /// From text; `None` when it does not fit or holds a zero byte.
    pub fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; N];
        if text.as_bytes().contains(&0) {
            return None;
        }
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(bytes))
    }

    /// The text; `None` when the bytes are not printable ASCII followed by
    /// zeros only.
    pub fn text(&self) -> Option<&str> {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        let (name, padding) = self.0.split_at_checked(end)?;
        let clean = name.iter().all(u8::is_ascii_graphic) && padding.iter().all(|b| *b == 0);
        std::str::from_utf8(name).ok().filter(|_| clean)
    }
}

impl<const N: usize> Default for Name<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Field for Name<N> {
    const SIZE: usize = N;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        Self(Field::read(bytes, offset))
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        self.0.write(bytes, offset);
    }
}

/// The text as it is, or between quotes with `\x` escapes.
impl<const N: usize> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        match self.text() {
            Some(text)
                if text.bytes().all(bare)
                    && text.starts_with(|first: char| first.is_ascii_alphabetic()) =>
            {
                f.write_str(text)
            }
            _ => {
                let end = self.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                f.write_str("\"")?;
                for byte in self.0.iter().take(end) {
                    if bare(*byte) {
                        write!(f, "{}", char::from(*byte))?;
                    } else {
                        write!(f, "\\x{byte:02x}")?;
                    }
                }
                f.write_str("\"")
            }
        }
    }
}

impl<const N: usize> fmt::Debug for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for Name<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}
