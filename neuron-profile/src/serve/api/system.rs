//! A run of `inspect`: what it was about, and its device profiles.

use axum::Json;
use axum::extract::{Path, State};
use profile_store::read::objects;
use profile_store::{Error, Profile};
use serde_json::{Map, Value, json};

use super::{Shared, blocking};
use crate::analysis::system;
use crate::serve::answer::Trouble;
use crate::serve::opened::Opened;

/// Device profiles whose metrics are told at most.
const DEVICES: usize = 64;

/// Metrics of a device profile that a list of them shows.
const METRICS: [&str; 8] = [
    "total_time",
    "total_active_time_percent",
    "mfu_estimated_percent",
    "hfu_estimated_percent",
    "mbu_estimated_percent",
    "dma_active_time_percent",
    "tensor_engine_active_time_percent",
    "cc_op_active_time_percent",
];

pub(super) async fn summary(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let value = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        let mut out = system::summary(&profile)?;
        out.insert(String::from("metadata"), first(&profile, "SystemProfileMetadata")?);
        out.insert(String::from("devices"), devices(opened, &profile)?);
        Ok(Value::Object(out))
    });
    value.await.map(Json)
}

fn all(profile: &Profile, table: &str) -> Result<Vec<Map<String, Value>>, Error> {
    if !profile.manifest().tables.contains_key(table) {
        return Ok(Vec::new());
    }
    let path = profile.table(table)?;
    let mut out = Vec::new();
    for batch in profile.batches(table)? {
        out.extend(objects(&batch.map_err(|error| Error::damaged(&path, error))?));
    }
    Ok(out)
}

fn first(profile: &Profile, table: &str) -> Result<Value, Error> {
    Ok(all(profile, table)?.into_iter().next().map_or(Value::Null, Value::Object))
}

/// The device profiles of a run: those that are stored with name and metrics.
fn devices(opened: &Opened, profile: &Profile) -> Result<Value, Trouble> {
    let mut out = Vec::new();
    for (place, mut row) in all(profile, "DeviceProfileList")?.into_iter().enumerate() {
        let id = row.get("device_profile_name").and_then(Value::as_str).unwrap_or_default();
        // One that was deleted since is named still.
        let stored = if place < DEVICES { opened.profile(id).ok() } else { None };
        let stored = stored.map(|device| {
            let metrics = all(&device, "Summary").unwrap_or_default();
            let pick = |row: &Map<String, Value>| -> Map<String, Value> {
                let known = METRICS.iter();
                known.filter_map(|n| Some(((*n).to_owned(), row.get(*n)?.clone()))).collect()
            };
            json!({
                "display_name": device.labels().display_name,
                "total_ns": device.manifest().total_ns,
                "events": device.manifest().events,
                "simulated": device.manifest().simulated,
                "metrics": metrics.first().map(pick),
            })
        });
        row.insert(String::from("profile"), json!(stored));
        out.push(Value::Object(row));
    }
    Ok(Value::Array(out))
}
