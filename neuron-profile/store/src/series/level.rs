//! Zoom levels of a series while they are written.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::page::{self, Entry, PAGE};
use crate::tiles::write::TileFile;

/// The coarsest level: 2^46 ns are 19 hours.
const COARSEST: u32 = 46;

/// Where a page of a level lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeriesPage {
    /// First bin.
    pub bin: u64,
    /// Bin behind the last.
    pub end: u64,
    /// Byte in `series`.
    pub at: u64,
    /// Bytes.
    pub size: u32,
    /// Integral of all that comes before the page.
    pub before: f64,
}

/// A level: bins of `1 << shift` ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesLevel {
    /// See above.
    pub shift: u32,
    /// Its pages.
    pub pages: Vec<SeriesPage>,
}

#[derive(Debug, Default)]
struct Growing {
    level: SeriesLevel,
    open: Option<Entry>,
    page: Vec<Entry>,
    /// Integral of all that was emitted, and of what was before the page.
    sum: f64,
    before: f64,
}

impl Growing {
    fn emit<W: Write>(&mut self, entry: Entry, out: &mut TileFile<W>) -> io::Result<()> {
        if self.page.is_empty() {
            self.before = self.sum;
        }
        self.sum += entry.integral * entry.bins as f64;
        self.page.push(entry);
        if self.page.len() >= PAGE { self.flush(out) } else { Ok(()) }
    }

    fn flush<W: Write>(&mut self, out: &mut TileFile<W>) -> io::Result<()> {
        let (Some(first), Some(last)) = (self.page.first(), self.page.last()) else {
            return Ok(());
        };
        let (bin, end) = (first.bin, last.bin + last.bins);
        let bytes = page::write(&self.page)?;
        let at = out.append(&bytes)?;
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.level.pages.push(SeriesPage { bin, end, at, size, before: self.before });
        self.page.clear();
        Ok(())
    }
}

/// The levels of one series, from its values in order of time.
#[derive(Debug)]
pub(super) struct Levels {
    levels: Vec<Growing>,
    /// The value that holds, and since when.
    holds: Option<(u64, f64)>,
    pub(super) first: Option<u64>,
    pub(super) max: f64,
}

impl Levels {
    /// Without levels, for the largest value alone.
    pub(super) const fn none() -> Self {
        Self { levels: Vec::new(), holds: None, first: None, max: 0.0 }
    }

    /// Levels from bins of `1 << finest` ns on, for a time of `total` ns.
    pub(super) fn new(finest: u32, total: u64) -> Self {
        let most = (u64::BITS - total.leading_zeros()).clamp(finest, COARSEST.max(finest));
        let level = |shift| Growing {
            level: SeriesLevel { shift, pages: Vec::new() },
            ..Growing::default()
        };
        Self { levels: (finest..=most).map(level).collect(), ..Self::none() }
    }

    /// What was written begins at another byte.
    pub(super) fn moved(&mut self, begin: u64) {
        let pages = self.levels.iter_mut().flat_map(|level| &mut level.level.pages);
        pages.for_each(|page| page.at += begin);
    }

    /// From `time` on the value is another. Times must not fall.
    pub(super) fn push<W: Write>(
        &mut self,
        time: u64,
        value: f64,
        out: &mut TileFile<W>,
    ) -> io::Result<()> {
        let value = if value.is_finite() { value } else { 0.0 };
        self.first.get_or_insert(time);
        let Some((since, held)) = self.holds else {
            self.holds = Some((time, value));
            return Ok(());
        };
        // One that holds for less than a nanosecond is not shown.
        if time > since && held != value {
            self.max = self.max.max(held);
            self.segment(0, since, time, held, out)?;
            self.holds = Some((time, value));
        } else if time <= since {
            self.holds = Some((since, value));
        }
        Ok(())
    }

    /// The last value holds until `end`.
    pub(super) fn finish<W: Write>(
        &mut self,
        end: u64,
        out: &mut TileFile<W>,
    ) -> io::Result<Vec<SeriesLevel>> {
        if let Some((since, held)) = self.holds.take() {
            self.max = self.max.max(held);
            self.segment(0, since, end.max(since), held, out)?;
        }
        for at in 0..self.levels.len() {
            self.close(at, out)?;
            if let Some(level) = self.levels.get_mut(at) {
                level.flush(out)?;
            }
        }
        Ok(self.levels.drain(..).map(|level| level.level).collect())
    }

    /// Adds a stretch with one value to a level.
    fn segment<W: Write>(
        &mut self,
        at: usize,
        mut start: u64,
        end: u64,
        value: f64,
        out: &mut TileFile<W>,
    ) -> io::Result<()> {
        loop {
            let Some(level) = self.levels.get_mut(at) else { return Ok(()) };
            let shift = level.level.shift;
            let bin = start >> shift;
            if level.open.is_some_and(|open| open.bin != bin) {
                self.close(at, out)?;
                continue;
            }
            let fresh = Entry { bin, bins: 1, min: value, max: value, integral: 0.0 };
            let open = level.open.get_or_insert(fresh);
            (open.min, open.max) = (open.min.min(value), open.max.max(value));
            let edge = (bin + 1) << shift;
            open.integral += value * end.min(edge).saturating_sub(start) as f64;
            if end < edge {
                return Ok(());
            }
            self.close(at, out)?;
            start = edge;
            let full = end.saturating_sub(start) >> shift;
            if full > 1 {
                let integral = value * (1_u64 << shift) as f64;
                let run = Entry { bin: bin + 1, bins: full, min: value, max: value, integral };
                if let Some(level) = self.levels.get_mut(at) {
                    level.emit(run, out)?;
                }
                let next = start + (full << shift);
                self.segment(at + 1, start, next, value, out)?;
                start = next;
            }
            if start >= end {
                return Ok(());
            }
        }
    }

    /// Ends the open bin of a level and adds it to the level above.
    fn close<W: Write>(&mut self, at: usize, out: &mut TileFile<W>) -> io::Result<()> {
        let Some(level) = self.levels.get_mut(at) else { return Ok(()) };
        let Some(open) = level.open.take() else { return Ok(()) };
        level.emit(open, out)?;
        let bin = open.bin >> 1;
        let above = self.levels.get(at + 1).and_then(|level| level.open);
        if above.is_some_and(|above| above.bin != bin) {
            self.close(at + 1, out)?;
        }
        let Some(above) = self.levels.get_mut(at + 1) else { return Ok(()) };
        let to = above.open.get_or_insert(Entry { bin, integral: 0.0, ..open });
        (to.min, to.max) = (to.min.min(open.min), to.max.max(open.max));
        to.integral += open.integral;
        Ok(())
    }
}
