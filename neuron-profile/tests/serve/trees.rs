//! Kinds, trees, layers and regions against rows, and against the vendor's
//! exports.

use std::collections::BTreeMap;

use serde_json::Value;

use super::series::vendor;
use super::server::{Server, stored};

pub(crate) fn long(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// All rows of a table.
pub(crate) fn rows(server: &Server, at: &str, table: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = Some(0);
    while let Some(from) = next {
        let page = server.json(&format!("{at}/tables/{table}?from={from}&limit=3000"));
        all.extend(page["rows"].as_array().unwrap().clone());
        next = page["next"].as_u64();
    }
    all
}

/// Kinds as a viewer reads them: name, layer, operator, source.
fn kinds(server: &Server, at: &str, limit: usize) -> Vec<[Option<String>; 4]> {
    let mut out = Vec::new();
    let mut from = Some(0);
    while let Some(at_kind) = from {
        let page = server.json(&format!("{at}/kinds?from={at_kind}&limit={limit}"));
        let texts = page["texts"].as_array().unwrap();
        let text = |key: &str, place: usize| {
            let place = usize::try_from(page[key][place].as_i64().unwrap()).ok()?;
            Some(texts[place].as_str().unwrap().to_owned())
        };
        for place in 0..page["name"].as_array().unwrap().len() {
            out.push(["name", "layer", "operator", "source"].map(|key| text(key, place)));
        }
        from = page["next"].as_u64();
    }
    out
}

#[test]
fn kinds_tell_what_rows_tell() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let profile = server.json(&at);
    let total = long(&profile, "total_ns");
    let all = kinds(&server, &at, 7);
    assert_eq!(all, kinds(&server, &at, 50_000));
    assert_eq!(all.len() as u64, long(&profile, "kinds"));
    let names: Vec<&str> =
        profile["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(all.iter().zip(&names).all(|(kind, name)| kind[0].as_deref() == Some(name)));
    // A column as fine as the events names the kind of its event.
    let table = rows(&server, &at, "Instruction");
    let answer = server.get(&format!("{at}/viewport?from=0&to={total}&width=16000"));
    let (_, column_ns, views) = super::basics::decoded(&answer.body);
    assert!(column_ns <= 4);
    let mut seen = 0;
    for (lane, columns) in views {
        if profile["lanes"][lane as usize]["kind"] != "engine" {
            continue;
        }
        for (row, busy, _, count, kind) in columns {
            let Some(event) = table.get(row as usize) else { continue };
            let first = profile["lanes"][lane as usize]["first_row"].as_u64().unwrap();
            // One that another covers from before is not what is seen.
            let own = &table[first as usize..row as usize];
            let covered = own.iter().any(|e| long(e, "end_ts") > long(event, "start_ts"));
            if count != 1 || busy != column_ns || covered {
                continue;
            }
            let same = |key: &str| event[key].as_str().map(str::to_owned).filter(|t| !t.is_empty());
            let wanted = ["opcode", "layer", "hlo_name", "nki_source_location"].map(same);
            assert_eq!(all[kind as usize], wanted, "{event}");
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen} columns of one event");
    let one = server.json(&format!("{at}/kinds/0"));
    assert_eq!(one["name"].as_str(), all[0][0].as_deref());
    assert!(one["work"]["flops"].is_u64());
    assert_eq!(server.get(&format!("{at}/kinds/{}", all.len())).status, 404);
    assert_eq!(server.get(&format!("{at}/kinds/-1")).status, 400);
    let behind = server.json(&format!("{at}/kinds?from=99999999999"));
    assert_eq!((behind["name"].as_array().unwrap().len(), &behind["next"]), (0, &Value::Null));
}

/// The key of a row in a tree.
fn path(row: &Value, by: &str) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    match by {
        "opcode" => format!("{}/{}", text("timeline_track"), text("opcode")),
        "queue" => format!("DMA-E{}/{}", row["engine_idx"], text("queue_name")),
        "source" => match text("nki_source_location").rsplit_once(':') {
            Some((file, line)) => format!("{file}/{line}"),
            None => String::from("(no source)"),
        },
        _ => match text("hlo_name") {
            "" => String::from("(no operator)"),
            name => name.to_owned(),
        },
    }
}

#[test]
fn trees_are_sums_of_rows() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-tkg");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let total = long(&server.json(&at), "total_ns");
    let tables = [rows(&server, &at, "Instruction"), rows(&server, &at, "DmaPacket")];
    let ranges = [(0, total), (total / 7, total / 3), (100_000, 100_700)];
    for by in ["opcode", "operator", "source", "queue"] {
        let table = &tables[usize::from(by == "queue")];
        for (from, to) in ranges {
            let answer =
                server.json(&format!("{at}/operators?by={by}&from={from}&to={to}&limit=10000"));
            assert_eq!(answer["cut"], false);
            // Counts, time without waits, waits, operations, bytes.
            let mut wanted: BTreeMap<String, [u64; 5]> = BTreeMap::new();
            for row in table {
                if !(from..to).contains(&long(row, "start_ts")) {
                    continue;
                }
                let sums = wanted.entry(path(row, by)).or_default();
                let waits = usize::from(row["opcode"] == "EVENT_SEMAPHORE");
                sums[0] += 1;
                // Times of start and end are whole nanoseconds by themselves.
                sums[1 + waits] += long(row, "end_ts") - long(row, "start_ts");
                sums[3] += row["raw_flops"].as_u64().unwrap_or(0);
                sums[4] += match by {
                    "queue" => long(row, "transfer_bytes"),
                    _ => row["hbm_read_bytes"].as_u64().unwrap_or(0),
                };
            }
            let bytes = if by == "queue" { "dma_bytes" } else { "hbm_read_bytes" };
            let nodes = answer["nodes"].as_array().unwrap();
            let leaves: BTreeMap<String, [u64; 5]> = nodes
                .iter()
                .filter(|node| node["leaf"] == true && long(node, "count") > 0)
                .map(|node| {
                    let keys = ["count", "time_ns", "wait_ns", "flops", bytes];
                    let path = node["path"].as_str().unwrap().to_owned();
                    (path, keys.map(|key| long(node, key)))
                })
                .collect();
            assert_eq!(leaves, wanted, "{by} {from}..{to}");
            // Parents stand before their nodes, and have their sums.
            let mut sums: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
            for (place, node) in nodes.iter().enumerate() {
                if let Some(parent) = node["parent"].as_u64() {
                    assert!(nodes[..place].iter().any(|node| node["node"] == parent));
                    let to = sums.entry(parent).or_default();
                    for (sum, key) in to.iter_mut().zip(["count", "busy_ns", "flops"]) {
                        *sum += long(node, key);
                    }
                }
            }
            for node in nodes.iter().filter(|node| node["leaf"] == false) {
                let own = ["count", "busy_ns", "flops"].map(|key| long(node, key));
                assert_eq!(sums[&long(node, "node")], own, "{node}");
            }
        }
    }
    // The largest are kept, with what is above them.
    let few = server.json(&format!("{at}/operators?by=opcode&limit=3&sort=count"));
    let all = server.json(&format!("{at}/operators?by=opcode&limit=10000&sort=count"));
    let largest = all["nodes"].as_array().unwrap().iter().map(|node| long(node, "count")).max();
    assert_eq!(few["nodes"].as_array().unwrap().iter().map(|n| long(n, "count")).max(), largest);
    assert!(few["cut"] == true && few["total"] == all["total"]);
    let node = few["nodes"][0]["node"].as_u64().unwrap();
    let under = server.json(&format!("{at}/operators?by=opcode&under={node}&depth=1"));
    assert_eq!(
        (&under["nodes"][0]["node"], &under["nodes"][0]["parent"]),
        (&node.into(), &Value::Null)
    );
    assert!(under["nodes"].as_array().unwrap().iter().skip(1).all(|n| n["parent"] == node));
}

