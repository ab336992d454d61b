//! Rows of a table that series are made of, as they are kept: a viewport asks for
//! a dozen series, and most of them are in the same rows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use parquet::arrow::ProjectionMask;

use super::steps::{reals, times};
use crate::error::Error;
use crate::read::Profile;

/// Where the values of a series are: of a table the column of the value, and that
/// by which it is divided.
pub(crate) type Place = (String, String, Option<String>);

/// The rows of a row group that have a value, in their order.
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
    /// The rows of a row group.
    pub(super) fn group_rows(&self, of: &Place, group: usize) -> Result<Arc<Rows>, Error> {
        let cache = || self.values().lock().unwrap_or_else(PoisonError::into_inner);
        let kept = (of.clone(), group);
        if let Some(known) = cache().get(&kept) {
            return Ok(known);
        }
        let (table, value, by) = of;
        let (path, builder) = self.builder(table)?;
        let named = ["timestamp", "pcore_idx", "id"].into_iter();
        let named =
            named.chain([Some(value), by.as_ref()].into_iter().flatten().map(String::as_str));
        let mask = ProjectionMask::columns(builder.parquet_schema(), named);
        let reader = builder.with_row_groups(vec![group]).with_projection(mask);
        let reader = reader.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
        let mut rows = Rows::default();
        for batch in reader {
            crate::stop::wanted()?;
            rows.add(&batch.map_err(|error| Error::damaged(&path, error))?, of);
        }
        rows.in_order = rows.times.is_sorted();
        let rows = Arc::new(rows);
        cache().put(kept, Arc::clone(&rows));
        Ok(rows)
    }
}
