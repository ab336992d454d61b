//! Sums of a range: how many events of which name begin in it, and how long
//! they keep their lane busy.
//!
//! Blocks and pages that lie inside are taken from their sums; the events of
//! those at the edges are read.

use super::Profile;
use crate::error::Error;
use crate::ingest::add_sum as add;
use crate::lanes::Sum;

/// Sums of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneSums {
    /// Which.
    pub lane: usize,
    /// By name, busiest first.
    pub names: Vec<NameSum>,
    /// Events that begin in the range.
    pub count: u64,
    /// Time in the range with an event under way, ns.
    pub busy: u64,
}

/// Sums of a name in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameSum {
    /// See [`Profile::name`].
    pub name: u32,
    /// Events that begin in the range.
    pub count: u64,
    /// Sum of the lengths of these, ns, also beyond the range.
    pub time: u64,
    /// Time in the range that they cover and no event of the lane before them
    /// does, ns.
    pub busy: u64,
}

impl Profile {
    /// Sums of lanes between `start` and `end`, ns.
    ///
    /// # Errors
    ///
    /// An empty range, a lane that is not there, files that cannot be read.
    pub fn selection(&self, start: u64, end: u64, lanes: &[usize]) -> Result<Vec<LaneSums>, Error> {
        if start >= end {
            return Err(Error::BadRange { start, end, width: 1 });
        }
        lanes.iter().map(|lane| self.lane_sums(*lane, start, end)).collect()
    }

    fn lane_sums(&self, lane: usize, from: u64, to: u64) -> Result<LaneSums, Error> {
        let line = self.lane(lane)?;
        let mut sums: Vec<Sum> = Vec::new();
        for (at, block) in line.blocks.iter().enumerate() {
            // What it covers lies behind what the blocks before it cover.
            let inside = block.start >= from && block.last < to && block.covered <= to;
            let outside = (block.last < from && block.covered <= from) || block.start >= to;
            if inside {
                block.sums.iter().for_each(|sum| add(&mut sums, *sum));
            } else if !outside {
                let pages = self.pages(lane, at)?;
                let mut row = block.first;
                for (place, page) in pages.iter().enumerate() {
                    let inside = page.start >= from && page.last < to && page.covered <= to;
                    let outside = (page.last < from && page.covered <= from) || page.start >= to;
                    if inside {
                        page.sums.iter().for_each(|sum| add(&mut sums, *sum));
                    } else if !outside {
                        self.events_of(lane, (at, place), page, row, |event| {
                            let begins = (from..to).contains(&event.start);
                            let covers = event.end.min(to).saturating_sub(event.fresh.max(from));
                            if begins || covers > 0 {
                                let length = event.end.saturating_sub(event.start);
                                let length = if begins { length } else { 0 };
                                let sum = Sum(event.name, u64::from(begins), length, covers);
                                add(&mut sums, sum);
                            }
                        })?;
                    }
                    row += page.rows;
                }
            }
        }
        let mut names: Vec<NameSum> = sums
            .into_iter()
            .map(|Sum(name, count, time, busy)| NameSum { name, count, time, busy })
            .collect();
        names.sort_by_key(|sum| (std::cmp::Reverse(sum.busy), sum.name));
        let count = names.iter().map(|sum| sum.count).sum();
        let busy = names.iter().map(|sum| sum.busy).sum();
        Ok(LaneSums { lane, names, count, busy })
    }
}
