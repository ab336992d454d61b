//! What a page has of a profile whose events are not all in it: one picture of
//! the whole, fine enough to zoom into some way, and the sums of the whole.

use profile_store::{Profile, Series};
use serde_json::{Value, json};

use super::archive::Archive;
use crate::serve::wire;

/// Columns of the picture (our choice: some 2 MB for 40 dense lanes).
const COLUMNS: u32 = 4096;

/// Adds the picture and the sums; gives their places.
pub(super) fn add(profile: &Profile, archive: &mut Archive<'_>) -> anyhow::Result<Value> {
    let total = profile.manifest().total_ns.max(1);
    let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    let width = COLUMNS.min(u32::try_from(total).unwrap_or(COLUMNS));
    let view = profile.viewport(0, total, width, &lanes)?;
    let all: Vec<&Series> = profile.series().iter().collect();
    let lines = profile.series_view(0, total, width, &all)?;
    let sums = profile.selection(0, total, &lanes)?;
    let sums: Vec<Value> = sums
        .iter()
        .map(|lane| {
            let names = lane.names.iter();
            let one = names.map(|sum| json!([sum.name, sum.count, sum.time, sum.busy, sum.bytes]));
            one.collect()
        })
        .collect();
    Ok(json!({
        "column_ns": view.column_ns,
        "viewport": archive.bytes(&wire::viewport(&view))?,
        "series": archive.bytes(&wire::series(&lines))?,
        "sums": archive.json(&sums)?,
    }))
}
