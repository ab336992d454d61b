//! The families against the catalogue.

use std::collections::BTreeSet;
use std::time::Instant;

use neuron_core::catalog::{INSTANCE_LABELS, METRICS};

use super::*;

/// A record that has everything.
const FULL: &str = r#"{"neuron_runtime_data":[{"pid":7,"neuron_runtime_tag":"a","neuron_runtime_version":"2.34.10","report":{
    "execution_stats":{"error_summary":{"generic":1},"latency_stats":{"total_latency":{"p50":1},"device_latency":{"p50":1}}},
    "memory_used":{"neuron_runtime_used_bytes":{"usage_breakdown":{"neuroncore_memory_usage":{"0":{"tensors":5}}}},
        "loaded_models":[{"name":"m","model_id":1,"subgraphs":{"sg_00":{}}}]},
    "neuron_runtime_vcpu_usage":{"vcpu_usage":{"user":50}},
    "neuroncore_counters":{"neuroncores_in_use":{"0":{"effective_flops":1,"neuroncore_utilization":60,
        "v3d":{"nc_v3.0":{"neuroncore_utilization":120}}}}}}}],
    "system_data":{"memory_info":{},"vcpu_usage":{"usage_data":{"0":{"user":1}}},
    "neuron_hw_counters":{"neuron_devices":[{"totals":{"mem_ecc_repairable_uncorrected":1},"power":{"avg":5},
        "unhealthy_components":["hbm"]}]},
    "self_stats":{"collection_seconds":{"memory_info":0.1}}},"neuron_monitor":{"timestamp":1}}"#;

fn full() -> State {
    let mut state = State::default();
    assert_eq!(state.take(serde_json::from_str(FULL).unwrap(), Instant::now()), [""; 0]);
    state
}

/// Every figure of the monitor in the catalogue is exported, with the
/// labels that stand there and those of the instance.
#[test]
fn the_catalogue_is_what_is_exported() {
    let page = render(&full(), Format::Prometheus, Extent { each_vcpu: true });
    let mut rows = 0;
    for metric in METRICS {
        let object = metric.id.split('.').next().unwrap();
        if !["system", "application", "monitor"].contains(&object) {
            continue;
        }
        rows += 1;
        let name = metric.prometheus.unwrap();
        let begin = format!("{name}{{");
        let Some(line) = page.lines().find(|line| line.starts_with(&begin)) else {
            panic!("no {name} in\n{page}");
        };
        let labels = line[begin.len()..].rsplit_once('}').unwrap().0;
        let names: Vec<&str> =
            labels.split("\",").map(|label| label.split('=').next().unwrap()).collect();
        assert!(names.is_sorted(), "{line}");
        let wanted: BTreeSet<&str> = metric.labels.iter().chain(INSTANCE_LABELS).copied().collect();
        assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), wanted, "{line}");
    }
    assert!(rows > 40, "{rows}");
    let families = page.lines().filter(|line| line.starts_with("# TYPE ")).count();
    let created = page.matches("_created gauge\n").count();
    assert_eq!(families, rows + created, "{page}");
    // Nothing is told twice: Prometheus refuses such a page whole.
    let samples: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap().0)
        .collect();
    assert_eq!(samples.iter().collect::<BTreeSet<_>>().len(), samples.len());
}

/// Two applications of one tag have the same labels.
#[test]
fn applications_of_one_tag_are_added_up() {
    let mut state = full();
    let other = FULL.replace("\"pid\":7", "\"pid\":8");
    state.take(serde_json::from_str(&other).unwrap(), Instant::now());
    let page = render(&state, Format::OpenMetrics, Extent::default());
    let value = |begin: &str, label: &str| -> f64 {
        let line = page.lines().find(|l| l.starts_with(begin) && l.contains(label)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(value("neuroncore_utilization_ratio{", ""), 1.0);
    assert_eq!(value("neuroncore_memory_usage_tensors{", ""), 10.0);
    assert_eq!(value("execution_errors_total{", "generic"), 2.0);
    assert_eq!(value("execution_latency_seconds{", "p50"), 1.0);
    assert_eq!(page.matches("neuron_runtime_info{").count(), 2);
    assert_eq!(page.matches("execution_status_total{").count(), 6);
}

#[test]
fn before_the_first_record_there_is_no_machine() {
    let page = render(&State::default(), Format::Prometheus, Extent::default());
    assert!(page.contains("neuron_monitor_records_total{") && !page.contains("instance_info"));
    assert!(!page.contains("neuron_monitor_last_record_timestamp_seconds"));
}
