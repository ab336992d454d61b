//! `neuron-profile query` against the vendor's exports and against DuckDB over
//! the same files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/python.rs"]
mod python;
#[path = "support/stored.rs"]
mod stored;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use stored::{CAPTURES, fixture, refused, rows, said, store, store_empty, text, tool};

/// Counts and sums by a key of the vendor's own export.
fn grouped(list: &Value, key: &str, sum: &str) -> BTreeMap<String, (u64, u64)> {
    let mut out: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in list.as_array().unwrap() {
        let entry = out.entry(row[key].as_str().unwrap().to_owned()).or_default();
        entry.0 += 1;
        entry.1 += row[sum].as_u64().unwrap();
    }
    out
}

#[test]
fn answers_are_those_of_the_vendors_export() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    for capture in CAPTURES {
        store(data, capture, &[]);
        let export = std::fs::read(fixture(&format!("{capture}.json"))).unwrap();
        let export: Value = serde_json::from_slice(&export).unwrap();
        for (table, of, key, sum, theirs) in [
            ("Instruction", "instruction", "engine", "duration_ns", ("subgroup", "duration")),
            (
                "Instruction",
                "instruction",
                "opcode",
                "evt_wait_time_ns",
                ("opcode", "evt_wait_time"),
            ),
            ("dmapacket", "dma", "queue_type", "transfer_bytes", ("queue_type", "transfer_size")),
            ("ACTIVETIME", "active_time", "engine", "duration_ns", ("engine", "duration_ns")),
            ("SemaphoreUpdate", "semaphore_update", "id", "value", ("id", "value")),
        ] {
            let sql = format!(
                "SELECT {key} AS k, count(*) AS n, sum({sum}) AS s FROM {table} GROUP BY {key}"
            );
            let ours: BTreeMap<String, (u64, u64)> = rows(data, &[capture], &sql)
                .iter()
                .map(|row| {
                    let number = |name: &str| row[name].as_u64().unwrap();
                    (row["k"].as_str().unwrap().to_owned(), (number("n"), number("s")))
                })
                .collect();
            assert_eq!(ours, grouped(&export[of], theirs.0, theirs.1), "{capture} {sql}");
        }
        // Metrics, by their own names.
        let metrics = &rows(data, &[capture], "SELECT * FROM Summary")[0];
        for name in ["total_time", "hardware_flops", "hbm_read_bytes", "tensor_engine_active_time"]
        {
            let (ours, theirs) = (metrics[name].as_f64().unwrap(), &export["summary"][0][name]);
            let theirs = theirs.as_f64().unwrap();
            assert!((ours - theirs).abs() <= 1e-9 * theirs, "{capture} {name} {ours} {theirs}");
        }
    }
}

/// Row groups state that they are sorted by time; the file is not, and the first
/// rows of a sort are those of all rows.
#[test]
fn the_first_rows_are_the_first_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    store(data, "moe-dge", &[]);
    for (table, columns) in [
        ("Instruction", "start_ts, id"),
        ("DmaPacket", "start_ts, id"),
        ("ActiveTime", "start_ts, end_ts, engine"),
    ] {
        let sql = format!("SELECT {columns} FROM {table}");
        let ordered = format!("{sql} ORDER BY {columns}");
        let mut all: Vec<Vec<Value>> = rows(data, &["moe-dge"], &sql)
            .iter()
            .map(|row| columns.split(", ").map(|name| row[name].clone()).collect())
            .collect();
        all.sort_by_key(|row: &Vec<Value>| {
            let key = |at: usize| row.get(at).and_then(Value::as_i64).unwrap_or_default();
            (key(0), key(1), row.get(2).map(ToString::to_string))
        });
        for limit in [1, 60, all.len()] {
            let first: Vec<Vec<Value>> =
                rows(data, &["moe-dge"], &format!("{ordered} LIMIT {limit}"))
                    .iter()
                    .map(|row| columns.split(", ").map(|name| row[name].clone()).collect())
                    .collect();
            assert!(first[..] == all[..limit], "{table} {limit}");
        }
    }
}

/// Statements behind a report.
fn statements(data: &Path, report: &str) -> Vec<String> {
    let printed = said(data, &["report", report, "--sql"]);
    let lines = printed.lines().filter(|line| !line.starts_with("-- "));
    let list: Vec<String> = lines.map(|line| line.trim_end_matches(';').to_owned()).collect();
    assert!(!list.is_empty() && list.iter().all(|sql| sql.starts_with("SELECT")), "{list:?}");
    list
}

