//! A viewport: what is seen of some lanes in a range, column by column.
//!
//! Columns are 2^k ns wide and begin at multiples of that, so that every
//! column is one bin of a zoom level and exact; the range is widened to whole
//! columns. There are at least as many columns as asked for and less than twice
//! that, plus two. Where columns are finer than the finest level, the events
//! themselves are read: thirty times the columns at most, about.

use super::Profile;
use crate::error::Error;
use crate::tiles::page::entries;

/// Most columns (our choice: an 8K screen has 7,680).
pub(super) const MOST_COLUMNS: u32 = 16_384;

/// The columns of a range: 2^k ns wide, at multiples of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// Begin of the first, ns.
    pub start: u64,
    /// Each is `1 << shift` ns wide.
    pub shift: u32,
    /// How many.
    pub columns: u32,
}

impl Columns {
    /// At least `width` columns, where the range has as many nanoseconds.
    ///
    /// # Errors
    ///
    /// An empty range, no or too many columns.
    pub fn new(start: u64, end: u64, width: u32) -> Result<Self, Error> {
        let span = end.checked_sub(start).filter(|span| *span > 0);
        let (Some(span), 1..=MOST_COLUMNS) = (span, width) else {
            return Err(Error::BadRange { start, end, width });
        };
        let shift = (span / u64::from(width)).max(1).ilog2();
        let first = start >> shift;
        let last = (end - 1) >> shift;
        let columns = u32::try_from(last - first + 1).unwrap_or(u32::MAX);
        Ok(Self { start: first << shift, shift, columns })
    }

    /// Where a column begins, ns.
    pub fn begin(&self, column: u32) -> u64 {
        self.start.saturating_add(u64::from(column) << self.shift)
    }

    /// Where the last one ends, ns.
    pub fn end(&self) -> u64 {
        self.begin(self.columns)
    }

    /// The column of a time.
    pub fn at(&self, time: u64) -> Option<u32> {
        let at = time.checked_sub(self.start)? >> self.shift;
        u32::try_from(at).ok().filter(|at| *at < self.columns)
    }
}

/// Some lanes in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewport {
    /// Begin of the first column, ns.
    pub start: u64,
    /// Width of a column, ns.
    pub column_ns: u64,
    /// Columns.
    pub columns: u32,
    /// By lane, in the order asked for.
    pub lanes: Vec<LaneView>,
}

/// One lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneView {
    /// Which.
    pub lane: usize,
    /// Its columns that are not empty, from left to right.
    pub columns: Vec<Column>,
}

/// A column with something in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Which, from 0.
    pub at: u32,
    /// Events that begin in it.
    pub count: u32,
    /// Time in it with an event under way, ns.
    pub busy: u64,
    /// Name that covers most of that, see [`Profile::name`]; the smallest of
    /// several equal ones.
    pub name: u32,
    /// Row in the table of the first event that begins in it; where none does,
    /// of the next one of the lane. With a count of 1 it is the event.
    pub row: u64,
}

/// Sums while events are read.
#[derive(Debug, Clone, Default)]
struct Sum {
    count: u32,
    busy: u64,
    row: Option<u64>,
    names: Vec<(u32, u64)>,
}

impl Sum {
    fn add(&mut self, name: u32, busy: u64) {
        self.busy += busy;
        match self.names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += busy,
            None => self.names.push((name, busy)),
        }
    }
}

impl Profile {
    /// What is seen of lanes between `start` and `end` (ns) in at least `width`
    /// columns.
    ///
    /// # Errors
    ///
    /// An empty range, no or too many columns, a lane that is not there, and
    /// files that cannot be read.
    pub fn viewport(
        &self,
        start: u64,
        end: u64,
        width: u32,
        lanes: &[usize],
    ) -> Result<Viewport, Error> {
        let Columns { start, shift, columns } = Columns::new(start, end, width)?;
        let first = start >> shift;
        let lanes = lanes.iter().map(|lane| self.lane_view(*lane, shift, first, columns));
        let lanes = lanes.collect::<Result<_, Error>>()?;
        Ok(Viewport { start, column_ns: 1 << shift, columns, lanes })
    }

