//! A run as one JSON object (profiler.md §2.9): events, memory of the host, load
//! of its processors. Times are Unix nanoseconds; ids are texts, because there are
//! readers of JSON that keep 53 bits of a number.

use std::io::{self, Write};

use profile_engine::system::{EventSource, SystemRow};
use profile_store::SystemRun;
use serde_json::{Map, Value, json};

/// Writes the object.
///
/// # Errors
///
/// Those of the writer.
pub(super) fn write(out: &mut dyn Write, run: &SystemRun, pretty: bool) -> io::Result<()> {
    let line = if pretty { "\n" } else { "" };
    let mut list = |name: &str, comma: &str, rows: &mut dyn Iterator<Item = Value>| {
        write!(out, "{comma}{line}\"{name}\":[")?;
        let mut comma = "";
        for row in rows {
            write!(out, "{comma}{line}")?;
            serde_json::to_writer(&mut *out, &row)?;
            comma = ",";
        }
        write!(out, "{line}]")
    };
    list("trace_events", "{", &mut run.rows.iter().map(|row| event(run, row)))?;
    let room = run.info.host_stats.as_ref().map_or(0, |host| host.memory_bytes);
    #[allow(clippy::cast_precision_loss, reason = "a share in per cent")]
    let share = |used: u64| (room > 0).then(|| used as f64 * 100.0 / room as f64);
    list(
        "mem_usage",
        ",",
        &mut run.host.iter().map(|sample| {
            json!({
                "timestamp": sample.timestamp, "duration": 1, "usage": sample.bytes_used,
                "percent_usage": share(sample.bytes_used), "instance_id": run.info.instance_id,
            })
        }),
    )?;
    list(
        "cpu_util",
        ",",
        &mut run.processors.iter().map(|sample| {
            json!({
                "timestamp": sample.timestamp, "duration": 1, "cpu_id": sample.cpu.to_string(),
                "util": sample.value, "instance_id": run.info.instance_id,
            })
        }),
    )?;
    writeln!(out, "{line}}}")
}

fn event(run: &SystemRun, row: &SystemRow) -> Value {
    let mut all: Map<String, Value> =
        row.attributes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let core = row.core.unwrap_or(0);
    let group = match row.source {
        EventSource::Runtime => format!("nrt-nc-{core:03}"),
        EventSource::Hardware => format!("hw-nc-{core:03}"),
    };
    let own = [
        ("name", json!(row.name)),
        ("timestamp", json!(row.start)),
        ("duration", json!(row.end.saturating_sub(row.start))),
        ("id", json!(row.id.to_string())),
        ("type", json!(row.kind)),
        ("group", json!(group)),
        ("instance_id", json!(run.info.instance_id)),
        ("process_id", json!(run.info.pid.to_string())),
        ("thread_id", json!(row.thread.to_string())),
        ("lnc_idx", json!(row.core.map(|core| core.to_string()))),
        ("trace_event_source", json!(row.source.name())),
    ];
    all.extend(own.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(all)
}
