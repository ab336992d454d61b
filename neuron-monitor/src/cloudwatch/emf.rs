//! Records as CloudWatch embedded metric format: a line for each thing that
//! has its own dimensions.

use serde_json::{Map, Value, json};

use super::metrics::{Datum, blocks, taken};
use crate::wire::Record;

/// Most metrics of a line (the format's limit).
const MOST: usize = 100;

/// The lines of a record, each with its newline.
pub(super) fn lines(record: &Record, namespace: &str) -> Vec<String> {
    let millis = (taken(record) * 1000.0).round();
    let blocks = blocks(record);
    let parts = blocks
        .iter()
        .flat_map(|block| block.data.chunks(MOST).map(move |data| (&block.dimensions, data)));
    parts.map(|(dimensions, data)| line(namespace, millis, dimensions, data)).collect()
}

fn line(
    namespace: &str,
    millis: f64,
    dimensions: &[(&'static str, String)],
    data: &[Datum],
) -> String {
    let names: Vec<&str> = dimensions.iter().map(|(name, _)| *name).collect();
    let metrics: Vec<Value> =
        data.iter().map(|datum| json!({"Name": datum.name, "Unit": datum.unit})).collect();
    // Whole numbers of milliseconds are required.
    let millis = json!(whole(millis));
    let mut root = Map::new();
    root.insert(
        String::from("_aws"),
        json!({"Timestamp": millis, "CloudWatchMetrics": [
            {"Namespace": namespace, "Dimensions": [names], "Metrics": metrics}]}),
    );
    for (name, value) in dimensions {
        root.insert((*name).to_owned(), json!(value));
    }
    for datum in data {
        root.insert(datum.name.clone(), json!(datum.value));
    }
    format!("{}\n", Value::Object(root))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        serde_json::from_str(
            r#"{"neuron_runtime_data":[{"pid":7,"neuron_runtime_tag":"train","report":{
            "neuroncore_counters":{"neuroncores_in_use":{"0":{"neuroncore_utilization":0},"5":{"neuroncore_utilization":42.5}},"neuroncores_owned":[5]},
            "execution_stats":{"execution_summary":{"completed":12},"latency_stats":{"total_latency":{"p50":0.25}}},
            "memory_used":{"neuron_runtime_used_bytes":{"host":3,"neuron_device":9,"usage_breakdown":{
                "neuroncore_memory_usage":{"5":{"constants":4,"tensors":5}}}}}}}],
            "system_data":{"neuron_hw_counters":{"neuron_devices":[{"neuron_device_index":2,"mem_ecc_uncorrected":3}]},
                "memory_info":{"memory_total_bytes":10,"error":"torn"}},
            "instance_info":{"instance_id":"i-1"},"neuron_hardware_info":{"neuroncore_per_device_count":2},
            "neuron_monitor":{"timestamp":1789180926.5}}"#,
        )
        .unwrap()
    }

    /// The requirements of the format's specification, on every line.
    #[test]
    fn lines_are_whole_documents_of_the_format() {
        let lines = lines(&record(), "Neuron");
        assert_eq!(lines.len(), 3);
        for line in &lines {
            assert!(line.ends_with("}\n") && line.lines().count() == 1);
            let document: Value = serde_json::from_str(line).unwrap();
            assert_eq!(document["_aws"]["Timestamp"], 1_789_180_926_500_u64);
            let directive = &document["_aws"]["CloudWatchMetrics"][0];
            assert_eq!(directive["Namespace"], "Neuron");
            for name in directive["Dimensions"][0].as_array().unwrap() {
                assert!(document[name.as_str().unwrap()].is_string(), "{line}");
            }
            for metric in directive["Metrics"].as_array().unwrap() {
                assert!(document[metric["Name"].as_str().unwrap()].is_number(), "{line}");
            }
        }
        let core: Value = serde_json::from_str(&lines[2]).unwrap();
        assert_eq!((&core["NeuronDevice"], &core["NeuronCore"]), (&json!("2"), &json!("5")));
        assert_eq!(core["neuroncore_utilization"], 42.5);
        assert_eq!(core["neuroncore_memory_usage_total"], 9.0);
        let device: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(device["neurondevice_hw_ecc_events_total"], 3.0);
        let application: Value = serde_json::from_str(&lines[1]).unwrap();
        assert_eq!(application["neuron_execution_status_completed"], 12.0);
        assert_eq!(application["neuron_execution_latency"], 0.25);
    }

    #[test]
    fn no_more_metrics_on_a_line_than_allowed() {
        let data: Vec<Datum> =
            (0..250).map(|n| Datum { name: format!("m{n}"), unit: "Count", value: 0.0 }).collect();
        let sizes: Vec<usize> = data.chunks(MOST).map(<[Datum]>::len).collect();
        assert_eq!(sizes, [100, 100, 50]);
    }
}
