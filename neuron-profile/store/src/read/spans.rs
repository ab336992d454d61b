//! Events of lanes that are under way in a range, one by one: what a timeline
//! draws where columns would be too coarse.

use super::Profile;
use crate::error::Error;

/// Most events of a lane in one answer (our choice: more than two for each
/// pixel of an 8K screen are not seen one by one).
pub const MOST_SPANS: u32 = 16_384;

/// Events of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneSpans {
    /// Which.
    pub lane: usize,
    /// In the order of the table; none where there are more than asked for.
    pub spans: Option<Vec<Span>>,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Row in the table.
    pub row: u64,
    /// ns
    pub start: u64,
    /// ns
    pub end: u64,
    /// See [`Profile::name`].
    pub name: u32,
}

impl Profile {
    /// Events of lanes that are under way between `start` and `end` (ns), or
    /// begin there; of each lane `limit` at most, else none.
    ///
    /// # Errors
    ///
    /// An empty range, a limit of 0 or beyond [`MOST_SPANS`], a lane that is not
    /// there, files that cannot be read.
    pub fn spans(
        &self,
        start: u64,
        end: u64,
        lanes: &[usize],
        limit: u32,
    ) -> Result<Vec<LaneSpans>, Error> {
        if start >= end || !(1..=MOST_SPANS).contains(&limit) {
            return Err(Error::BadRange { start, end, width: limit });
        }
        lanes.iter().map(|lane| self.lane_spans(*lane, start, end, limit as usize)).collect()
    }

    /// Calls `each` with all events of a lane that are under way between `start`
    /// and `end` (ns), or begin there, in the order of the table.
    ///
    /// # Errors
    ///
    /// A lane that is not there, files that cannot be read.
    pub fn events_between(
        &self,
        lane: usize,
        (start, end): (u64, u64),
        mut each: impl FnMut(Span),
    ) -> Result<(), Error> {
        let first_row = self.lane(lane)?.first_row;
        self.pages_in(lane, start, end, |place, page, row| {
            self.events_of(lane, place, page, row, (start, end), |event| {
                if event.start < end && (event.end > start || event.start >= start) {
                    let row = first_row + event.row;
                    each(Span { row, start: event.start, end: event.end, name: event.name });
                }
            })
        })
    }

    fn lane_spans(
        &self,
        lane: usize,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<LaneSpans, Error> {
        let first_row = self.lane(lane)?.first_row;
        let mut spans = Vec::new();
        self.pages_in(lane, from, to, |place, page, row| {
            if spans.len() > limit {
                return Ok(());
            }
            self.events_of(lane, place, page, row, (from, to), |event| {
                let seen = event.start < to && (event.end > from || event.start >= from);
                if seen && spans.len() <= limit {
                    let (start, end) = (event.start, event.end);
                    spans.push(Span { row: first_row + event.row, start, end, name: event.name });
                }
            })
        })?;
        let few = spans.len() <= limit;
        Ok(LaneSpans { lane, spans: few.then_some(spans) })
    }
}
