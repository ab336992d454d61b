//! Time covered by intervals that may overlap, in bounded memory.
//!
//! Intervals come in the order of their ends, so a new one joins the last few
//! at most. At most [`KEPT`] intervals stay open for joining: one that began
//! earlier than all of them is cut there (no real trace comes near).

use std::collections::VecDeque;

/// Intervals that a late one may still join (our choice).
const KEPT: usize = 1 << 16;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Union {
    open: VecDeque<(u64, u64)>,
    closed: u64,
    /// Where the last closed interval ends.
    edge: u64,
}

impl Union {
    /// Adds an interval; closed ones go to `each`.
    pub(crate) fn add<E>(
        &mut self,
        start: u64,
        end: u64,
        mut each: impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut joined = (start.max(self.edge), end.max(self.edge));
        while let Some(last) = self.open.back().copied().filter(|last| last.1 >= joined.0) {
            joined = (joined.0.min(last.0), joined.1.max(last.1));
            self.open.pop_back();
        }
        self.open.push_back(joined);
        if self.open.len() > KEPT {
            self.close(KEPT / 2, &mut each)?;
        }
        Ok(())
    }

    /// The same where nobody wants the intervals.
    pub(crate) fn note(&mut self, start: u64, end: u64) {
        let done: Result<(), std::convert::Infallible> = self.add(start, end, |_, _| Ok(()));
        match done {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    fn close<E>(
        &mut self,
        keep: usize,
        each: &mut impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.open.len() > keep {
            let Some((start, end)) = self.open.pop_front() else { break };
            self.closed += end - start;
            self.edge = end;
            each(start, end)?;
        }
        Ok(())
    }

    /// Closes all; nothing may be added after it.
    pub(crate) fn finish<E>(
        &mut self,
        mut each: impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close(0, &mut each)
    }

    /// Length covered.
    pub(crate) fn total(&self) -> u64 {
        self.closed + self.open.iter().map(|(start, end)| end - start).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_what_touches() {
        let mut union = Union::default();
        for (start, end) in [(0, 10), (10, 12), (20, 30), (25, 28), (40, 50), (18, 60)] {
            union.note(start, end);
        }
        assert_eq!(union.total(), 12 + 42);
        let mut seen = Vec::new();
        let done: Result<(), ()> = union.finish(|start, end| {
            seen.push((start, end));
            Ok(())
        });
        assert_eq!((done, seen), (Ok(()), vec![(0, 12), (18, 60)]));
    }

    /// Past the limit memory stays, and the sum too.
    #[test]
    fn many_intervals() {
        let mut union = Union::default();
        for at in 0..200_000_u64 {
            union.note(at * 10, at * 10 + 4);
        }
        assert_eq!(union.total(), 800_000);
        assert!(union.open.len() <= KEPT);
        // It cannot reach back past what is closed, and counts nothing twice.
        union.note(0, 2_000_000);
        assert!(union.total() <= 2_000_000);
    }
}
