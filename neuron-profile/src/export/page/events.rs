//! The events of a page: which window, and the events of its lanes.

use std::collections::BTreeMap;

use profile_store::{LaneKind, Profile};
use serde_json::{Value, json};

use super::archive::{Archive, places};
use super::{Wanted, Window, check};

/// Rows of the tables of events that a page has, in order.
pub(super) type Rows = BTreeMap<&'static str, Vec<u64>>;

/// Columns by which a window is narrowed (our choice: it ends at most a
/// thousandth of the range before it must).
const COLUMNS: u32 = 4096;

/// The longest window of a page: all that was asked for, where it has few
/// enough events, else from its begin until there are too many.
pub(super) fn window(profile: &Profile, wanted: &Wanted) -> anyhow::Result<Window> {
    let total = profile.manifest().total_ns.max(1);
    let (from, mut to) = check(wanted, total)?;
    let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    if from == 0 && to == total && profile.manifest().events <= wanted.events {
        return Ok(Window { from, to: total + 1, whole: true, events: profile.manifest().events });
    }
    // Narrowed again and again: too many events may lie in the first column.
    loop {
        let width = COLUMNS.min(u32::try_from(to - from).unwrap_or(COLUMNS));
        let view = profile.viewport(from, to, width, &lanes)?;
        let mut begin = vec![0_u64; usize::try_from(view.columns)?];
        for column in view.lanes.iter().flat_map(|lane| &lane.columns) {
            if let Some(sum) = begin.get_mut(usize::try_from(column.at)?) {
                *sum += u64::from(column.count);
            }
        }
        let mut events = 0;
        let fitting = begin.iter().take_while(|count| {
            events += **count;
            events <= wanted.events
        });
        let fits = u64::try_from(fitting.count())?;
        let end = |columns: u64| {
            view.start.saturating_add(view.column_ns.saturating_mul(columns)).clamp(from + 1, to)
        };
        if fits == 0 && view.column_ns > 1 {
            to = end(1);
            continue;
        }
        let events = begin.iter().take(usize::try_from(fits)?).sum();
        let to = if fits == u64::from(view.columns) { to } else { end(fits) };
        let whole = from == 0 && to >= total;
        return Ok(Window { from, to: if whole { total + 1 } else { to }, whole, events });
    }
}

/// Adds the lanes with their events; gives what the index says of them, and the
/// rows of their tables.
pub(super) fn add(
    profile: &Profile,
    window: &Window,
    archive: &mut Archive<'_>,
) -> anyhow::Result<(Value, Rows)> {
    let mut rows = Rows::new();
    let mut lanes = Vec::new();
    let (from, to) = if window.whole { (0, u64::MAX) } else { (window.from, window.to) };
    for (number, lane) in profile.lanes().iter().enumerate() {
        let (mut row, mut start, mut length, mut kind) = (vec![], vec![], vec![], vec![]);
        profile.events_between(number, (from, to), |span| {
            row.push(span.row);
            start.push(span.start);
            length.push(span.end.saturating_sub(span.start));
            kind.push(u64::from(span.name));
        })?;
        rows.entry(lane.kind.table()).or_default().extend(&row);
        let kinds: Vec<u32> = lane.keys.iter().map(|(_, kind)| *kind).collect();
        let events = json!({
            "row": places(&row),
            "start": places(&start),
            "length": { "v": length },
            "kind": { "v": kind },
            "kinds": kinds,
        });
        lanes.push(json!({
            "core": lane.core,
            "name": lane.name,
            "kind": lane.kind,
            "count": row.len(),
            "events": archive.json(&events)?,
        }));
    }
    for list in rows.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok((Value::Array(lanes), rows))
}

/// The series, with what is needed of the time before the window.
pub(super) fn series(profile: &Profile, window: &Window) -> anyhow::Result<Value> {
    let total = profile.manifest().total_ns;
    let dma = |lane: usize| profile.lanes().get(lane).is_some_and(|l| l.kind == LaneKind::Dma);
    let mut out = Vec::new();
    for series in profile.series() {
        let mut value = serde_json::to_value(series)?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("levels");
            let own = series.mean_of.is_none();
            let sum = |to: u64| -> anyhow::Result<f64> {
                Ok(if own { profile.series_integral(series, 0, to)? } else { 0.0 })
            };
            // Integrals from the start on, value times ns.
            if !window.whole {
                fields.insert(String::from("before"), json!(sum(window.from)?));
                fields.insert(String::from("all"), json!(sum(total)?));
            }
            if let profile_store::series::Source::Lanes { lanes, .. } = &series.source {
                fields.insert(String::from("dma"), json!(lanes.iter().any(|lane| dma(*lane))));
            }
        }
        out.push(value);
    }
    Ok(Value::Array(out))
}
