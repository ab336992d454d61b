//! Runs of a log directory, for the plug-in of TensorBoard: which there are, what
//! a tool needs of one, and its operators.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, blocking};
use crate::serve::answer::Trouble;
use crate::tensorboard::ops::{Of, Ops};
use crate::tensorboard::prepare::{Board, State as Making};
use crate::tensorboard::runs::{FILES, File, Run, TOOLS};

fn board(opened: &super::Opened) -> Result<&Arc<Board>, Trouble> {
    let none = || Trouble::new(404, "this server shows no log directory");
    opened.board.as_ref().ok_or_else(none)
}

fn run(board: &Board, key: &str) -> Result<Run, Trouble> {
    let found = board.found();
    let gone = || Trouble::new(404, "the run is not there any more");
    found.run(key).cloned().ok_or_else(gone)
}

pub(in crate::serve) async fn list(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let (found, logdir) = blocking(shared, |opened| {
        let board = board(opened)?;
        Ok((board.found(), board.logdir().display().to_string()))
    })
    .await?;
    let tag = format!("\"{}\"", found.tag());
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag)) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let runs: Vec<Value> = found
        .runs
        .iter()
        .map(|run| {
            json!({
                "run": run.key,
                "name": run.name,
                "tools": run.tools(),
                "stamp": format!("{:016x}", run.stamp),
            })
        })
        .collect();
    let mut patterns: Vec<String> =
        FILES.iter().map(|(_, name)| format!("plugins/neuron/RUN/{name}")).collect();
    patterns.extend(["*.ntff", "ntrace.pb", "profiles/n_*"].map(str::to_owned));
    let answer = json!({
        "logdir": logdir,
        "directories": found.directories.len(),
        "patterns": patterns,
        "runs": runs,
        "notes": found.notes,
        "version": env!("CARGO_PKG_VERSION"),
    });
    // Asked for again and again: the browser asks whether it is still so.
    let cache = [(header::ETAG, tag), (header::CACHE_CONTROL, String::from("no-cache"))];
    Ok((cache, Json(answer)).into_response())
}

/// What for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct For {
    tool: String,
}

pub(in crate::serve) async fn one(
    State(shared): State<Shared>,
    Path(key): Path<String>,
    Query(asked): Query<For>,
) -> Result<Json<Value>, Trouble> {
    let value = blocking(shared, move |opened| {
        if !TOOLS.contains(&asked.tool.as_str()) {
            return Err(Trouble::request(format!("tool is one of {}", TOOLS.join(", "))));
        }
        let board = board(opened)?;
        let run = run(board, &key)?;
        Ok(match board.prepare(&run, &asked.tool) {
            Making::Working(since) => {
                json!({ "state": "working", "seconds": since.elapsed().as_secs_f64() })
            }
            Making::Failed(error) => json!({ "state": "failed", "error": error }),
            Making::Ready(profiles) => json!({ "state": "ready", "profiles": profiles }),
        })
    });
    value.await.map(Json)
}

/// Which operators, and of which profile; all if left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct Which {
    of: String,
    profile: Option<String>,
}

pub(in crate::serve) async fn operators(
    State(shared): State<Shared>,
    Path(key): Path<String>,
    Query(which): Query<Which>,
) -> Result<Json<Ops>, Trouble> {
    let table = blocking(shared, move |opened| {
        let of = Of::word(&which.of);
        let of = of.ok_or_else(|| Trouble::request("of is framework or hlo"))?;
        let board = board(opened)?;
        let run = run(board, &key)?;
        let (file, tool) = match of {
            Of::Framework => (File::Framework, "operator-framework"),
            Of::Hlo => (File::Hlo, "operator-hlo"),
        };
        if let Some(path) = run.files.get(&file).filter(|_| run.kept.is_empty()) {
            let read = Ops::read(path);
            return read.map_err(|error| Trouble::new(422, crate::output::one_line(&error)));
        }
        match board.prepare(&run, tool) {
            Making::Working(_) => Err(Trouble::new(409, "the profile is not made yet")),
            Making::Failed(error) => Err(Trouble::new(422, error)),
            Making::Ready(mut profiles) => {
                let wanted = which.profile;
                profiles.retain(|one| {
                    !one.system && wanted.as_ref().is_none_or(|wanted| *wanted == one.id)
                });
                if let (Some(id), true) = (&wanted, profiles.is_empty()) {
                    return Err(Trouble::new(404, format!("the run has no profile {id:?}")));
                }
                if let Some(tables) = board.tables(&run) {
                    let own = profiles.iter().filter_map(|one| tables.get(&one.id));
                    return Ok(Ops::joined(own.map(|one| one.of(of).clone())));
                }
                let tables =
                    profiles.iter().map(|one| Ok(Ops::of(&*opened.profile(&one.id)?, of)?));
                Ok(Ops::joined(tables.collect::<Result<Vec<_>, Trouble>>()?))
            }
        }
    });
    table.await.map(Json)
}