#[test]
fn layers_are_those_of_the_vendor() {
    let data = tempfile::tempdir().unwrap();
    for capture in ["attn-fused-bf16-512", "attn-fused-fp32-1024", "attn-base-bf16-512"] {
        let id = stored(data.path(), capture);
        let server = Server::start(data.path(), &[]);
        let at = format!("/api/v1/profiles/{id}");
        let answer = server.json(&format!("{at}/operators"));
        let theirs = vendor(capture, "layer_summary");
        assert!(theirs.len() >= 3);
        for layer in &theirs {
            let name = layer["name"].as_str().unwrap().trim_start_matches('/');
            let nodes = answer["nodes"].as_array().unwrap();
            let node = nodes.iter().find(|node| node["path"] == name).unwrap();
            assert_eq!((&node["start_ns"], &node["end_ns"]), (&layer["start"], &layer["end"]));
            assert_eq!(node["flops"], layer["tensor_engine_flop_count"]);
            for engine in ["Tensor", "Vector", "Scalar", "GpSimd", "Sync"] {
                let of = |key: &str| {
                    let products = if engine == "Tensor" { "TensorMatrix" } else { "none" };
                    let row = |row: &str| node["engines"][row][key].as_u64().unwrap_or(0);
                    row(engine) + row(products)
                };
                let word = engine.to_lowercase();
                let count = long(layer, &format!("{word}_engine_instruction_count"));
                assert_eq!(of("count"), count, "{name} {engine}");
                // Whole nanoseconds of starts and ends, one by one.
                let time = long(layer, &format!("{word}_engine_instruction_time"));
                assert!(of("time_ns").abs_diff(time) <= count, "{name} {engine}");
                if engine != "Tensor" {
                    let active = long(layer, &format!("{word}_engine_active_time"));
                    // Time that a wait or another layer covers first is not
                    // this one's; of a whole core that is little.
                    let busy = of("busy_ns");
                    assert!(busy <= active + count, "{name} {engine} {busy} {active}");
                    if name.contains('/') {
                        continue;
                    }
                    let slack = count + active / 20;
                    assert!(busy.abs_diff(active) <= slack, "{name} {engine} {busy} {active}");
                }
            }
        }
        // Bars: every one covers what its layer has in it, from the one lane.
        let total = server.json(&at)["total_ns"].as_u64().unwrap();
        let bars = server.json(&format!("{at}/layers?from=0&to={total}&width=400"));
        let table = rows(&server, &at, "Instruction");
        let mut seen = 0;
        for row in bars["rows"].as_array().unwrap() {
            let mut last = 0;
            for bar in row["bars"].as_array().unwrap() {
                let (from, to) = (long(bar, "from"), long(bar, "to"));
                assert!(last <= from && from < to);
                last = to;
                let layer = bar["name"].as_str().unwrap();
                assert!(table.iter().any(|event| {
                    event["layer"].as_str().is_some_and(|path| path.contains(layer))
                        && event["pcore_idx"] == row["core"]
                        && long(event, "start_ts") < to
                        && long(event, "end_ts") > from
                }));
                seen += 1;
            }
        }
        assert!(seen > 0);
    }
}

