//! The tables of a page, column by column in pieces of some thousand rows: a
//! search unpacks the columns that it names, a look at one event one piece of
//! each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Context as _;
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use profile_store::Profile;
use profile_store::read::Line;
use serde_json::{Map, Value, json};

use super::Window;
use super::archive::{Archive, places};
use super::columns::Column;
use super::events::Rows;

/// Rows of a piece.
const PIECE: usize = 8192;

/// Tables whose rows are events of lanes.
const EVENTS: [&str; 3] = ["Instruction", "DmaPacket", "SystemProfileEvents"];

/// Adds the tables; gives what the index says of them. `most` is the number of
/// rows of each at most.
pub(super) fn add(
    profile: &Profile,
    window: &Window,
    most: u64,
    rows: &Rows,
    archive: &mut Archive<'_>,
    left_out: &mut Vec<String>,
) -> anyhow::Result<Value> {
    let mut out = Map::new();
    let mut ids: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (name, table) in &profile.manifest().tables {
        let lane = EVENTS.iter().find(|known| *known == name);
        let wanted = match lane {
            Some(name) if !window.whole => {
                Which::These(rows.get(name).cloned().unwrap_or_default())
            }
            Some(_) => Which::All,
            None if table.rows <= most || window.whole && name == "Flow" => Which::All,
            // Flows come last, since their ends must be known.
            None if name == "Flow" => continue,
            None => match inside(profile, name, window)? {
                Some(rows) if u64::try_from(rows.len())? <= most => {
                    left_out.push(format!("{name}: rows outside of the window"));
                    Which::These(rows)
                }
                _ => {
                    left_out.push(format!("{name}: its {} rows", table.rows));
                    continue;
                }
            },
        };
        let known = lane.filter(|_| !window.whole).map(|name| ids.entry(*name).or_default());
        out.insert(name.clone(), one(profile, name, &wanted, known, archive)?);
    }
    if let Some(flows) = profile.manifest().tables.get("Flow").filter(|_| !out.contains_key("Flow"))
    {
        let rows = flows_of(profile, &ids)?;
        if u64::try_from(rows.len())? < flows.rows {
            left_out.push(String::from("Flow: dependences outside of the window"));
        }
        out.insert(String::from("Flow"), one(profile, "Flow", &Which::These(rows), None, archive)?);
    }
    Ok(Value::Object(out))
}

/// Rows of a table.
enum Which {
    All,
    /// These, in order.
    These(Vec<u64>),
}

/// Adds a table. `ids` takes the ids of its rows.
fn one(
    profile: &Profile,
    name: &str,
    which: &Which,
    mut ids: Option<&mut BTreeSet<i64>>,
    archive: &mut Archive<'_>,
) -> anyhow::Result<Value> {
    let reader = profile.reader(name)?;
    let schema = std::sync::Arc::clone(reader.schema());
    let reader = match which {
        Which::All => reader,
        Which::These(rows) => reader.with_row_selection(selection(rows)),
    };
    let empty = || schema.fields().iter().map(|f| Column::of(f.data_type())).collect::<Vec<_>>();
    let mut pieces: Vec<Map<String, Value>> = Vec::new();
    let mut columns = empty();
    let mut count = 0;
    let mut flush = |columns: Vec<Column>, archive: &mut Archive<'_>| -> anyhow::Result<()> {
        let mut piece = Map::new();
        for (field, column) in schema.fields().iter().zip(columns) {
            if let Some(value) = column.value() {
                piece.insert(field.name().clone(), archive.json(&value)?);
            }
        }
        pieces.push(piece);
        Ok(())
    };
    for batch in reader.with_batch_size(PIECE).build()? {
        let batch = batch.with_context(|| name.to_owned())?;
        if let Some(ids) = &mut ids {
            ids.extend(Line::all(&batch).filter_map(|line| line.long("id")));
        }
        let mut first = 0;
        while first < batch.num_rows() {
            let part = (PIECE - count % PIECE).min(batch.num_rows() - first);
            for (column, values) in columns.iter_mut().zip(batch.columns()) {
                column.take(values, first..first + part);
            }
            count += part;
            first += part;
            if count % PIECE == 0 {
                flush(std::mem::replace(&mut columns, empty()), archive)?;
            }
        }
    }
    if count % PIECE > 0 {
        flush(columns, archive)?;
    }
    let rows = match which {
        Which::All => Value::Null,
        Which::These(rows) => archive.json(&places(rows))?,
    };
    let of = profile.manifest().tables.get(name).map_or(0, |table| table.rows);
    Ok(json!({ "rows": of, "here": count, "piece": PIECE, "places": rows, "pieces": pieces }))
}

/// Rows by number, for a reader of all row groups.
fn selection(rows: &[u64]) -> RowSelection {
    let mut out = Vec::new();
    let mut next = 0;
    for run in rows.chunk_by(|a, b| a + 1 == *b) {
        let Some(first) = run.first() else { continue };
        if *first > next {
            out.push(RowSelector::skip(usize::try_from(first - next).unwrap_or(usize::MAX)));
        }
        out.push(RowSelector::select(run.len()));
        next = first + u64::try_from(run.len()).unwrap_or(0);
    }
    RowSelection::from(out)
}

/// Rows of a table in the window, with the last one before it of each core and
/// id, whose value holds at its begin; none where rows have no time.
fn inside(profile: &Profile, name: &str, window: &Window) -> anyhow::Result<Option<Vec<u64>>> {
    let has = |column: &str| {
        profile.reader(name).is_ok_and(|reader| reader.schema().column_with_name(column).is_some())
    };
    let (begin, end) = match (has("timestamp"), has("start_ts") && has("end_ts")) {
        (true, _) => ("timestamp", "timestamp"),
        (_, true) => ("start_ts", "end_ts"),
        _ => return Ok(None),
    };
    let mut out = Vec::new();
    let mut before: HashMap<(i64, String), u64> = HashMap::new();
    let mut row = 0;
    for batch in profile.batches(name)? {
        let batch: RecordBatch = batch.with_context(|| name.to_owned())?;
        for line in Line::all(&batch) {
            let time = |column| u64::try_from(line.long(column).unwrap_or(0)).unwrap_or(0);
            let (start, end) = (time(begin), time(end));
            if start < window.to && (start >= window.from || end > window.from) {
                out.push(row);
            } else if start < window.from {
                let core = line.long("pcore_idx").unwrap_or(0);
                before.insert((core, line.text("id").unwrap_or_default().to_owned()), row);
            }
            row += 1;
        }
    }
    if begin == "timestamp" {
        out.extend(before.into_values());
        out.sort_unstable();
    }
    Ok(Some(out))
}

/// Rows of dependences with an end among some events.
fn flows_of(profile: &Profile, ids: &BTreeMap<&str, BTreeSet<i64>>) -> anyhow::Result<Vec<u64>> {
    let mut out = Vec::new();
    let mut row = 0;
    for batch in profile.batches("Flow")? {
        let batch = batch.context("Flow")?;
        for line in Line::all(&batch) {
            let end = |id, table| {
                let known = line.text(table).and_then(|table| ids.get(table));
                known.zip(line.long(id)).is_some_and(|(known, id)| known.contains(&id))
            };
            if end("in_id", "in_table") || end("out_id", "out_table") {
                out.push(row);
            }
            row += 1;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_runs() {
        let runs: Vec<RowSelector> = selection(&[2, 3, 4, 9]).into();
        let (skip, select) = (RowSelector::skip, RowSelector::select);
        assert_eq!(runs, [skip(2), select(3), skip(4), select(1)]);
    }
}
