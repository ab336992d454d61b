//! Rows of a table that series are made of, as they are kept: a viewport asks for
//! a dozen series, and most of them are in the same rows.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

use super::steps::{reals, times};
use crate::error::Error;
use crate::read::{Cache, Profile};

/// Rows that are read and kept together (our choice: a tile of a deep zoom is in
/// one or two, and one takes less time to read than to send).
const CHUNK: usize = if cfg!(test) { 50 } else { 32_768 };

/// Most bytes of texts of a chunk that is kept: others are read again.
const TEXTS: usize = 1 << 20;

/// When the chunks of a row group begin.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    starts: Vec<u64>,
    /// No row is earlier than the one in front of it. Tables of several cores in
    /// one row group are not: they are read as a whole each time.
    pub(super) in_order: bool,
}

impl Chunks {
    /// How many.
    pub(super) const fn count(&self) -> usize {
        self.starts.len()
    }

    /// Those with what holds in a range, and perhaps others.
    pub(super) fn within(&self, from: u64, to: u64) -> Range<usize> {
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
    /// One of them is held while something is read: who asks for the same at the
    /// same time waits for it instead.
    reading: [Mutex<()>; 8],
}

impl Kept {
    pub(crate) fn new() -> Self {
        // Our choices; a chunk takes 24 bytes for each row, and its texts.
        Self { chunks: Cache::new(4096), rows: Cache::new(40), reading: Default::default() }
    }

    /// What is held while the thing of this key is read.
    fn turn(&self, key: &impl Hash) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let [first, rest @ ..] = &self.reading;
        let place = hasher.finish() as usize % self.reading.len();
        locked(place.checked_sub(1).and_then(|at| rest.get(at)).unwrap_or(first))
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
    text_bytes: usize,
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
        // By place in the dictionary, which is of the whole row group.
        let mut numbers: Vec<Option<u32>> = vec![None; texts.map_or(0, |texts| texts.len())];
        for (row, time) in times(batch, "timestamp").into_iter().enumerate() {
            let Some(mut value) = values.get(row).copied().flatten() else { continue };
            if let Some(by) = &by {
                value /= by.get(row).copied().flatten().unwrap_or(1.0);
            }
            let core = cores.get(row).copied().flatten().unwrap_or(0.0);
            if core < 0.0 {
                continue;
            }
            let text = ids.and_then(|ids| ids.key(row)).map_or(0, |place| {
                let known = numbers.get(place).copied().flatten();
                let number = || self.number(texts.filter(|t| t.is_valid(place))?.value(place));
                let found = known.or_else(number);
                if let Some(kept) = numbers.get_mut(place) {
                    *kept = found;
                }
                found.unwrap_or(0)
            });
            self.times.push(time);
            self.keys.push(key(core as u32, text));
            self.values.push(value);
        }
    }

    /// The number of a text.
    fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(known) = self.texts.get(text) {
            return Some(*known);
        }
        let next = u32::try_from(self.texts.len() + 1).ok()?;
        self.text_bytes += text.len();
        self.texts.insert(text.to_owned(), next);
        Some(next)
    }

    /// What the rows of a core and a text have; `None` where there are none.
    fn key(&self, core: u32, id: Option<&str>) -> Option<Key> {
        match id {
            Some(id) => Some(Key::Text(key(core, *self.texts.get(id)?))),
            None => Some(Key::Core(core)),
        }
    }

    /// Calls `each` for the values of a core and a text before `to`, in the order
    /// of the rows, which are in that of time: for the one that holds at `from`,
    /// if it is here, and those behind it.
    pub(super) fn each(
        &self,
        (core, id): (u32, Option<&str>),
        (from, to): (u64, u64),
        mut each: impl FnMut(u64, f64),
    ) {
        let Some(key) = self.key(core, id) else { return };
        let first = self.times.partition_point(|time| *time < from);
        let range = first..self.times.partition_point(|time| *time < to).max(first);
        if let Some((time, value)) = self.last(key, range.start) {
            each(time, value);
        }
        let times = self.times.get(range.clone()).unwrap_or_default();
        let keys = self.keys.get(range.clone()).unwrap_or_default();
        let values = self.values.get(range).unwrap_or_default();
        for ((time, of), value) in times.iter().zip(keys).zip(values) {
            if key.is(*of) {
                each(*time, *value);
            }
        }
    }

    /// Calls `each` for all values of a core and a text.
    fn all(&self, (core, id): (u32, Option<&str>), mut each: impl FnMut(u64, f64)) {
        let Some(key) = self.key(core, id) else { return };
        for ((time, of), value) in self.times.iter().zip(&self.keys).zip(&self.values) {
            if key.is(*of) {
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
        let _turn = kept.turn(&key);
        if let Some(known) = locked(&kept.chunks).get(&key) {
            return Ok(known);
        }
        let mut chunks = Chunks { starts: Vec::new(), in_order: true };
        let (mut row, mut last) = (0_usize, 0);
        self.columns_of_group(table, group, None, &["timestamp"], |batch| {
            for time in times(batch, "timestamp") {
                if row % CHUNK == 0 {
                    chunks.starts.push(time);
                }
                chunks.in_order &= last <= time;
                (row, last) = (row + 1, time);
            }
        })?;
        let chunks = Arc::new(chunks);
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
        let _turn = kept.turn(&key);
        if let Some(known) = locked(&kept.rows).get(&key) {
            return Ok(known);
        }
        let mut rows = Rows::default();
        self.columns_of_group(&of.0, group, Some(chunk), &names(of), |batch| rows.add(batch, of))?;
        let rows = Arc::new(rows);
        if rows.text_bytes <= TEXTS {
            locked(&kept.rows).put(key, Arc::clone(&rows));
        }
        Ok(rows)
    }

    /// Calls `each` for the values of a core and a text in a row group, of which
    /// nothing is kept.
    pub(super) fn group_values(
        &self,
        of: &Place,
        group: usize,
        own: (u32, Option<&str>),
        mut each: impl FnMut(u64, f64),
    ) -> Result<(), Error> {
        self.columns_of_group(&of.0, group, None, &names(of), |batch| {
            let mut rows = Rows::default();
            rows.add(batch, of);
            rows.all(own, &mut each);
        })
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

/// The columns of a place.
fn names((_, value, by): &Place) -> Vec<&str> {
    let mut names = vec!["timestamp", "pcore_idx", "id", value];
    names.extend(by.as_deref());
    names
}
