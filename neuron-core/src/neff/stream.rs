//! Bytes of the unpacked archive, front to back: borrowed from a slice, or
//! inflated from a gzip payload (`gzip.rs`).
//!
//! A stream never fails in the middle of a call. It ends early, and
//! [`Stream::fault`] then tells why; the archive reader decides with its report
//! whether that refuses the file.

use super::problem::{Problem, widen};
use std::fmt;

/// The body of a member.
#[derive(Clone, PartialEq, Eq)]
pub enum Body<'a> {
    /// A part of the caller's bytes.
    Borrowed(&'a [u8]),
    /// Unpacked and kept.
    Held(Vec<u8>),
    /// Not kept; unpacked again when asked for.
    Left,
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Borrowed(body) => write!(f, "Borrowed({} bytes)", body.len()),
            Self::Held(body) => write!(f, "Held({} bytes)", body.len()),
            Self::Left => f.write_str("Left"),
        }
    }
}

pub(crate) trait Stream<'a> {
    /// Offset in the unpacked archive of the next byte.
    fn position(&self) -> u64;

    /// Reads until `out` is full or the bytes end; returns how many were read.
    fn fill(&mut self, out: &mut [u8]) -> usize;

    /// Passes over `count` bytes; returns how many there were.
    fn skip(&mut self, count: u64) -> u64;

    /// A body of `count` bytes, kept if `hold`; returns how many there were.
    fn take(&mut self, count: u64, hold: bool) -> (Body<'a>, u64);

    /// Why the stream ended early, once.
    fn fault(&mut self) -> Option<Problem>;
}

/// A bare archive.
#[derive(Debug)]
pub(crate) struct SliceStream<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> SliceStream<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    fn advance(&mut self, count: u64) -> &'a [u8] {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let length = usize::try_from(count).unwrap_or(usize::MAX).min(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}

impl<'a> Stream<'a> for SliceStream<'a> {
    fn position(&self) -> u64 {
        widen(self.at)
    }

    fn fill(&mut self, out: &mut [u8]) -> usize {
        let from = self.advance(widen(out.len()));
        for (to, from) in out.iter_mut().zip(from) {
            *to = *from;
        }
        from.len()
    }

    fn skip(&mut self, count: u64) -> u64 {
        widen(self.advance(count).len())
    }

    fn take(&mut self, count: u64, _hold: bool) -> (Body<'a>, u64) {
        let body = self.advance(count);
        (Body::Borrowed(body), widen(body.len()))
    }

    fn fault(&mut self) -> Option<Problem> {
        None
    }
}
