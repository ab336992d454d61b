//! Zoom levels of a lane from its events in order.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::page::{Entry, put};
use crate::lanes::{Level, Sum};

/// Bytes of a page of a level (our choice: a viewport reads two or three).
const PAGE: usize = 8 << 10;

/// Events in a bin of the finest level, about (our choice: finer ones cost
/// bytes, coarser ones time where events are read themselves).
const EVENTS: u64 = 32;

/// The coarsest level: 2^46 ns are 19 hours.
const COARSEST: u32 = 46;

/// Where pages go, with the byte that comes next.
#[derive(Debug)]
pub struct TileFile<W> {
    out: W,
    at: u64,
}

impl<W: Write> TileFile<W> {
    /// An empty file.
    pub const fn new(out: W) -> Self {
        Self { out, at: 0 }
    }

    /// Appends bytes; where they begin.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.at;
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(at)
    }

    /// What it writes to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// A bin that may still grow.
#[derive(Debug, Default)]
struct Open {
    bin: u64,
    count: u64,
    busy: u64,
    /// Busy ns by kind, in the order of kinds.
    names: Vec<(u32, u64)>,
    /// Events of the lane that began before it.
    row: u64,
    any: bool,
}

impl Open {
    fn name(&mut self, name: u32, busy: u64) {
        match self.names.binary_search_by_key(&name, |(known, _)| *known) {
            Ok(at) => {
                if let Some((_, sum)) = self.names.get_mut(at) {
                    *sum += busy;
                }
            }
            Err(at) => self.names.insert(at, (name, busy)),
        }
    }

    /// Adds those of a bin below: both are in order, and both may be long.
    fn names(&mut self, below: &[(u32, u64)]) {
        if self.names.len() > 8 * below.len() || self.names.is_empty() {
            below.iter().for_each(|(name, busy)| self.name(*name, *busy));
            return;
        }
        let own = std::mem::take(&mut self.names);
        self.names.reserve(own.len() + below.len());
        let (mut own, mut below) = (own.into_iter().peekable(), below.iter().copied().peekable());
        loop {
            let next = match (own.peek(), below.peek()) {
                (Some((a, _)), Some((b, _))) if a == b => {
                    own.next().zip(below.next()).map(|(a, b)| (a.0, a.1 + b.1))
                }
                (Some((a, _)), Some((b, _))) if a > b => below.next(),
                (Some(_), _) => own.next(),
                (None, _) => below.next(),
            };
            match next {
                Some(sum) => self.names.push(sum),
                None => return,
            }
        }
    }
}

#[derive(Debug, Default)]
struct Building {
    level: Level,
    open: Open,
    page: Vec<u8>,
    /// First bin of the page, and the bin behind its last entry.
    first: u64,
    next: u64,
    /// Events that began before the page.
    before: u64,
}

impl Building {
    /// `row` events began before the entry.
    fn emit<W: Write>(
        &mut self,
        entry: &Entry,
        row: u64,
        file: &mut TileFile<W>,
    ) -> io::Result<()> {
        if self.page.is_empty() {
            (self.first, self.next, self.before) = (entry.bin, entry.bin, row);
        }
        put(&mut self.page, self.next, entry);
        self.next = entry.bin + entry.bins;
        if self.page.len() >= PAGE { self.flush(file) } else { Ok(()) }
    }

    fn flush<W: Write>(&mut self, file: &mut TileFile<W>) -> io::Result<()> {
        if !self.page.is_empty() {
            let at = file.append(&self.page)?;
            let size = u32::try_from(self.page.len()).unwrap_or(u32::MAX);
            self.level.pages.push((self.first, self.next, at, size, self.before));
            self.page.clear();
        }
        Ok(())
    }
}

/// The levels of one lane.
#[derive(Debug, Default)]
pub struct LaneTiles {
    levels: Vec<Building>,
    /// Latest end so far.
    covered: u64,
    /// Busy time after the latest start, in pieces with their names: a bin ends
    /// when no more events begin in it.
    ahead: VecDeque<(u64, u64, u32)>,
    /// Events so far, without the one that is being added.
    count: u64,
}

impl LaneTiles {
    /// Latest end so far, ns.
    pub const fn covered(&self) -> u64 {
        self.covered
    }

    /// Takes note of how dense the events are that come next: of the median of
    /// the steps between starts that are not equal, and when they begin.
    pub fn density(&mut self, step: u64, start: u64) {
        let wanted = (u64::BITS - step.saturating_mul(EVENTS).leading_zeros()).clamp(4, COARSEST);
        let finest = self.levels.first().map_or(COARSEST + 1, |level| level.level.shift);
        // A lane that becomes a little denser keeps its levels.
        if wanted + 2 > finest {
            return;
        }
        let from = if self.levels.is_empty() {
            0
        } else {
            let edge = self.covered.max(start);
            ((edge >> finest) + 1) << finest
        };
        let fresh = (wanted..finest).map(|shift| Building {
            level: Level { shift, from, pages: Vec::new() },
            ..Building::default()
        });
        self.levels.splice(0..0, fresh);
    }

