//! Who last wrote and who has read which bytes.
//!
//! The lowering emits instructions in one order in which they would be right.
//! An instruction must wait for the last writer of what it reads or writes,
//! and for the readers of what it writes. Positions count the bytes of a
//! partition, PSUM after SBUF; partitions are not told apart, which can only
//! add waits.

use std::collections::BTreeMap;
use std::ops::Range;

/// A step of a producer: an engine's instruction or a queue's transfer, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The producer: an engine by number, or a semaphore of a queue.
    pub producer: u8,
    /// Steps of it, this one included.
    pub count: u32,
}

/// Why a step must come after another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// It writes what the other one read.
    Anti,
    /// It writes what the other one wrote.
    Output,
    /// It reads what the other one wrote.
    Flow,
}

/// First position of PSUM.
pub(crate) const PSUM: u32 = 1 << 20;

/// Bytes that have one history.
#[derive(Debug, Clone, Default)]
struct Segment {
    end: u32,
    write: Option<Step>,
    /// The last read of each producer since the write.
    reads: Vec<Step>,
}

/// The history of both memories.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hazards {
    segments: BTreeMap<u32, Segment>,
}

impl Hazards {
    /// Notes that a step touches bytes, and adds to `waits` what must be done
    /// before.
    pub(crate) fn touch(
        &mut self,
        range: Range<u32>,
        step: Step,
        writes: bool,
        waits: &mut Vec<(Step, Edge)>,
    ) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let inside: Vec<u32> =
            self.segments.range(range.clone()).map(|(start, _)| *start).collect();
        let mut at = range.start;
        for start in inside {
            self.fill(at..start);
            at = self.segments.get(&start).map_or(start, |segment| segment.end);
        }
        self.fill(at..range.end);
        for (_, segment) in self.segments.range_mut(range.clone()) {
            let edge = if writes { Edge::Output } else { Edge::Flow };
            waits.extend(segment.write.map(|write| (write, edge)));
            if writes {
                waits.extend(segment.reads.drain(..).map(|read| (read, Edge::Anti)));
                segment.write = Some(step);
            } else {
                segment.reads.retain(|read| read.producer != step.producer);
                segment.reads.push(step);
            }
        }
        if writes {
            self.join(range, step);
        }
    }

    /// Bytes without a history get an empty one.
    fn fill(&mut self, range: Range<u32>) {
        if !range.is_empty() {
            self.segments.insert(range.start, Segment { end: range.end, ..Segment::default() });
        }
    }

    /// Splits the segment around a position.
    fn cut(&mut self, at: u32) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else {
            return;
        };
        if segment.end > at {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }

    /// After a write all bytes have one history.
    fn join(&mut self, range: Range<u32>, step: Step) {
        let inside: Vec<u32> =
            self.segments.range(range.clone()).map(|(start, _)| *start).collect();
        for start in inside {
            self.segments.remove(&start);
        }
        let segment = Segment { end: range.end, write: Some(step), reads: Vec::new() };
        self.segments.insert(range.start, segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(producer: u8, count: u32) -> Step {
        Step { producer, count }
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_both() {
        let mut hazards = Hazards::default();
        let mut touch = |range, producer, count, writes| {
            let mut waits = Vec::new();
            hazards.touch(range, step(producer, count), writes, &mut waits);
            waits.sort_unstable();
            waits.dedup();
            waits
        };
        let flow = |producer, count| (step(producer, count), Edge::Flow);
        let anti = |producer, count| (step(producer, count), Edge::Anti);
        let output = |producer, count| (step(producer, count), Edge::Output);
        assert_eq!(touch(0..100, 1, 1, true), []);
        assert_eq!(touch(50..150, 2, 1, false), [flow(1, 1)]);
        assert_eq!(touch(120..130, 3, 1, true), [anti(2, 1)]);
        assert_eq!(touch(0..40, 3, 2, true), [output(1, 1)]);
        assert_eq!(touch(30..60, 4, 1, true), [output(1, 1), anti(2, 1), output(3, 2)]);
        assert_eq!(touch(0..200, 5, 1, false), [flow(1, 1), flow(3, 1), flow(3, 2), flow(4, 1)]);
        // a later read of a producer stands for the earlier ones
        assert_eq!(touch(60..70, 2, 2, false), [flow(1, 1)]);
        assert_eq!(touch(60..70, 1, 2, true), [output(1, 1), anti(2, 2), anti(5, 1)]);
    }
}
