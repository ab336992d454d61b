//! What a timeline draws: tiles of lanes, and sums of a range.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use profile_store::Profile;
use profile_store::read::{Column, LaneSums, LaneView, NameSum, Viewport};
use serde::Deserialize;
use serde_json::{Value, json};

use super::kinds::cut;
use super::{Shared, with_profile};
use crate::serve::answer::Trouble;
use crate::serve::wire;

/// A range of time and lanes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    /// ns
    pub(super) from: u64,
    /// ns
    pub(super) to: u64,
    /// Columns at least.
    #[serde(default)]
    pub(super) width: Option<u32>,
    /// Numbers with commas between; all if left out.
    #[serde(default)]
    lanes: Option<String>,
}

/// Columns where nothing is said.
pub(super) const WIDTH: u32 = 1000;

impl Range {
    pub(super) fn lanes(&self, profile: &Profile) -> Result<Vec<usize>, Trouble> {
        lanes(self.lanes.as_deref(), profile)
    }
}

/// The lanes that a list names; all if left out.
pub(super) fn lanes(list: Option<&str>, profile: &Profile) -> Result<Vec<usize>, Trouble> {
    let count = profile.lanes().len();
    let Some(list) = list else { return Ok((0..count).collect()) };
    let numbers = list.split(',').map(|number| {
        let number = number.parse().ok().filter(|lane| *lane < count);
        number.ok_or_else(|| {
            Trouble::request(format!("lanes={list}: numbers below {count}, commas between"))
        })
    });
    let mut lanes: Vec<usize> = numbers.collect::<Result<_, _>>()?;
    // A lane that is named a thousand times is read once.
    lanes.sort_unstable();
    lanes.dedup();
    Ok(lanes)
}

/// Sums of kinds with the same name, busiest first.
fn by_name<'p>(profile: &'p Profile, lane: &LaneSums) -> Vec<(&'p str, NameSum)> {
    let mut by_name: BTreeMap<&str, NameSum> = BTreeMap::new();
    for sum in &lane.names {
        let empty = NameSum { name: sum.name, count: 0, time: 0, busy: 0, bytes: 0 };
        let to = by_name.entry(profile.name(sum.name)).or_insert(empty);
        to.count += sum.count;
        to.time += sum.time;
        to.busy += sum.busy;
        to.bytes += sum.bytes;
    }
    let mut out: Vec<(&str, NameSum)> = by_name.into_iter().collect();
    out.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.busy));
    out
}

/// What is asked of a viewport.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
    from: u64,
    to: u64,
    #[serde(default)]
    width: Option<u32>,
    #[serde(default)]
    lanes: Option<String>,
    /// Of lanes with so many events at most the events follow.
    #[serde(default)]
    events: Option<u32>,
}

/// Lanes with columns, but those where more than so many events begin for certain.
fn few(view: &Viewport, (from, to): (u64, u64), most: u32) -> Vec<usize> {
    let begin = |at: u32| view.start + u64::from(at) * view.column_ns;
    let inside = |column: &&Column| begin(column.at) >= from && begin(column.at + 1) <= to;
    let least = |lane: &&LaneView| {
        lane.columns.iter().filter(inside).map(|column| u64::from(column.count)).sum::<u64>()
    };
    let some = view.lanes.iter().filter(|lane| !lane.columns.is_empty());
    some.filter(|lane| least(lane) <= u64::from(most)).map(|lane| lane.lane).collect()
}

pub(super) async fn viewport(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(seen): Query<Seen>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = with_profile(shared, id, move |profile| {
        let lanes = lanes(seen.lanes.as_deref(), profile)?;
        let width = seen.width.unwrap_or(WIDTH);
        let view = profile.viewport(seen.from, seen.to, width, &lanes)?;
        let mut bytes = wire::viewport(&view);
        if let Some(most) = seen.events {
            let few = few(&view, (seen.from, seen.to), most);
            wire::spans(&mut bytes, &profile.spans(seen.from, seen.to, &few, most)?);
        }
        Ok(bytes)
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?))
}

pub(super) async fn selection(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(range): Query<Range>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let lanes = range.lanes(profile)?;
        let sums = profile.selection(range.from, range.to, &lanes)?;
        let lanes = sums.iter().map(|lane| {
            let names = by_name(profile, lane).into_iter().map(|(name, sum)| {
                json!({
                    "name": cut(name),
                    "count": sum.count,
                    "time_ns": sum.time,
                    "busy_ns": sum.busy,
                    "bytes": (sum.bytes > 0).then_some(sum.bytes),
                })
            });
            json!({
                "lane": lane.lane,
                "count": lane.count,
                "busy_ns": lane.busy,
                "names": names.collect::<Vec<_>>(),
            })
        });
        let lanes: Vec<Value> = lanes.collect();
        Ok(json!({ "from": range.from, "to": range.to, "lanes": lanes }))
    });
    value.await.map(Json)
}
