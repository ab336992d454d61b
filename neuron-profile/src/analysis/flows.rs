//! What an event depends on, what depends on it, and the way back along the
//! latest of what it needed.

use std::collections::{BTreeSet, HashMap};

use profile_store::read::{Condition, Match, Search};
use profile_store::{Error, Profile};
use serde_json::{Map, Value, json};

/// Dependences of one event at most, each way.
const MOST: usize = 256;

/// Which end of a dependence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// What is needed.
    Needed,
    /// What needs it.
    Needing,
}

impl End {
    const fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::Needed => ("in_id", "in_table"),
            Self::Needing => ("out_id", "out_table"),
        }
    }
}

/// An event at the other end of a dependence.
#[derive(Debug, Clone)]
pub struct Other {
    /// Its table.
    pub table: String,
    /// Its id.
    pub id: i64,
    /// Kind of dependence.
    pub kind: Option<String>,
    /// Its row and fields, where the table has it.
    pub row: Option<(u64, Map<String, Value>)>,
}

impl Other {
    /// A time of it, ns.
    fn time(&self, column: &str) -> Option<i64> {
        self.row.as_ref()?.1.get(column)?.as_i64()
    }
}

/// The lane of a row of a table.
pub fn lane(profile: &Profile, table: &str, row: u64) -> Option<usize> {
    let own = profile.lanes().iter().enumerate().filter(|(_, lane)| lane.kind.table() == table);
    let mut has =
        own.filter(|(_, lane)| (lane.first_row..lane.first_row + lane.rows).contains(&row));
    has.next().map(|(number, _)| number)
}

/// The events at the `wanted` ends of the dependences of an event.
///
/// # Errors
///
/// Tables that cannot be read.
pub fn others(profile: &Profile, table: &str, id: i64, wanted: End) -> Result<Vec<Other>, Error> {
    if !profile.manifest().tables.contains_key("Flow") {
        return Ok(Vec::new());
    }
    let own = if wanted == End::Needed { End::Needing } else { End::Needed };
    let is =
        |column: &str, text: String| Condition { column: column.to_owned(), is: Match::Is(text) };
    let conditions =
        vec![is(own.columns().0, id.to_string()), is(own.columns().1, table.to_owned())];
    let search = Search { table: String::from("Flow"), conditions, from_row: 0, limit: MOST };
    let flows = profile.rows("Flow", &profile.search(&search)?.rows)?;
    let (id_column, table_column) = wanted.columns();
    let mut out: Vec<Other> = flows
        .iter()
        .filter_map(|flow| {
            let text = |name: &str| flow.get(name)?.as_str().map(str::to_owned);
            Some(Other {
                table: text(table_column)?,
                id: flow.get(id_column)?.as_i64()?,
                kind: text("dependency_type"),
                row: None,
            })
        })
        .collect();
    let tables: BTreeSet<String> = out.iter().map(|other| other.table.clone()).collect();
    for table in tables.iter().filter(|table| profile.manifest().tables.contains_key(*table)) {
        let ids: Vec<i64> = out.iter().filter(|o| o.table == *table).map(|o| o.id).collect();
        let rows = profile.rows_of_ids(table, &ids)?;
        let mut wanted: Vec<u64> = rows.values().copied().collect();
        wanted.sort_unstable();
        let fields = profile.rows(table, &wanted)?;
        let known: HashMap<u64, Map<String, Value>> = wanted.into_iter().zip(fields).collect();
        for other in out.iter_mut().filter(|other| other.table == *table) {
            let row = rows.get(&other.id).copied();
            other.row = row.and_then(|row| Some((row, known.get(&row)?.clone())));
        }
    }
    Ok(out)
}

/// A step of a chain.
#[derive(Debug, Clone)]
pub struct Step {
    /// Table.
    pub table: String,
    /// Row.
    pub row: u64,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// Time from its end to the start of the one before it in the chain, ns;
    /// negative where that did not wait for it.
    pub gap: Option<i64>,
    /// Kind of that dependence.
    pub kind: Option<String>,
}

/// Why a chain ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is known before it.
    First,
    /// It is as long as was asked for.
    Depth,
    /// It comes back to itself.
    Loop,
}

impl Reason {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Depth => "depth",
            Self::Loop => "loop",
        }
    }
}

/// From an event back: at each step to the one that it depends on and that
/// ended last, since nothing else held it up longer.
///
/// # Errors
///
/// A row that is not there, tables that cannot be read.
pub fn chain(
    profile: &Profile,
    table: &str,
    row: u64,
    depth: usize,
) -> Result<(Vec<Step>, Reason), Error> {
    let fields = profile.row(table, row)?;
    let mut steps = vec![Step { table: table.to_owned(), row, fields, gap: None, kind: None }];
    let mut seen = BTreeSet::from([(table.to_owned(), row)]);
    loop {
        if steps.len() > depth {
            return Ok((steps, Reason::Depth));
        }
        let Some(last) = steps.last() else { return Ok((steps, Reason::First)) };
        let Some(id) = last.fields.get("id").and_then(Value::as_i64) else {
            return Ok((steps, Reason::First));
        };
        let start = last.fields.get("start_ts").and_then(Value::as_i64);
        let before = others(profile, &last.table, id, End::Needed)?;
        let latest = before
            .into_iter()
            .filter(|other| other.row.is_some())
            .max_by_key(|other| (other.time("end_ts"), other.id));
        let Some(next) = latest else { return Ok((steps, Reason::First)) };
        let gap = start.zip(next.time("end_ts")).map(|(start, end)| start - end);
        let Some((row, fields)) = next.row else { return Ok((steps, Reason::First)) };
        if !seen.insert((next.table.clone(), row)) {
            return Ok((steps, Reason::Loop));
        }
        steps.push(Step { table: next.table, row, fields, gap, kind: next.kind });
    }
}

/// Fields by which a list shows an event.
pub fn short(
    profile: &Profile,
    table: &str,
    row: u64,
    fields: &Map<String, Value>,
) -> Map<String, Value> {
    let names = ["id", "engine", "opcode", "layer", "pc", "start_ts", "end_ts", "queue_name"];
    let some =
        names.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone())));
    let mut out: Map<String, Value> = some.collect();
    out.insert(String::from("table"), json!(table));
    out.insert(String::from("row"), json!(row));
    out.insert(String::from("lane"), json!(lane(profile, table, row)));
    out
}
