//! The values of a series themselves, out of a table or the events of lanes.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use super::rows::Place;
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
            Source::Table { .. } if to <= series.first => Ok(Steps::new()),
            Source::Table { table, value, by, id } => {
                let place = (table.clone(), value.clone(), by.clone());
                let own = (series.core.unwrap_or(0), id.as_deref());
                self.table_steps(&place, own, (from, to))
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
        place: &Place,
        (core, id): (u32, Option<&str>),
        (from, to): (u64, u64),
    ) -> Result<Steps, Error> {
        let (_, builder) = self.builder(&place.0)?;
        let own = builder.metadata().row_groups().iter().enumerate().filter(|(_, group)| {
            let core = i64::from(core);
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
        let mut begin = None;
        for (number, (at, ..)) in groups.iter().enumerate().skip(first) {
            let chunks = self.chunks(&place.0, *at)?;
            let mut add = |when, value| {
                if when < to {
                    steps.push((when, value));
                }
            };
            if !chunks.in_order {
                begin.get_or_insert((number, 0));
                self.group_values(place, *at, (core, id), add)?;
                continue;
            }
            for chunk in chunks.within(from, to) {
                begin.get_or_insert((number, chunk));
                self.chunk_rows(place, *at, chunk)?.each((core, id), (from, to), &mut add);
            }
        }
        let begin = begin.unwrap_or((first, 0));
        if steps.first().is_none_or(|step| step.0 > from)
            && let Some(step) = self.before(place, (core, id), &groups, begin, from)?
        {
            steps.insert(0, step);
        }
        if !steps.is_sorted_by_key(|step| step.0) {
            steps.sort_by_key(|step| step.0);
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

    /// What holds at `from`, from in front of a chunk of a row group. It is in the
    /// chunk before nearly always; if not, whole row groups are read.
    fn before(
        &self,
        place: &Place,
        (core, id): (u32, Option<&str>),
        groups: &[(usize, i64, i64)],
        (number, chunk): (usize, usize),
        from: u64,
    ) -> Result<Option<(u64, f64)>, Error> {
        let end = number + usize::from(chunk > 0);
        for (back, (at, ..)) in groups.iter().take(end).rev().enumerate() {
            let chunks = self.chunks(&place.0, *at)?;
            let near = chunk.checked_sub(1).or(chunks.count().checked_sub(1));
            if let Some(near) = near.filter(|_| back == 0 && chunks.in_order)
                && let Some(found) = self.chunk_rows(place, *at, near)?.latest(core, id)
            {
                return Ok(Some(found));
            }
            let mut found = None;
            self.group_values(place, *at, (core, id), |when, value| {
                if when <= from {
                    found = Some((when, value));
                }
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