/// Every statement behind every report and every rule, and some of a user.
#[test]
fn answers_are_those_of_duckdb() {
    let packages = ["pyarrow==26.0.1", "duckdb==2.0.0"];
    let Some(folder) = python::packages(&packages, "import pyarrow, duckdb") else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let ids: Vec<String> =
        ["moe-dge", "attn-base-bf16-512"].map(|capture| store(data, capture, &[])).into();
    let folder_of = |id: &str| data.join("profiles").join(id).display().to_string();
    let mut cases = Vec::new();
    let mut add = |ids: &[&str], sql: &str| {
        let answer = rows(data, ids, sql);
        let folders: Vec<String> = ids.iter().map(|id| folder_of(id)).collect();
        cases.push(json!({ "folders": folders, "sql": sql, "rows": answer }));
    };
    let reports = ["bottlenecks", "layers", "operators", "engines", "dma", "idle", "memory"];
    let own = [
        "SELECT count(*) AS n, min(start_ts) AS a, max(end_ts) AS b FROM Instruction",
        "SELECT engine, opcode, count(*) AS n FROM Instruction GROUP BY engine, opcode \
         HAVING count(*) > 3 ORDER BY n DESC, engine, opcode",
        "SELECT i.opcode, f.dependency_type, count(*) AS n FROM Flow f JOIN Instruction i \
         ON i.id = f.in_id GROUP BY i.opcode, f.dependency_type ORDER BY n DESC, 1, 2",
        "SELECT id, opcode, lag(end_ts) OVER (PARTITION BY engine, pcore_idx ORDER BY start_ts, id) AS l \
         FROM Instruction ORDER BY id LIMIT 200",
        "WITH big AS (SELECT * FROM DmaPacket WHERE transfer_bytes >= 4096) \
         SELECT queue_type, count(*) AS n, sum(duration_ns) AS t FROM big GROUP BY queue_type ORDER BY 1",
        "SELECT opcode, start_ts FROM Instruction WHERE operands LIKE '%fp32%' AND evt_wait_time_ns > 100 \
         ORDER BY start_ts, opcode LIMIT 50",
        "SELECT file_row_index() AS row, id FROM DmaPacket WHERE id IN (3, 77, 400) ORDER BY id",
        "SELECT upper(engine) AS e, substr(opcode, 1, 3) AS o, avg(duration_ns) AS d FROM Instruction \
         WHERE start_ts BETWEEN 10000 AND 30000 GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT table_name, count(*) AS n FROM SchemaFields GROUP BY table_name ORDER BY table_name",
        "SELECT opcode FROM Instruction WHERE hlo_name IS NULL EXCEPT \
         SELECT opcode FROM Instruction WHERE engine = 'Tensor' ORDER BY opcode",
    ];
    for id in &ids {
        for report in reports {
            for sql in statements(data, report) {
                if !sql.contains("{engine}") {
                    add(&[id], &sql);
                }
            }
        }
        for sql in own {
            add(&[id], sql);
        }
    }
    for sql in statements(data, "compare") {
        add(&[&ids[0], &ids[1]], &sql);
    }
    add(
        &[&ids[0], &ids[1]],
        "SELECT a.opcode, a.id, b.id AS other FROM p1.Instruction a JOIN p2.Instruction b \
         ON a.id = b.id AND a.opcode = b.opcode ORDER BY a.id LIMIT 100",
    );
    let count = cases.len();
    std::fs::write(data.join("cases.json"), serde_json::to_vec(&cases).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/query_equal.py");
    let mut compare = Command::new("python3");
    compare.env("PYTHONPATH", folder).arg(script).arg(data.join("cases.json"));
    let output = compare.output().unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    // Tables without rows are not there for DuckDB; few cases ask for them.
    let equal = said.lines().filter(|line| line.starts_with("equal")).count();
    let absent = said.lines().filter(|line| line.starts_with("absent")).count();
    assert_eq!(equal + absent, count, "{said}");
    assert!(absent * 6 < count && equal >= 45, "{said}");
}

#[test]
fn several_profiles_are_one_dataset_and_schemas() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let one = store(data, CAPTURES[1], &["--display-name", "rank_0", "--tag", "job7"]);
    let two = store(data, CAPTURES[2], &["--display-name", "rank_1", "--tag", "job7"]);
    let counts = |profiles: &[&str], sql: &str| -> Vec<(Value, Value)> {
        rows(data, profiles, sql).iter().map(|row| (row["k"].clone(), row["n"].clone())).collect()
    };
    let by_profile =
        "SELECT profile AS k, count(*) AS n FROM Instruction GROUP BY profile ORDER BY profile";
    // The counts of the vendor's exports.
    let wanted = [(json!("rank_0"), json!(436)), (json!("rank_1"), json!(442))];
    assert_eq!(counts(&["rank_0", "rank_1"], by_profile), wanted);
    assert_eq!(counts(&["--tag", "job7"], by_profile), wanted);
    for (name, count) in [
        ("p1", 436),
        ("p2", 442),
        ("P2", 442),
        ("rank_1", 442),
        ("\"rank_0\"", 436),
        (one.as_str(), 436),
        ("main", 878),
    ] {
        let sql = format!("SELECT 1 AS k, count(*) AS n FROM {name}.Instruction");
        assert_eq!(counts(&[&one, &two], &sql), [(json!(1), json!(count))], "{name}");
    }
    let sql = "SELECT display_name AS k, events AS n FROM Profiles ORDER BY 1";
    assert_eq!(counts(&[&one, &two], sql)[0].0, "rank_0");
    // Alone it has no such column, and its own name is a schema too.
    assert_eq!(
        rows(data, &["rank_0"], "SELECT * FROM rank_0.Throttle LIMIT 1")[0].get("profile"),
        None
    );
    // Two of one name are told apart by id.
    said(data, &["tag", "rank_1", "--display-name", "rank_0"]);
    let keys: Vec<Value> = counts(&[&one, &two], by_profile).into_iter().map(|row| row.0).collect();
    let mut ids = [json!(one), json!(two)];
    ids.sort_by_key(ToString::to_string);
    assert_eq!(keys, ids);
    assert!(refused(data, &["query", &one, &two, "SELECT 1 FROM rank_0.Flow"]).contains("p1, p2"));
}

