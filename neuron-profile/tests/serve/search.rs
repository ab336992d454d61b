//! Searches against conditions on rows, written out; chains against flows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::server::{Server, stored};
use super::trees::{long, rows};
use super::wire;

fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

type Rule = fn(&Value) -> bool;

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

const QUERIES: [(&str, Rule); 12] = [
    ("opcode=MATMUL", |row| row["opcode"] == "MATMUL"),
    ("opcode!=MATMUL", |row| row["opcode"] != "MATMUL" && row["opcode"].is_string()),
    ("opcode~mat", |row| text(row, "opcode").contains("MAT")),
    ("operands=/\\$?S\\[\\d+\\]/", |row| {
        text(row, "operands").split("S[").skip(1).any(|rest| {
            rest.split_once(']')
                .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    }),
    ("duration_ns>100 opcode=/^(COPY|ACTIVATE)$/", |row| {
        long(row, "duration_ns") > 100 && ["COPY", "ACTIVATE"].contains(&text(row, "opcode"))
    }),
    ("duration_ns=50..60", |row| (50..=60).contains(&long(row, "duration_ns"))),
    ("duration_ns>=50 AND duration_ns<60", |row| (50..60).contains(&long(row, "duration_ns"))),
    ("engine=Vector OR engine=Scalar", |row| ["Vector", "Scalar"].contains(&text(row, "engine"))),
    ("NOT (engine=Vector OR engine=Scalar) id<=200", |row| {
        !["Vector", "Scalar"].contains(&text(row, "engine")) && long(row, "id") <= 200
    }),
    ("transfer_bytes=4096", |row| row["transfer_bytes"] == 4096),
    ("qsync", |row| {
        row.as_object()
            .unwrap()
            .values()
            .any(|value| value.as_str().is_some_and(|text| text.to_lowercase().contains("qsync")))
    }),
    ("raw_flops>0 OR queue_name~dynamic", |row| {
        row["raw_flops"].as_u64().is_some_and(|flops| flops > 0)
            || text(row, "queue_name").to_lowercase().contains("dynamic")
    }),
];

#[test]
fn what_is_found_is_what_fits() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-base-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let profile = server.json(&at);
    let total = long(&profile, "total_ns");
    let lanes = profile["lanes"].as_array().unwrap();
    let lane_of = |table: &str, row: u64| {
        let own = |lane: &&Value| {
            let first = long(lane, "first_row");
            lane["table"] == table && (first..first + long(lane, "rows")).contains(&row)
        };
        long(lanes.iter().find(own).unwrap(), "number")
    };
    let tables = ["Instruction", "DmaPacket"].map(|table| (table, rows(&server, &at, table)));
    for (query, rule) in QUERIES {
        for (from, to) in [(0, u64::MAX / 4), (total / 4, total / 2)] {
            let wanted: Vec<(&str, &Value)> = tables
                .iter()
                .flat_map(|(table, rows)| rows.iter().map(move |row| (*table, row)))
                .filter(|(_, row)| (from..to).contains(&long(row, "start_ts")) && rule(row))
                .collect();
            let q = encoded(query);
            let mut found = Vec::new();
            let mut offset = 0;
            let answer = loop {
                let page = format!("offset={offset}&limit=400");
                let answer = server.json(&format!("{at}/search?q={q}&from={from}&to={to}&{page}"));
                found.extend(answer["rows"].as_array().unwrap().clone());
                match answer["next"].as_u64() {
                    Some(next) => offset = next,
                    None => break answer,
                }
            };
            assert_eq!(answer["total"], wanted.len(), "{query}");
            assert_eq!(answer["complete"], true);
            let keys: Vec<(&str, u64)> =
                found.iter().map(|row| (text(row, "table"), long(row, "row"))).collect();
            let right: Vec<(&str, u64)> =
                wanted.iter().map(|(table, row)| (*table, long(row, "row"))).collect();
            assert_eq!(keys, right, "{query}");
            for row in &found {
                assert_eq!(row["lane"], lane_of(text(row, "table"), long(row, "row")));
            }
            let sums = &answer["statistics"];
            let lengths = || wanted.iter().map(|(_, row)| long(row, "duration_ns"));
            assert_eq!(sums["duration_ns"]["sum"], lengths().sum::<u64>());
            assert_eq!(sums["duration_ns"]["max"].as_u64(), lengths().max());
            assert_eq!(sums["duration_ns"]["min"].as_u64(), lengths().min());
            let starts = wanted.iter().map(|(_, row)| long(row, "start_ts"));
            assert_eq!(sums["start_ns"].as_u64(), starts.min());
            let by_lane: u64 =
                sums["lanes"].as_array().unwrap().iter().map(|lane| long(lane, "count")).sum();
            assert_eq!(by_lane, wanted.len() as u64);
            // Columns have as many.
            let (from, to) = (from, to.min(total));
            let path = format!("{at}/matches?q={q}&from={from}&to={to}&width=90");
            let answer = server.get(&path);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let (columns, hits) = wire::matches(&answer.body);
            let mut right: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for (table, rows) in &tables {
                for row in rows.iter().filter(|row| rule(row)) {
                    let start = long(row, "start_ts");
                    let column = start.checked_sub(columns.start).map(|at| at / columns.ns);
                    if let Some(column) = column.filter(|at| *at < u64::from(columns.count)) {
                        let lane = lane_of(table, long(row, "row"));
                        *right.entry((lane as u32, column as u32)).or_default() += 1;
                    }
                }
            }
            let all =
                hits.iter().flat_map(|(lane, of)| of.iter().map(|(at, n)| ((*lane, *at), *n)));
            assert_eq!(all.collect::<BTreeMap<_, _>>(), right, "{query}");
        }
    }
    let only = server.json(&format!("{at}/search?q=duration_ns%3e0&tables=DmaPacket&limit=1"));
    assert_eq!(only["rows"][0]["table"], "DmaPacket");
}

#[test]
fn searches_that_cannot_be_made() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let long = "x".repeat(5000);
    for (query, part) in [
        ("", "missing"),
        ("a=", "missing"),
        ("(a", "bracket"),
        ("nothing=1", "no column nothing"),
        ("opcode>5", "texts"),
        ("id~5", "numbers"),
        ("id=abc", "none"),
        ("opcode=/(/", "regular expression"),
        ("/(?:(?:a{1000}){1000}){1000}/", "regular expression"),
        (&long, "bytes"),
    ] {
        for path in ["search", "matches"] {
            let answer = server.get(&format!("{at}/{path}?q={}", encoded(query)));
            let told = answer.json()["error"].as_str().unwrap().to_owned();
            assert!(answer.status == 400 && told.contains(part), "{query}: {told}");
            assert!(!told.contains('\n'));
        }
    }
    for bad in ["q=a&tables=Flow", "q=a&from=5&to=5", "q=a&offset=-1", "q=a&x=1", "from=1"] {
        assert_eq!(server.get(&format!("{at}/search?{bad}")).status, 400, "{bad}");
    }
    let none = server.json(&format!("{at}/search?q=no%20such%20text%20anywhere&offset=5000000"));
    assert_eq!((&none["total"], &none["next"]), (&0.into(), &Value::Null));
    assert!(none["statistics"]["duration_ns"]["mean"].is_null());
    let (_, hits) = wire::matches(&server.get(&format!("{at}/matches?q=nowhere_at_all")).body);
    assert!(hits.is_empty());
}