    /// Adds an event; gives its part of sums. Starts must not fall; where one
    /// does, its event counts in the bin that is open.
    pub fn event<W: Write>(
        &mut self,
        start: u64,
        end: u64,
        name: u32,
        file: &mut TileFile<W>,
    ) -> io::Result<Sum> {
        let from = start.max(self.covered);
        let fresh = end.saturating_sub(from);
        self.covered = self.covered.max(end);
        self.advance(start, file)?;
        self.feed(start, start, name, 1, file)?;
        self.count += 1;
        if fresh > 0 {
            self.ahead.push_back((from, end, name));
        }
        Ok(Sum(name, 1, end.saturating_sub(start), fresh, 0))
    }

    /// Busy time before a moment.
    fn advance<W: Write>(&mut self, to: u64, file: &mut TileFile<W>) -> io::Result<()> {
        while let Some((start, end, name)) = self.ahead.front().copied().filter(|p| p.0 < to) {
            self.feed(start, end.min(to), name, 0, file)?;
            if end > to {
                if let Some(front) = self.ahead.front_mut() {
                    front.0 = to;
                }
                break;
            }
            self.ahead.pop_front();
        }
        Ok(())
    }

    fn feed<W: Write>(
        &mut self,
        mut start: u64,
        end: u64,
        name: u32,
        mut count: u64,
        file: &mut TileFile<W>,
    ) -> io::Result<()> {
        loop {
            let Some(at) = self.levels.iter().position(|level| level.level.from <= start) else {
                return Ok(());
            };
            // Up to where a finer level begins.
            let until = match at.checked_sub(1).and_then(|finer| self.levels.get(finer)) {
                Some(finer) => finer.level.from,
                None => u64::MAX,
            };
            self.add(at, start, end.min(until), name, count, file)?;
            if end <= until {
                return Ok(());
            }
            (start, count) = (until, 0);
        }
    }

    fn add<W: Write>(
        &mut self,
        at: usize,
        mut start: u64,
        end: u64,
        name: u32,
        mut count: u64,
        file: &mut TileFile<W>,
    ) -> io::Result<()> {
        loop {
            let Some(level) = self.levels.get(at) else { return Ok(()) };
            let shift = level.level.shift;
            let bin =
                (start >> shift).max(if level.open.any { level.open.bin } else { level.next });
            if level.open.any && level.open.bin != bin {
                self.close(at, file)?;
            }
            let row = self.count;
            let Some(level) = self.levels.get_mut(at) else { return Ok(()) };
            let open = &mut level.open;
            if !open.any {
                (open.bin, open.row, open.any) = (bin, row, true);
            }
            open.count += count;
            if count > 0 {
                open.name(name, 0);
            }
            let edge = (bin + 1) << shift;
            if end <= start {
                return Ok(());
            }
            let part = end.min(edge).saturating_sub(start);
            open.busy += part;
            open.name(name, part);
            if end <= edge {
                return Ok(());
            }
            count = 0;
            self.close(at, file)?;
            let full = (end - edge) >> shift;
            start = edge;
            if full > 1 {
                let entry = Entry { bin: bin + 1, bins: full, count: 0, busy: 0, name };
                if let Some(level) = self.levels.get_mut(at) {
                    level.emit(&entry, row, file)?;
                }
                let next = edge + (full << shift);
                self.add(at + 1, start, next, name, 0, file)?;
                start = next;
            }
            if start >= end {
                return Ok(());
            }
        }
    }

    /// Ends the open bin of a level and adds it to the level above.
    fn close<W: Write>(&mut self, at: usize, file: &mut TileFile<W>) -> io::Result<()> {
        let Some(level) = self.levels.get_mut(at) else { return Ok(()) };
        if !level.open.any {
            return Ok(());
        }
        let open = std::mem::take(&mut level.open);
        let most = open.names.iter().max_by_key(|(name, busy)| (*busy, std::cmp::Reverse(*name)));
        let entry = Entry {
            bin: open.bin,
            bins: 1,
            count: open.count,
            busy: open.busy,
            name: most.map_or(u32::MAX, |(name, _)| *name),
        };
        level.emit(&entry, open.row, file)?;
        let above = at + 1;
        let Some(parent) = self.levels.get(above) else { return Ok(()) };
        let bin = open.bin >> 1;
        if parent.open.any && parent.open.bin != bin {
            self.close(above, file)?;
        }
        if let Some(parent) = self.levels.get_mut(above) {
            let to = &mut parent.open;
            if !to.any {
                (to.bin, to.row, to.any) = (bin, open.row, true);
            }
            to.count += open.count;
            to.busy += open.busy;
            to.names(&open.names);
        }
        if let Some(level) = self.levels.get_mut(at) {
            // The list is used again.
            level.open.names = open.names;
            level.open.names.clear();
        }
        Ok(())
    }

    /// Ends all bins; the levels.
    pub fn finish<W: Write>(mut self, file: &mut TileFile<W>) -> io::Result<Vec<Level>> {
        self.advance(u64::MAX, file)?;
        for at in 0..self.levels.len() {
            self.close(at, file)?;
            if let Some(level) = self.levels.get_mut(at) {
                level.flush(file)?;
            }
        }
        Ok(self.levels.into_iter().map(|level| level.level).collect())
    }
}