#[test]
fn forms_of_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    store(data, CAPTURES[2], &["--display-name", "mm"]);
    let sql = "SELECT engine, count(*) AS n FROM Instruction GROUP BY engine ORDER BY n DESC, engine LIMIT 2";
    let ask = |more: &[&str]| said(data, &[&["query", "mm", sql][..], more].concat());
    let csv = ask(&["--output-format", "csv"]);
    assert_eq!(csv.lines().next(), Some("engine,n"));
    assert_eq!(csv.lines().count(), 3);
    let table = ask(&[]);
    assert!(table.contains(" engine ") && table.contains("Tensor"), "{table}");
    // Numbers are aligned right: their last digits stand in one column.
    let ends: Vec<usize> = table
        .lines()
        .filter(|line| line.contains(|c: char| c.is_ascii_digit()))
        .map(|line| line.chars().count())
        .collect();
    assert!(ends.len() == 2 && ends[0] == ends[1], "{table}");
    // Nothing found has the names of its columns all the same.
    let none = "SELECT engine, pc FROM Instruction WHERE pc < 0";
    assert_eq!(said(data, &["query", "mm", none, "--output-format", "csv"]), "engine,pc\n");
    assert_eq!(rows(data, &["mm"], none), Vec::<Value>::new());
    // Texts that CSV and JSON have to guard, and nulls.
    let odd = "SELECT 'a,\"b\"' AS x, NULL AS y, CAST('NaN' AS DOUBLE) AS z, 9007199254740993 AS w";
    let row = &rows(data, &["mm"], odd)[0];
    assert_eq!((&row["x"], &row["y"], &row["z"]), (&json!("a,\"b\""), &Value::Null, &Value::Null));
    assert_eq!(row["w"], 9_007_199_254_740_993_i64);
    let csv = said(data, &["query", "mm", odd, "--output-format", "csv"]);
    assert_eq!(csv.lines().nth(1), Some("\"a,\"\"b\"\"\",,NaN,9007199254740993"));
    // A table for people ends somewhere, and says so.
    let output = tool(data, &["query", "mm", "SELECT * FROM Instruction", "--max-rows", "3"]);
    let output = { output }.output().unwrap();
    assert!(text(&output.stderr).contains("the first 3 rows"), "{}", text(&output.stderr));
    // A statement from a file and from stdin.
    let file = data.join("a.sql");
    std::fs::write(&file, format!("-- a comment\n{sql};\n")).unwrap();
    assert_eq!(said(data, &["query", "mm", "-f", file.to_str().unwrap()]), table);
    let mut piped = tool(data, &["query", "mm", "-"]);
    piped.stdin(std::fs::File::open(&file).unwrap());
    assert_eq!(text(&piped.output().unwrap().stdout), table);
}

