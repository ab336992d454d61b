//! `neuron-profile report` and findings over HTTP, against sums over the
//! vendor's exports.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/stored.rs"]
mod stored;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use stored::{CAPTURES, fixture, refused, rows, said, store, store_empty, tool};

fn export(capture: &str) -> Value {
    serde_json::from_slice(&std::fs::read(fixture(&format!("{capture}.json"))).unwrap()).unwrap()
}

fn report(data: &Path, name: &str, profiles: &[&str]) -> Vec<Value> {
    let args = [&["report", name], profiles, &["--output-format", "json"]].concat();
    let document: Value = serde_json::from_str(&said(data, &args)).unwrap();
    assert_eq!(document["report"], name);
    document["pages"].as_array().unwrap().clone()
}

#[test]
fn sums_are_those_of_the_vendors_export() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    for capture in CAPTURES {
        store(data, capture, &[]);
        let export = export(capture);
        let list = |name: &str| export[name].as_array().unwrap().clone();
        // Engines: active time by engine and core.
        let cores: Vec<Value> =
            list("model_info").iter().map(|row| row["sg_name"].clone()).collect();
        let mut wanted: BTreeMap<(String, u64), (u64, u64)> = BTreeMap::new();
        for row in list("active_time") {
            let core = cores.iter().position(|name| *name == row["subgraph"]).unwrap() as u64;
            let entry =
                wanted.entry((row["engine"].as_str().unwrap().to_owned(), core)).or_default();
            entry.0 += 1;
            entry.1 += row["duration_ns"].as_u64().unwrap();
        }
        let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
        let page = &report(data, "engines", &[capture])[0];
        let ours: BTreeMap<(String, u64), (u64, u64)> = page["engines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let key = (row["engine"].as_str().unwrap().to_owned(), number(row, "core"));
                (key, (number(row, "spans"), number(row, "active_ns")))
            })
            .collect();
        assert_eq!(ours, wanted, "{capture}");
        // DMA: packets and bytes by size.
        let mut wanted: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for row in list("dma") {
            let entry = wanted.entry(number(&row, "transfer_size")).or_default();
            entry.0 += 1;
            entry.1 += number(&row, "duration");
        }
        let page = &report(data, "dma", &[capture])[0];
        let sizes = page["sizes"].as_array().unwrap();
        let ours: BTreeMap<u64, (u64, u64)> = sizes
            .iter()
            .map(|row| {
                let time = number(row, "packets") as f64 * row["ns_a_packet"].as_f64().unwrap();
                let packets = number(row, "packets");
                let exact = wanted.get(&number(row, "size")).map_or(0, |wanted| wanted.1);
                // The mean is rounded to a tenth.
                assert!((time - exact as f64).abs() <= 0.06 * packets as f64, "{row}");
                (number(row, "size"), (packets, exact))
            })
            .collect();
        assert_eq!(ours, wanted, "{capture}");
        // Pauses: the longest time without an engine at work.
        let mut spans: Vec<(u64, u64)> = list("active_time")
            .iter()
            .map(|row| (number(row, "start_ts"), number(row, "end_ts")))
            .collect();
        spans.sort_unstable();
        let (mut end, mut longest) = (spans[0].1, 0);
        for (from, to) in spans {
            longest = longest.max(from.saturating_sub(end));
            end = end.max(to);
        }
        let page = &report(data, "idle", &[capture])[0];
        assert_eq!(number(&page["pauses"][0], "idle_ns"), longest, "{capture}");
        // Operators: every instruction is in one of them.
        let page = &report(data, "operators", &[capture])[0];
        let sum = |name: &str| -> u64 {
            page["operators"].as_array().unwrap().iter().map(|row| number(row, name)).sum()
        };
        let durations: u64 = list("instruction").iter().map(|row| number(row, "duration")).sum();
        assert_eq!(
            (sum("instructions"), sum("time_ns")),
            (list("instruction").len() as u64, durations)
        );
        // Memory: bytes of instructions.
        let page = &report(data, "memory", &[capture])[0];
        let read: u64 = page["traffic"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|row| row["sbuf_read"].as_u64())
            .sum();
        let theirs = list("instruction");
        let theirs: u64 = theirs.iter().filter_map(|row| row["sbuf_read_bytes"].as_u64()).sum();
        assert_eq!(read, theirs, "{capture}");
        // Layers, by name and engine.
        let page = &report(data, "layers", &[capture])[0];
        for row in page["layers"].as_array().unwrap() {
            let layer = list("layer_summary").into_iter().find(|layer| {
                layer["name"] == row["layer"]
                    && cores.iter().position(|name| *name == layer["subgraph"])
                        == row["core"].as_u64().map(|core| core as usize)
            });
            let Some(layer) = layer else { continue };
            let engine = row["engine"].as_str().unwrap().to_lowercase();
            let theirs = &layer[format!("{engine}_engine_active_time")];
            assert_eq!(row["active_ns"], *theirs, "{capture} {row}");
        }
    }
}

