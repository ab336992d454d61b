//! Rows of a table that series are made of, as they are kept: a viewport asks for
//! a dozen series, and most of them are in the same rows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

use super::steps::{reals, times};
use crate::error::Error;
use crate::read::{Cache, Profile};

/// Rows that are read and kept together (our choice: four pages).
const CHUNK: usize = if cfg!(test) { 50 } else { 4 * crate::encode::table::PAGE };

/// When the chunks of a row group begin.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    starts: Vec<u64>,
    /// No row is earlier than the one in front of it.
    in_order: bool,
}

impl Chunks {
    /// How many.
    pub(super) const fn count(&self) -> usize {
        self.starts.len()
    }

    /// Those with what holds in a range, and perhaps others.
    pub(super) fn within(&self, from: u64, to: u64) -> Range<usize> {
        if !self.in_order {
            return 0..self.count();
        }
        let first = self.starts.partition_point(|start| *start <= from).saturating_sub(1);
        first..self.starts.partition_point(|start| *start < to)
    }
}

/// What is kept of rows that series are made of.
#[derive(Debug)]
pub(crate) struct Kept {
    /// By table and row group.
    chunks: Mutex<Cache<(String, usize), Chunks>>,
    /// By place, row group and chunk.
    rows: Mutex<Cache<(Place, usize, usize), Rows>>,
    /// Held while something is read: who asks for the same at the same time waits
    /// for it instead.
    reading: Mutex<()>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        // Our choices; a chunk takes 24 bytes for each row.
        Self { chunks: Cache::new(4096), rows: Cache::new(64), reading: Mutex::new(()) }
    }
}

/// The guard of a lock, whoever panicked with it.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the values of a series are: of a table the column of the value, and that
/// by which it is divided.
pub(crate) type Place = (String, String, Option<String>);

/// The rows of a chunk that have a value, in their order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    times: Vec<u64>,
    /// Core and text, see [`Self::key`].
    keys: Vec<u64>,
    values: Vec<f64>,
    /// Texts of column `id` by number, from 1 on; 0 is none.
    texts: HashMap<String, u32>,
    in_order: bool,
}

impl Rows {
    /// Adds those of a batch.
    fn add(&mut self, batch: &RecordBatch, (_, value, by): &Place) {
        let column = |name: &str| batch.column_by_name(name).map(|column| reals(column));
        let values = column(value).unwrap_or_default();
        let by = by.as_ref().and_then(|by| column(by));
        let cores = column("pcore_idx").unwrap_or_default();
        let ids = batch.column_by_name("id").and_then(|c| c.as_dictionary_opt::<Int32Type>());
        let texts = ids.and_then(|ids| ids.values().as_string_opt::<i32>());
        let mut number = |text: Option<&str>| {
            let Some(text) = text else { return 0 };
            let next = u32::try_from(self.texts.len() + 1).unwrap_or(u32::MAX);
            *self.texts.entry(text.to_owned()).or_insert(next)
        };
        let numbers: Vec<u32> = texts.into_iter().flatten().map(&mut number).collect();
        for (row, time) in times(batch, "timestamp").into_iter().enumerate() {
            let Some(mut value) = values.get(row).copied().flatten() else { continue };
            if let Some(by) = &by {
                value /= by.get(row).copied().flatten().unwrap_or(1.0);
            }
            let core = cores.get(row).copied().flatten().unwrap_or(0.0) as u32;
            let text = ids.and_then(|ids| ids.key(row)).and_then(|key| numbers.get(key));
            self.times.push(time);
            self.keys.push(key(core, text.copied().unwrap_or(0)));
            self.values.push(value);
        }
    }

    /// What the rows of a core and a text have; `None` where there are none.
    fn key(&self, core: u32, id: Option<&str>) -> Option<Key> {
        match id {
            Some(id) => Some(Key::Text(key(core, *self.texts.get(id)?))),
            None => Some(Key::Core(core)),
        }
    }

    /// Rows from `from` on and before `to`, and perhaps others.
    fn within(&self, from: u64, to: u64) -> Range<usize> {
        if !self.in_order {
            return 0..self.times.len();
        }
        let first = self.times.partition_point(|time| *time < from);
        first..self.times.partition_point(|time| *time < to).max(first)
    }

