//! What limits a profile, with the rows that show it.

use datafusion::arrow::array::{Array, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::json::writer::{JsonArray, WriterBuilder};
use datafusion::arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::error::Error;
use crate::facts::facts;
use crate::limits::{Limits, Stop};
use crate::rules::{Finding, judge};
use crate::session::Session;

/// A row of a table that shows what a finding says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceRow {
    /// The table.
    pub table: &'static str,
    /// The row's place in it, from 0, as in `/api/v1/profiles/ID/events/TABLE/ROW`.
    pub row: u64,
    /// What of it matters here; nulls are left out.
    pub fields: Map<String, Value>,
}

/// A finding with its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Rows that show it, the clearest first.
    pub evidence: Vec<EvidenceRow>,
    /// Why this process looked for them, where a cluster was asked for.
    #[serde(skip)]
    pub here: Option<&'static str>,
}

/// What limits a profile: faults of the hardware, then the heaviest.
///
/// # Errors
///
/// Tables that cannot be read, and the ends that limits and a stop make.
pub fn findings(profile: &Dataset, limits: Limits, stop: &Stop) -> Result<Vec<Judged>, Error> {
    judge_all(&Session::new(vec![profile.clone()], limits, stop)?)
}

/// The same in a session of one profile.
///
/// # Errors
///
/// As [`findings`].
pub fn judge_all(session: &Session) -> Result<Vec<Judged>, Error> {
    let mut judged = Vec::new();
    for finding in judge(&facts(session)?) {
        let mut evidence = Vec::new();
        let found = session.query(&finding.sql)?;
        let here = found.here();
        for batch in found {
            evidence.extend(rows(finding.table, &batch?)?);
        }
        judged.push(Judged { finding, evidence, here });
    }
    Ok(judged)
}

/// The rows of an answer, whose first column is `row`.
fn rows(table: &'static str, batch: &RecordBatch) -> Result<Vec<EvidenceRow>, Error> {
    let broken = |what: &dyn std::fmt::Display| Error::Read(format!("evidence in {table}: {what}"));
    let places = batch.column_by_name("row").and_then(|row| row.as_primitive_opt::<Int64Type>());
    let places = places.ok_or_else(|| broken(&"no column row"))?.clone();
    let mut json = WriterBuilder::new().build::<_, JsonArray>(Vec::new());
    json.write(batch).and_then(|()| json.finish()).map_err(|error| broken(&error))?;
    let text = json.into_inner();
    if batch.num_rows() == 0 {
        return Ok(Vec::new());
    }
    let objects: Vec<Map<String, Value>> =
        serde_json::from_slice(&text).map_err(|error| broken(&error))?;
    let all = objects.into_iter().enumerate().map(|(at, mut fields)| {
        fields.remove("row");
        let row = (!places.is_null(at)).then(|| places.value(at));
        let row = row.and_then(|row| u64::try_from(row).ok());
        Ok(EvidenceRow { table, row: row.ok_or_else(|| broken(&"no row number"))?, fields })
    });
    all.collect()
}