/// What two exports differ in.
#[test]
fn a_comparison_is_that_of_the_exports() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let (one, two) = (CAPTURES[0], CAPTURES[1]);
    store(data, one, &[]);
    store(data, two, &[]);
    let (a, b) = (export(one), export(two));
    let page = &report(data, "compare", &[one, two])[0];
    let mut held = 0;
    for row in page["metrics"].as_array().unwrap() {
        let name = row["metric"].as_str().unwrap();
        let (Some(first), Some(second)) =
            (a["summary"][0][name].as_f64(), b["summary"][0][name].as_f64())
        else {
            continue;
        };
        let close = |ours: &Value, theirs: f64| {
            (ours.as_f64().unwrap() - theirs).abs() <= 1e-9 * theirs.abs().max(1e-300)
        };
        assert!(close(&row["first"], first) && close(&row["second"], second), "{row}");
        if first != 0.0 {
            assert!(close(&row["ratio"], second / first), "{row}");
        }
        held += 1;
    }
    assert!(held > 40, "{held}");
    // Opcodes: instructions of both, counted in the exports.
    let count = |export: &Value, engine: &Value, opcode: &Value| {
        let all = export["instruction"].as_array().unwrap().iter();
        all.filter(|row| row["subgroup"] == *engine && row["opcode"] == *opcode).count()
    };
    let opcodes = page["opcodes"].as_array().unwrap();
    assert!(opcodes.len() > 10);
    for row in opcodes {
        assert_eq!(row["first_instructions"], count(&a, &row["engine"], &row["opcode"]), "{row}");
        assert_eq!(row["second_instructions"], count(&b, &row["engine"], &row["opcode"]), "{row}");
    }
    // With itself nothing differs.
    let page = &report(data, "compare", &[one, one, two])[0];
    assert_eq!(page["profiles"][1]["display_name"], two);
    let copy = store(data, two, &["--display-name", "copy", "--execution", "1"]);
    assert!(refused(data, &["report", "compare", &copy]).contains("two profiles"));
}

/// What rules find in real captures, with rows that are what they say.
#[test]
fn findings_of_real_captures() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    for capture in CAPTURES {
        store(data, capture, &[]);
        let export = export(capture);
        let page = &report(data, "bottlenecks", &[capture])[0];
        let findings = page["findings"].as_array().unwrap();
        let find = |rule: &str| findings.iter().find(|finding| finding["rule"] == rule);
        // The vendor's metrics say the same of their limits.
        let metric = |name: &str| export["summary"][0][name].as_f64().unwrap();
        let idle = 1.0 - metric("total_active_time_percent");
        assert_eq!(find("idle").is_some(), idle > 0.3, "{capture}");
        let share = metric("transpose_flops") / metric("hardware_flops");
        assert_eq!(find("transposes").is_some(), share > 0.1, "{capture}");
        let used = metric("mfu_estimated_percent") / metric("tensor_engine_active_time_percent");
        assert_eq!(find("tensor-underused").is_some(), used > 0.0 && used < 0.5, "{capture}");
        let warnings = export["warnings"].as_array().unwrap().len();
        assert_eq!(
            find("incomplete").map(|finding| finding["value"].clone()),
            Some(json!(warnings as f64))
        );
        let weights: Vec<f64> = findings.iter().map(|f| f["weight"].as_f64().unwrap()).collect();
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{weights:?}");
        // Rows of evidence are those of the table: fields are equal there.
        for finding in findings {
            let evidence = finding["evidence"].as_array().unwrap();
            assert!(!evidence.is_empty() && evidence.len() <= 10, "{finding}");
            for row in evidence {
                let sql = format!(
                    "SELECT * FROM (SELECT file_row_index() AS row, * FROM {}) AS t WHERE row = {}",
                    row["table"].as_str().unwrap(),
                    row["row"]
                );
                let found = &rows(data, &[capture], &sql)[0];
                for (name, value) in row["fields"].as_object().unwrap() {
                    if let Some(stored) = found.get(name) {
                        assert_eq!(stored, value, "{capture} {row}");
                    }
                }
            }
        }
    }
    let told = said(data, &["report", "bottlenecks", CAPTURES[0]]);
    assert!(
        told.starts_with("bottlenecks: attn-base-bf16-512 (n_") && told.contains("\n1. "),
        "{told}"
    );
    let csv = said(data, &["report", "bottlenecks", CAPTURES[0], "--output-format", "csv"]);
    assert!(csv.starts_with("rule,severity,weight,"), "{csv}");
}

