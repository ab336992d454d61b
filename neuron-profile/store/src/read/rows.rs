//! Rows of tables: one with all fields, those that a search finds, or all as
//! Arrow record batches.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;
use serde_json::{Map, Value, json};

use super::Profile;
use crate::error::Error;

/// What a column must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    /// This text, or the number that it says.
    Is(String),
    /// A text that has this one in it.
    Has(String),
    /// A number in this range, both ends too.
    Between(f64, f64),
}

/// A column and what it must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// What it must be.
    pub is: Match,
}

/// A search: rows of a table that meet all conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The table.
    pub table: String,
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Rows before this one are left out.
    pub from_row: u64,
    /// At most so many are found.
    pub limit: usize,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Rows of the table, in its order (by lane and time).
    pub rows: Vec<u64>,
    /// There are more behind the last one.
    pub more: bool,
    /// Row groups that were read, and all: the others cannot have a row.
    pub groups: (usize, usize),
}

impl Profile {
    /// Path of a table, for a reader of Parquet.
    ///
    /// # Errors
    ///
    /// A table that the profile does not have.
    pub fn table(&self, name: &str) -> Result<PathBuf, Error> {
        if self.manifest.tables.contains_key(name) {
            Ok(self.dir.join(format!("{name}.parquet")))
        } else {
            Err(Error::NoTable(name.to_owned()))
        }
    }

