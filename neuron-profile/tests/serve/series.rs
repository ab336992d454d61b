//! Series against the vendor's exports of the same captures, nanosecond by
//! nanosecond.

use serde_json::Value;

use super::server::{Server, stored};
use super::support::fixture;
use super::wire;

/// A table of the vendor's export.
pub(crate) fn vendor(capture: &str, table: &str) -> Vec<Value> {
    let text = std::fs::read(fixture(&format!("{capture}.json"))).unwrap();
    let mut all: Value = serde_json::from_slice(&text).unwrap();
    match all[table].take() {
        Value::Array(rows) => rows,
        other => panic!("{table}: {other}"),
    }
}

fn long(row: &Value, key: &str) -> usize {
    row[key].as_u64().unwrap() as usize
}

/// A step function, one value for each nanosecond; `None` before the first.
fn steps(rows: &[Value], total: usize, value: impl Fn(&Value) -> f64) -> Vec<Option<f64>> {
    let mut out = vec![None; total];
    // Of several rows of one nanosecond the last holds.
    let mut rows: Vec<(usize, f64)> =
        rows.iter().map(|row| (long(row, "timestamp"), value(row))).collect();
    rows.sort_by_key(|row| row.0);
    for (at, value) in rows {
        out[at.min(total)..].iter_mut().for_each(|ns| *ns = Some(value));
    }
    out
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * right.abs().max(1e-9)
}

/// Compares a series with its values in several viewports.
fn compare(server: &Server, at: &str, id: &str, wanted: &[Option<f64>]) {
    let total = wanted.len() as u64;
    for (from, to, width) in [(0, total, 200), (total / 3, total / 2, 1000), (700, 1900, 37)] {
        let path = format!("{at}/series/data?ids={id}&from={from}&to={to}&width={width}");
        let answer = server.get(&path);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let (columns, series) = wire::series(&answer.body);
        assert!(columns.start <= from && columns.of(columns.count - 1).1 >= to);
        let mut told = series[0].iter();
        for column in 0..columns.count {
            let (begin, end) = columns.of(column);
            if begin >= total {
                break;
            }
            let own: Vec<f64> =
                wanted[begin as usize..end.min(total) as usize].iter().flatten().copied().collect();
            if own.is_empty() {
                continue;
            }
            let (place, min, max, mean) = *told.next().unwrap();
            assert_eq!(place, column, "{id}");
            let least = own.iter().copied().fold(f64::INFINITY, f64::min);
            let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = own.iter().sum();
            let all = [(min, least), (max, most), (mean, sum / own.len() as f64)];
            assert!(
                all.iter().all(|(left, right)| close(*left, *right)),
                "{id} {begin}..{end}: {all:?}"
            );
        }
        assert!(told.next().is_none(), "{id}: more columns than values");
    }
}

