//! Rows of tables: one with everything that is known of it, some in order, or
//! those that a search finds.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use profile_store::Profile;
use profile_store::read::{Condition, Match, Search};
use profile_store::schema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, with_profile};
use crate::serve::answer::Trouble;

/// Rows of one answer at most.
const MOST: usize = 10_000;

/// Rows where nothing is said.
const USUAL: usize = 100;

/// Dependences of one event at most, each way.
const FLOWS: usize = 256;

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
            json!({
                "name": name,
                "rows": table.rows,
                "description": schema::table(name).map(|table| &table.description),
                "columns": columns(name),
            })
        });
        let tables: Vec<Value> = tables.collect();
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
        let flows = |mine: &str, other: &str| match number {
            Some(number) => dependences(profile, (mine, number), other, &table),
            None => Ok(Vec::new()),
        };
        let (before, after) = (flows("out_id", "in_id")?, flows("in_id", "out_id")?);
        Ok(json!({
            "table": table,
            "row": row,
            "fields": fields,
            "columns": columns(&table),
            "predecessors": before,
            "successors": after,
        }))
    });
    value.await.map(Json)
}

/// The other ends of the dependences of an event, and their kinds.
fn dependences(
    profile: &Profile,
    (column, number): (&str, i64),
    other: &str,
    table: &str,
) -> Result<Vec<Value>, Trouble> {
    if !profile.manifest().tables.contains_key("Flow") {
        return Ok(Vec::new());
    }
    let is = |column: &str, text: &str| Condition {
        column: column.to_owned(),
        is: Match::Is(text.to_owned()),
    };
    let side = |end: &str| if end == "in_id" { "in_table" } else { "out_table" };
    let conditions = vec![is(column, &number.to_string()), is(side(column), table)];
    let search = Search { table: "Flow".to_owned(), conditions, from_row: 0, limit: FLOWS };
    let mut found = Vec::new();
    for row in profile.search(&search)?.rows {
        let flow = profile.row("Flow", row)?;
        found.push(json!({
            "id": flow.get(other),
            "table": flow.get(side(other)),
            "dependency_type": flow.get("dependency_type"),
            "gap_time": flow.get("gap_time"),
        }));
    }
    Ok(found)
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