/// A server over a store.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut child =
            tool(data, &["view", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().trim_end_matches('/').rsplit(':').next().unwrap();
        Self { port: port.parse().unwrap(), child }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\nHost: localhost:{}\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| json!({ "error": body })))
    }
}

#[test]
fn over_http() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let id = store(data, CAPTURES[3], &[]);
    let empty = store_empty(data);
    let server = Server::start(data);
    let base = format!("/api/v1/profiles/{id}");
    let (status, answer) = server.get(&format!("{base}/findings"));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["findings"], report(data, "bottlenecks", &[&id])[0]["findings"]);
    // Each row of evidence is one that the interface shows.
    for row in answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|f| f["evidence"].as_array().unwrap())
    {
        let (table, number) = (row["table"].as_str().unwrap(), &row["row"]);
        let (status, event) = server.get(&format!("{base}/events/{table}/{number}"));
        assert_eq!(status, 200, "{event}");
        for (name, value) in row["fields"].as_object().unwrap() {
            if let Some(stored) = event["fields"].get(name) {
                assert_eq!(stored, value, "{row}");
            }
        }
    }
    let (status, answer) = server.get(&format!("/api/v1/profiles/{empty}/findings"));
    assert!(status == 200 && answer["findings"].is_array(), "{answer}");

    let ask = |id: &str, sql: &str, more: &str| {
        let sql: String = sql.bytes().map(|byte| format!("%{byte:02x}")).collect();
        server.get(&format!("/api/v1/profiles/{id}/query?sql={sql}{more}"))
    };
    let sql = "SELECT engine, count(*) AS n FROM Instruction GROUP BY engine ORDER BY engine";
    let (status, answer) = ask(&id, sql, "");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["rows"], Value::Array(rows(data, &[&id], sql)));
    assert_eq!(
        (&answer["more"], &answer["columns"][1]),
        (&json!(false), &json!({"name": "n", "type": "Int64"}))
    );
    let (_, answer) = ask(&id, "SELECT id FROM Instruction ORDER BY id", "&limit=3");
    assert_eq!((answer["rows"].as_array().unwrap().len(), &answer["more"]), (3, &json!(true)));
    let (_, answer) = ask(&empty, "SELECT * FROM Instruction", "");
    assert_eq!((&answer["rows"], &answer["more"]), (&json!([]), &json!(false)));
    for (sql, more) in [
        ("DROP TABLE Instruction", ""),
        ("COPY Flow TO '/tmp/x.csv'", ""),
        ("SELECT * FROM '/etc/passwd'", ""),
        ("SELECT x FROM Instruction", ""),
        ("SELECT 1", "&limit=10001"),
        ("SELECT 1", "&limit=-1"),
        ("SELECT 1", "&other=1"),
    ] {
        let (status, answer) = ask(&id, sql, more);
        assert_eq!(status, 400, "{sql}{more} {answer}");
        assert_eq!(answer["error"].as_str().unwrap().lines().count(), 1);
    }
    // What takes too much is ended, and the server goes on.
    let cross = "SELECT count(*) FROM (SELECT DISTINCT a.operands || b.operands || c.operands FROM Instruction a \
                 CROSS JOIN Instruction b CROSS JOIN Instruction c) AS x";
    let (status, answer) = ask(&id, cross, "");
    assert_eq!(status, 413, "{answer}");
    assert_eq!(ask(&id, sql, "").0, 200);
    assert_eq!(
        server.get("/api/v1/profiles/n_0000000000000000000000000000000000000000/findings").0,
        404
    );
}
