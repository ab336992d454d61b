//! Rows of tables: one with everything that is known of it, some in order, or
//! those that a search finds.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use profile_store::Profile;
use profile_store::read::{Condition, Match, Search};
use profile_store::schema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Shared, with_profile};
use crate::analysis::flows::{End, Other, chain, lane, others, short};
use crate::analysis::stacks::call_stacks;
use crate::serve::answer::Trouble;

/// Rows of one answer at most.
const MOST: usize = 10_000;

/// Rows where nothing is said.
const USUAL: usize = 100;

/// Steps of a chain where nothing is said, and at most.
const DEPTH: usize = 32;
const DEEPEST: usize = 1000;

/// The metrics of a profile as columns: which there are, the profile says.
fn metrics(profile: &Profile) -> Result<Value, Trouble> {
    let schema = profile.reader("Summary")?.schema().clone();
    let one = |field: &arrow_schema::FieldRef| {
        let known = schema::metric(field.name());
        let kind = match field.data_type() {
            arrow_schema::DataType::Int64 => schema::Kind::Long,
            arrow_schema::DataType::Float64 => schema::Kind::Double,
            _ => schema::Kind::Text,
        };
        json!({
            "name": field.name(),
            "type": kind.name(),
            "unit": known.map_or("", |metric| metric.unit),
            "description": known.map_or("", |metric| metric.description),
        })
    };
    Ok(schema.fields().iter().map(one).collect())
}

/// The columns of a table, for people.
fn columns(table: &str) -> Value {
    let columns = schema::table(table).map_or(&[][..], |table| &table.columns);
    let one = |column: &schema::Column| {
        json!({
            "name": column.name,
            "type": column.kind.name(),
            "unit": column.unit,
            "description": column.description,
        })
    };
    columns.iter().map(one).collect()
}

pub(super) async fn tables(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, |profile| {
        let tables = profile.manifest().tables.iter().map(|(name, table)| {
            let columns = if name == "Summary" { metrics(profile)? } else { columns(name) };
            Ok(json!({
                "name": name,
                "rows": table.rows,
                "description": schema::table(name).map(|table| &table.description),
                "columns": columns,
            }))
        });
        let tables: Vec<Value> = tables.collect::<Result<_, Trouble>>()?;
        Ok(json!({ "tables": tables, "absent": profile.manifest().absent }))
    });
    value.await.map(Json)
}

/// An event by its table and row.
pub(super) async fn one(
    State(shared): State<Shared>,
    Path((id, table, row)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let fields = profile.row(&table, row)?;
        let number = fields.get("id").and_then(Value::as_i64);
        let flows = |end| match number {
            Some(number) => dependences(profile, (&table, number, &fields), end),
            None => Ok(Vec::new()),
        };
        let (before, after) = (flows(End::Needed)?, flows(End::Needing)?);
        let stacks =
            if table == "Instruction" { call_stacks(profile, &fields)? } else { Vec::new() };
        Ok(json!({
            "table": table,
            "row": row,
            "lane": lane(profile, &table, row),
            "fields": fields,
            "columns": columns(&table),
            "predecessors": before,
            "successors": after,
            "call_stacks": stacks,
        }))
    });
    value.await.map(Json)
}

/// The other ends of the dependences of an event.
fn dependences(
    profile: &Profile,
    (table, number, fields): (&str, i64, &Map<String, Value>),
    end: End,
) -> Result<Vec<Value>, Trouble> {
    let time = |fields: &Map<String, Value>, name: &str| fields.get(name).and_then(Value::as_i64);
    let one = |other: Other| {
        let none = Map::new();
        let theirs = other.row.as_ref().map_or(&none, |(_, fields)| fields);
        let mut out = match &other.row {
            Some((row, fields)) => short(profile, &other.table, *row, fields),
            None => Map::new(),
        };
        // From the end of the first to the start of the second.
        let (first, second) = if end == End::Needed { (theirs, fields) } else { (fields, theirs) };
        let gap = time(second, "start_ts").zip(time(first, "end_ts")).map(|(a, b)| a - b);
        out.insert(String::from("id"), json!(other.id));
        out.insert(String::from("table"), json!(other.table));
        out.insert(String::from("dependency_type"), json!(other.kind));
        out.insert(String::from("gap_time"), json!(gap));
        Value::Object(out)
    };
    Ok(others(profile, table, number, end)?.into_iter().map(one).collect())
}

/// How far a chain goes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Depth {
    depth: Option<usize>,
}

/// The way back from an event along the latest of what it needed.
pub(super) async fn way_back(
    State(shared): State<Shared>,
    Path((id, table, row)): Path<(String, String, u64)>,
    Query(asked): Query<Depth>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let depth = asked.depth.unwrap_or(DEPTH).min(DEEPEST);
        let (steps, end) = chain(profile, &table, row, depth)?;
        let steps = steps.iter().map(|step| {
            let mut out = short(profile, &step.table, step.row, &step.fields);
            out.insert(String::from("gap_ns"), json!(step.gap));
            out.insert(String::from("dependency_type"), json!(step.kind));
            Value::Object(out)
        });
        Ok(json!({ "chain": steps.collect::<Vec<_>>(), "end": end.name() }))
    });
    value.await.map(Json)
}

/// `from`, `limit`, and conditions: a column and what it must be.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    from: u64,
    #[serde(default)]
    limit: Option<usize>,
    /// `COLUMN=TEXT`, `COLUMN~TEXT` for a text that has it, `COLUMN=A..B` for a
    /// range of numbers.
    #[serde(flatten)]
    conditions: BTreeMap<String, String>,
}

impl Asked {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }

    fn search(&self, table: String) -> Search {
        let conditions = self.conditions.iter().map(|(column, text)| {
            let range = text.split_once("..").and_then(|(low, high)| {
                let end = |text: &str, open| match text {
                    "" => Some(open),
                    text => text.parse().ok(),
                };
                let range = (end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?);
                (text != "..").then_some(range)
            });
            let is = match (column.strip_suffix('~'), range) {
                (Some(_), _) => Match::Has(text.clone()),
                (None, Some((low, high))) => Match::Between(low, high),
                (None, None) => Match::Is(text.clone()),
            };
            Condition { column: column.trim_end_matches('~').to_owned(), is }
        });
        Search { table, conditions: conditions.collect(), from_row: self.from, limit: self.limit() }
    }
}

/// Rows in order, from one on.
pub(super) async fn rows(
    State(shared): State<Shared>,
    Path((id, table)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, Trouble> {
    found(shared, id, table, asked).await
}

/// Rows that meet all conditions.
pub(super) async fn search(
    State(shared): State<Shared>,
    Path((id, table)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, Trouble> {
    if asked.conditions.is_empty() {
        return Err(Trouble::request("give a condition: COLUMN=VALUE, COLUMN~=PART, COLUMN=A..B"));
    }
    found(shared, id, table, asked).await
}

async fn found(
    shared: Shared,
    id: String,
    table: String,
    asked: Asked,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let found = profile.search(&asked.search(table.clone()))?;
        let mut rows = profile.rows(&table, &found.rows)?;
        for (fields, row) in rows.iter_mut().zip(&found.rows) {
            fields.insert("row".to_owned(), json!(row));
        }
        let next = found.rows.last().filter(|_| found.more).map(|last| last + 1);
        Ok(json!({ "table": table, "rows": rows, "next": next }))
    });
    value.await.map(Json)
}
