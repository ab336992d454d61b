//! A viewport: what is seen of some lanes in a range, column by column.
//!
//! Columns are 2^k ns wide and begin at multiples of that, so that every
//! column is one bin of a zoom level and exact; the range is widened to whole
//! columns. There are at least as many columns as asked for and less than twice
//! that, plus two. Where columns are finer than the finest level, the events
//! themselves are read: thirty times the columns at most, about.

use super::Profile;
use super::events::Seen;
use super::parts;
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

/// A column while events are read.
#[derive(Debug, Clone, Copy)]
struct Cell {
    count: u32,
    /// Smallest name of the events that begin in it.
    least: u32,
    /// The first that begins in it.
    row: u64,
    busy: u64,
    /// The time that most of it covers, and what has it.
    most: (u64, u32),
}

impl Cell {
    const EMPTY: Self = Self { count: 0, least: u32::MAX, row: 0, busy: 0, most: (0, u32::MAX) };

    fn begins(&mut self, event: &Seen) {
        if self.count == 0 {
            self.row = event.row;
        }
        self.count = self.count.saturating_add(1);
        self.least = self.least.min(event.name);
    }
}

/// Times by name of one column: what is covered comes column by column, since what
/// an event covers lies behind what those before it do.
struct ByName {
    column: usize,
    /// By name; of unknown ones in the last place.
    times: Vec<u64>,
    /// Those that are not 0.
    used: Vec<u32>,
}

impl ByName {
    fn add(&mut self, cells: &mut [Cell], column: usize, name: u32, busy: u64) {
        if column != self.column {
            self.close(cells);
            self.column = column;
        }
        let last = self.times.len().saturating_sub(1);
        if let Some(time) = self.times.get_mut((name as usize).min(last)) {
            if *time == 0 {
                self.used.push(name);
            }
            *time += busy;
        }
    }

    /// What the column has so far becomes its own.
    fn close(&mut self, cells: &mut [Cell]) {
        let last = self.times.len().saturating_sub(1);
        let Some(cell) = cells.get_mut(self.column) else { return };
        for name in self.used.drain(..) {
            let Some(time) = self.times.get_mut((name as usize).min(last)) else { continue };
            let busy = std::mem::take(time);
            cell.busy += busy;
            if busy > cell.most.0 || (busy == cell.most.0 && name < cell.most.1) {
                cell.most = (busy, name);
            }
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
        let view = |lane: &usize| self.lane_view(*lane, shift, first, columns);
        // Levels are read in less time than threads begin in; events are not.
        let lanes = if lanes.iter().any(|lane| self.reads_events(*lane, shift, first)) {
            parts::each(lanes, view)?
        } else {
            lanes.iter().map(view).collect::<Result<_, Error>>()?
        };
        Ok(Viewport { start, column_ns: 1 << shift, columns, lanes })
    }

    /// Whether columns from `first` on come from the events of a lane.
    fn reads_events(&self, lane: usize, shift: u32, first: u64) -> bool {
        let line = self.index.lanes.get(lane).filter(|line| line.rows > 0);
        let Some(line) = line else { return false };
        let level = line.levels.iter().find(|level| level.shift == shift);
        level.is_none_or(|level| level.from >> shift > first)
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
        let line = self.lane(lane)?;
        let (from, to) = (first << shift, end << shift);
        let mut cells = vec![Cell::EMPTY; usize::try_from(end - first).unwrap_or(0)];
        let times = vec![0; self.index.names.len() + 1];
        let mut by_name = ByName { column: 0, times, used: Vec::new() };
        let mut next = line.rows;
        self.pages_in(lane, from, to, |place, page, row| {
            self.events_of(lane, place, page, row, (from, to), |event| {
                if event.start >= to {
                    return;
                }
                next = event.row + 1;
                if let Some(at) = event.start.checked_sub(from)
                    && let Some(cell) = cells.get_mut((at >> shift) as usize)
                {
                    cell.begins(&event);
                }
                let mut at = event.fresh.max(from);
                let until = event.end.min(to);
                while at < until {
                    let bin = at >> shift;
                    let edge = ((bin + 1) << shift).min(until);
                    by_name.add(&mut cells, (bin - first) as usize, event.name, edge - at);
                    at = edge;
                }
            })
        })?;
        by_name.close(&mut cells);
        let filled = cells.iter().enumerate().rev();
        let filled = filled.filter(|(_, cell)| cell.count > 0 || cell.busy > 0);
        let before = out.columns.len();
        out.columns.extend(filled.map(|(at, cell)| {
            if cell.count > 0 {
                next = cell.row;
            }
            Column {
                at: u32::try_from(at).unwrap_or(u32::MAX),
                count: cell.count,
                busy: cell.busy,
                name: if cell.busy > 0 { cell.most.1 } else { cell.least },
                row: line.first_row + next,
            }
        }));
        if let Some(new) = out.columns.get_mut(before..) {
            new.reverse();
        }
        Ok(())
    }
}
