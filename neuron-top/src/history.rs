//! The frames that are kept: for the curves, and for stepping back.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::frame::Frame;

/// Most frames that are kept, and most bytes that they take together.
const FRAMES: usize = 3600;
const BYTES: usize = 4 << 20;

/// Frames in the order they came, each with a number that stays its own.
#[derive(Debug, Default)]
pub struct History {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    /// How many were dropped at the front.
    dropped: u64,
}

impl History {
    /// Takes a frame; old ones go when there are too many.
    pub fn push(&mut self, frame: Arc<Frame>) {
        self.bytes += frame.weight();
        self.frames.push_back(frame);
        while self.frames.len() > FRAMES || (self.bytes > BYTES && self.frames.len() > 2) {
            if let Some(old) = self.frames.pop_front() {
                self.bytes = self.bytes.saturating_sub(old.weight());
                self.dropped += 1;
            }
        }
    }

    /// Number of the newest; `None` before the first.
    pub fn newest(&self) -> Option<u64> {
        let count = u64::try_from(self.frames.len()).unwrap_or(0);
        (self.dropped + count).checked_sub(1).filter(|_| count > 0)
    }

    /// Number of the oldest that is kept.
    pub fn oldest(&self) -> u64 {
        self.dropped
    }

    /// The frame of a number; the nearest that is kept.
    pub fn at(&self, number: u64) -> Option<&Arc<Frame>> {
        let at = usize::try_from(number.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        self.frames.get(at.min(self.frames.len().saturating_sub(1)))
    }

    /// The last `count` frames up to a number, oldest first.
    pub fn until(&self, number: u64, count: usize) -> impl Iterator<Item = &Arc<Frame>> {
        let at = usize::try_from(number.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let end = at.saturating_add(1).min(self.frames.len());
        self.frames.range(end.saturating_sub(count)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Core;

    fn frame(taken: u64, cores: usize) -> Arc<Frame> {
        Arc::new(Frame {
            taken,
            span: None,
            machine: Arc::default(),
            cores: vec![Core::default(); cores],
            processes: Vec::new(),
            cpu: None,
            ram: None,
            notes: Arc::default(),
            failure: None,
        })
    }

    fn taken(history: &History, number: u64) -> u64 {
        history.at(number).unwrap().taken
    }

    #[test]
    fn numbers_stay_while_old_frames_go() {
        let mut history = History::default();
        assert!(history.newest().is_none() && history.at(0).is_none());
        (0..5000).for_each(|n| history.push(frame(n, 0)));
        assert_eq!((history.newest(), history.oldest()), (Some(4999), 1400));
        assert_eq!((taken(&history, 4999), taken(&history, 1400)), (4999, 1400));
        // What has gone is the oldest, what has not come the newest.
        assert_eq!((taken(&history, 3), taken(&history, 9000)), (1400, 4999));
        let last: Vec<u64> = history.until(2000, 3).map(|frame| frame.taken).collect();
        assert_eq!(last, [1998, 1999, 2000]);
        assert_eq!(history.until(1400, 3).count(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut history = History::default();
        (0..100).for_each(|n| history.push(frame(n, 10_000)));
        assert!(history.bytes <= BYTES && history.frames.len() < 40, "{}", history.bytes);
        assert_eq!(history.newest(), Some(99));
    }
}