    /// Calls `each` for the values of a core and a text in a range; the first may
    /// come from before it.
    pub(super) fn each(
        &self,
        (core, id): (u32, Option<&str>),
        (from, to): (u64, u64),
        mut each: impl FnMut(u64, f64),
    ) {
        let Some(key) = self.key(core, id) else { return };
        let range = self.within(from, to);
        if let Some((time, value)) = self.last(key, range.start) {
            each(time, value);
        }
        let times = self.times.get(range.clone()).unwrap_or_default();
        let keys = self.keys.get(range.clone()).unwrap_or_default();
        let values = self.values.get(range).unwrap_or_default();
        for ((time, of), value) in times.iter().zip(keys).zip(values) {
            if key.is(*of) && *time < to {
                each(*time, *value);
            }
        }
    }

    /// The last value of a core and a text.
    pub(super) fn latest(&self, core: u32, id: Option<&str>) -> Option<(u64, f64)> {
        self.last(self.key(core, id)?, self.times.len())
    }

    fn last(&self, key: Key, before: usize) -> Option<(u64, f64)> {
        let at = self.keys.get(..before)?.iter().rposition(|of| key.is(*of))?;
        Some((*self.times.get(at)?, *self.values.get(at)?))
    }
}

fn key(core: u32, text: u32) -> u64 {
    (u64::from(core) << 32) | u64::from(text)
}

#[derive(Debug, Clone, Copy)]
enum Key {
    /// All of a core.
    Core(u32),
    /// Those of a core and a text.
    Text(u64),
}

impl Key {
    fn is(self, of: u64) -> bool {
        match self {
            Self::Core(core) => (of >> 32) as u32 == core,
            Self::Text(key) => of == key,
        }
    }
}

impl Profile {
    /// The chunks of a row group.
    pub(super) fn chunks(&self, table: &str, group: usize) -> Result<Arc<Chunks>, Error> {
        let kept = self.kept_rows();
        let key = (table.to_owned(), group);
        if let Some(known) = locked(&kept.chunks).get(&key) {
            return Ok(known);
        }
        let _one = locked(&kept.reading);
        if let Some(known) = locked(&kept.chunks).get(&key) {
            return Ok(known);
        }
        let mut all = Vec::new();
        self.columns_of_group(table, group, None, &["timestamp"], |batch| {
            all.extend(times(batch, "timestamp"));
        })?;
        let starts = all.iter().copied().step_by(CHUNK).collect();
        let chunks = Arc::new(Chunks { starts, in_order: all.is_sorted() });
        locked(&kept.chunks).put(key, Arc::clone(&chunks));
        Ok(chunks)
    }

    /// The rows of a chunk.
    pub(super) fn chunk_rows(
        &self,
        of: &Place,
        group: usize,
        chunk: usize,
    ) -> Result<Arc<Rows>, Error> {
        let kept = self.kept_rows();
        let key = (of.clone(), group, chunk);
        if let Some(known) = locked(&kept.rows).get(&key) {
            return Ok(known);
        }
        let _one = locked(&kept.reading);
        if let Some(known) = locked(&kept.rows).get(&key) {
            return Ok(known);
        }
        let (table, value, by) = of;
        let mut names = vec!["timestamp", "pcore_idx", "id", value];
        names.extend(by.as_deref());
        let mut rows = Rows::default();
        self.columns_of_group(table, group, Some(chunk), &names, |batch| rows.add(batch, of))?;
        rows.in_order = rows.times.is_sorted();
        let rows = Arc::new(rows);
        locked(&kept.rows).put(key, Arc::clone(&rows));
        Ok(rows)
    }

    /// Calls `each` for columns of a row group, or of one chunk of it.
    fn columns_of_group(
        &self,
        table: &str,
        group: usize,
        chunk: Option<usize>,
        columns: &[&str],
        mut each: impl FnMut(&RecordBatch),
    ) -> Result<(), Error> {
        let (path, builder) = self.builder(table)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let mut builder = builder.with_row_groups(vec![group]).with_projection(mask);
        if let Some(chunk) = chunk {
            let rows = [RowSelector::skip(chunk * CHUNK), RowSelector::select(CHUNK)];
            builder = builder.with_row_selection(RowSelection::from(rows.to_vec()));
        }
        let reader = builder.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
        for batch in reader {
            crate::stop::wanted()?;
            each(&batch.map_err(|error| Error::damaged(&path, error))?);
        }
        Ok(())
    }
}