    pub(crate) fn builder(
        &self,
        table: &str,
    ) -> Result<(PathBuf, ParquetRecordBatchReaderBuilder<File>), Error> {
        let path = self.table(table)?;
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        let footers = || self.footers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = footers().get(table).cloned();
        let metadata = match known {
            Some(known) => known,
            None => {
                let options =
                    ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
                let metadata =
                    ArrowReaderMetadata::load(&file, options).map_err(Error::parquet(&path))?;
                footers().insert(table.to_owned(), metadata.clone());
                metadata
            }
        };
        Ok((path, ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)))
    }

    /// A reader of a table, whose footer is kept: for columns, row groups and
    /// rows of choice.
    ///
    /// # Errors
    ///
    /// A table that is not there, or cannot be read.
    pub fn reader(&self, table: &str) -> Result<ParquetRecordBatchReaderBuilder<File>, Error> {
        Ok(self.builder(table)?.1)
    }

    /// All rows of a table in batches.
    ///
    /// # Errors
    ///
    /// A table that is not there, or cannot be read.
    pub fn batches(&self, table: &str) -> Result<ParquetRecordBatchReader, Error> {
        let (path, builder) = self.builder(table)?;
        builder.with_batch_size(8192).build().map_err(Error::parquet(&path))
    }

    /// As [`Profile::batches`], with these columns alone; those that the table
    /// has not are left out.
    ///
    /// # Errors
    ///
    /// A table that is not there, or cannot be read.
    pub fn columns(
        &self,
        table: &str,
        columns: &[&str],
    ) -> Result<ParquetRecordBatchReader, Error> {
        let (path, builder) = self.builder(table)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(8192);
        builder.build().map_err(Error::parquet(&path))
    }

    /// One row with all fields that are not null.
    ///
    /// # Errors
    ///
    /// A table or row that is not there, or cannot be read.
    pub fn row(&self, table: &str, row: u64) -> Result<Map<String, Value>, Error> {
        let mut found = None;
        self.some_rows(table, row, 1, None, |batch| found = Some(object(batch, 0)))?;
        found.ok_or_else(|| Error::damaged(&self.dir.join(table), "a row group is too short"))
    }

    /// Some rows with all fields that are not null; `wanted` must rise.
    ///
    /// # Errors
    ///
    /// A table or row that is not there, or cannot be read.
    pub fn rows(&self, table: &str, wanted: &[u64]) -> Result<Vec<Map<String, Value>>, Error> {
        let (path, builder) = self.builder(table)?;
        let mut out = Vec::with_capacity(wanted.len());
        let mut wanted = wanted.iter().copied().peekable();
        let mut first = 0;
        for (at, group) in builder.metadata().row_groups().iter().enumerate() {
            let end = first + u64::try_from(group.num_rows()).unwrap_or(0);
            let (mut selection, mut next) = (Vec::new(), first);
            while let Some(row) = wanted.next_if(|row| *row < end) {
                let Some(skip) = row.checked_sub(next) else { continue };
                selection.push(RowSelector::skip(usize::try_from(skip).unwrap_or(usize::MAX)));
                selection.push(RowSelector::select(1));
                next = row + 1;
            }
            first = end;
            if selection.is_empty() {
                continue;
            }
            let (_, builder) = self.builder(table)?;
            let selection = RowSelection::from(selection);
            let reader = builder.with_row_groups(vec![at]).with_row_selection(selection);
            let reader = reader.with_batch_size(1024).build().map_err(Error::parquet(&path))?;
            for batch in reader {
                let batch = batch.map_err(|error| Error::damaged(&path, error))?;
                out.extend(objects(&batch));
            }
        }
        match wanted.next() {
            Some(row) => Err(Error::NoRow { table: table.to_owned(), row, rows: first }),
            None => Ok(out),
        }
    }

    /// Calls `each` with batches of `count` rows from `row` on, of these columns
    /// or of all; the rows must lie in one row group.
    ///
    /// # Errors
    ///
    /// A table, column or row that is not there, or cannot be read.
    pub fn some_rows(
        &self,
        table: &str,
        row: u64,
        count: usize,
        columns: Option<&[&str]>,
        mut each: impl FnMut(&RecordBatch),
    ) -> Result<(), Error> {
        let (path, mut builder) = self.builder(table)?;
        let groups = builder.metadata().row_groups();
        let (mut group, mut first) = (0, 0);
        for (at, of) in groups.iter().enumerate() {
            let rows = u64::try_from(of.num_rows()).unwrap_or(0);
            if row < first + rows {
                group = at;
                break;
            }
            first += rows;
            group = at + 1;
        }
        if group >= groups.len() {
            return Err(Error::NoRow { table: table.to_owned(), row, rows: first });
        }
        if let Some(columns) = columns {
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            builder = builder.with_projection(mask);
        }
        let skip = usize::try_from(row - first).unwrap_or(usize::MAX);
        let selection =
            RowSelection::from(vec![RowSelector::skip(skip), RowSelector::select(count)]);
        let reader = builder.with_row_groups(vec![group]).with_row_selection(selection);
        let reader = reader.with_batch_size(count.clamp(1, 1 << 16)).build();
        for batch in reader.map_err(Error::parquet(&path))? {
            each(&batch.map_err(|error| Error::damaged(&path, error))?);
        }
        Ok(())
    }

    /// Rows that meet all conditions. Row groups whose statistics say that they
    /// have none are not read.
    ///
    /// # Errors
    ///
    /// A table or column that is not there, a condition that has no meaning for
    /// its column, files that cannot be read.
    pub fn search(&self, search: &Search) -> Result<Found, Error> {
        let (path, builder) = self.builder(&search.table)?;
        let schema = Arc::clone(builder.schema());
        let mut places = Vec::new();
        for condition in &search.conditions {
            let (place, field) = schema.column_with_name(&condition.column).ok_or_else(|| {
                let (table, column) = (search.table.clone(), condition.column.clone());
                Error::NoColumn { table, column }
            })?;
            check(condition, field.data_type())?;
            places.push(place);
        }
        let metadata = Arc::clone(builder.metadata());
        let mut found = Found { groups: (0, metadata.num_row_groups()), ..Found::default() };
        let mut first = 0;
        for (at, group) in metadata.row_groups().iter().enumerate() {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            let begin = first;
            first += rows;
            let possible = search.conditions.iter().zip(&places).all(|(condition, place)| {
                let statistics = group.columns().get(*place).and_then(|c| c.statistics());
                statistics.is_none_or(|statistics| may_have(&condition.is, statistics))
            });
            if !possible || first <= search.from_row {
                continue;
            }
            found.groups.0 += 1;
            let (_, builder) = self.builder(&search.table)?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), places.iter().copied());
            let reader = builder.with_row_groups(vec![at]).with_projection(mask);
            let reader = reader.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
            let mut row = begin;
            for batch in reader {
                let batch = batch.map_err(|error| Error::damaged(&path, error))?;
                let mut keep = vec![true; batch.num_rows()];
                for condition in &search.conditions {
                    if let Some(column) = batch.column_by_name(&condition.column) {
                        narrow(&condition.is, column, &mut keep);
                    }
                }
                for keep in keep {
                    if keep && row >= search.from_row {
                        if found.rows.len() >= search.limit {
                            found.more = true;
                            return Ok(found);
                        }
                        found.rows.push(row);
                    }
                    row += 1;
                }
            }
        }
        Ok(found)
    }
}

