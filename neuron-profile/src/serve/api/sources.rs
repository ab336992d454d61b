//! Source files of a profile, and what their lines cost.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use profile_store::Profile;
use serde::Deserialize;
use serde_json::{Value, json};

use super::kinds::cut;
use super::trees::engines;
use super::{Shared, blocking};
use crate::analysis::tree::{By, Tree};
use crate::serve::answer::Trouble;
use crate::serve::opened::Opened;
use crate::sources::{Error, Sources};

/// Files of an answer at most.
const MOST: usize = 10_000;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Name | Error::Text => 400,
            Error::Missing => 404,
            Error::Large => 413,
            Error::Many => 507,
            Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::StorageFull => 507,
            Error::Io { .. } => 500,
        };
        Self::new(status, error.to_string())
    }
}

/// The files of a profile that is there.
fn kept(opened: &Opened, id: &str) -> Result<Sources, Trouble> {
    opened.store.entry(id)?;
    Ok(Sources::of(opened.store.root(), id))
}

/// The tree of files and lines with the sums of a range.
fn tree(profile: &Profile, from: u64, to: u64) -> Result<Tree<'_>, Trouble> {
    let mut tree = Tree::new(profile, By::Source, &[]);
    let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    tree.fill(profile, &profile.selection(from, to, &lanes)?);
    Ok(tree)
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        let stored = kept(opened, &id)?.list()?;
        let mut stored: BTreeMap<&str, u64> =
            stored.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
        let tree = tree(&profile, 0, profile.manifest().total_ns.max(1))?;
        let mut files = Vec::new();
        let named = tree.nodes.iter().filter(|node| node.parent.is_none());
        for node in named.filter(|node| !node.children.is_empty()).take(MOST) {
            let bytes = stored.remove(node.name);
            files.push(json!({
                "name": cut(node.name),
                "stored": bytes.is_some(),
                "bytes": bytes,
                "lines": node.children.len(),
                "count": node.sums.count,
                "busy_ns": node.sums.busy,
            }));
        }
        for (name, bytes) in stored {
            files.push(json!({
                "name": name, "stored": true, "bytes": bytes, "lines": 0, "count": 0, "busy_ns": 0,
            }));
        }
        Ok(json!({ "files": files }))
    });
    value.await.map(Json)
}

pub(super) async fn read(
    State(shared): State<Shared>,
    Path((id, file)): Path<(String, String)>,
) -> Result<impl IntoResponse, Trouble> {
    let text = blocking(shared, move |opened| Ok(kept(opened, &id)?.read(&file)?));
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.await?))
}

pub(super) async fn write(
    State(shared): State<Shared>,
    Path((id, file)): Path<(String, String)>,
    body: Bytes,
) -> Result<StatusCode, Trouble> {
    let written = blocking(shared, move |opened| Ok(kept(opened, &id)?.write(&file, &body)?));
    written.await.map(|()| StatusCode::NO_CONTENT)
}

pub(super) async fn delete(
    State(shared): State<Shared>,
    Path((id, file)): Path<(String, String)>,
) -> Result<StatusCode, Trouble> {
    let deleted = blocking(shared, move |opened| Ok(kept(opened, &id)?.delete(&file)?));
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}

/// A range; all if left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    from: Option<u64>,
    to: Option<u64>,
}

pub(super) async fn lines(
    State(shared): State<Shared>,
    Path((id, file)): Path<(String, String)>,
    Query(range): Query<Range>,
) -> Result<Json<Value>, Trouble> {
    let value = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        let total = profile.manifest().total_ns.max(1);
        let (from, to) = (range.from.unwrap_or(0), range.to.unwrap_or(total));
        let tree = tree(&profile, from, to)?;
        let own = tree.nodes.iter().find(|node| node.parent.is_none() && node.name == file);
        let own = own.filter(|node| !node.children.is_empty());
        let below = own.map(|node| node.children.as_slice()).unwrap_or_default();
        let mut lines: Vec<(u64, Value)> = Vec::new();
        for node in below.iter().filter_map(|at| tree.nodes.get(*at)) {
            let Ok(line) = node.name.parse::<u64>() else { continue };
            let fields = json!({
                "line": line,
                "count": node.sums.count,
                "time_ns": node.sums.time,
                "busy_ns": node.sums.busy,
                "wait_ns": node.wait,
                "flops": node.work.flops,
                "engines": engines(node.engines.iter().map(|(name, sums)| (*name, sums))),
            });
            lines.push((line, fields));
        }
        lines.sort_by_key(|(line, _)| *line);
        let lines: Vec<Value> = lines.into_iter().map(|(_, fields)| fields).collect();
        Ok(json!({ "file": cut(&file), "from": from, "to": to, "lines": lines }))
    });
    value.await.map(Json)
}
