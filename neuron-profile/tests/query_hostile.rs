//! `neuron-profile query` under statements that are wrong or want to do harm,
//! under signals, and with a reader that goes away.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/stored.rs"]
mod stored;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use stored::{CAPTURES, refused, rows, said, store, text, tool};

const NAME: &str = "mm";

fn stored_one() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), CAPTURES[2], &["--display-name", NAME]);
    dir
}

/// Every file below a folder with its size and time.
fn files(folder: &Path) -> BTreeMap<String, (u64, SystemTime)> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else {
            let meta = path.metadata().unwrap();
            out.insert(path.display().to_string(), (meta.len(), meta.modified().unwrap()));
        }
    }
    out
}

#[test]
fn names_that_are_not_there_are_told_with_the_nearest() {
    let dir = stored_one();
    for (sql, told) in [
        ("SELECT * FROM Instructions", "no table instructions; nearest: Instruction"),
        ("SELECT * FROM zzz", "no table zzz; --tables lists all"),
        ("SELECT * FROM CcOp", "no table CcOp: no public record of a collective"),
        ("SELECT opcod FROM Instruction", "no column opcod; nearest: opcode"),
        ("SELECT i.durtion_ns FROM Instruction i", "no column i.durtion_ns; nearest: duration_ns"),
        ("SELECT * FROM p2.Instruction", "no profile \"p2\" in this session"),
        ("SELECT * FROM a.b.c", "a.b.c"),
        ("SELECT nofunction(1)", "nofunction"),
        ("SELEC 1", "SELEC"),
        ("SELECT 1 FROM", "Expected"),
        ("", "No SQL statements"),
        ("SELECT 1; SELECT 2", "single SQL statement"),
        ("SELECT 1/0", "ivide by zero"),
        ("SELECT CAST('a' AS BIGINT)", "annot cast"),
    ] {
        let line = refused(dir.path(), &["query", NAME, sql]);
        assert!(line.starts_with("neuron-profile: ") && line.contains(told), "{sql}: {line}");
        assert!(line.len() < 400 && !line.contains("DataFusion"), "{sql}: {line}");
    }
    let line = refused(dir.path(), &["query", "nothing", "SELECT 1"]);
    assert!(line.contains("no profile \"nothing\""), "{line}");
    for args in [&["query"][..], &["query", "SELECT 1"], &["query", "--tables"]] {
        refused(dir.path(), args);
    }
}

/// Nothing but the profile is read, and nothing at all is changed.
#[test]
fn statements_that_do_harm_are_refused() {
    let dir = stored_one();
    let data = dir.path();
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("x.csv"), "a\n1\n").unwrap();
    std::fs::copy(
        files(data).keys().find(|name| name.ends_with("Throttle.parquet")).unwrap(),
        work.path().join("x.parquet"),
    )
    .unwrap();
    let before = (files(data), files(work.path()));
    for sql in [
        "COPY Instruction TO 'out.csv'",
        "COPY (SELECT 1) TO 'out.parquet' STORED AS PARQUET",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv'",
        "CREATE TABLE t AS SELECT 1",
        "CREATE VIEW v AS SELECT 1",
        "CREATE SCHEMA s",
        "CREATE DATABASE d",
        "CREATE FUNCTION f() RETURNS INT RETURN 1",
        "DROP TABLE Instruction",
        "DROP SCHEMA main CASCADE",
        "INSERT INTO Throttle SELECT * FROM Throttle",
        "EXPLAIN ANALYZE INSERT INTO Throttle SELECT * FROM Throttle",
        "EXPLAIN COPY Instruction TO 'out.csv'",
        "DELETE FROM Instruction",
        "UPDATE Instruction SET pc = 0",
        "TRUNCATE TABLE Instruction",
        "ALTER TABLE Instruction ADD COLUMN a INT",
        "SET datafusion.execution.batch_size = 1",
        "RESET datafusion.execution.batch_size",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "BEGIN",
        "COMMIT",
        "SELECT * FROM 'x.csv'",
        "SELECT * FROM 'x.parquet'",
        "SELECT * FROM \"x.parquet\"",
        "SELECT * FROM \"../x\".Throttle",
        "SELECT * FROM read_csv('x.csv')",
        "SELECT * FROM parquet_metadata('x.parquet')",
        "SELECT * INTO t FROM Throttle",
        "ATTACH 'x' AS y",
        "LOAD 'x'",
        "CALL x()",
        "SHOW FUNCTIONS; DROP TABLE Throttle",
    ] {
        let output = tool(data, &["query", NAME, sql]).current_dir(work.path()).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{sql}: {}", text(&output.stdout));
        assert_eq!(told.lines().count(), 1, "{sql}: {told}");
    }
    assert_eq!((files(data), files(work.path())), before);
    // What only looks is allowed.
    for sql in [
        "EXPLAIN SELECT * FROM Throttle",
        "SHOW TABLES",
        "DESCRIBE Throttle",
        "SHOW COLUMNS FROM Flow",
    ] {
        assert!(!said(data, &["query", NAME, sql]).is_empty(), "{sql}");
    }
}

