//! Events of a timeline one by one, where they are few. Lanes with more than
//! asked for are left out.

use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use serde::Deserialize;

use super::{Shared, timeline, with_profile};
use crate::serve::answer::Trouble;
use crate::serve::wire;

/// Events of a lane where nothing is said.
const LIMIT: u32 = 256;

/// A range of time and lanes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// ns
    from: u64,
    /// ns
    to: u64,
    /// Events of a lane at most.
    #[serde(default)]
    limit: Option<u32>,
    /// Numbers with commas between; all if left out.
    #[serde(default)]
    lanes: Option<String>,
}

pub(super) async fn spans(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = with_profile(shared, id, move |profile| {
        let lanes = timeline::lanes(asked.lanes.as_deref(), profile)?;
        let limit = asked.limit.unwrap_or(LIMIT);
        let mut out = Vec::new();
        wire::spans(&mut out, &profile.spans(asked.from, asked.to, &lanes, limit)?);
        Ok(out)
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?))
}
