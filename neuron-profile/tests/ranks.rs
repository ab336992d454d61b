//! Many profiles as one dataset: traces ingested side by side, folders of
//! stores, and an object store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[cfg(feature = "s3")]
#[path = "support/python.rs"]
mod python;
#[cfg(feature = "s3")]
#[path = "support/s3.rs"]
mod s3;
#[path = "support/stored.rs"]
mod stored;

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use stored::{CAPTURES, fixture, refused, rows, said, store, text, tool};

/// Stores pairs by one command.
fn together(data: &Path, names: &[&str], more: &[&str]) -> Output {
    let mut command = tool(data, &["view", "--ingest-only"]);
    for name in names {
        command.arg("-n").arg(fixture(&format!("{name}.neff")));
        command.arg("-s").arg(fixture(&format!("{name}.ntff")));
    }
    command.args(more).output().unwrap()
}

fn ids(output: &Output) -> Vec<String> {
    let line = |line: &str| {
        line.strip_prefix("Profile \"")?.strip_suffix("\" is ready to view").map(str::to_owned)
    };
    text(&output.stdout).lines().filter_map(line).collect()
}

/// All files of a profile but for when it was written and its paths.
fn files(data: &Path, id: &str) -> Vec<(String, Vec<u8>)> {
    let dir = data.join("profiles").join(id);
    let entries = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|path| (path.file_name().unwrap().display().to_string(), std::fs::read(path).unwrap()))
        .filter(|(name, _)| name != "manifest.json")
        .collect();
    all.sort();
    all
}

#[test]
fn traces_ingested_side_by_side_are_those_of_one_by_one() {
    let names: Vec<&str> = CAPTURES.iter().copied().chain(["moe-dge", "attn-tkg"]).collect();
    let one = tempfile::tempdir().unwrap();
    let wanted: Vec<String> = names.iter().map(|name| store(one.path(), name, &[])).collect();
    for more in [&["--jobs", "4"][..], &["--jobs", "3", "--memory-budget", "32M"], &["--jobs", "1"]]
    {
        let many = tempfile::tempdir().unwrap();
        let output = together(many.path(), &names, more);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(ids(&output), wanted, "in the order of the command line");
        for id in &wanted {
            assert!(files(many.path(), id) == files(one.path(), id), "{id}");
        }
    }
    // What is one profile's cannot be said of many.
    let told = together(one.path(), &names[..2], &["--display-name", "x"]);
    assert!(text(&told.stderr).contains("--display-name is of one profile"));
    let told = together(one.path(), &names[..2], &["--output-format", "perfetto"]);
    assert!(text(&told.stderr).contains("name one NEFF and one trace"));
}

/// One that fails is told, and the others are stored.
#[test]
fn a_bad_trace_takes_no_other_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad.ntff");
    std::fs::write(&bad, b"no trace").unwrap();
    let mut command = tool(dir.path(), &["view", "--ingest-only", "--jobs", "2"]);
    for name in [CAPTURES[0], CAPTURES[1]] {
        command.arg("-n").arg(fixture(&format!("{name}.neff")));
        command.arg("-s").arg(fixture(&format!("{name}.ntff")));
    }
    command.arg("-n").arg(fixture(&format!("{}.neff", CAPTURES[0]))).arg("-s").arg(&bad);
    let status = dir.path().join("status.json");
    let output = command.arg("--processing-status-file").arg(&status).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let stored = ids(&output);
    assert_eq!(stored.len(), 2, "{told}");
    let of_bad = told.lines().find(|line| line.contains("bad.ntff")).unwrap();
    assert_eq!(of_bad.matches("bad.ntff").count(), 1, "{told}");
    assert!(told.ends_with("1 of 3 profiles could not be stored\n"), "{told}");
    let status: Value = serde_json::from_slice(&std::fs::read(&status).unwrap()).unwrap();
    assert_eq!(status["status_code"], 3);
    assert_eq!(status["profiles"][0], json!({ "profile": stored[0], "status": "success" }));
    assert_eq!(status["profiles"][2]["status"], "error");
    assert!(status["profiles"][2]["message"].as_str().unwrap().contains("bad.ntff"));
    // One bucket has room for one profile.
    let told = together(dir.path(), &CAPTURES[..2], &["--db-bucket", "job"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(text(&told.stderr).contains("--db-bucket is of one profile"));
}

/// A name comes before a folder of that name, and a folder needs no slash.
#[test]
fn a_word_is_a_name_before_it_is_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let named = dir.path().join("data");
    store(&named, CAPTURES[0], &["--display-name", "train/rank0"]);
    store(&dir.path().join("train/rank0"), CAPTURES[1], &["--display-name", "other"]);
    let name = |word: &str| -> Value {
        let sql = "SELECT display_name FROM Profiles";
        let mut command = tool(&named, &["query", word, sql, "--output-format", "json"]);
        let output = command.current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()[0]["display_name"].take()
    };
    assert_eq!(name("train/rank0"), "train/rank0");
    assert_eq!(name("train"), "other");
    assert_eq!(name("./train/rank0"), "other");
}

/// Six ranks on three hosts, each with its own store on a shared file system.
fn hosts(root: &Path) {
    for (rank, name) in CAPTURES.iter().chain(&["moe-dge", "attn-tkg"]).enumerate() {
        let host = root.join(format!("host {}", rank % 3));
        store(&host, name, &["--display-name", &format!("rank_{rank}")]);
    }
}

