//! Events of a lane out of the pages of its table.

use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, PoisonError};

use super::{MOST, Profile};
use crate::encode::bits::{read_delta, read_varint, unzigzag};
use crate::encode::frames;
use crate::encode::table::PAGE;
use crate::error::Error;
use crate::lanes::Lane;
use crate::tiles::page::RowPage;

/// An event with the time that it adds to what is covered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Begin of what no earlier event covers; `end` or later for nothing.
    pub(crate) fresh: u64,
    pub(crate) name: u32,
    /// Place in the lane.
    pub(crate) row: u64,
}

/// Events of a page, column by column, in the order of the table.
#[derive(Debug, Default)]
pub(super) struct Events {
    start: Vec<u64>,
    end: Vec<u64>,
    /// See [`Seen::fresh`]. It never falls, whatever the order of starts.
    fresh: Vec<u64>,
    name: Vec<u32>,
    /// No event begins before the one in front of it.
    in_order: bool,
}

impl Events {
    /// `covered` is the latest end before the page.
    fn new(
        start: Vec<i64>,
        end: Vec<i64>,
        name: impl Iterator<Item = u32>,
        mut covered: u64,
    ) -> Self {
        // In place: both are of the same size.
        let times = |list: Vec<i64>| -> Vec<u64> {
            list.into_iter().map(|time| time.max(0).cast_unsigned()).collect()
        };
        let (start, end) = (times(start), times(end));
        let fresh = start.iter().zip(&end).map(|(start, end)| {
            let fresh = (*start).max(covered);
            covered = covered.max(*end);
            fresh
        });
        let fresh = fresh.collect();
        Self { in_order: start.is_sorted(), fresh, name: name.collect(), start, end }
    }

    /// Places of all events that begin in `from..to` or are under way in it, and
    /// perhaps of others.
    fn within(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        if !self.in_order {
            return 0..self.start.len();
        }
        // All before the last one that begins what is covered at `from` ended.
        let ended = self.fresh.partition_point(|fresh| *fresh <= from).saturating_sub(1);
        let first = self.start.partition_point(|start| *start < from);
        ended.min(first)..self.start.partition_point(|start| *start < to)
    }
}

/// Sizes before and after compression, and where the values of a page begin.
fn header(bytes: &[u8]) -> Option<(usize, usize, usize)> {
    let mut rest = bytes;
    let number = |rest: &mut &[u8]| -> Option<i64> {
        let (first, tail) = rest.split_first()?;
        *rest = tail;
        if *first != 0x15 { None } else { Some(unzigzag(read_varint(rest)?)) }
    };
    if number(&mut rest)? != 0 {
        return None;
    }
    let plain = usize::try_from(number(&mut rest)?).ok()?;
    let packed = usize::try_from(number(&mut rest)?).ok()?;
    rest = rest.strip_prefix(&[0x2c])?;
    for _ in 0..4 {
        number(&mut rest)?;
    }
    rest = rest.strip_prefix(&[0, 0])?;
    Some((plain, packed, bytes.len() - rest.len()))
}

