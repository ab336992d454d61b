//! Searches over events: pages, sums, and the columns that have a match.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use profile_store::read::Columns;
use profile_store::{Error, Profile};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::timeline::WIDTH;
use super::{Shared, blocking};
use crate::analysis::search::{Hit, Statistics, Where, parse, scan};
use crate::serve::answer::Trouble;
use crate::serve::opened::Asked;
use crate::serve::wire;

/// Rows where nothing is said, and at most.
const USUAL: usize = 50;
const MOST: usize = 1000;

/// Tables where nothing is said: those with lanes.
const TABLES: [&str; 3] = ["Instruction", "DmaPacket", "SystemProfileEvents"];

/// What is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    q: String,
    tables: Option<String>,
    from: Option<u64>,
    to: Option<u64>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    width: Option<u32>,
}

impl Request {
    /// The search of a profile; its tables are those that it has.
    fn asked(&self, profile: &Profile, whole: bool) -> Result<Asked, Trouble> {
        let has = |table: &&str| profile.manifest().tables.contains_key(*table);
        let tables: Vec<String> = match &self.tables {
            None => TABLES.iter().filter(|table| has(table)).map(|t| (*t).to_owned()).collect(),
            Some(list) => {
                let mut tables = Vec::new();
                for table in list.split(',') {
                    if !TABLES.contains(&table) {
                        return Err(Trouble::request(
                            "tables are Instruction, DmaPacket and SystemProfileEvents",
                        ));
                    }
                    if has(&table) && !tables.iter().any(|known| known == table) {
                        tables.push(table.to_owned());
                    }
                }
                tables
            }
        };
        let (from, to) = (self.from.unwrap_or(0), self.to.unwrap_or(u64::MAX));
        if from >= to {
            return Err(Error::BadRange { start: from, end: to, width: 1 }.into());
        }
        let (from, to) = if whole { (0, u64::MAX) } else { (from, to) };
        Ok(Asked {
            profile: profile.manifest().id.clone(),
            written: profile.manifest().written_at_ns,
            query: self.q.clone(),
            place: Where { tables, from, to },
        })
    }
}

fn statistics(of: &Statistics) -> Map<String, Value> {
    let some = of.count > 0;
    let mean = of.sum as f64 / of.count.max(1) as f64;
    let value = json!({
        "count": of.count,
        "start_ns": some.then_some(of.start),
        "end_ns": some.then_some(of.end),
        "duration_ns": {
            "sum": of.sum,
            "min": some.then_some(of.min),
            "max": some.then_some(of.max),
            "mean": some.then_some(mean),
        },
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields of some rows that were found.
fn rows(profile: &Profile, tables: &[String], hits: &[Hit]) -> Result<Vec<Value>, Trouble> {
    let mut out = Vec::with_capacity(hits.len());
    for part in hits.chunk_by(|a, b| a.table == b.table) {
        let table = part.first().and_then(|hit| tables.get(usize::try_from(hit.table).ok()?));
        let Some(table) = table else { continue };
        let wanted: Vec<u64> = part.iter().map(|hit| hit.row).collect();
        for (mut fields, hit) in profile.rows(table, &wanted)?.into_iter().zip(part) {
            fields.insert(String::from("table"), json!(table));
            fields.insert(String::from("row"), json!(hit.row));
            fields.insert(String::from("lane"), json!(hit.lane));
            out.push(Value::Object(fields));
        }
    }
    Ok(out)
}

pub(super) async fn search(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(request): Query<Request>,
) -> Result<Json<Value>, Trouble> {
    let value = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        let asked = request.asked(&profile, false)?;
        let found = opened.search(&profile, &asked)?;
        let limit = request.limit.unwrap_or(USUAL).clamp(1, MOST);
        let listed = found.hits.len();
        let from = request.offset.min(listed);
        let to = from.saturating_add(limit).min(listed);
        let page = found.hits.get(from..to).unwrap_or_default();
        let mut sums = statistics(&found.all);
        let lanes = found.lanes.iter().map(|(lane, of)| {
            let mut fields = statistics(of);
            fields.insert(String::from("lane"), json!(lane));
            Value::Object(fields)
        });
        sums.insert(String::from("lanes"), lanes.collect());
        Ok(json!({
            "total": found.all.count,
            "complete": found.complete,
            "rows": rows(&profile, &asked.place.tables, page)?,
            "offset": from,
            "next": (to < listed).then_some(to),
            "statistics": sums,
        }))
    });
    value.await.map(Json)
}

pub(super) async fn matches(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(request): Query<Request>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        let (from, to) =
            (request.from.unwrap_or(0), request.to.unwrap_or(profile.manifest().total_ns));
        let columns = Columns::new(from, to, request.width.unwrap_or(WIDTH))?;
        // Zooming asks for one search again and again.
        let asked = request.asked(&profile, true)?;
        let found = opened.search(&profile, &asked)?;
        let mut counts = Counts::new(columns, profile.lanes().len());
        if found.complete {
            found.hits.iter().for_each(|hit| counts.add(hit));
        } else {
            let query = parse(&request.q).map_err(|error| Trouble::request(error.to_string()))?;
            let (from, to) = (columns.start, columns.end());
            let place = Where { from, to, ..asked.place };
            scan(&profile, &query, &place, |hit| counts.add(&hit))?;
        }
        Ok(wire::matches(&columns, &counts.lanes()))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?))
}

/// Matches by lane and column.
struct Counts {
    columns: Columns,
    lanes: Vec<Vec<u32>>,
}

impl Counts {
    fn new(columns: Columns, lanes: usize) -> Self {
        Self { columns, lanes: vec![Vec::new(); lanes] }
    }

    fn add(&mut self, hit: &Hit) {
        let Some(at) = self.columns.at(hit.start) else { return };
        let width = self.columns.columns as usize;
        let lane = usize::try_from(hit.lane).ok().and_then(|lane| self.lanes.get_mut(lane));
        let Some(lane) = lane else { return };
        if lane.is_empty() {
            lane.resize(width, 0);
        }
        if let Some(count) = lane.get_mut(at as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// Lanes and columns that have some.
    fn lanes(self) -> Vec<(usize, Vec<(u32, u32)>)> {
        let some = self.lanes.into_iter().enumerate().filter(|(_, lane)| !lane.is_empty());
        let columns =
            |lane: Vec<u32>| (0..).zip(lane).filter(|(_, count)| *count > 0).collect::<Vec<_>>();
        some.map(|(at, lane)| (at, columns(lane))).collect()
    }
}