#[test]
fn a_file_of_columns_is_read_by_others() {
    let packages = ["pyarrow==26.0.1", "duckdb==2.0.0"];
    let Some(folder) = python::packages(&packages, "import pyarrow, duckdb") else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    store(data, CAPTURES[0], &["--display-name", "mm"]);
    let sql = "SELECT id, engine, opcode, duration_ns, layer FROM Instruction ORDER BY id";
    let file = data.join("out.parquet");
    let args = ["query", "mm", sql, "--output-format", "parquet", "-o", file.to_str().unwrap()];
    assert_eq!(said(data, &args), format!("{}\n", file.display()));
    let script = "import pyarrow.parquet as pq, json, sys; \
                  print(json.dumps(pq.read_table(sys.argv[1]).to_pylist()))";
    let mut read = Command::new("python3");
    let output = read.env("PYTHONPATH", folder).args(["-c", script]).arg(&file).output().unwrap();
    let theirs: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(theirs.len(), 452);
    assert_eq!(theirs, rows(data, &["mm"], sql));
}

#[test]
fn tables_and_columns_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    store(data, CAPTURES[1], &["--display-name", "mm"]);
    let list = said(data, &["query", "mm", "--tables", "--output-format", "json"]);
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let row = |name: &str| list.iter().find(|row| row["table"] == name).unwrap();
    assert_eq!(row("Instruction")["rows"], 436);
    // As many as `ntff verify` tells of: two of each core.
    assert_eq!(row("Error")["rows"], 4);
    assert!(row("CcOp")["description"].as_str().unwrap().starts_with("not stored: "));
    let columns = said(data, &["query", "mm", "--describe", "dmapacket", "--output-format", "csv"]);
    assert!(columns.contains("throughput,float,B/s,true,Bytes by time\n"), "{columns}");
    assert_eq!(columns.lines().count(), 18);
    let columns = said(data, &["query", "mm", "--describe", "Summary"]);
    assert!(columns.contains("hfu_estimated_percent"), "{columns}");
    assert!(
        refused(data, &["query", "mm", "--describe", "Instructio"])
            .contains("nearest: Instruction")
    );
    assert!(refused(data, &["query", "mm", "--describe", "CcOp"]).contains("no public record"));
}

/// A profile without a record has the tables, and no rows in them.
#[test]
fn a_profile_without_rows() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let empty = store_empty(data);
    let id = empty.as_str();
    for table in
        ["Instruction", "DmaPacket", "ActiveTime", "Throttle", "Error", "Flow", "SbufUsage"]
    {
        let found = rows(data, &[id], &format!("SELECT count(*) AS n FROM {table}"));
        assert_eq!(found, [json!({ "n": 0 })], "{table}");
    }
    let full = store(data, CAPTURES[1], &[]);
    let sql = "SELECT profile, count(*) AS n FROM Instruction GROUP BY profile";
    assert_eq!(rows(data, &[id, &full], sql), [json!({ "profile": CAPTURES[1], "n": 436 })]);
    assert_eq!(
        rows(data, &[id, &full], "SELECT profile FROM Error WHERE type = 'Errors'"),
        Vec::<Value>::new()
    );
    for report in ["bottlenecks", "layers", "operators", "engines", "dma", "idle", "memory"] {
        for form in ["table", "csv", "json"] {
            assert!(!said(data, &["report", report, id, "--output-format", form]).is_empty());
        }
    }
    said(data, &["report", "compare", id, &full]);
    said(data, &["report", "compare", &full, id]);
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Calls, iterations of loops and lines of the kernel's own document, read here by
/// another way: name, line, functions and loops from the innermost outwards.
fn walked(item: &Value, functions: &[String], loops: &[String], out: &mut BTreeMap<String, Value>) {
    let (kind, body) = item.as_object().unwrap().iter().next().unwrap();
    let (mut functions, mut loops) = (functions.to_vec(), loops.to_vec());
    match kind.as_str() {
        "func" => functions.insert(0, word(&body["name"])),
        "iter" => loops.insert(0, format!("{}={}", word(&body["var"]), word(&body["val"]))),
        _ => {
            let line = body["line"].as_u64().filter(|line| *line != 0);
            let row = json!({ "line": line, "functions": functions, "loops": loops });
            out.insert(word(&body["name"]), row);
        }
    }
    for child in body["children"].as_array().into_iter().flatten() {
        walked(child, &functions, &loops, out);
    }
}