impl Profile {
    /// The numbers of a page of a required column.
    fn numbers(&self, lane: &Lane, (at, size): (u64, u32)) -> Result<Vec<i64>, Error> {
        let table = lane.kind.table();
        let path = || self.dir.join(format!("{table}.parquet"));
        let bad = || Error::damaged(&path(), format!("a page at byte {at}"));
        let file = self.files.get(table).ok_or_else(|| Error::NoTable(table.to_owned()))?;
        if size > MOST {
            return Err(bad());
        }
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, at).map_err(|error| Error::io("read", &path())(error))?;
        let (plain, packed, begin) = header(&bytes).ok_or_else(bad)?;
        let values = bytes.get(begin..).filter(|values| values.len() == packed).ok_or_else(bad)?;
        let mut out = Vec::new();
        let unpacked;
        let values = if plain == packed {
            values
        } else {
            if plain > MOST as usize {
                return Err(bad());
            }
            unpacked = frames::unpack(values, plain).map_err(|_| bad())?;
            &unpacked
        };
        read_delta(level_less(values), PAGE, &mut out).ok_or_else(bad)?;
        Ok(out)
    }

    /// The events of page `page` of block `block`.
    fn page(
        &self,
        lane: usize,
        block: usize,
        page: usize,
        of: &RowPage,
    ) -> Result<Arc<Events>, Error> {
        let key = (lane as u32, block as u32, page as u32);
        let cache = || self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache().get(&key) {
            return Ok(known);
        }
        crate::stop::wanted()?;
        let line = self.lane(lane)?;
        let [start, end, keys] = of.at;
        let (start, end) = (self.numbers(line, start)?, self.numbers(line, end)?);
        let keys = self.numbers(line, keys)?;
        let rows = of.rows as usize;
        if [&start, &end, &keys].iter().any(|list| list.len() != rows) {
            return Err(Error::damaged(&self.dir, format!("a page has not {rows} rows")));
        }
        let events = Events::new(start, end, names(line, &keys), of.before);
        let events = Arc::new(events);
        cache().put(key, Arc::clone(&events));
        Ok(events)
    }

    /// Calls `each` for the events of a page that begin in `from..to` or are under
    /// way in it, and perhaps for others; `first` is its first row in the lane.
    pub(crate) fn events_of(
        &self,
        lane: usize,
        (block, page): (usize, usize),
        of: &RowPage,
        first: u64,
        (from, to): (u64, u64),
        mut each: impl FnMut(Seen),
    ) -> Result<(), Error> {
        let events = self.page(lane, block, page, of)?;
        let places = events.within(from, to);
        let rows = first + places.start as u64..;
        let [start, end, fresh] = [&events.start, &events.end, &events.fresh]
            .map(|list| list.get(places.clone()).unwrap_or_default());
        let names = events.name.get(places.clone()).unwrap_or_default();
        for ((((start, end), fresh), name), row) in
            start.iter().zip(end).zip(fresh).zip(names).zip(rows)
        {
            each(Seen { start: *start, end: *end, fresh: *fresh, name: *name, row });
        }
        Ok(())
    }

    /// Calls `each` for the pages of a lane that have an event which begins in
    /// `from..to`, or covers a part of it that none before does. Gives block,
    /// page, and the first row in the lane.
    pub(crate) fn pages_in(
        &self,
        lane: usize,
        from: u64,
        to: u64,
        mut each: impl FnMut((usize, usize), &RowPage, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let line = self.lane(lane)?;
        // Blocks and pages are in order of both bounds, but for late rows.
        let before =
            |start: u64, last: u64, covered: u64| last < from && covered <= from && start < from;
        let first = line.blocks.partition_point(|b| before(b.start, b.last, b.covered));
        for (at, block) in line.blocks.iter().enumerate().skip(first) {
            if block.start >= to && self.begins_after(line, at, to) {
                break;
            }
            let pages = self.pages(lane, at)?;
            let mut row = block.first;
            for (place, page) in pages.iter().enumerate() {
                if page.start < to && !before(page.start, page.last, page.covered) {
                    each((at, place), page, row)?;
                }
                row += page.rows;
            }
        }
        Ok(())
    }

    /// No block from `at` on begins before `to`. Late rows may make a later
    /// block begin earlier, so a few are looked at.
    fn begins_after(&self, line: &Lane, at: usize, to: u64) -> bool {
        line.blocks.iter().skip(at).take(4).all(|block| block.start >= to)
    }
}

/// The columns that are read here are required, so no levels stand before them;
/// `queue_idx` and others that may be null have a run of ones.
fn level_less(bytes: &[u8]) -> &[u8] {
    // A block size of 128 begins with these two bytes, a length of levels never.
    if bytes.starts_with(&[0x80, 0x01, 0x04]) {
        return bytes;
    }
    let Some((size, rest)) = bytes.split_first_chunk::<4>() else { return bytes };
    rest.get(u32::from_le_bytes(*size) as usize..).unwrap_or_default()
}

/// Names by key. Instructions mostly come in the order of their slots, so that the
/// place behind the last one is tried first.
fn names<'l>(lane: &'l Lane, keys: &'l [i64]) -> impl Iterator<Item = u32> + 'l {
    let mut last = 0;
    keys.iter().map(move |key| {
        let wanted = u64::try_from(*key).unwrap_or(u64::MAX);
        let at = |place: usize| lane.keys.get(place).filter(|(key, _)| *key == wanted);
        let search = || lane.keys.binary_search_by_key(&wanted, |(key, _)| *key).ok();
        let known = [last, last + 1].into_iter().find(|place| at(*place).is_some());
        let Some(place) = known.or_else(search) else { return u32::MAX };
        last = place;
        at(place).map_or(u32::MAX, |(_, name)| *name)
    })
}
