//! Builds the levels of all series of a profile whose lanes and tables are
//! written.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;

use super::level::Levels;
use super::steps::{reals, times};
use super::{Series, SeriesIndex, Source, catalogue, windows};
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

/// The begin of a series without values.
const NEVER: u64 = u64::MAX;

pub(super) type Out = TileFile<BufWriter<File>>;

/// Writes `series` and `series.json` into the directory of a profile. `peak` is
/// operations per second of a matrix unit.
pub(crate) fn build(profile: &Profile, peak: f64) -> Result<(), Error> {
    let path = profile.dir().join("series");
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let mut out: Out = TileFile::new(BufWriter::with_capacity(1 << 18, file));
    let series = catalogue::series(profile, peak)?;
    let mut index = SeriesIndex { version: SeriesIndex::KNOWN, series };
    let total = profile.manifest().total_ns;
    let of = |tables: bool| -> Vec<Levels> {
        let levels = index.series.iter().map(|series| {
            let own = matches!(series.source, Source::Table { .. }) == tables;
            match shift(profile, series, total).filter(|_| own) {
                Some(shift) => Levels::new(shift, total),
                None => Levels::none(),
            }
        });
        levels.collect()
    };
    let (mut of_tables, mut of_lanes) = (of(true), of(false));
    let pages = std::thread::scope(|scope| {
        let series = &index.series;
        // Their pages come behind those of lanes, so that a file is the same each time.
        let reading = scope.spawn(|| {
            let mut out = TileFile::new(Vec::new());
            tables(profile, series, &mut of_tables, &mut out).map(|()| out.into_inner())
        });
        let done = windows::lanes(profile, series, &mut of_lanes, &mut out);
        let pages = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.and(pages)
    })?;
    let begin = out.append(&pages).map_err(Error::io("write", &path))?;
    for (series, (mut tables, lanes)) in
        index.series.iter_mut().zip(of_tables.into_iter().zip(of_lanes))
    {
        tables.moved(begin);
        let table = matches!(series.source, Source::Table { .. });
        let mut levels = if table { tables } else { lanes };
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

/// Goes through each table once.
fn tables<W: Write>(
    profile: &Profile,
    all: &[Series],
    levels: &mut [Levels],
    out: &mut TileFile<W>,
) -> Result<(), Error> {
    let mut by_table: BTreeMap<&str, Vec<(usize, &Series)>> = BTreeMap::new();
    for (at, series) in all.iter().enumerate().filter(|(_, series)| series.mean_of.is_none()) {
        if let Source::Table { table, .. } = &series.source {
            by_table.entry(table).or_default().push((at, series));
        }
    }
    for (table, series) in by_table {
        let file = profile.table(table)?;
        for batch in profile.batches(table)? {
            let batch = batch.map_err(|error| Error::damaged(&file, error))?;
            rows(profile, &batch, &series, levels, out)?;
        }
    }
    Ok(())
}

/// Numbers of a column, by row.
type Reals = Vec<Option<f64>>;

/// A series with the columns of its value and of what divides it.
type Target<'c> = (usize, &'c Reals, Option<&'c Reals>);

/// Adds the rows of a batch to the series of their core and id.
fn rows<W: Write>(
    profile: &Profile,
    batch: &RecordBatch,
    all: &[(usize, &Series)],
    levels: &mut [Levels],
    out: &mut TileFile<W>,
) -> Result<(), Error> {
    let mut columns: HashMap<&str, Reals> = HashMap::new();
    for (_, series) in all {
        let Source::Table { value, by, .. } = &series.source else { continue };
        for name in std::iter::once(value).chain(by) {
            let column = || batch.column_by_name(name).map(|column| reals(column));
            columns.entry(name).or_insert_with(|| column().unwrap_or_default());
        }
    }
    let ids = batch.column_by_name("id").and_then(|c| c.as_dictionary_opt::<Int32Type>());
    let texts = ids.and_then(|ids| ids.values().as_string_opt::<i32>());
    // Series by core and place of the id among the texts; -1 for none.
    let mut targets: HashMap<(i64, i32), Vec<Target<'_>>> = HashMap::new();
    let mut named = false;
    for (at, series) in all {
        let Source::Table { value, by, id, .. } = &series.source else { continue };
        let Some(values) = columns.get(value.as_str()) else { continue };
        let target = (*at, values, by.as_ref().and_then(|by| columns.get(by.as_str())));
        let core = i64::from(series.core.unwrap_or(0));
        let Some(id) = id else {
            targets.entry((core, -1)).or_default().push(target);
            continue;
        };
        named = true;
        let places = texts.into_iter().flat_map(|texts| (0..).zip(texts.iter()));
        for (place, _) in places.filter(|(_, text)| *text == Some(id.as_str())) {
            targets.entry((core, place)).or_default().push(target);
        }
    }
    let path = profile.dir().join("series");
    let cores = batch.column_by_name("pcore_idx").map(|column| reals(column)).unwrap_or_default();
    let keys = ids.filter(|_| named).map(|ids| ids.keys());
    let mut last: Option<((i64, i32), &[Target<'_>])> = None;
    for (row, time) in times(batch, "timestamp").into_iter().enumerate() {
        let core = cores.get(row).copied().flatten().unwrap_or(0.0) as i64;
        let key = (core, keys.map_or(-1, |keys| keys.values().get(row).copied().unwrap_or(-1)));
        let own = match last {
            Some((known, own)) if known == key => own,
            _ => targets.get(&key).map(Vec::as_slice).unwrap_or_default(),
        };
        last = Some((key, own));
        for (at, values, by) in own {
            let Some(mut number) = values.get(row).copied().flatten() else { continue };
            if let Some(by) = by {
                number /= by.get(row).copied().flatten().unwrap_or(1.0);
            }
            if let Some(levels) = levels.get_mut(*at) {
                let done = levels.push(time, number, out);
                done.map_err(|error| Error::io("write", &path)(error))?;
            }
        }
    }
    Ok(())
}
