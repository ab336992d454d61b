//! Builds the levels of all series of a profile whose lanes and tables are
//! written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use super::level::Levels;
use super::steps::{reals, times};
use super::{Series, SeriesIndex, Source, catalogue};
use crate::disk::write_json;
use crate::error::Error;
use crate::read::Profile;
use crate::tiles::write::TileFile;

/// Values in a bin of the finest level, about: 2 to the power of this (our
/// choice: finer ones cost bytes, coarser ones time where values are read
/// themselves).
const VALUES: u32 = if cfg!(test) { 1 } else { 7 };

/// A series with fewer values has no levels.
const FEW: u64 = if cfg!(test) { 60 } else { 1 << 16 };

/// Pages of events of a window in which lanes are read together.
const WINDOW: usize = 16;

/// The begin of a series without values.
const NEVER: u64 = u64::MAX;

type Out = TileFile<BufWriter<File>>;

/// Writes `series` and `series.json` into the directory of a profile. `peak` is
/// operations per second of a matrix unit.
pub(crate) fn build(profile: &Profile, peak: f64) -> Result<(), Error> {
    let path = profile.dir().join("series");
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let mut out: Out = TileFile::new(BufWriter::with_capacity(1 << 18, file));
    let mut index = SeriesIndex { series: catalogue::series(profile, peak)? };
    let total = profile.manifest().total_ns;
    let mut levels: Vec<Levels> = index
        .series
        .iter()
        .map(|series| match shift(profile, series, total) {
            Some(shift) => Levels::new(shift, total),
            None => Levels::none(),
        })
        .collect();
    tables(profile, &index.series, &mut levels, &mut out)?;
    for (series, levels) in index.series.iter().zip(&mut levels) {
        if matches!(series.source, Source::Lanes { .. }) && series.mean_of.is_none() {
            lanes(profile, series, levels, total, &mut out)?;
        }
    }
    for (series, mut levels) in index.series.iter_mut().zip(levels) {
        let done = levels.finish(total, &mut out).map_err(Error::io("write", &path))?;
        series.levels = done.into_iter().filter(|level| !level.pages.is_empty()).collect();
        (series.max, series.first) = (levels.max, levels.first.unwrap_or(NEVER));
    }
    let known: Vec<Series> = index.series.clone();
    for series in &mut index.series {
        if let Some(base) = series.mean_of.and_then(|base| known.get(base)) {
            (series.max, series.first) = (base.max, base.first);
        }
    }
    index.series = with_values(index.series);
    out.into_inner().flush().map_err(Error::io("write", &path))?;
    write_json(&profile.dir().join("series.json"), &index)
}

/// Those that have values: a core may lack what another has.
fn with_values(all: Vec<Series>) -> Vec<Series> {
    let mut places = Vec::new();
    let mut kept = 0;
    for series in &all {
        places.push(kept);
        kept += usize::from(series.first != NEVER);
    }
    let mut out: Vec<Series> = all.into_iter().filter(|series| series.first != NEVER).collect();
    for series in &mut out {
        series.mean_of = series.mean_of.and_then(|base| places.get(base)).copied();
    }
    out
}

/// The finest level; `None` where there are few values.
fn shift(profile: &Profile, series: &Series, total: u64) -> Option<u32> {
    let values = match &series.source {
        Source::Lanes { lanes, .. } => {
            let rows = lanes.iter().filter_map(|lane| profile.lanes().get(*lane));
            rows.map(|lane| lane.rows).sum::<u64>() * 2
        }
        Source::Table { table, id, .. } => {
            let rows = profile.manifest().tables.get(table).map_or(0, |table| table.rows);
            // Updates are of many semaphores.
            if id.is_some() { rows / 8 } else { rows }
        }
    };
    if values < FEW || series.mean_of.is_some() {
        return None;
    }
    let step = (total / values).max(1);
    Some(((step << VALUES).ilog2()).max(if cfg!(test) { 1 } else { 4 }))
}

/// Series of a table by core and id.
type Wanted<'a> = HashMap<(i64, Option<&'a str>), Vec<(usize, &'a Series)>>;

/// Goes through each table once.
fn tables(
    profile: &Profile,
    all: &[Series],
    levels: &mut [Levels],
    out: &mut Out,
) -> Result<(), Error> {
    let mut by_table: HashMap<&str, Vec<(usize, &Series)>> = HashMap::new();
    for (at, series) in all.iter().enumerate().filter(|(_, series)| series.mean_of.is_none()) {
        if let Source::Table { table, .. } = &series.source {
            by_table.entry(table).or_default().push((at, series));
        }
    }
    let path = profile.dir().join("series");
    for (table, series) in by_table {
        let file = profile.table(table)?;
        // Series by core and id: which column they show.
        let mut wanted: Wanted<'_> = HashMap::new();
        for (at, series) in series {
            let Source::Table { id, .. } = &series.source else { continue };
            let key = (i64::from(series.core.unwrap_or(0)), id.as_deref());
            wanted.entry(key).or_default().push((at, series));
        }
        for batch in profile.batches(table)? {
            let batch = batch.map_err(|error| Error::damaged(&file, error))?;
            let column = |name: &str| batch.column_by_name(name).map(|column| reals(column));
            let mut columns: HashMap<&str, Vec<Option<f64>>> = HashMap::new();
            for (_, series) in wanted.values().flatten() {
                let Source::Table { value, by, .. } = &series.source else { continue };
                for name in std::iter::once(value).chain(by) {
                    columns.entry(name).or_insert_with(|| column(name).unwrap_or_default());
                }
            }
            let cores = column("pcore_idx").unwrap_or_default();
            let named = wanted.keys().any(|(_, id)| id.is_some());
            let mut lines = crate::read::Line::all(&batch);
            for (row, time) in times(&batch, "timestamp").into_iter().enumerate() {
                let line = lines.next();
                let core = cores.get(row).copied().flatten().unwrap_or(0.0) as i64;
                let id = if named { line.and_then(|line| line.text("id")) } else { None };
                for (at, series) in wanted.get(&(core, id)).into_iter().flatten() {
                    let Source::Table { value, by, .. } = &series.source else { continue };
                    let of = |name: &str| columns.get(name)?.get(row).copied().flatten();
                    let Some(mut number) = of(value) else { continue };
                    if let Some(by) = by {
                        number /= of(by).unwrap_or(1.0);
                    }
                    if let Some(levels) = levels.get_mut(*at) {
                        let done = levels.push(time, number, out);
                        done.map_err(Error::io("write", &path))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Goes through the events of lanes window by window.
fn lanes(
    profile: &Profile,
    series: &Series,
    levels: &mut Levels,
    total: u64,
    out: &mut Out,
) -> Result<(), Error> {
    let Source::Lanes { lanes, .. } = &series.source else { return Ok(()) };
    let path = profile.dir().join("series");
    let mut edges = Vec::new();
    for lane in lanes {
        edges.extend(profile.page_starts(*lane)?);
    }
    edges.sort_unstable();
    let mut from = 0;
    let ends = edges.into_iter().skip(WINDOW).step_by(WINDOW).chain([total]);
    for to in ends {
        if to <= from {
            continue;
        }
        for (time, value) in profile.steps(series, from, to)? {
            levels.push(time, value, out).map_err(Error::io("write", &path))?;
        }
        from = to;
    }
    Ok(())
}