/// Whether a condition has a meaning for a column.
fn check(condition: &Condition, of: &DataType) -> Result<(), Error> {
    let text = matches!(of, DataType::Dictionary(..) | DataType::Utf8);
    let wrong = match &condition.is {
        Match::Is(text_) => {
            !text && text_.parse::<f64>().is_err() && text_.parse::<bool>().is_err()
        }
        Match::Has(_) => !text,
        Match::Between(..) => text,
    };
    if wrong {
        let column = &condition.column;
        let kind = if text { "texts" } else { "numbers" };
        return Err(Error::Query(format!("column {column} has {kind}; ask for one of these")));
    }
    Ok(())
}

/// Whether a chunk with these statistics may have a fitting value.
fn may_have(wanted: &Match, statistics: &Statistics) -> bool {
    let range = match statistics {
        Statistics::Int64(of) => {
            of.min_opt().zip(of.max_opt()).map(|(a, b)| (*a as f64, *b as f64))
        }
        Statistics::Int32(of) => {
            of.min_opt().zip(of.max_opt()).map(|(a, b)| (f64::from(*a), f64::from(*b)))
        }
        Statistics::ByteArray(of) => {
            let bounds = of.min_opt().zip(of.max_opt());
            return match (wanted, bounds) {
                (Match::Is(text), Some((least, most))) => {
                    (least.data()..=most.data()).contains(&text.as_bytes())
                }
                _ => true,
            };
        }
        _ => None,
    };
    let Some((least, most)) = range else { return true };
    match wanted {
        Match::Is(text) => {
            text.parse::<f64>().is_ok_and(|number| least <= number && number <= most)
        }
        Match::Between(from, to) => least <= *to && *from <= most,
        Match::Has(_) => true,
    }
}

/// Takes away the rows that do not fit.
fn narrow(wanted: &Match, column: &dyn Array, keep: &mut [bool]) {
    if let DataType::Dictionary(..) = column.data_type() {
        let Some(column) = column.as_dictionary_opt::<Int32Type>() else { return };
        let fits: Vec<bool> = match column.values().as_string_opt::<i32>() {
            Some(texts) => {
                texts.iter().map(|text| text.is_some_and(|t| text_fits(wanted, t))).collect()
            }
            None => Vec::new(),
        };
        for (keep, key) in keep.iter_mut().zip(column.keys().iter()) {
            let place = key.and_then(|key| usize::try_from(key).ok());
            *keep &= place.and_then(|place| fits.get(place)).copied().unwrap_or(false);
        }
        return;
    }
    let fits = |number: Option<f64>| number.is_some_and(|number| number_fits(wanted, number));
    let numbers: Vec<Option<f64>> = match column.data_type() {
        DataType::Int64 => {
            let exact = match wanted {
                Match::Is(text) => text.parse::<i64>().ok(),
                _ => None,
            };
            let numbers = column.as_primitive::<Int64Type>().iter();
            if let Some(exact) = exact {
                // Ids may be larger than what a real number tells apart.
                keep.iter_mut().zip(numbers).for_each(|(keep, v)| *keep &= v == Some(exact));
                return;
            }
            numbers.map(|v| Some(v? as f64)).collect()
        }
        DataType::Int32 => {
            column.as_primitive::<Int32Type>().iter().map(|v| Some(f64::from(v?))).collect()
        }
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().iter().map(|v| Some(f64::from(v?))).collect()
        }
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().collect(),
        DataType::Boolean => {
            let flags = column.as_boolean();
            flags.iter().map(|v| Some(f64::from(u8::from(v?)))).collect()
        }
        _ => vec![None; column.len()],
    };
    for (keep, number) in keep.iter_mut().zip(numbers) {
        *keep &= fits(number);
    }
}