#[test]
fn values_are_those_of_the_vendor() {
    let data = tempfile::tempdir().unwrap();
    for capture in ["attn-fused-bf16-512", "attn-base-bf16-512"] {
        let id = stored(data.path(), capture);
        let server = Server::start(data.path(), &[]);
        let at = format!("/api/v1/profiles/{id}");
        let total = server.json(&at)["total_ns"].as_u64().unwrap() as usize;
        let list = server.json(&format!("{at}/series"));
        let known: Vec<&str> =
            list["series"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
        for core in 0..2 {
            let of = |table: &str| -> Vec<Value> {
                let name = format!("sg{core:02}");
                let rows = vendor(capture, table).into_iter();
                rows.filter(|row| row["subgraph"] == name.as_str()).collect()
            };
            let real = |key: &'static str| move |row: &Value| row[key].as_f64().unwrap();
            let mut checked = 0;
            let mut check = |id: String, wanted: Vec<Option<f64>>| {
                if wanted.iter().all(Option::is_none) {
                    assert!(!known.contains(&id.as_str()), "{id} without values");
                    return;
                }
                compare(&server, &at, &id, &wanted);
                checked += 1;
            };
            let rows = of("dma_throughput");
            check(format!("dma_throughput.{core}"), steps(&rows, total, real("transfer_rate")));
            let rows = of("pending_dma");
            check(format!("pending_dma.{core}"), steps(&rows, total, real("value")));
            let (sbuf, psum): (Vec<Value>, Vec<Value>) =
                of("instruction_usage").into_iter().partition(|row| row["type"] == "sb");
            for (place, key) in [("32", "partition_32_usage"), ("avg", "usage_avg")] {
                check(format!("sbuf.{place}.{core}"), steps(&sbuf, total, real(key)));
            }
            check(format!("psum.0.{core}"), steps(&psum, total, real("bank_0_usage")));
            let k_of_n = |row: &Value| row["k"].as_f64().unwrap() / row["n"].as_f64().unwrap();
            check(format!("throttle.{core}"), steps(&of("ham"), total, k_of_n));
            for engine in ["tensor", "vector", "scalar", "gpsimd", "sync"] {
                let mut wanted = vec![Some(0.0); total];
                for row in of("active_time").iter().filter(|row| row["engine"] == engine) {
                    wanted[long(row, "start_ts")..long(row, "end_ts").min(total)]
                        .iter_mut()
                        .for_each(|ns| *ns = Some(1.0));
                }
                check(format!("active_{engine}.{core}"), wanted);
            }
            let mut depth = vec![Some(0.0); total];
            let mut flops = vec![Some(0.0); total];
            // Of packets the export has lengths, which are cut to whole
            // nanoseconds by themselves; rows of our table have both ends.
            let rows = server.json(&format!("{at}/tables/DmaPacket?limit=10000"));
            for row in rows["rows"].as_array().unwrap() {
                if row["pcore_idx"] == core {
                    let span = long(row, "start_ts")..long(row, "end_ts").min(total);
                    depth[span].iter_mut().flatten().for_each(|ns| *ns += 1.0);
                }
            }
            let active = depth.iter().map(|ns| ns.map(|ns| f64::min(ns, 1.0))).collect();
            check(format!("dma_in_flight.{core}"), depth);
            check(format!("dma_active.{core}"), active);
            if core == 0 {
                let peak = 128.0 * 128.0 * 2.0 * 2.4;
                let rows = server.json(&format!("{at}/tables/Instruction?limit=10000"));
                for row in rows["rows"].as_array().unwrap() {
                    if row["timeline_track"] == "TensorMatrix" && row["pcore_idx"] == 0 {
                        let (start, end) = (long(row, "start_ts"), long(row, "end_ts"));
                        let end = end.max(start + 1);
                        let rate = row["raw_flops"].as_f64().unwrap() / (end - start) as f64;
                        let span = start..end.min(total);
                        flops[span].iter_mut().flatten().for_each(|ns| *ns += rate / peak);
                    }
                }
                check(String::from("hfu.0"), flops.clone());
                // The mean from the start on, at the end of the execution.
                let last = total - 1;
                let path =
                    format!("{at}/series/data?ids=hfu_cumulative.0&from={last}&to={total}&width=1");
                let (_, series) = wire::series(&server.get(&path).body);
                let sum: f64 = flops.iter().flatten().sum();
                assert!(close(series[0][0].3, sum / total as f64), "{series:?}");
            }
            assert!(checked >= if core == 0 { 13 } else { 5 }, "{checked} series of core {core}");
        }
    }
}

#[test]
fn series_that_cannot_be_shown() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}/series/data");
    let many = vec!["dma_active.0"; 65].join(",");
    for (query, status) in [
        ("ids=nothing.0&from=0&to=5", 404),
        ("ids=&from=0&to=5", 404),
        ("ids=dma_active.0&from=5&to=5", 400),
        ("ids=dma_active.0&from=0&to=5&width=0", 400),
        ("ids=dma_active.0&from=0&to=5&width=99999", 400),
        ("ids=dma_active.0&from=0", 400),
        ("ids=dma_active.0&from=-1&to=5", 400),
        (&format!("ids={many}&from=0&to=5"), 400),
        ("ids=%ff&from=0&to=5", 404),
    ] {
        let answer = server.get(&format!("{at}?{query}"));
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
    }
    // Behind the end there is nothing, which is an answer.
    for from in [1_000_000_000_u64, u64::MAX - 10] {
        let to = from + 5;
        let answer = server.get(&format!("{at}?ids=dma_active.0&from={from}&to={to}"));
        assert_eq!(wire::series(&answer.body).1, [Vec::new()]);
    }
}
