//! The tables that we make of four captures against the vendor's own exports
//! of them, field by field.
//!
//! Every value comes from NEFF and NTFF; the exports are read by this test
//! alone. A field that is not in [`EXPLAINED`] must be equal in every row of
//! every capture; one that is must differ somewhere, or its line is stale.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use neuron_core::neff::{self, Neff, Report};
use neuron_profile::export::tables::Row;
use neuron_profile::export::{Names, Profile, json};
use profile_engine::{Options, Parts};
use serde_json::Value;

const CAPTURES: [&str; 4] =
    ["attn-fused-fp32-512", "attn-fused-bf16-512", "attn-base-bf16-512", "attn-fused-fp32-1024"];

/// Tables, and the fields that name a row. An empty list: the whole row does.
const TABLES: [(&str, &[&str]); 20] = [
    ("instruction", &["subgraph", "subgroup", "timestamp", "pc"]),
    ("dma", &["subgraph", "dma_engine", "dma_queue", "packet_idx"]),
    ("semaphore_update", &[]),
    ("ham", &["subgraph", "timestamp"]),
    ("model_info", &["sg_name"]),
    ("active_time", &["subgraph", "engine", "start_ts"]),
    ("dma_throughput", &["subgraph", "timestamp"]),
    ("pending_dma", &["subgraph", "timestamp"]),
    ("instruction_usage", &["subgraph", "type", "timestamp"]),
    ("layer_summary", &["name"]),
    ("nc_mem_usage", &["nc", "usage_type"]),
    ("dma_queues_info", &["subgraph", "q_idx", "q_name"]),
    ("neff_header", &["uuid"]),
    ("neff_node", &["variable_name", "sg_name"]),
    ("metadata", &["ntff_version"]),
    ("summary", &["instance_type"]),
    ("summary_groups", &["total_time"]),
    ("summary_group_order", &["overall_stats"]),
    ("profile_info", &["profile_type"]),
    ("warnings", &["category"]),
];

/// Fields that differ, and why.
const EXPLAINED: [(&str, &str, &str); 10] = [
    ("instruction", "id", "ours count from 1, the vendor's are hashes of unknown input"),
    ("dma", "id", "as for instructions"),
    ("dma", "packet_aggregation_id", "as for instructions; equal exactly where theirs is equal"),
    ("metadata", "total_point_count", "points of the vendor's database; left out"),
    ("summary", "profiler_version", "ours is the version of this tool"),
    ("summary_groups", "*", "the vendor lists every metric it knows, we those of the summary"),
    ("profile_info", "profiler_version", "as above"),
    ("profile_info", "profiler_build_time", "our build is reproducible and has no time"),
    ("profile_info", "ntff_filename", "the path on the machine of the export"),
    ("warnings", "message", "our own sentences; number and categories are compared"),
];

fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles");
    std::fs::read(root.join(name)).unwrap()
}

/// Our tables of a capture.
fn ours(neff: &[u8], ntff: &[u8]) -> BTreeMap<&'static str, Vec<Row>> {
    let neff = Neff::open(neff, &neff::Options::strict()).unwrap();
    let mut report = Report::new(neff::Mode::Strict);
    let profile =
        Profile::read(&neff, ntff, Options::default(), Parts::default(), &mut report).unwrap();
    let names = Names { profile: "fused_exec_2".into(), trace: "trace.ntff".into() };
    json::tables(&profile, &names).collect()
}

fn theirs(name: &str) -> BTreeMap<String, Vec<Row>> {
    serde_json::from_slice(&fixture(&format!("{name}.json"))).unwrap()
}

/// Names of a row by its key fields.
fn key(row: &Row, fields: &[&str]) -> String {
    if fields.is_empty() {
        let sorted: BTreeMap<_, _> = row.iter().collect();
        return format!("{sorted:?}");
    }
    fields.iter().map(|field| format!("{} ", row.get(*field).unwrap_or(&Value::Null))).collect()
}

/// Ids of predecessors become the rows that they name.
fn resolve(rows: &mut [Row]) {
    let places: HashMap<u64, String> =
        rows.iter().map(|row| (row["id"].as_u64().unwrap(), key(row, TABLES[0].1))).collect();
    for row in rows {
        if let Some(Value::Array(list)) = row.get_mut("predecessors") {
            let mut named: Vec<String> = list
                .iter()
                .map(|edge| format!("{} {}", places[&edge["id"].as_u64().unwrap()], edge["type"]))
                .collect();
            named.sort();
            *list = named.into_iter().map(Value::from).collect();
        }
    }
}

/// Equal, numbers within the last digits of a double.
fn equal(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => {
            if let (Some(left), Some(right)) = (left.as_u64(), right.as_u64()) {
                return left == right;
            }
            let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
            (left - right).abs() <= 1e-12 * right.abs()
        }
        _ => left == right,
    }
}

