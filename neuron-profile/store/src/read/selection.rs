//! Sums of a range: how many events of which kind begin in it, and how long
//! they keep their lane busy.
//!
//! Blocks and pages that lie inside are taken from their sums; the events of
//! those at the edges are read.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;

use super::Profile;
use crate::error::Error;
use crate::ingest::join_sums;
use crate::lanes::{LaneKind, Sum};
use crate::tiles::page::RowPage;

/// Sums of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneSums {
    /// Which.
    pub lane: usize,
    /// By kind, busiest first.
    pub names: Vec<NameSum>,
    /// Events that begin in the range.
    pub count: u64,
    /// Time in the range with an event under way, ns.
    pub busy: u64,
}

/// Sums of a kind in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameSum {
    /// Place of the kind, see [`Profile::name`] and [`Profile::kind`].
    pub name: u32,
    /// Events that begin in the range.
    pub count: u64,
    /// Sum of the lengths of these, ns, also beyond the range.
    pub time: u64,
    /// Time in the range that they cover and no event of the lane before them
    /// does, ns.
    pub busy: u64,
    /// Bytes of these, for packets.
    pub bytes: u64,
}

/// Sums by place of the kind.
struct Sums(Vec<Option<Sum>>);

impl Sums {
    fn add(&mut self, sum: Sum) {
        let at = sum.0 as usize;
        // Events whose kind is not known count behind all others.
        let at = at.min(self.0.len().saturating_sub(1));
        match self.0.get_mut(at) {
            Some(Some(known)) => join_sums(known, sum),
            Some(empty) => *empty = Some(sum),
            None => {}
        }
    }
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
        let mut sums = Sums(vec![None; self.index.names.len() + 1]);
        for (at, block) in line.blocks.iter().enumerate() {
            // What it covers lies behind what the blocks before it cover.
            let inside = block.start >= from && block.last < to && block.covered <= to;
            let outside = (block.last < from && block.covered <= from) || block.start >= to;
            if inside {
                block.sums.iter().for_each(|sum| sums.add(*sum));
            } else if !outside {
                let pages = self.pages(lane, at)?;
                let mut row = block.first;
                for (place, page) in pages.iter().enumerate() {
                    let inside = page.start >= from && page.last < to && page.covered <= to;
                    let outside = (page.last < from && page.covered <= from) || page.start >= to;
                    if inside {
                        page.sums.iter().for_each(|sum| sums.add(*sum));
                    } else if !outside {
                        self.page_sums((lane, at, place), page, row, (from, to), &mut sums)?;
                    }
                    row += page.rows;
                }
            }
        }
        let mut names: Vec<NameSum> = sums
            .0
            .into_iter()
            .flatten()
            .map(|Sum(name, count, time, busy, bytes)| NameSum { name, count, time, busy, bytes })
            .collect();
        names.sort_by_key(|sum| (std::cmp::Reverse(sum.busy), sum.name));
        let count = names.iter().map(|sum| sum.count).sum();
        let busy = names.iter().map(|sum| sum.busy).sum();
        Ok(LaneSums { lane, names, count, busy })
    }

    /// Adds what of a page lies in a range.
    fn page_sums(
        &self,
        (lane, block, place): (usize, usize, usize),
        page: &RowPage,
        row: u64,
        (from, to): (u64, u64),
        sums: &mut Sums,
    ) -> Result<(), Error> {
        let line = self.lane(lane)?;
        let mut bytes = Vec::new();
        if line.kind == LaneKind::Dma && self.index.version > 0 {
            let rows = usize::try_from(page.rows).unwrap_or(0);
            let first = line.first_row + row;
            self.some_rows(line.kind.table(), first, rows, Some(&["transfer_bytes"]), |batch| {
                let column = batch.column_by_name("transfer_bytes");
                if let Some(column) = column.and_then(|c| c.as_primitive_opt::<Int64Type>()) {
                    bytes.extend_from_slice(column.values());
                }
            })?;
        }
        self.events_of(lane, (block, place), page, row, (from, to), |event| {
            let begins = (from..to).contains(&event.start);
            let covers = event.end.min(to).saturating_sub(event.fresh.max(from));
            if begins || covers > 0 {
                let length = event.end.saturating_sub(event.start);
                let length = if begins { length } else { 0 };
                let at = usize::try_from(event.row - row).unwrap_or(usize::MAX);
                let moved = bytes.get(at).filter(|_| begins);
                let moved = moved.and_then(|moved| u64::try_from(*moved).ok()).unwrap_or(0);
                sums.add(Sum(event.name, u64::from(begins), length, covers, moved));
            }
        })
    }
}
