//! One lane while it is written: its blocks of rows, and its zoom levels.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::encode::table::PAGE;
use crate::encode::{Chunk, Pages};
use crate::lanes::{Block, Lane, LaneKind, Sum};
use crate::tiles::page::{RowPage, write_pages};
use crate::tiles::write::{LaneTiles, TileFile};

/// Rows that stay back when a block is written, so that one which ends much
/// later than it began still finds its place (our choice).
pub(super) const STAY: usize = 1024;

/// See the module.
#[derive(Debug)]
pub(super) struct LaneBuilder {
    pub(super) lane: Lane,
    tiles: LaneTiles,
    keys: BTreeMap<u64, u32>,
    page_sums: Sums,
    block_sums: Sums,
    /// Start of the last row that was written.
    last: u64,
    /// Rows that came too late.
    pub(super) late: u64,
    /// Number of the first row group.
    pub(super) groups: Vec<usize>,
}

/// A row of a block as a lane sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Its kind.
    pub(super) name: u32,
    /// Bytes of a packet.
    pub(super) bytes: u32,
}

/// Sums by kind while a page or block is read; kinds may be many.
#[derive(Debug, Default)]
struct Sums {
    list: Vec<Sum>,
    /// By kind: its place in the list plus one.
    places: Vec<u32>,
}

impl Sums {
    fn add(&mut self, sum: Sum) {
        let kind = sum.0 as usize;
        if kind >= self.places.len() {
            self.places.resize(kind.saturating_add(1), 0);
        }
        let Some(place) = self.places.get_mut(kind) else { return };
        match (*place as usize).checked_sub(1).and_then(|at| self.list.get_mut(at)) {
            Some(known) => join(known, sum),
            None => {
                self.list.push(sum);
                *place = u32::try_from(self.list.len()).unwrap_or(0);
            }
        }
    }

    fn take(&mut self) -> Vec<Sum> {
        for sum in &self.list {
            if let Some(place) = self.places.get_mut(sum.0 as usize) {
                *place = 0;
            }
        }
        std::mem::take(&mut self.list)
    }
}

/// Adds to a sum.
pub(crate) fn join(to: &mut Sum, sum: Sum) {
    *to = Sum(to.0, to.1 + sum.1, to.2 + sum.2, to.3 + sum.3, to.4 + sum.4);
}

impl LaneBuilder {
    pub(super) fn new(kind: LaneKind, core: usize, name: String) -> Self {
        Self {
            lane: Lane {
                kind,
                core: u32::try_from(core).unwrap_or(u32::MAX),
                name,
                group: None,
                first_row: 0,
                rows: 0,
                start: u64::MAX,
                end: 0,
                keys: Vec::new(),
                blocks: Vec::new(),
                levels: Vec::new(),
            },
            tiles: LaneTiles::default(),
            keys: BTreeMap::new(),
            page_sums: Sums::default(),
            block_sums: Sums::default(),
            last: 0,
            late: 0,
            groups: Vec::new(),
        }
    }

    /// Adds the events of a block, which is row group `group` of its table and
    /// whose starts, ends and keys are at `columns` of `chunk`. `keys` are those
    /// that occur, with their names.
    pub(super) fn block<W: Write>(
        &mut self,
        group: usize,
        events: &[Event],
        chunk: &Chunk,
        columns: [usize; 3],
        keys: &[(u64, u32)],
        file: &mut TileFile<W>,
    ) -> io::Result<()> {
        self.keys.extend(keys.iter().copied());
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
        self.groups.push(group);
        self.late += events.iter().take_while(|event| event.start < self.last).count() as u64;
        self.last = self.last.max(last.start);
        if let Some(step) = step(events) {
            self.tiles.density(step, first.start);
        } else if self.lane.blocks.is_empty() {
            self.tiles.density(last.end.saturating_sub(first.start).max(1), first.start);
        }
        let none = Pages::default();
        let places = columns.map(|at| chunk.pages.get(at).unwrap_or(&none));
        let mut block = Block {
            first: self.lane.rows,
            rows: events.len() as u64,
            start: first.start,
            last: last.start,
            ..Block::default()
        };
        let mut pages = Vec::new();
        for (at, rows) in events.chunks(PAGE).enumerate() {
            let mut page = RowPage {
                rows: rows.len() as u64,
                start: rows.first().map_or(0, |row| row.start),
                last: rows.last().map_or(0, |row| row.start),
                before: self.tiles.covered(),
                at: places.map(|place| place.0.get(at).copied().unwrap_or_default()),
                ..RowPage::default()
            };
            for row in rows {
                let sum = self.tiles.event(row.start, row.end, row.name, file)?;
                self.page_sums.add(Sum(sum.0, sum.1, sum.2, sum.3, row.bytes.into()));
            }
            page.covered = self.tiles.covered();
            page.sums = self.page_sums.take();
            for sum in &page.sums {
                self.block_sums.add(*sum);
            }
            pages.push(page);
        }
        block.covered = self.tiles.covered();
        block.sums = self.block_sums.take();
        let bytes = write_pages(&pages);
        block.at = (file.append(&bytes)?, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.lane.rows += block.rows;
        self.lane.start = self.lane.start.min(block.start);
        self.lane.end = block.covered;
        self.lane.blocks.push(block);
        Ok(())
    }

    /// The lane, whose rows begin at `first_row` of the table.
    pub(super) fn finish<W: Write>(
        self,
        first_row: u64,
        file: &mut TileFile<W>,
    ) -> io::Result<Lane> {
        let levels = self.tiles.finish(file)?;
        let keys = self.keys.into_iter().collect();
        Ok(Lane { first_row, levels, keys, ..self.lane })
    }
}

/// The median of the steps between starts that differ, of a sample.
fn step(events: &[Event]) -> Option<u64> {
    let every = (events.len() / 1024).max(1);
    let mut steps: Vec<u64> = events
        .windows(2)
        .step_by(every)
        .filter_map(|pair| match pair {
            [a, b] => Some(b.start.saturating_sub(a.start)).filter(|step| *step > 0),
            _ => None,
        })
        .collect();
    let middle = steps.len() / 2;
    if steps.is_empty() {
        return None;
    }
    Some(*steps.select_nth_unstable(middle).1)
}