/// Per table and field: equal values, all values, and the first difference.
type Shares = BTreeMap<(String, String), (u64, u64, Option<String>)>;

/// Compares two tables.
fn compare(
    capture: &str,
    table: &str,
    fields: &[&str],
    ours: &[Row],
    theirs: &[Row],
    shares: &mut Shares,
) {
    let group = |rows: &[Row]| {
        let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in rows {
            groups.entry(key(row, fields)).or_default().push(row.clone());
        }
        for rows in groups.values_mut() {
            rows.sort_by_key(|row| key(row, &[]));
        }
        groups
    };
    let (ours, theirs) = (group(ours), group(theirs));
    let mut note = |field: &str, is_equal: bool, text: &dyn Fn() -> String| {
        let share = shares.entry((table.into(), field.into())).or_default();
        share.1 += 1;
        if is_equal {
            share.0 += 1;
        } else if share.2.is_none() {
            share.2 = Some(format!("{capture}: {}", text()));
        }
    };
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let none = Vec::new();
    for name in names {
        let (left, right) = (ours.get(name).unwrap_or(&none), theirs.get(name).unwrap_or(&none));
        for index in 0..left.len().max(right.len()) {
            let (left, right) = (left.get(index), right.get(index));
            let both = left.is_some() && right.is_some();
            note("(rows)", both, &|| {
                format!("{} {name}", if left.is_some() { "only ours" } else { "only theirs" })
            });
            let (Some(left), Some(right)) = (left, right) else { continue };
            let fields: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for field in fields {
                let (left, right) = (left.get(field), right.get(field));
                note(field, equal(left, right), &|| format!("{name}: {left:?}, not {right:?}"));
            }
        }
    }
}

fn explained(table: &str, field: &str) -> Option<&'static str> {
    let mut lines = EXPLAINED.iter();
    lines.find(|line| line.0 == table && (line.1 == field || line.1 == "*")).map(|line| line.2)
}

#[test]
fn every_field_of_every_table() {
    let mut shares = Shares::new();
    let mut packets = Vec::new();
    for capture in CAPTURES {
        let (neff, ntff) =
            (fixture(&format!("{capture}.neff")), fixture(&format!("{capture}.ntff")));
        let mut ours = ours(&neff, &ntff);
        let mut theirs = theirs(capture);
        resolve(ours.get_mut("instruction").unwrap());
        resolve(theirs.get_mut("instruction").unwrap());
        // The name of the profile is not in the files.
        for row in theirs.get_mut("profile_info").unwrap() {
            row.insert("profile_name".into(), "fused_exec_2".into());
        }
        let known: BTreeSet<&str> = TABLES.iter().map(|(table, _)| *table).collect();
        for table in theirs.keys() {
            // The vendor's prose about its metrics.
            assert!(known.contains(table.as_str()) || table == "terminology", "{table}");
        }
        for table in ours.keys() {
            assert!(known.contains(table) || ours[table].is_empty(), "{table}");
        }
        for (table, fields) in TABLES {
            compare(capture, table, fields, &ours[table], &theirs[table], &mut shares);
        }
        packets.push((ours.remove("dma").unwrap(), theirs.remove("dma").unwrap()));
    }
    let (mut wrong, mut stale) = (Vec::new(), EXPLAINED.to_vec());
    for ((table, field), (same, all, first)) in &shares {
        let why = explained(table, field);
        println!("{table:20} {field:50} {same:>6} of {all:>6} {}", why.unwrap_or(""));
        if same == all {
            continue;
        }
        stale.retain(|line| !(line.0 == table && (line.1 == field || line.1 == "*")));
        if why.is_none() {
            wrong.push(format!("{table}.{field}: {same} of {all}: {}", first.as_ref().unwrap()));
        }
    }
    let (same, all) = shares.values().fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
    println!("{same} of {all} values are equal");
    assert!(wrong.is_empty(), "{} fields differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(stale.is_empty(), "explained, but equal: {stale:?}");
    assert!(all > 100_000, "{all} values are too few to say much");
    for (ours, theirs) in &packets {
        same_groups(ours, theirs);
    }
}

/// Packets that the vendor puts into one group are one group here.
fn same_groups(ours: &[Row], theirs: &[Row]) {
    let groups = |rows: &[Row]| {
        let mut groups: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for row in rows {
            let group = row["packet_aggregation_id"].as_u64().unwrap();
            groups.entry(group).or_default().insert(key(row, TABLES[1].1));
        }
        groups.into_values().collect::<BTreeSet<_>>()
    };
    assert_eq!(groups(ours), groups(theirs));
}