#[test]
fn call_stacks_are_those_of_the_neff() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    for (capture, member, penguin) in [
        ("moe-dge", "nki_moe_v6bkakepajm.klir.debuginfo.json", 8),
        ("attn-tkg", "qwen3_attn_tkg_fuseddip9buym.klir.debuginfo.json", 14),
    ] {
        store(data, capture, &[]);
        let ask = |sql: &str| rows(data, &[capture], sql);
        let neff = fixture(&format!("{capture}.neff")).display().to_string();
        let document: Value =
            serde_json::from_str(&said(data, &["neff", "cat", &neff, member])).unwrap();
        let mut expected = BTreeMap::new();
        for item in document[0]["info"].as_array().unwrap() {
            walked(item, &[], &[], &mut expected);
        }
        let by_id = |list: Vec<Value>, id: &str| -> BTreeMap<u64, Value> {
            list.into_iter().map(|row| (row[id].as_u64().unwrap(), row)).collect()
        };
        let frames = by_id(ask("SELECT * FROM KernelStackFrames"), "stack_frame_id");
        let iterations =
            by_id(ask("SELECT * FROM KernelIterationVariables"), "iteration_variable_id");
        let up = |list: &BTreeMap<u64, Value>,
                  from: &Value,
                  parent: &str,
                  told: &dyn Fn(&Value) -> String| {
            let mut out = Vec::new();
            let mut next = from.as_u64();
            while let Some(row) = next.map(|id| &list[&id]) {
                out.push(told(row));
                next = row[parent].as_u64();
            }
            out
        };
        let instructions = ask("SELECT * FROM KernelInstructions");
        assert_eq!(instructions.len(), expected.len());
        for row in &instructions {
            let name = word(&row["kernel_instruction_name"]);
            let (stem, parent) = name.split_once(':').unwrap();
            assert_eq!(parent, penguin.to_string());
            let functions = up(&frames, &row["stack_frame_id"], "parent_stack_frame_id", &|row| {
                word(&row["fully_qualified_function_name"])
            });
            let loops = up(
                &iterations,
                &row["iteration_variables_id"],
                "parent_iteration_variable_id",
                &|row| format!("{}={}", word(&row["variable_name"]), row["variable_value"]),
            );
            let depth = |name: &str| row[name].as_u64().unwrap_or(0);
            assert_eq!(depth("stack_frame_depth"), functions.len() as u64);
            assert_eq!(depth("iteration_variable_depth"), loops.len() as u64);
            let ours =
                json!({ "line": row["line_number"], "functions": functions, "loops": loops });
            assert_eq!(ours, expected[stem], "{name}");
        }
        // Instructions have their line by another way too: the backend's attributes.
        let sides = ask("SELECT count(*) AS n, sum(CASE WHEN nki_source_location = \
             concat(file_path, ':', line_number) THEN 1 ELSE 0 END) AS same \
             FROM Instruction JOIN KernelInstructions USING (kernel_instruction_name) \
             WHERE nki_source_location IS NOT NULL");
        let (both, same) = (sides[0]["n"].as_u64().unwrap(), sides[0]["same"].as_u64().unwrap());
        assert!(both > 1000 && same == both, "{capture}: {same} of {both}");
    }
    // The framework's: the operator's record names file and line of the innermost frame itself.
    let sql = "SELECT s.id, s.parent_frame_id AS parent, f.name AS file, n.name AS function, l.line_number AS line \
               FROM StackFrame s JOIN StackFrameFileLocation l ON s.file_location_id = CAST(l.id AS INT) \
               JOIN StackFrameFileName f ON l.file_name_id = CAST(f.id AS INT) \
               JOIN StackFrameFunctionName n ON l.function_name_id = CAST(n.id AS INT)";
    let frames: BTreeMap<String, Value> =
        rows(data, &["moe-dge"], sql).into_iter().map(|row| (word(&row["id"]), row)).collect();
    let named = rows(
        data,
        &["moe-dge"],
        "SELECT DISTINCT stack_frame_ids AS ids FROM Instruction WHERE stack_frame_ids IS NOT NULL",
    );
    assert_eq!(named, [json!({ "ids": "11" })]);
    let mut stack = Vec::new();
    let mut next = String::from("11");
    while let Some(row) = frames.get(&next) {
        let file = word(&row["file"]);
        stack.push(format!(
            "{}:{} {}",
            file.rsplit('/').next().unwrap(),
            row["line"],
            word(&row["function"])
        ));
        next = word(&row["parent"]);
    }
    assert_eq!(
        stack,
        [
            "xla_op_registry.py:44 __call__",
            "_torch_xla.py:166 __call__",
            "compile.py:151 __call__",
            "v6b_1_coalesce_down_dma.py:416 test_nki_moe_v6b_qwen3_t1",
            "v6b_1_coalesce_down_dma.py:446 test_nki_moe_v6b",
            "v6b_1_coalesce_down_dma.py:469 <module>",
        ]
    );
    assert_eq!(next, "0");
}
