//! The values of a series themselves, out of a table or the events of lanes.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use super::{Measure, Series, Source};
use crate::error::Error;
use crate::read::Profile;

/// Values in order of time, each from its moment on.
pub(super) type Steps = Vec<(u64, f64)>;

/// Numbers of a column as real ones; null is `None`.
pub(super) fn reals(column: &dyn Array) -> Vec<Option<f64>> {
    match column.data_type() {
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().iter().map(|v| Some(v? as f64)).collect()
        }
        DataType::Int32 => {
            column.as_primitive::<Int32Type>().iter().map(|v| Some(f64::from(v?))).collect()
        }
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().iter().map(|v| Some(f64::from(v?))).collect()
        }
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().collect(),
        _ => vec![None; column.len()],
    }
}

/// Whole numbers of a column; null and negative ones are 0.
pub(super) fn times(batch: &RecordBatch, name: &str) -> Vec<u64> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
    let long = |v: Option<i64>| v.and_then(|v| u64::try_from(v).ok()).unwrap_or(0);
    column.map(|column| column.iter().map(long).collect()).unwrap_or_default()
}

/// Least and largest of a column of whole numbers in a row group.
fn bounds(group: &RowGroupMetaData, name: &str) -> Option<(i64, i64)> {
    let column = group.columns().iter().find(|column| column.column_path().string() == name)?;
    match column.statistics()? {
        Statistics::Int64(of) => Some((*of.min_opt()?, *of.max_opt()?)),
        _ => None,
    }
}

impl Profile {
    /// The steps of a series in a range; the first stands at its begin, or at
    /// the series'.
    pub(super) fn steps(&self, series: &Series, from: u64, to: u64) -> Result<Steps, Error> {
        match &series.source {
            Source::Lanes { lanes, measure } => self.lane_steps(lanes, *measure, from, to),
            Source::Table { table, value, by, id } => {
                let columns = [Some(value), by.as_ref()];
                self.table_steps(
                    series.core.unwrap_or(0),
                    table,
                    columns,
                    id.as_deref(),
                    (from, to),
                )
            }
        }
    }

    fn lane_steps(
        &self,
        lanes: &[usize],
        measure: Measure,
        from: u64,
        to: u64,
    ) -> Result<Steps, Error> {
        // Moment, what is added, and events that are added.
        let mut edges: Vec<(u64, f64, i64)> = Vec::new();
        for lane in lanes {
            self.pages_in(*lane, from, to, |place, page, row| {
                self.events_of(*lane, place, page, row, (from, to), |event| {
                    let mut end = event.end;
                    let kind = self.kinds().kind(event.name);
                    let amount = match measure {
                        Measure::Depth => 1.0,
                        Measure::Active if kind.is_some_and(|kind| kind.waits) => return,
                        Measure::Active => 1.0,
                        Measure::Flops { peak, useful } => {
                            let Some(kind) = kind.filter(|kind| kind.work.flops > 0) else {
                                return;
                            };
                            let left_out = if useful { kind.work.transpose_flops } else { 0 };
                            end = end.max(event.start + 1);
                            let flops = kind.work.flops.saturating_sub(left_out) as f64;
                            flops / (end - event.start) as f64 / peak
                        }
                    };
                    if end > from && event.start < to && end > event.start {
                        edges.push((event.start.max(from), amount, 1));
                        if end < to {
                            edges.push((end, -amount, -1));
                        }
                    }
                })
            })?;
        }
        edges.sort_unstable_by_key(|edge| edge.0);
        let mut steps: Steps = vec![(from, 0.0)];
        let (mut sum, mut open) = (0.0, 0);
        let mut edges = edges.into_iter().peekable();
        while let Some((time, amount, count)) = edges.next() {
            sum += amount;
            open += count;
            if edges.peek().is_some_and(|next| next.0 == time) {
                continue;
            }
            if open == 0 {
                // What is left is rounding.
                sum = 0.0;
            }
            let value = match measure {
                Measure::Active => f64::from(u8::from(open > 0)),
                _ => sum,
            };
            match steps.last_mut() {
                Some(last) if last.0 == time => last.1 = value,
                Some(last) if last.1 == value => {}
                _ => steps.push((time, value)),
            }
        }
        Ok(steps)
    }