#[test]
fn deep_long_and_odd_statements_end_in_one_line() {
    let dir = stored_one();
    let data = dir.path();
    let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let nested = format!("SELECT {}1{}", "abs(".repeat(3000), ")".repeat(3000));
    for sql in
        [deep.as_str(), &nested, "SELECT '\u{1b}[2J' FROM \u{1b}[2J", "\u{0}", "SELECT \u{202e}x"]
    {
        // Longer than an argument may be, so from a file.
        let file = data.join("a.sql");
        std::fs::write(&file, sql).unwrap();
        let line = refused(data, &["query", NAME, "-f", file.to_str().unwrap()]);
        assert!(!line.trim_end().chars().any(char::is_control), "{line}");
    }
    // A long chain is no deep one.
    let long = format!("SELECT 1{} AS n", " + 1".repeat(400));
    assert_eq!(rows(data, &[NAME], &long)[0]["n"], 401);
    // Also where it is computed for each row, by any thread.
    let long = format!("SELECT sum(pc{}) AS n FROM Instruction", " + pc".repeat(400));
    let once = &rows(data, &[NAME], "SELECT sum(pc) AS n FROM Instruction")[0]["n"];
    assert_eq!(rows(data, &[NAME], &long)[0]["n"], once.as_i64().unwrap() * 401);
    let longer = format!("SELECT 1{} AS n", " + 1".repeat(1001));
    assert!(refused(data, &["query", NAME, &longer]).contains("at most 1000 operators"));
    let union = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(250));
    assert_eq!(rows(data, &[NAME], &union).len(), 251);
    let file = data.join("large.sql");
    std::fs::write(&file, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(refused(data, &["query", NAME, "-f", file.to_str().unwrap()]).contains("at most"));
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    refused(data, &["query", NAME, "-f", file.to_str().unwrap()]);
    // A result shows no control characters on a terminal.
    let shown = said(data, &["query", NAME, "SELECT chr(27) AS x"]);
    assert!(shown.contains("\\u{1b}") && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_damaged_table_is_told_with_its_path() {
    let dir = stored_one();
    let data = dir.path();
    let all = files(data);
    let path = Path::new(all.keys().find(|name| name.ends_with("/Throttle.parquet")).unwrap());
    let whole = std::fs::read(path).unwrap();
    for cut in [0, 3, 12, whole.len() / 2, whole.len() - 5] {
        std::fs::write(path, &whole[..cut]).unwrap();
        let line = refused(data, &["query", NAME, "SELECT count(*), max(duration) FROM Throttle"]);
        assert!(line.contains("Throttle.parquet"), "{cut}: {line}");
    }
    std::fs::remove_file(path).unwrap();
    let line = refused(data, &["query", NAME, "SELECT * FROM Throttle"]);
    assert!(line.contains("cannot open") && line.contains("Throttle.parquet"), "{line}");
    assert_eq!(rows(data, &[NAME], "SELECT 1 AS n FROM Flow LIMIT 1").len(), 1);
}

/// Letters of patterns and of links in the path of the data.
#[test]
fn odd_paths() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a b", "x[1]*?", "%41#?c", "größe"] {
        let data = dir.path().join(name);
        store(&data, CAPTURES[2], &["--display-name", "m'm \"x\""]);
        let found = rows(&data, &["m'm \"x\""], "SELECT count(*) AS n FROM Instruction");
        assert_eq!(found[0]["n"], 442, "{name}");
    }
}

