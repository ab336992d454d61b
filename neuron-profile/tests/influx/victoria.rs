//! VictoriaMetrics takes the write path of 2.x and gives numbers back. It keeps
//! times in milliseconds, so a run with times of the wall clock goes into it.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value as Json;

use crate::front::{Front, Keeper};
use crate::stored::fixture;
use crate::{Place, http, influx1, opened};

/// All values of a metric, by labels and time.
fn exported(port: u16, metric: &str) -> Vec<(BTreeMap<String, String>, i64, f64)> {
    let query = format!("/api/v1/export?match[]={metric}");
    let (status, body) = http::ask(port, "GET", &query, b"").unwrap();
    assert_eq!(status, 200, "{body}");
    let mut all = Vec::new();
    for line in body.lines() {
        let series: Json = serde_json::from_str(line).unwrap();
        let labels: BTreeMap<String, String> =
            serde_json::from_value(series["metric"].clone()).unwrap();
        let lists = [&series["values"], &series["timestamps"]].map(|list| list.as_array().unwrap());
        for (value, time) in lists[0].iter().zip(lists[1]) {
            all.push((labels.clone(), time.as_i64().unwrap(), value.as_f64().unwrap()));
        }
    }
    all
}

/// Six digits: it keeps decimal ones, not the bits of a number.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

#[test]
fn victoria_metrics_takes_the_write_path() {
    if !neuron_tests::require("victoria-metrics") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let port = http::free_port();
    let mut command = Command::new("victoria-metrics");
    command.arg(format!("-httpListenAddr=127.0.0.1:{port}"));
    command.arg(format!("-storageDataPath={}", dir.path().join("data").display()));
    command.args(["-retentionPeriod=100y", "-search.latencyOffset=0s"]);
    let server = influx1::start(command, port, "/health");
    let front = Front::start(Keeper::Victoria(server.port));
    let place = Place::of(&front);
    let data = tempfile::tempdir().unwrap();
    let folder = fixture("inspect");
    let args = ["view", "--ingest-only", "--ignore-device-profile", "-d", folder.to_str().unwrap()];
    let (code, out, err) = place.run(data.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    let id = out.strip_prefix("Profile \"").unwrap().split('"').next().unwrap();
    let profile = opened(data.path(), id);
    let about = profile.row("SystemProfileMetadata", 0).unwrap();
    let base: i64 = about["first_ts_ns"].as_str().unwrap().parse().unwrap();

    let (status, _) = http::ask(server.port, "GET", "/internal/force_flush", b"").unwrap();
    assert_eq!(status, 200);
    for (table, column, tag) in
        [("CpuUsage", "util_percent", "cpu_id"), ("HostMemUsage", "used_bytes", "instance_id")]
    {
        let mut wanted = Vec::new();
        for batch in profile.batches(table).unwrap() {
            for row in profile_store::read::objects(&batch.unwrap()) {
                let time = (base + row["timestamp"].as_i64().unwrap()) / 1_000_000;
                let own = row[tag].as_str().unwrap().to_owned();
                wanted.push((own, time, row[column].as_f64().unwrap()));
            }
        }
        let metric = format!("{table}_{column}");
        let found = exported(server.port, &metric);
        let mut found: Vec<(String, i64, f64)> = found
            .into_iter()
            .map(|(labels, time, value)| (labels[tag].clone(), time, value))
            .collect();
        for rows in [&mut wanted, &mut found] {
            rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        }
        assert!(!wanted.is_empty());
        assert_eq!(found.len(), wanted.len(), "{metric}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!((&found.0, found.1), (&wanted.0, wanted.1), "{metric}");
            assert!(near(found.2, wanted.2), "{metric}: {found:?}, {wanted:?}");
        }
    }
}