    fn lane_view(
        &self,
        lane: usize,
        shift: u32,
        first: u64,
        columns: u32,
    ) -> Result<LaneView, Error> {
        let line = self.lane(lane)?;
        let mut out = LaneView { lane, columns: Vec::new() };
        let end = first + u64::from(columns);
        let level = line.levels.iter().find(|level| level.shift == shift);
        // Columns before the level begins come from the events.
        let split = level.map_or(end, |level| (level.from >> shift).clamp(first, end));
        if split > first {
            self.events_view(lane, shift, first, split, &mut out)?;
        }
        let Some(level) = level.filter(|_| split < end) else { return Ok(out) };
        let from = level.pages.partition_point(|page| page.1 <= split);
        for (begin, _, at, size, rows) in level.pages.iter().skip(from) {
            if *begin >= end {
                break;
            }
            let bytes = self.tiles_at(*at, *size)?;
            let mut row = line.first_row + rows;
            let whole = entries(&bytes, *begin, shift, |entry| {
                let here = entry.bin.max(split)..entry.bin.saturating_add(entry.bins).min(end);
                for bin in here {
                    out.columns.push(Column {
                        at: u32::try_from(bin - first).unwrap_or(u32::MAX),
                        count: u32::try_from(entry.count).unwrap_or(u32::MAX),
                        busy: entry.busy,
                        name: entry.name,
                        row,
                    });
                }
                row += entry.count;
            });
            if !whole {
                return Err(Error::damaged(&self.dir.join("tiles"), format!("a level at {at}")));
            }
        }
        Ok(out)
    }

    fn events_view(
        &self,
        lane: usize,
        shift: u32,
        first: u64,
        end: u64,
        out: &mut LaneView,
    ) -> Result<(), Error> {
        let table_row = self.lane(lane)?.first_row;
        let (from, to) = (first << shift, end << shift);
        let mut sums = vec![Sum::default(); usize::try_from(end - first).unwrap_or(0)];
        let mut next = None;
        self.pages_in(lane, from, to, |place, page, row| {
            self.events_of(lane, place, page, row, |event| {
                if (from..to).contains(&event.start) {
                    if let Some(sum) = sums.get_mut(((event.start >> shift) - first) as usize) {
                        sum.count = sum.count.saturating_add(1);
                        sum.row.get_or_insert(event.row);
                        sum.add(event.name, 0);
                    }
                } else if event.start >= to && next.is_none() {
                    next = Some(event.row);
                }
                let mut at = event.fresh.max(from);
                let until = event.end.min(to);
                while at < until {
                    let bin = at >> shift;
                    let edge = ((bin + 1) << shift).min(until);
                    if let Some(sum) = sums.get_mut((bin - first) as usize) {
                        sum.add(event.name, edge - at);
                    }
                    at = edge;
                }
            })
        })?;
        let line = self.lane(lane)?;
        let mut row = next.unwrap_or(line.rows);
        let filled = sums.iter().enumerate().rev().filter(|(_, sum)| !sum.names.is_empty());
        let mut columns: Vec<Column> = filled
            .map(|(at, sum)| {
                row = sum.row.unwrap_or(row);
                let most = sum.names.iter().max_by_key(|(n, busy)| (*busy, std::cmp::Reverse(*n)));
                Column {
                    at: u32::try_from(at).unwrap_or(u32::MAX),
                    count: sum.count,
                    busy: sum.busy,
                    name: most.map_or(u32::MAX, |(name, _)| *name),
                    row: table_row + row,
                }
            })
            .collect();
        columns.reverse();
        out.columns.append(&mut columns);
        Ok(())
    }
}