fn text_fits(wanted: &Match, text: &str) -> bool {
    match wanted {
        Match::Is(wanted) => wanted == text,
        Match::Has(part) => text.contains(part.as_str()),
        Match::Between(..) => false,
    }
}

fn number_fits(wanted: &Match, number: f64) -> bool {
    match wanted {
        Match::Is(text) => match text.as_str() {
            "true" => number == 1.0,
            "false" => number == 0.0,
            text => text.parse::<f64>().is_ok_and(|wanted| wanted == number),
        },
        Match::Between(from, to) => (*from..=*to).contains(&number),
        Match::Has(_) => false,
    }
}

/// A row of a batch as an object; nulls are left out.
pub(crate) fn object(batch: &RecordBatch, row: usize) -> Map<String, Value> {
    let mut out = Map::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if column.is_null(row) {
            continue;
        }
        let value = match column.data_type() {
            DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
            DataType::Int32 => json!(column.as_primitive::<Int32Type>().value(row)),
            DataType::Float32 => single(column.as_primitive::<Float32Type>().value(row)),
            DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => json!(column.as_boolean().value(row)),
            DataType::Dictionary(..) => {
                let column = column.as_dictionary::<Int32Type>();
                let place = column.keys().value(row);
                let texts = column.values().as_string::<i32>();
                match usize::try_from(place) {
                    Ok(place) if place < texts.len() => json!(texts.value(place)),
                    _ => Value::Null,
                }
            }
            _ => continue,
        };
        out.insert(field.name().clone(), value);
    }
    out
}

/// A single-precision number with its own digits, not those of its double.
fn single(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, |digits| json!(digits))
}

/// The rows of a batch as objects.
pub fn objects(batch: &RecordBatch) -> impl Iterator<Item = Map<String, Value>> + '_ {
    (0..batch.num_rows()).map(|row| object(batch, row))
}

/// A row of a batch, field by field.
#[derive(Debug, Clone, Copy)]
pub struct Line<'b> {
    batch: &'b RecordBatch,
    row: usize,
}

impl<'b> Line<'b> {
    /// The rows of a batch.
    pub fn all(batch: &'b RecordBatch) -> impl Iterator<Item = Self> {
        (0..batch.num_rows()).map(move |row| Self { batch, row })
    }

    fn column(&self, name: &str) -> Option<&'b dyn Array> {
        let column = self.batch.column_by_name(name)?.as_ref();
        (!column.is_null(self.row)).then_some(column)
    }

    /// A whole number; `None` for null and for columns of another type.
    pub fn long(&self, name: &str) -> Option<i64> {
        let column = self.column(name)?;
        match column.data_type() {
            DataType::Int64 => Some(column.as_primitive::<Int64Type>().value(self.row)),
            DataType::Int32 => Some(column.as_primitive::<Int32Type>().value(self.row).into()),
            _ => None,
        }
    }

    /// A real number, in the same way.
    pub fn real(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        match column.data_type() {
            DataType::Float64 => Some(column.as_primitive::<Float64Type>().value(self.row)),
            DataType::Float32 => Some(column.as_primitive::<Float32Type>().value(self.row).into()),
            _ => None,
        }
    }

    /// A text, in the same way.
    pub fn text(&self, name: &str) -> Option<&'b str> {
        let column = self.column(name)?.as_dictionary_opt::<Int32Type>()?;
        let place = usize::try_from(column.keys().value(self.row)).ok()?;
        let texts = column.values().as_string_opt::<i32>()?;
        (place < texts.len()).then(|| texts.value(place))
    }
}
