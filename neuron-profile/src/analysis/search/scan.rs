//! Goes through tables and finds rows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use parquet::arrow::ProjectionMask;
use profile_store::{Error, Profile};

use super::expression::Expression;

/// How long a search may take.
const TIME: Duration = Duration::from_secs(20);

/// Rows that are listed at most; all are counted.
const LENGTHY: usize = 1_000_000;

/// A row that meets a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Place of its table among those asked for.
    pub table: u32,
    /// Its lane; `u32::MAX` for a table without lanes.
    pub lane: u32,
    /// Its row.
    pub row: u64,
    /// Its start, ns.
    pub start: u64,
    /// Its end, ns.
    pub end: u64,
    /// Its length, ns.
    pub length: u64,
}

/// Sums of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// How many.
    pub count: u64,
    /// First start, ns.
    pub start: u64,
    /// Last end, ns.
    pub end: u64,
    /// Lengths, ns.
    pub sum: u64,
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
}

impl Default for Statistics {
    fn default() -> Self {
        Self { count: 0, start: u64::MAX, end: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Statistics {
    fn add(&mut self, hit: &Hit) {
        self.count += 1;
        self.start = self.start.min(hit.start);
        self.end = self.end.max(hit.end);
        self.sum = self.sum.saturating_add(hit.length);
        self.min = self.min.min(hit.length);
        self.max = self.max.max(hit.length);
    }
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// By table, lane and time.
    pub hits: Vec<Hit>,
    /// Of all, also those that are not listed.
    pub all: Statistics,
    /// By lane.
    pub lanes: BTreeMap<u32, Statistics>,
    /// Nothing was left out: neither rows nor time ran out.
    pub complete: bool,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Where {
    /// Tables by name.
    pub tables: Vec<String>,
    /// Starts before are left out, ns.
    pub from: u64,
    /// Starts from here on are left out, ns.
    pub to: u64,
}

/// Numbers of a column that is never null.
fn longs(batch: &RecordBatch, name: &str) -> Vec<u64> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
    let long = |v: &i64| u64::try_from(*v).unwrap_or(0);
    column.map(|column| column.values().iter().map(long).collect()).unwrap_or_default()
}

/// Calls `each` for all rows that meet a query; says whether time sufficed.
///
/// # Errors
///
/// Tables and columns that are not there, conditions without a meaning for
/// their column, files that cannot be read.
pub fn scan(
    profile: &Profile,
    query: &Expression,
    place: &Where,
    mut each: impl FnMut(Hit),
) -> Result<bool, Error> {
    let begun = Instant::now();
    let mut known = Vec::new();
    let mut plans = Vec::new();
    for table in &place.tables {
        let reader = profile.reader(table)?;
        let schema = reader.schema();
        for name in ["start_ts", "end_ts", "duration_ns"] {
            if schema.column_with_name(name).is_none() {
                return Err(Error::Query(format!("rows of {table} are no events")));
            }
        }
        plans.push(query.columns(schema).map_err(Error::Query)?);
        known.extend(schema.fields().iter().map(|field| field.name().clone()));
    }
    let mut missing = None;
    query.conditions(&mut |condition| {
        if let Some(name) = condition.column.as_ref().filter(|name| !known.contains(name)) {
            missing.get_or_insert_with(|| name.clone());
        }
    });
    if let Some(column) = missing {
        return Err(Error::NoColumn { table: place.tables.join(" and "), column });
    }
    for ((table, plan), number) in place.tables.iter().zip(plans).zip(0..) {
        let path = profile.table(table)?;
        let footer = profile.reader(table)?;
        let groups = footer.metadata().clone();
        let mut first = 0;
        for (at, group) in groups.row_groups().iter().enumerate() {
            let begin = first;
            first += u64::try_from(group.num_rows()).unwrap_or(0);
            if !starts_in(group, place.from, place.to) || !query.possible(group) {
                continue;
            }
            let reader = profile.reader(table)?;
            let named = ["start_ts", "end_ts", "duration_ns"].into_iter();
            let named = named.chain(plan.iter().map(String::as_str));
            let mask = ProjectionMask::columns(reader.parquet_schema(), named);
            let reader = reader.with_row_groups(vec![at]).with_projection(mask);
            let reader = reader.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
            let lane = lane_of(profile, table, begin);
            let mut row = begin;
            for batch in reader {
                profile_store::stop::wanted()?;
                if begun.elapsed() > TIME {
                    return Ok(false);
                }
                let batch = batch.map_err(|error| Error::damaged(&path, error))?;
                let starts = longs(&batch, "start_ts");
                let (ends, lengths) = (longs(&batch, "end_ts"), longs(&batch, "duration_ns"));
                let times = starts.into_iter().zip(ends).zip(lengths);
                for (holds, ((start, end), length)) in query.rows(&batch).into_iter().zip(times) {
                    if holds && (place.from..place.to).contains(&start) {
                        each(Hit { table: number, lane, row, start, end, length });
                    }
                    row += 1;
                }
            }
        }
    }
    Ok(true)
}

/// Whether a row group may have a start in the range.
fn starts_in(group: &parquet::file::metadata::RowGroupMetaData, from: u64, to: u64) -> bool {
    use parquet::file::statistics::Statistics;
    let mut columns = group.columns().iter();
    let column = columns.find(|column| column.column_path().string() == "start_ts");
    match column.and_then(|column| column.statistics()) {
        Some(Statistics::Int64(of)) => of.min_opt().zip(of.max_opt()).is_none_or(|(min, max)| {
            let long = |value: &i64| u64::try_from(*value).unwrap_or(0);
            long(min) < to && long(max) >= from
        }),
        _ => true,
    }
}

/// The lane of a row: a row group has one lane alone.
fn lane_of(profile: &Profile, table: &str, row: u64) -> u32 {
    let lanes = profile.lanes().iter().zip(0..);
    let mut own = lanes.filter(|(lane, _)| lane.kind.table() == table);
    own.find(|(lane, _)| (lane.first_row..lane.first_row + lane.rows).contains(&row))
        .map_or(u32::MAX, |(_, number)| number)
}

/// The rows that meet a query, with sums.
///
/// # Errors
///
/// As for [`scan`].
pub fn find(profile: &Profile, query: &Expression, place: &Where) -> Result<Found, Error> {
    let mut found = Found::default();
    let timely = scan(profile, query, place, |hit| {
        found.all.add(&hit);
        found.lanes.entry(hit.lane).or_default().add(&hit);
        if found.hits.len() < LENGTHY {
            found.hits.push(hit);
        }
    })?;
    found.complete = timely && found.all.count == found.hits.len() as u64;
    Ok(found)
}
