//! Events as the JSON text that a fetch of the C interface gives (ntff.md §9.4).

use serde_json::{Map, Value, json};

use neuron_core::ntff::messages::NtraceEventPhaseType as Phase;

use super::recorder::{Attribute, Event};

/// An object of all events, in order of time.
pub fn json(events: &[Event]) -> String {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|event| (event.time, event.id));
    let all: Vec<Value> = events.into_iter().map(object).collect();
    json!({ "events": all, "data_version": 2 }).to_string()
}

fn object(event: &Event) -> Value {
    let value = |value: &Attribute| match value {
        Attribute::Number(number) => json!(number),
        Attribute::Text(text) => json!(text),
    };
    let data: Map<String, Value> =
        event.attributes.iter().map(|(key, own)| ((*key).to_owned(), value(own))).collect();
    let device = data.get("nc_timestamp_ns").and_then(Value::as_u64);
    json!({
        "event_type": event.kind.name(),
        "phase": match event.phase {
            Phase::Start => "start",
            Phase::Stop => "stop",
            _ => "instant",
        },
        "id": event.id,
        "nc_idx": event.core,
        "nc_local_id": event.core,
        "tracking_id": event.tracking,
        "thread_id": event.thread,
        "worker_gid": event.core,
        "timestamp_ns": device.unwrap_or(event.time),
        "data": data,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{InspectOptions, Kind, Recorder};
    use super::*;
    use crate::attributes;

    #[test]
    fn the_form_is_that_of_the_call() {
        let recorder = Recorder::new(&InspectOptions::default());
        let begun = recorder.begin(Kind::EXECUTE, 3, attributes! { "model_id": 7_u32 });
        recorder.ran((3, 1, 1), 1, 7, 40);
        recorder.end(begun, Vec::new());
        let text = json(&recorder.take(10, None));
        let all: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(all["data_version"], 2);
        let events = all["events"].as_array().unwrap();
        assert_eq!(events.len(), 5);
        let of = |name: &str, phase: &str| {
            events.iter().find(|e| e["event_type"] == name && e["phase"] == phase).unwrap()
        };
        let (start, stop) = (of("nrt_execute", "start"), of("nrt_execute", "stop"));
        assert_eq!((&start["data"]["model_id"], &start["nc_idx"]), (&json!(7), &json!(3)));
        assert_eq!((&start["tracking_id"], &stop["tracking_id"]), (&start["id"], &start["id"]));
        assert_eq!(stop["data"], json!({}));
        let from = of("nc_exec_running", "start")["timestamp_ns"].as_u64().unwrap();
        let to = of("nc_exec_running", "stop")["timestamp_ns"].as_u64().unwrap();
        assert_eq!((from, to - from), (npu::time::EPOCH / 1000, 40));
    }
}
