//! Lines of the timeline that are not events.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use profile_store::Series;
use serde::Deserialize;
use serde_json::{Value, json};

use super::timeline::WIDTH;
use super::{Shared, with_profile};
use crate::serve::answer::Trouble;
use crate::serve::wire;

/// Series of an answer at most.
const MOST: usize = 64;

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, |profile| {
        let one = |series: &Series| {
            json!({
                "id": series.id,
                "name": series.name,
                "group": series.group,
                "core": series.core,
                "unit": series.unit,
                "max": series.max,
                "stack": series.stack,
                "description": series.description,
            })
        };
        Ok(json!({ "series": profile.series().iter().map(one).collect::<Vec<_>>() }))
    });
    value.await.map(Json)
}

/// Which, and where.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Ids with commas between.
    ids: String,
    from: u64,
    to: u64,
    #[serde(default)]
    width: Option<u32>,
}

pub(super) async fn data(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = with_profile(shared, id, move |profile| {
        let find = |id: &str| {
            let found = profile.series().iter().find(|series| series.id == id);
            found.ok_or_else(|| Trouble::new(404, format!("the profile has no series {id:?}")))
        };
        let wanted: Vec<&Series> = asked.ids.split(',').map(find).collect::<Result<_, _>>()?;
        if wanted.len() > MOST {
            return Err(Trouble::request(format!("at most {MOST} series at once")));
        }
        let width = asked.width.unwrap_or(WIDTH);
        Ok(wire::series(&profile.series_view(asked.from, asked.to, width, &wanted)?))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?))
}
