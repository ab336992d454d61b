//! Profiles: which there are, what each is, its metrics, its name.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use profile_store::disk::Entry;
use profile_store::read::objects;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, blocking, documents, kinds, with_profile};
use crate::analysis::region::metrics;
use crate::serve::answer::Trouble;
use crate::sources::Sources;

/// Letters of a name at most (profiler.md §3.14), and of a tag.
const LETTERS: usize = 150;

/// Tags at most.
const TAGS: usize = 64;

pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy", "version": env!("CARGO_PKG_VERSION") }))
}

/// A profile in lists.
fn entry(entry: &Entry) -> Value {
    let manifest = &entry.manifest;
    json!({
        "id": manifest.id,
        "display_name": entry.labels.display_name,
        "tags": entry.labels.tags,
        "neff": manifest.neff,
        "trace": manifest.trace,
        "simulated": manifest.simulated,
        "execution": manifest.execution,
        "total_ns": manifest.total_ns,
        "events": manifest.events,
        "bytes": manifest.bytes,
        "written_at_ns": manifest.written_at_ns,
        "written_by": manifest.written_by,
    })
}

pub(super) async fn list(State(shared): State<Shared>) -> Result<Json<Value>, Trouble> {
    let (found, bad) = blocking(shared, |opened| {
        let Some(board) = &opened.board else { return Ok(opened.store.list()?) };
        // Others in the store are of other log directories.
        let shown = board.shown();
        let entries = shown.iter().filter_map(|id| opened.store_of(id).entry(id).ok());
        Ok((entries.collect(), Vec::new()))
    })
    .await?;
    let profiles: Vec<Value> = found.iter().map(entry).collect();
    let bad: Vec<String> = bad.iter().map(ToString::to_string).collect();
    Ok(Json(json!({ "profiles": profiles, "damaged": bad })))
}

pub(super) async fn one(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, |profile| {
        let lanes = profile.lanes().iter().enumerate().map(|(number, lane)| {
            json!({
                "number": number,
                "kind": lane.kind,
                "core": lane.core,
                "name": lane.name,
                "group": lane.group,
                "table": lane.kind.table(),
                "first_row": lane.first_row,
                "rows": lane.rows,
                "start_ns": lane.start,
                "end_ns": lane.end,
            })
        });
        let of = Entry { manifest: profile.manifest().clone(), labels: profile.labels().clone() };
        let mut value = entry(&of);
        value["lanes"] = lanes.collect();
        let names = profile.names().iter().take(kinds::USUAL).map(|name| kinds::cut(name));
        value["names"] = names.collect();
        value["kinds"] = json!(profile.names().len());
        value["tables"] = json!(profile.manifest().tables);
        value["absent"] = json!(profile.manifest().absent);
        value["notes"] = json!(profile.manifest().notes);
        Ok(value)
    });
    value.await.map(Json)
}

/// A region.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Region {
    from: Option<u64>,
    to: Option<u64>,
}

pub(super) async fn summary(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(region): Query<Region>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        if region.from.is_some() || region.to.is_some() {
            let (from, to) =
                (region.from.unwrap_or(0), region.to.unwrap_or(profile.manifest().total_ns));
            let metrics = metrics(profile, from, to)?;
            return Ok(json!({ "from": from, "to": to, "metrics": metrics }));
        }
        let mut metrics = Vec::new();
        for batch in profile.batches("Summary")? {
            let batch = batch.map_err(|error| Trouble::new(500, error.to_string()))?;
            metrics.extend(objects(&batch).map(Value::Object));
        }
        Ok(json!({ "summary": metrics }))
    });
    value.await.map(Json)
}

/// What a person may change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    display_name: Option<String>,
    tags: Option<Vec<String>>,
}

/// Whether a name and tags may be given.
pub(super) fn check(name: Option<&String>, tags: &[String]) -> Result<(), Trouble> {
    for text in name.into_iter().chain(tags) {
        let letters = text.chars().count();
        if text.trim().is_empty() || letters > LETTERS || text.chars().any(char::is_control) {
            let text = format!("a name or tag has 1 to {LETTERS} printable letters");
            return Err(Trouble::request(text));
        }
    }
    if tags.len() > TAGS {
        return Err(Trouble::request(format!("at most {TAGS} tags")));
    }
    Ok(())
}

pub(super) async fn rename(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Json(change): Json<Change>,
) -> Result<Json<Value>, Trouble> {
    check(change.display_name.as_ref(), change.tags.as_deref().unwrap_or_default())?;
    let changed = blocking(shared, move |opened| {
        // The route is for ids; names are the command line's.
        opened.store.entry(&id)?;
        Ok(opened.store.label(&id, |labels| {
            if let Some(name) = change.display_name {
                labels.display_name = name;
            }
            if let Some(tags) = change.tags {
                labels.tags = tags;
            }
        })?)
    });
    Ok(Json(entry(&changed.await?)))
}

pub(super) async fn delete(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<StatusCode, Trouble> {
    let deleted = blocking(shared, move |opened| {
        opened.store.entry(&id)?;
        opened.store.delete(&id)?;
        documents::forget(opened, &id)?;
        Ok(Sources::of(opened.store.root(), &id).forget()?)
    });
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}
