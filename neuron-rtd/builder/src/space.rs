//! Allocation of one partition's bytes; what is placed in one partition is at
//! the same byte in all 128.
//!
//! Next fit: the search goes on where the last one ended, so that a buffer that
//! was given back is used again as late as possible. With the hazards that
//! order its users this gives double buffering, as deep as the memory allows.

use std::collections::BTreeMap;
use std::ops::Range;

/// A memory with live buffers.
#[derive(Debug, Clone)]
pub struct Space {
    range: Range<u32>,
    align: u32,
    /// Start to end.
    live: BTreeMap<u32, u32>,
    cursor: u32,
}

impl Space {
    /// A memory of these bytes; buffers start at multiples of `align`, which is
    /// a power of two.
    pub fn new(range: Range<u32>, align: u32) -> Self {
        Self { cursor: range.start, range, align, live: BTreeMap::new() }
    }

    /// A place for so many bytes, which then is live; `None` when there is no
    /// gap of that size.
    pub fn place(&mut self, bytes: u32) -> Option<u32> {
        let bytes = bytes.max(1).checked_next_multiple_of(self.align)?;
        let from_cursor = self.gap(self.cursor..self.range.end, bytes);
        let start = from_cursor.or_else(|| self.gap(self.range.clone(), bytes))?;
        self.live.insert(start, start + bytes);
        self.cursor = start + bytes;
        Some(start)
    }

    /// The first gap within a range.
    fn gap(&self, range: Range<u32>, bytes: u32) -> Option<u32> {
        let mut at = range.start;
        let before = self.live.range(..range.start).next_back();
        if let Some((_, end)) = before {
            at = at.max(*end);
        }
        for (start, end) in self.live.range(range.start..range.end) {
            if start.checked_sub(at).is_some_and(|gap| gap >= bytes) {
                return Some(at);
            }
            at = at.max(*end);
        }
        (range.end.checked_sub(at)? >= bytes).then_some(at)
    }

    /// Gives a buffer back by its first byte.
    pub fn release(&mut self, start: u32) {
        self.live.remove(&start);
    }

    /// Live buffers, in order.
    pub fn live(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.live.iter().map(|(start, end)| *start..*end)
    }

    /// Bytes of the memory.
    pub const fn size(&self) -> u32 {
        self.range.end - self.range.start
    }
}
