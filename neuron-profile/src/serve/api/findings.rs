//! What limits a profile, and SQL that reads it.
//!
//! Both are bounded in time, memory and length, only few run at once, and they
//! end when the one who asked goes away.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use profile_query::arrow::array::RecordBatch;
use profile_query::arrow::json::writer::{JsonArray, WriterBuilder};
use profile_query::{Dataset, Error, Limits, Session, Stop, findings};
use profile_store::Profile;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{Shared, with_profile};
use crate::serve::answer::Trouble;

/// What a question may take (our choice).
const LIMITS: Limits =
    Limits { memory: 256 << 20, spill: 4 << 30, threads: 2, time: Some(Duration::from_secs(10)) };

/// Questions that run at once; others wait.
static RUNNING: Semaphore = Semaphore::const_new(2);

/// Rows of an answer where nothing is said, and at most.
const ROWS: usize = 1000;
const MOST: usize = 10_000;

/// Bytes of rows of an answer at most, about.
const BYTES: usize = 16 << 20;

/// Stops the question when the one who asked is gone.
struct Asked(Stop);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Sql(text) => Self::request(text),
            Error::Late(_) | Error::Memory(_) => Self::new(413, error.to_string()),
            error => Self::new(500, error.to_string()),
        }
    }
}

async fn bounded<T: Send + 'static>(
    shared: Shared,
    id: String,
    work: impl FnOnce(&Profile, &Stop) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let _turn = RUNNING.acquire().await;
    let asked = Asked(Stop::default());
    let stop = asked.0.clone();
    let done = with_profile(shared, id, move |profile| work(profile, &stop)).await;
    drop(asked);
    done
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = bounded(shared, id, |profile, stop| {
        let found = findings(&Dataset::opened(profile), LIMITS, stop)?;
        Ok(json!({ "findings": found }))
    });
    value.await.map(Json)
}

/// A question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    sql: String,
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) async fn query(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(statement): Query<Statement>,
) -> Result<Json<Value>, Trouble> {
    let limit = statement.limit.unwrap_or(ROWS);
    if limit > MOST {
        return Err(Trouble::request(format!("at most {MOST} rows")));
    }
    let value = bounded(shared, id, move |profile, stop| {
        let session = Session::new(vec![Dataset::opened(profile)], LIMITS, stop)?;
        let answer = session.query(&statement.sql)?;
        let columns: Vec<Value> = answer
            .schema()
            .fields()
            .iter()
            .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
            .collect();
        let (mut left, mut bytes, mut more) = (limit, 0, false);
        let mut rows: Vec<Value> = Vec::new();
        for batch in answer {
            let batch = batch?;
            more = batch.num_rows() > left || bytes > BYTES;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            if bytes <= BYTES {
                let part = objects(&batch)?;
                bytes += part.len();
                let part: Vec<Value> = serde_json::from_slice(&part)
                    .map_err(|error| Trouble::new(500, error.to_string()))?;
                rows.extend(part);
            }
            if more {
                break;
            }
        }
        Ok(json!({ "columns": columns, "rows": rows, "more": more }))
    });
    value.await.map(Json)
}

/// The rows as a JSON list of objects.
fn objects(batch: &RecordBatch) -> Result<Vec<u8>, Trouble> {
    if batch.num_rows() == 0 {
        return Ok(b"[]".to_vec());
    }
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut writer = builder.build::<_, JsonArray>(Vec::new());
    let done = writer.write(batch).and_then(|()| writer.finish());
    done.map_err(|error| Trouble::new(500, error.to_string()))?;
    Ok(writer.into_inner())
}