/// 442 x 442 x 442 rows, 86 million: more than a test waits for.
const ENDLESS: &str = "SELECT a.id, b.pc, c.opcode FROM Instruction a CROSS JOIN Instruction b CROSS JOIN Instruction c";

#[test]
fn a_reader_that_goes_away_is_quiet_success() {
    let dir = stored_one();
    for form in ["csv", "json"] {
        let mut child = tool(dir.path(), &["query", NAME, ENDLESS, "--output-format", form])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let begin = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}

/// However it ends, no part of a file stays, and no temporary one.
#[test]
fn a_killed_query_leaves_no_file() {
    let dir = stored_one();
    let work = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let count = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
    let sorted = format!("{ENDLESS} ORDER BY c.opcode, b.pc");
    for signal in ["INT", "TERM", "KILL"] {
        for (sql, form) in [(ENDLESS, "csv"), (ENDLESS, "parquet"), (&sorted, "json")] {
            let mut child = tool(dir.path(), &["query", NAME, sql, "--output-format", form])
                .args(["-o", "out", "--memory-limit", "64M"])
                .env("TMPDIR", temporary.path())
                .current_dir(work.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(1500));
            assert!(child.try_wait().unwrap().is_none(), "it ended before the signal");
            let pid = rustix::process::Pid::from_child(&child);
            let (number, signal) = match signal {
                "INT" => (2, rustix::process::Signal::INT),
                "TERM" => (15, rustix::process::Signal::TERM),
                _ => (9, rustix::process::Signal::KILL),
            };
            let begin = Instant::now();
            rustix::process::kill_process(pid, signal).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.signal(), Some(number), "{}", text(&output.stderr));
            assert!(begin.elapsed() < Duration::from_secs(20));
            assert_eq!((text(&output.stdout), text(&output.stderr)), Default::default());
            assert_eq!(count(work.path()), 0, "{form}");
            // What sorts leave when they are killed is the system's to clean.
            if number != 9 {
                assert_eq!(count(temporary.path()), 0, "{form}");
            }
        }
    }
    // One that fails leaves none either, and what was there stays.
    let out = work.path().join("out");
    std::fs::write(&out, "before").unwrap();
    let sql = "SELECT CAST(opcode AS BIGINT) AS x FROM Instruction";
    let args = ["query", NAME, sql, "--output-format", "csv", "-o", out.to_str().unwrap()];
    refused(dir.path(), &args);
    assert_eq!(
        (std::fs::read_to_string(&out).unwrap().as_str(), count(work.path())),
        ("before", 1)
    );
}

/// A sort of more than the memory goes to temporary files, or is refused.
#[test]
fn memory_is_bounded() {
    let dir = stored_one();
    let data = dir.path();
    let sql = "SELECT max(r) AS r FROM (SELECT row_number() OVER (ORDER BY a.operands, b.id, a.id) AS r \
               FROM Instruction a CROSS JOIN Instruction b CROSS JOIN \
               (SELECT * FROM Instruction LIMIT 4) c) AS sorted";
    let mut command = tool(data, &["query", NAME, sql, "--output-format", "csv"]);
    let child = command.args(["--memory-limit", "48M", "--threads", "2"]).output().unwrap();
    assert!(child.status.success(), "{}", text(&child.stderr));
    assert_eq!(text(&child.stdout), format!("r\n{}\n", 442 * 442 * 4));
    // Groups that do not fit into the least memory are one line.
    let sql = "SELECT count(*) FROM (SELECT a.id, b.id, c.id, string_agg(a.operands || b.operands, '') \
               FROM Instruction a CROSS JOIN Instruction b CROSS JOIN (SELECT * FROM Instruction LIMIT 8) c \
               GROUP BY a.id, b.id, c.id) AS groups";
    let output = tool(data, &["query", NAME, sql, "--memory-limit", "32M"]).output().unwrap();
    let told = text(&output.stderr);
    assert!(
        output.status.success() || (told.lines().count() == 1 && told.contains("--memory-limit")),
        "{told}"
    );
}
