//! Tensors in device memory: what was loaded and stored, against the vendor's
//! own rows of the instructions that did it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/stored.rs"]
mod stored;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use stored::{CAPTURES, fixture, rows, said, store};

/// A variable of the NEFF: name and type.
type Variables = BTreeMap<u64, (String, String)>;

/// What the vendor's rows do to a tensor.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    loads: u64,
    loaded: u64,
    reads: u64,
    writes: u64,
    first: Option<u64>,
    last: u64,
}

/// `NAME=NUMBER` in the operands of a row.
fn number(operands: &str, name: &str) -> Option<u64> {
    let word = operands.split(' ').find_map(|word| word.strip_prefix(&format!("{name}=")))?;
    Some(word.parse().unwrap())
}

/// Variables by id, and those of the address table.
fn variables(data: &Path, capture: &str) -> (Variables, Vec<u64>) {
    let neff = fixture(&format!("{capture}.neff")).display().to_string();
    let definition = said(data, &["neff", "cat", &neff, "sg00/def.json"]);
    let definition: Value = serde_json::from_str(&definition).unwrap();
    let mut all = Variables::new();
    let mut table = Vec::new();
    for (name, variable) in definition["var"].as_object().unwrap() {
        let kind = variable["type"].as_str().unwrap().to_owned();
        all.insert(variable["var_id"].as_u64().unwrap(), (name.clone(), kind));
        table.extend(variable["list"].as_array().into_iter().flatten().filter_map(Value::as_u64));
    }
    (all, table)
}

/// By the operands that the vendor's tool prints.
fn seen(capture: &str, (all, table): &(Variables, Vec<u64>)) -> BTreeMap<String, Seen> {
    let export = std::fs::read(fixture(&format!("{capture}.json"))).unwrap();
    let export: Value = serde_json::from_slice(&export).unwrap();
    let mut out: BTreeMap<String, Seen> = BTreeMap::new();
    for row in export["instruction"].as_array().unwrap() {
        let operands = row["compiler_operands"].as_str().unwrap_or_default();
        let side = |side: &str| {
            let place = number(operands, &format!("{side}_table_index"));
            let by_table = place.map(|at| table[usize::try_from(at).unwrap()]);
            all.get(&by_table.or_else(|| number(operands, &format!("{side}_var_id")))?)
        };
        let (from, to) = (side("src"), side("dst"));
        let on_chip = |side: Option<&(String, String)>| side.is_some_and(|v| v.1 == "state-buffer");
        for (side, other, reads) in [(from, to, true), (to, from, false)] {
            let Some((name, kind)) = side else { continue };
            if kind == "state-buffer" {
                continue;
            }
            let tensor = out.entry(name.clone()).or_default();
            let start = row["timestamp"].as_u64().unwrap();
            tensor.first = Some(tensor.first.map_or(start, |first| first.min(start)));
            tensor.last = tensor.last.max(start + row["duration"].as_u64().unwrap());
            if reads {
                tensor.reads += 1;
                if on_chip(other) {
                    tensor.loads += 1;
                    tensor.loaded += row["hbm_read_bytes"].as_u64().unwrap();
                }
            } else {
                tensor.writes += 1;
            }
        }
    }
    out
}

#[test]
fn loads_and_uses_are_those_of_the_vendors_rows() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let (mut loaded, mut scratch) = (0, 0);
    for capture in CAPTURES {
        store(data, capture, &[]);
        let seen = seen(capture, &variables(data, capture));
        let none = Seen::default();
        for row in rows(data, &[capture], "SELECT * FROM TensorInfo") {
            let name = row["variable_name"].as_str().unwrap();
            let theirs = seen.get(name).unwrap_or(&none);
            let number = |column: &str| row[column].as_u64().unwrap();
            assert_eq!(number("load_to_sbuf_dma_count"), theirs.loads, "{capture} {name}");
            assert_eq!(number("load_to_sbuf_total_size_bytes"), theirs.loaded, "{capture} {name}");
            let average = theirs.loaded.checked_div(theirs.loads);
            assert_eq!(row["load_to_sbuf_avg_size_bytes"], json!(average), "{capture} {name}");
            let times = theirs.loaded as f64 / number("size") as f64;
            let ours = row["load_to_sbuf_repeat_factor"].as_f64().unwrap();
            assert!((ours - times).abs() < 1e-6, "{capture} {name}: {ours} {times}");
            loaded += theirs.loads;
        }
        for row in rows(data, &[capture], "SELECT * FROM ScratchpadTensor") {
            let name = row["variable_name"].as_str().unwrap();
            let theirs = &seen[name];
            let number = |column: &str| row[column].as_u64().unwrap();
            assert_eq!(
                (number("write_count"), number("read_count"), Some(number("start_ts"))),
                (theirs.writes, theirs.reads, theirs.first),
                "{capture} {name}"
            );
            // A length is rounded by itself.
            assert!(number("end_ts").abs_diff(theirs.last) <= 1, "{capture} {name}");
            assert_eq!((row["shared"].as_bool(), number("offset_bytes")), (Some(true), 0));
            scratch += 1;
        }
    }
    assert!(loaded >= 18 && scratch == 2, "{loaded} {scratch}");
}

/// Twenty tensors of one place, named by blocks of static DMA when they are
/// written and by records when they are read: one after the other.
#[test]
fn scratch_in_use_is_that_of_tensors_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    store(data, "attn-tkg", &[]);
    let ask = |sql: &str| rows(data, &["attn-tkg"], sql);
    let lives = ask("SELECT * FROM ScratchpadTensor ORDER BY start_ts");
    assert_eq!(lives.len(), 20);
    let mut expected = Vec::new();
    for life in &lives {
        assert_eq!((&life["write_count"], &life["read_count"]), (&json!(1), &json!(1)));
        expected.push(json!([life["start_ts"], 8]));
        expected.push(json!([life["end_ts"], 0]));
    }
    let steps: Vec<Value> =
        ask("SELECT timestamp, used_bytes FROM ScratchpadUsage ORDER BY timestamp")
            .iter()
            .map(|row| json!([row["timestamp"], row["used_bytes"]]))
            .collect();
    assert_eq!(steps, expected);
    // The writer is the trigger of the block that names the tensor, the reader names it by number.
    let triggers = ask(
        "SELECT count(*) AS n FROM Instruction WHERE compiler_operands LIKE '%qDVESpillReload0 block_id=%'",
    );
    assert_eq!(triggers, [json!({ "n": 20 })]);
    // Of 128 experts 8 are loaded.
    store(data, "moe-dge", &[]);
    let experts = rows(
        data,
        &["moe-dge"],
        "SELECT size, load_to_sbuf_total_size_bytes AS loaded FROM TensorInfo \
         WHERE variable_name IN ('input2', 'input3') ORDER BY variable_name",
    );
    let share = |row: &Value| row["size"].as_u64().unwrap() / row["loaded"].as_u64().unwrap();
    assert_eq!(experts.iter().map(share).collect::<Vec<_>>(), [16, 16]);
}
