//! Zeroed bytes that are used again: a core's memories are large, a program
//! touches a part of them, and the host takes longer to give pages than the
//! program needs to fill them.
//!
//! What is dropped is kept with zeros where it was written, a few of them, for
//! the next of its size.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes that are noted as one.
const PIECE: usize = 2 << 10;

/// Most stores that are kept: the memories of eight cores.
const MOST: usize = 16;

/// Bytes, and which pieces of them were written: none.
type Spare = (Vec<u8>, Vec<bool>);

static SPARE: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

fn spare<T>(act: impl FnOnce(&mut Vec<Spare>) -> T) -> T {
    act(&mut SPARE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// No piece: the first is after the last, so that any piece widens it.
#[expect(clippy::reversed_empty_ranges, reason = "it widens to the first piece that is noted")]
const NONE: Range<usize> = usize::MAX..0;

/// Bytes of a line of the host's caches, where a store starts: a vector that
/// crosses two of them takes twice as long.
const LINE: usize = 64;

/// Bytes, of which those that may not be zero are noted.
#[derive(Debug)]
pub(super) struct Store {
    /// Some more than there are, up to the start of a line.
    room: Vec<u8>,
    size: usize,
    written: Vec<bool>,
    /// From the first piece that is noted to the last.
    between: Range<usize>,
}

impl Clone for Store {
    fn clone(&self) -> Self {
        let mut store = Self::zeros(self.size);
        store.bytes_mut().copy_from_slice(self.bytes());
        store.written.copy_from_slice(&self.written);
        store.between = self.between.clone();
        store
    }
}

impl Store {
    /// So many bytes, all zero.
    pub(super) fn zeros(size: usize) -> Self {
        let room = size.saturating_add(LINE);
        let same = |kept: &mut Vec<Spare>| {
            let index = kept.iter().position(|(bytes, _)| bytes.len() == room)?;
            Some(kept.swap_remove(index))
        };
        let fresh = || (vec![0; room], vec![false; size.div_ceil(PIECE)]);
        let (room, written) = spare(same).unwrap_or_else(fresh);
        Self { room, size, written, between: NONE }
    }

    fn start(&self) -> usize {
        self.room.as_ptr().align_offset(LINE).min(LINE)
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        let start = self.start();
        self.room.get(start..start + self.size).unwrap_or_default()
    }

    /// The bytes, to write those that were noted.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let start = self.start();
        self.room.get_mut(start..start + self.size).unwrap_or_default()
    }

    /// Notes that these bytes will be written.
    pub(super) fn note(&mut self, range: Range<usize>) {
        let pieces = range.start / PIECE..range.end.div_ceil(PIECE).min(self.written.len());
        self.between = self.between.start.min(pieces.start)..self.between.end.max(pieces.end);
        if let Some(pieces) = self.written.get_mut(pieces) {
            pieces.fill(true);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if spare(|kept| kept.len() >= MOST) {
            return;
        }
        let mut written = std::mem::take(&mut self.written);
        let between = self.between.clone();
        let noted = written.get_mut(between.clone()).unwrap_or_default();
        for (piece, written) in self.bytes_mut().chunks_mut(PIECE).skip(between.start).zip(noted) {
            if std::mem::take(written) {
                piece.fill(0);
            }
        }
        let room = std::mem::take(&mut self.room);
        spare(|kept| kept.push((room, written)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_zero_again() {
        // a size that no memory has
        let size = 10 * PIECE + 17;
        for round in 0..3 {
            let mut store = Store::zeros(size);
            assert!(store.bytes().len() == size && store.bytes().iter().all(|byte| *byte == 0));
            assert_eq!(store.bytes().as_ptr().align_offset(LINE), 0);
            for range in [0..1, PIECE - 1..PIECE + 1, 5 * PIECE..7 * PIECE, size - 1..size, 3..3] {
                store.note(range.clone());
                store.bytes_mut()[range].fill(round + 1);
            }
            store.note(size..size + 100);
            assert_eq!(store.clone().bytes(), store.bytes());
        }
        assert!(
            spare(|kept| kept.iter().filter(|(bytes, _)| bytes.len() == size + LINE).count()) > 0
        );
    }
}
