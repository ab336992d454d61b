//! A run of `inspect`: events of the runtime by process and thread, within each
//! other where they are, and what the host and the devices had in use.

use anyhow::Context as _;
use arrow_array::RecordBatch;
use profile_store::Profile;
use profile_store::read::Line;
use serde_json::{Map, Value as Json};

use super::has;
use super::shape::{Group, Shape};
use super::timeline::{Event, Field, Track, Tracks, Value, each};

const EVENTS: &str = "SystemProfileEvents";

/// Columns that are fields of an event, under the names that the vendor's traces
/// give them.
const LONGS: [(&str, &str); 7] = [
    ("id", "id"),
    ("duration", "duration_ns"),
    ("timestamp", "start_ts"),
    ("lnc_idx", "nc_idx"),
    ("process_id", "process_id"),
    ("thread_id", "thread_id"),
    ("worker_gid", "worker_gid"),
];
const TEXTS: [&str; 3] = ["name", "instance_id", "trace_event_source"];

/// The fields by which events are grouped, as one name; those that an event does
/// not have are left out.
fn grouped(line: Line<'_>, by: &[Group]) -> String {
    let part = |group: &Group| {
        let number =
            |word: &str, column: &str| line.long(column).map(|number| format!("{word}{number}"));
        match group {
            Group::InstanceId => line.text("instance_id").map(str::to_owned),
            Group::WorkerGid => number("gid", "worker_gid"),
            Group::LncIdx => number("nc", "nc_idx"),
            Group::ProcessId => number("pid", "process_id"),
            Group::ThreadId => number("tid", "thread_id"),
        }
    };
    by.iter().filter_map(part).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Or, where an event has none of them.
fn or(name: String, other: &str) -> String {
    if name.is_empty() { other.to_owned() } else { name }
}

/// All events of a run.
pub(super) fn walk(
    profile: &Profile,
    shape: &Shape,
    tracks: &mut Tracks<'_>,
) -> anyhow::Result<()> {
    if has(profile, EVENTS) {
        let batches: Vec<RecordBatch> =
            profile.batches(EVENTS)?.collect::<Result<_, _>>().context(EVENTS)?;
        let mut lines: Vec<Line<'_>> = batches.iter().flat_map(Line::all).collect();
        let span = |line: &Line<'_>| {
            let start = line.long("start_ts").unwrap_or(0);
            (start, line.long("end_ts").unwrap_or(start).max(start))
        };
        // Those that others are within come before these.
        lines.sort_by_key(|line| (span(line).0, std::cmp::Reverse(span(line).1)));
        for line in lines {
            event(line, span(&line), shape, tracks)?;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "a counter is a real number")]
    let real = |line: Line<'_>, column: &str| {
        line.real(column).or_else(|| line.long(column).map(|value| value as f64)).unwrap_or(0.0)
    };
    let time = |line: Line<'_>| line.long("timestamp").unwrap_or(0);
    let host = |line: Line<'_>| or(line.text("instance_id").unwrap_or_default().to_owned(), "host");
    each(profile, "SystemProfileHbmUsage", &mut |line| {
        let name = format!("Device {} memory, bytes", line.long("device_idx").unwrap_or(0));
        let track = tracks.counter("Neuron devices", &name)?;
        tracks.taker.event(track, count(time(line), real(line, "total_bytes")))
    })?;
    each(profile, "CpuUsage", &mut |line| {
        let name = format!("CPU {}, %", line.text("cpu_id").unwrap_or_default());
        let track = tracks.counter(&host(line), &name)?;
        tracks.taker.event(track, count(time(line), real(line, "util_percent")))
    })?;
    each(profile, "HostMemUsage", &mut |line| {
        let track = tracks.counter(&host(line), "Host memory, bytes")?;
        tracks.taker.event(track, count(time(line), real(line, "used_bytes")))
    })
}

const fn count<'e>(time: i64, value: f64) -> Event<'e> {
    Event::Count { time, value }
}

fn event(
    line: Line<'_>,
    (start, end): (i64, i64),
    shape: &Shape,
    tracks: &mut Tracks<'_>,
) -> anyhow::Result<()> {
    let process = or(grouped(line, shape.primary()), "run");
    let source = line.text("trace_event_source").unwrap_or_default();
    let mut lane = grouped(line, shape.secondary());
    if !lane.is_empty() && !source.is_empty() {
        lane.push('-');
    }
    lane.push_str(source);
    let name = line.text("name").unwrap_or_default();
    let more: Map<String, Json> = line
        .text("extra_attributes_json")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let mut about: Vec<Field<'_>> = Vec::new();
    for (field, column) in LONGS {
        about.extend(line.long(column).map(|number| (field, Value::Long(number))));
    }
    for field in TEXTS {
        about.extend(line.text(field).map(|text| (field, Value::Text(text))));
    }
    about.push(("timestamp_unit", Value::Text("ns")));
    for (field, value) in &more {
        about.extend(value.as_str().map(|text| (field.as_str(), Value::Text(text))));
    }
    if start == end {
        let track = tracks.number(Track { process, name: lane, counter: false })?;
        return tracks.taker.event(track, Event::Instant { time: start, name, about: &about });
    }
    let track = tracks.nested(&process, &lane, (start, end))?;
    let flows: (&[u64], &[u64]) = (&[], &[]);
    tracks.taker.event(track, Event::Slice { start, end, name, about: &about, flows })
}
