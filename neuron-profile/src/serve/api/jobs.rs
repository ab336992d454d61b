//! Uploads, the jobs that ingest them, and what changes meanwhile.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use super::{Shared, blocking, profiles};
use crate::serve::answer::Trouble;
use crate::serve::jobs::Work;
use crate::serve::live::Change;
use crate::view::ingest::Given;
use crate::view::stem;

/// Name of the file that is uploaded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    name: String,
}

pub(super) async fn upload(
    State(shared): State<Shared>,
    Query(named): Query<Named>,
    body: Body,
) -> Result<Response, Trouble> {
    let mut writing = tokio::task::block_in_place(|| shared.uploads.begin(&named.name))?;
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        // A client that dies leaves nothing.
        let piece = piece.map_err(|_| Trouble::request("the upload broke off"))?;
        tokio::task::block_in_place(|| writing.write(&piece))?;
    }
    let (name, bytes) = (writing.name().to_owned(), writing.bytes());
    let upload = shared.uploads.finish(writing);
    let told = json!({ "upload": upload, "name": name, "bytes": bytes });
    Ok((StatusCode::CREATED, Json(told)).into_response())
}

pub(super) async fn forget(
    State(shared): State<Shared>,
    Path(upload): Path<String>,
) -> Result<StatusCode, Trouble> {
    let taken = blocking(shared, move |opened| opened.uploads.take(&upload).map(drop));
    taken.await.map(|()| StatusCode::NO_CONTENT)
}

/// A job that is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    neff: String,
    ntff: String,
    #[serde(default)]
    display_name: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    /// From 1.
    #[serde(default)]
    execution: Option<u32>,
    #[serde(default)]
    force: bool,
}

pub(super) async fn start(
    State(shared): State<Shared>,
    Json(wanted): Json<Wanted>,
) -> Result<Response, Trouble> {
    profiles::check(wanted.display_name.as_ref(), &wanted.tags)?;
    let execution = match wanted.execution {
        Some(0) => return Err(Trouble::request("execution counts from 1")),
        execution => execution.unwrap_or(1) - 1,
    };
    let told = blocking(shared, move |opened| {
        let (neff, ntff) = opened.uploads.take_pair(&wanted.neff, &wanted.ntff)?;
        let given = Given {
            neff: neff.name.clone(),
            trace: ntff.name.clone(),
            size: ntff.bytes,
            execution,
            display_name: wanted.display_name,
            tags: wanted.tags,
            force: wanted.force,
            no_usage: false,
        };
        let name = given.display_name.clone().unwrap_or_else(|| stem(&given.trace));
        let added = opened.jobs.add(name, Work { neff, ntff, given });
        added.ok_or_else(|| Trouble::new(507, "too many jobs wait"))
    });
    Ok((StatusCode::ACCEPTED, Json(told.await?)).into_response())
}

pub(super) async fn list(State(shared): State<Shared>) -> Json<Value> {
    Json(json!({ "jobs": shared.jobs.all() }))
}

fn missing(job: u64) -> Trouble {
    Trouble::new(404, format!("there is no job {job}"))
}

pub(super) async fn one(
    State(shared): State<Shared>,
    Path(job): Path<u64>,
) -> Result<Json<Value>, Trouble> {
    shared.jobs.one(job).map(Json).ok_or_else(|| missing(job))
}

pub(super) async fn cancel(
    State(shared): State<Shared>,
    Path(job): Path<u64>,
) -> Result<Response, Trouble> {
    let cancelled = shared.jobs.cancel(job).ok_or_else(|| missing(job))?;
    Ok(match cancelled {
        Some(told) => (StatusCode::ACCEPTED, Json(told)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// How often a listener hears that the server lives.
const ALIVE: Duration = Duration::from_secs(15);

/// Changes as server-sent events, until the client or the server goes.
pub(super) async fn events(State(shared): State<Shared>) -> Result<Response, Trouble> {
    let mut changes =
        blocking(shared.clone(), |opened| Ok(opened.live.listen(&opened.store))).await?;
    let (send, told) = tokio::sync::mpsc::channel::<Result<Event, Infallible>>(16);
    tokio::spawn(async move {
        let event =
            |name: &str, data: &Value| Ok(Event::default().event(name).data(data.to_string()));
        let hello = json!({ "version": env!("CARGO_PKG_VERSION") });
        let mut next = event("hello", &hello);
        loop {
            if send.send(next).await.is_err() {
                return;
            }
            let change = tokio::select! {
                change = changes.recv() => change,
                () = shared.ended() => return,
                () = send.closed() => return,
            };
            next = match change {
                Ok(Change::Profiles(ids)) => event("profiles", &ids),
                Ok(Change::Job(job)) => event("job", &job),
                // It was too slow: it asks for all anew.
                Err(RecvError::Lagged(_)) => event("hello", &hello),
                Err(RecvError::Closed) => return,
            };
        }
    });
    let alive = KeepAlive::new().interval(ALIVE);
    Ok(Sse::new(ReceiverStream::new(told)).keep_alive(alive).into_response())
}