    fn table_steps(
        &self,
        core: u32,
        table: &str,
        [value, by]: [Option<&String>; 2],
        id: Option<&str>,
        (from, to): (u64, u64),
    ) -> Result<Steps, Error> {
        let (_, builder) = self.builder(table)?;
        let core = i64::from(core);
        let own = builder.metadata().row_groups().iter().enumerate().filter(|(_, group)| {
            bounds(group, "pcore_idx").is_none_or(|(least, most)| (least..=most).contains(&core))
        });
        let time = |at| i64::try_from(at).unwrap_or(i64::MAX);
        let groups: Vec<(usize, i64, i64)> = own
            .map(|(at, group)| {
                let (least, most) = bounds(group, "timestamp").unwrap_or((i64::MIN, i64::MAX));
                (at, least, most)
            })
            .filter(|(_, least, _)| *least < time(to))
            .collect();
        drop(builder);
        let first = groups.partition_point(|(_, _, most)| *most < time(from));
        let mut steps = Steps::new();
        for (at, ..) in groups.iter().skip(first) {
            self.group_steps(table, *at, core, [value, by], id, |when, value| {
                if when < to {
                    steps.push((when, value));
                }
            })?;
        }
        // What holds at the begin may stand in a row group before.
        let mut before = first;
        while steps.first().is_none_or(|step| step.0 > from) && before > 0 {
            before -= 1;
            let Some((at, ..)) = groups.get(before) else { break };
            let mut last = None;
            self.group_steps(table, *at, core, [value, by], id, |when, value| {
                last = Some((when, value));
            })?;
            if let Some(last) = last {
                steps.insert(0, last);
            }
        }
        // Of several values of one nanosecond the last holds.
        steps.reverse();
        steps.dedup_by_key(|step| step.0);
        steps.reverse();
        let holds = steps.partition_point(|step| step.0 <= from);
        if let Some(holds) = holds.checked_sub(1) {
            steps.drain(..holds);
            if let Some(step) = steps.first_mut() {
                step.0 = from;
            }
        }
        Ok(steps)
    }

    fn group_steps(
        &self,
        table: &str,
        group: usize,
        core: i64,
        [value, by]: [Option<&String>; 2],
        id: Option<&str>,
        mut each: impl FnMut(u64, f64),
    ) -> Result<(), Error> {
        let (path, builder) = self.builder(table)?;
        let named = ["timestamp", "pcore_idx"].into_iter().chain(id.map(|_| "id"));
        let named = named.chain([value, by].into_iter().flatten().map(String::as_str));
        let mask = ProjectionMask::columns(builder.parquet_schema(), named);
        let reader = builder.with_row_groups(vec![group]).with_projection(mask);
        let reader = reader.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
        for batch in reader {
            crate::stop::wanted()?;
            let batch = batch.map_err(|error| Error::damaged(&path, error))?;
            rows(&batch, [value, by], id, |row_core, when, value| {
                if row_core == core {
                    each(when, value);
                }
            });
        }
        Ok(())
    }
}

/// Calls `each` with core, time and value of the rows of a batch.
fn rows(
    batch: &RecordBatch,
    [value, by]: [Option<&String>; 2],
    id: Option<&str>,
    mut each: impl FnMut(i64, u64, f64),
) {
    let column = |name: Option<&String>| Some(reals(batch.column_by_name(name?)?));
    let (values, by) = (column(value).unwrap_or_default(), column(by));
    let cores = batch.column_by_name("pcore_idx").map(|column| reals(column)).unwrap_or_default();
    let is = id.and_then(|id| wanted(batch, id));
    for (at, when) in times(batch, "timestamp").into_iter().enumerate() {
        if is.as_ref().is_some_and(|is| !is.get(at).copied().unwrap_or(false)) {
            continue;
        }
        let Some(mut value) = values.get(at).copied().flatten() else { continue };
        if let Some(by) = &by {
            value /= by.get(at).copied().flatten().unwrap_or(1.0);
        }
        let core = cores.get(at).copied().flatten().unwrap_or(0.0);
        each(core as i64, when, value);
    }
}

/// Which rows have this text in column `id`.
fn wanted(batch: &RecordBatch, id: &str) -> Option<Vec<bool>> {
    let column = batch.column_by_name("id")?.as_dictionary_opt::<Int32Type>()?;
    let texts = column.values().as_string_opt::<i32>()?;
    let fits: Vec<bool> = texts.iter().map(|text| text == Some(id)).collect();
    let fit = |key: Option<i32>| {
        let place = key.and_then(|key| usize::try_from(key).ok());
        place.and_then(|place| fits.get(place)).copied().unwrap_or(false)
    };
    Some(column.keys().iter().map(fit).collect())
}