#[test]
fn regions_have_the_metrics_of_the_vendor() {
    let data = tempfile::tempdir().unwrap();
    for capture in ["attn-fused-bf16-512", "attn-fused-fp32-512", "attn-base-bf16-512"] {
        let id = stored(data.path(), capture);
        let server = Server::start(data.path(), &[]);
        let at = format!("/api/v1/profiles/{id}");
        let total = server.json(&at)["total_ns"].as_u64().unwrap();
        let whole = server.json(&format!("{at}/summary?from=0&to={}", total + 1));
        let theirs = &vendor(capture, "summary")[0];
        let mut compared = 0;
        for metric in whole["metrics"].as_array().unwrap() {
            let name = metric["name"].as_str().unwrap();
            let Some(wanted) = theirs[name].as_f64().filter(|_| metric["core"].is_null()) else {
                continue;
            };
            let value = metric["value"].as_f64().unwrap();
            // Times are sums of whole nanoseconds, one too few or many each.
            let slack = match metric["unit"].as_str().unwrap() {
                "s" => 1500e-9,
                "%" => 0.05 * wanted.abs(),
                _ => 1e-9 * wanted.abs(),
            };
            assert!((value - wanted).abs() <= slack, "{capture} {name}: {value}, not {wanted}");
            compared += 1;
        }
        assert!(compared > 40, "{compared} metrics");
        // Two halves have what the whole has.
        let half = |from: u64, to: u64| {
            let answer = server.json(&format!("{at}/summary?from={from}&to={to}"));
            let list = answer["metrics"].as_array().unwrap().clone();
            let key = |m: &Value| (m["name"].as_str().unwrap().to_owned(), m["core"].as_u64());
            let all = list.iter().map(|m| (key(m), m["value"].as_f64().unwrap()));
            all.collect::<BTreeMap<_, _>>()
        };
        let cut = total / 3;
        let (first, second, all) = (half(0, cut), half(cut, total + 1), half(0, total + 1));
        for (key, whole) in &all {
            let adds = ["_count", "_bytes", "_flops", "_time", "_size"];
            if adds.iter().any(|end| key.0.ends_with(end)) {
                let sum = first[key] + second[key];
                assert!((sum - whole).abs() <= 1e-9 * whole.abs(), "{key:?}: {sum}, not {whole}");
            }
        }
    }
}

#[test]
fn trees_that_cannot_be_shown() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    for (bad, status) in [
        ("operators?by=colour", 400),
        ("operators?sort=colour", 400),
        ("operators?from=5&to=5", 400),
        ("operators?from=9&to=5", 400),
        ("operators?under=999999", 404),
        ("operators?limit=-1", 400),
        ("operators?x=1", 400),
        ("summary?from=5&to=5", 400),
        ("summary?from=9&to=5", 400),
        ("summary?from=x", 400),
        ("layers?from=0", 400),
        ("layers?from=0&to=9&width=99999", 400),
        ("layers?from=0&to=9&lanes=99", 400),
        ("kinds?limit=x", 400),
    ] {
        let answer = server.get(&format!("{at}/{bad}"));
        assert_eq!(answer.status, status, "{bad}: {}", answer.text());
    }
    // Behind the end nothing begins, which is an answer.
    let far = "from=1000000000000&to=1000000000001";
    let none = server.json(&format!("{at}/operators?{far}"));
    assert_eq!(none["nodes"].as_array().unwrap().len(), 0);
    let metrics = server.json(&format!("{at}/summary?{far}"));
    let count = |m: &&Value| m["name"] == "matmul_instruction_count";
    let count = metrics["metrics"].as_array().unwrap().iter().find(count).unwrap();
    assert_eq!(count["value"], 0.0);
    let bars = server.json(&format!("{at}/layers?{far}"));
    assert!(bars["rows"].as_array().unwrap().is_empty());
}