const SQL: [&str; 6] = [
    "SELECT profile, count(*) AS n, sum(duration_ns) AS t FROM Instruction GROUP BY profile ORDER BY profile",
    "SELECT profile, total_time, hbm_read_bytes FROM Summary ORDER BY profile",
    "SELECT count(*) AS n FROM DmaPacket WHERE profile = 'rank_4'",
    "SELECT count(*) AS n FROM DmaPacket WHERE profile IN ('rank_1', 'rank_2') AND transfer_bytes > 64",
    "SELECT DISTINCT profile FROM Flow WHERE profile > 'rank_1' AND in_id >= 0 ORDER BY profile",
    "SELECT profile, opcode, start_ts FROM Instruction ORDER BY start_ts DESC, profile, opcode LIMIT 7",
];

#[test]
fn a_folder_is_one_dataset() {
    let dir = tempfile::tempdir().unwrap();
    hosts(dir.path());
    let folder = format!("{}/", dir.path().display());
    // What is being stored by another process is no part of it.
    let fresh = dir.path().join(format!("host 0/profiles/.new-n_{}", "0".repeat(40)));
    std::fs::create_dir_all(fresh).unwrap();
    // The same by names in one store.
    let one = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..6).map(|rank| format!("rank_{rank}")).collect();
    for (name, rank) in CAPTURES.iter().chain(&["moe-dge", "attn-tkg"]).zip(&names) {
        store(one.path(), name, &["--display-name", rank]);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let far = tempfile::tempdir().unwrap();
    for sql in SQL {
        let found = rows(far.path(), &[&folder], sql);
        assert!(!found.is_empty(), "{sql}");
        assert_eq!(found, rows(one.path(), &names, sql), "{sql}");
        // And as one after the other.
        if sql.contains("rank_4") {
            let alone = "SELECT count(*) AS n FROM DmaPacket";
            assert_eq!(found, rows(one.path(), &["rank_4"], alone));
        }
    }
    // One scan, however many there are, and a filter on the profile leaves files out.
    let plan = |sql: &str| {
        said(far.path(), &["query", &folder, &format!("EXPLAIN {sql}"), "--output-format", "csv"])
    };
    let all = plan(SQL[0]);
    assert_eq!(all.matches("DataSourceExec").count(), 1, "{all}");
    assert_eq!(all.matches("Instruction.parquet").count(), 6, "{all}");
    assert_eq!(plan(SQL[2]).matches("DmaPacket.parquet").count(), 1);
    assert!(!plan("SELECT * FROM Flow WHERE profile = 'none'").contains("parquet"));
    // A part of it, and one profile.
    let host = format!("{folder}host 1");
    assert_eq!(rows(far.path(), &[&host], "SELECT count(*) AS n FROM Profiles"), [json!({"n": 2})]);
    let told = refused(far.path(), &["query", &format!("{}/", far.path().display()), "SELECT 1"]);
    assert!(told.contains("no profile is stored below it"), "{told}");
    assert!(refused(far.path(), &["query", &format!("{folder}none"), "SELECT 1"]).contains("none"));
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_build_without_object_storage_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let told = refused(dir.path(), &["query", "s3://a/b", "SELECT 1"]);
    assert!(told.contains("build it with --features s3"), "{told}");
}

/// The same answers from a server that speaks S3, by the usual variables.
#[cfg(feature = "s3")]
#[test]
fn an_object_store_is_one_dataset() {
    let Some(server) = s3::Server::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    hosts(dir.path());
    server.upload(dir.path(), "profiles", "a job/7/");
    let far = tempfile::tempdir().unwrap();
    let ask = |args: &[&str]| -> Output {
        let mut command = tool(far.path(), args);
        let own = server.environment().into_iter().filter(|(name, _)| *name != "AWS_ALLOW_HTTP");
        command.envs(own).output().unwrap()
    };
    let asked = |args: &[&str]| -> Vec<Value> {
        let output = ask(args);
        assert!(output.status.success(), "{args:?} {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (folder, url) = (format!("{}/", dir.path().display()), "s3://profiles/a job/7");
    for sql in SQL {
        let theirs = asked(&["query", url, sql, "--output-format", "json"]);
        assert_eq!(theirs, rows(far.path(), &[&folder], sql), "{sql}");
    }
    // By name in a store there, and its columns.
    let data = ["--data-path", url, "--output-format", "json"];
    let count = [&["query", "rank_2", "SELECT count(*) AS n FROM Instruction"], &data[..]].concat();
    assert_eq!(asked(&count), [json!({ "n": 442 })]);
    let sql = "SELECT file_row_index() AS row, opcode FROM Instruction ORDER BY row LIMIT 3";
    let first = [&["query", "rank_0", sql], &data[..]].concat();
    let near = format!("{folder}host 0");
    let near_sql =
        "SELECT file_row_index() AS row, opcode FROM p1.Instruction ORDER BY row LIMIT 3";
    assert_eq!(asked(&first), rows(far.path(), &[&near], near_sql));
    let columns = [&["query", "rank_0", "--describe", "Summary"], &data[..]].concat();
    assert!(asked(&columns).iter().any(|row| row["column"] == "total_time"));
    // What is wrong is told in one line.
    for (args, wanted) in [
        (["query", "s3://none/x", "SELECT 1"], "s3://none/x"),
        (["query", "s3://profiles/b", "SELECT 1"], "no profile is stored below it"),
        (["query", "gs://profiles/b", "SELECT 1"], "not s3://BUCKET/PATH"),
        (["list", "--data-path", url], "only query and report read object storage"),
    ] {
        let output = ask(&args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.lines().count() == 1 && told.contains(wanted), "{told}");
    }
    let mut command = tool(far.path(), &["query", url, "SELECT 1"]);
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"] {
        command.env_remove(name);
    }
    let output = command.env("AWS_EC2_METADATA_DISABLED", "true").output().unwrap();
    assert!(text(&output.stderr).contains("no credentials: set AWS_ACCESS_KEY_ID"));
}