#[test]
fn chains_go_back_along_flows() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-tkg");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let table = rows(&server, &at, "Instruction");
    let by_id: BTreeMap<u64, &Value> = table.iter().map(|row| (long(row, "id"), row)).collect();
    let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for flow in rows(&server, &at, "Flow") {
        before.entry(long(&flow, "out_id")).or_default().push(long(&flow, "in_id"));
    }
    let mut longest = 0;
    for row in table.iter().rev().step_by(97) {
        let number = long(row, "row");
        let answer = server.json(&format!("{at}/events/Instruction/{number}/chain?depth=12"));
        let chain = answer["chain"].as_array().unwrap();
        assert_eq!(chain[0]["row"], number);
        longest = longest.max(chain.len());
        for pair in chain.windows(2) {
            let ids = &before[&long(&pair[0], "id")];
            let latest = ids.iter().map(|id| (long(by_id[id], "end_ts"), *id)).max().unwrap();
            assert_eq!(long(&pair[1], "id"), latest.1);
            let gap = long(&pair[0], "start_ts") as i64 - latest.0 as i64;
            assert_eq!(pair[1]["gap_ns"], gap);
        }
        let last = long(chain.last().unwrap(), "id");
        match answer["end"].as_str().unwrap() {
            "first" => assert!(!before.contains_key(&last)),
            "depth" => assert_eq!(chain.len(), 13),
            other => panic!("{other}"),
        }
        // The event itself tells both sides, with what they are.
        let event = server.json(&format!("{at}/events/Instruction/{number}"));
        let told = event["predecessors"].as_array().unwrap();
        assert_eq!(told.len(), before.get(&long(row, "id")).map_or(0, |ids| ids.len().min(256)));
        for other in told {
            let wanted = by_id[&long(other, "id")];
            for key in ["row", "opcode", "engine", "pc", "start_ts", "end_ts"] {
                assert_eq!(other[key], wanted[key], "{key}");
            }
            let gap = long(row, "start_ts") as i64 - long(wanted, "end_ts") as i64;
            assert_eq!(other["gap_time"], gap);
            let back = server.json(&format!("{at}/events/Instruction/{}", other["row"]));
            let ids = back["successors"].as_array().unwrap().iter().map(|one| &one["id"]);
            assert!(
                ids.count() == 256
                    || back["successors"].to_string().contains(&format!("\"id\":{}", row["id"]))
            );
        }
    }
    assert!(longest > 5, "{longest} steps");
    let packet = server.json(&format!("{at}/events/DmaPacket/0/chain"));
    assert_eq!((packet["chain"].as_array().unwrap().len(), &packet["end"]), (1, &"first".into()));
    for (bad, status) in [
        ("Instruction/99999999/chain", 404),
        ("Nothing/0/chain", 404),
        ("Instruction/0/chain?depth=x", 400),
        ("Instruction/-1/chain", 400),
    ] {
        assert_eq!(server.get(&format!("{at}/events/{bad}")).status, status, "{bad}");
    }
}
