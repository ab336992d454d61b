//! The answers are those of this process.

use std::path::Path;

use serde_json::Value;

use crate::ballista::{Cluster, programs};
use crate::stored::{CAPTURES, said, store, text, tool};

const REPORTS: [&str; 7] =
    ["bottlenecks", "layers", "operators", "engines", "dma", "idle", "memory"];

/// What a user may ask, of each kind of step.
const OWN: [&str; 19] = [
    "SELECT count(*) AS n, min(start_ts) AS a, max(end_ts) AS b FROM Instruction",
    "SELECT engine, opcode, count(*) AS n FROM Instruction GROUP BY engine, opcode \
     HAVING count(*) > 3 ORDER BY n DESC, engine, opcode",
    "SELECT i.opcode, f.dependency_type, count(*) AS n FROM Flow f JOIN Instruction i \
     ON i.id = f.in_id GROUP BY i.opcode, f.dependency_type",
    "SELECT id, opcode, lag(end_ts) OVER (PARTITION BY engine, pcore_idx ORDER BY start_ts, id) AS l \
     FROM Instruction ORDER BY id LIMIT 200",
    "SELECT id, sum(duration_ns) OVER (ORDER BY start_ts, id) AS s FROM Instruction ORDER BY id LIMIT 99",
    "WITH big AS (SELECT * FROM DmaPacket WHERE transfer_bytes >= 4096) \
     SELECT queue_type, count(*) AS n, sum(duration_ns) AS t FROM big GROUP BY queue_type",
    "SELECT opcode, start_ts FROM Instruction WHERE operands LIKE '%fp32%' ORDER BY start_ts, opcode LIMIT 50",
    "SELECT upper(engine) AS e, substr(opcode, 1, 3) AS o, avg(duration_ns) AS d FROM Instruction GROUP BY 1, 2",
    "SELECT opcode FROM Instruction WHERE hlo_name IS NULL EXCEPT \
     SELECT opcode FROM Instruction WHERE engine = 'Tensor'",
    "SELECT DISTINCT queue_name FROM DmaPacket UNION SELECT DISTINCT opcode FROM Instruction",
    "SELECT count(*) AS n FROM Instruction a LEFT JOIN Flow f ON f.out_id = a.id AND f.gap_time > 5",
    "SELECT a.opcode AS x, b.opcode AS y FROM (SELECT DISTINCT opcode FROM Instruction WHERE engine = 'Vector') a \
     FULL OUTER JOIN (SELECT DISTINCT opcode FROM Instruction WHERE engine = 'Scalar') b ON a.opcode = b.opcode",
    "SELECT count(*) AS n FROM Instruction WHERE id NOT IN (SELECT out_id FROM Flow)",
    "SELECT count(*) AS n FROM Instruction WHERE hlo_name NOT IN (SELECT hlo_name FROM Instruction WHERE engine = 'Sync')",
    "SELECT count(*) AS n FROM Instruction i WHERE EXISTS (SELECT 1 FROM Flow f WHERE f.in_id = i.id)",
    "SELECT id FROM Instruction WHERE duration_ns = (SELECT max(duration_ns) FROM Instruction)",
    "SELECT count(*) AS n FROM ActiveTime a LEFT JOIN Throttle t ON t.timestamp < a.start_ts",
    "SELECT p.id, count(*) AS n FROM Profiles p, Instruction i GROUP BY p.id",
    "SELECT * FROM Summary",
];

/// Answered in this process, whatever the engine.
const HERE: [(&str, &str); 4] = [
    ("SELECT file_row_index() AS row, id FROM DmaPacket ORDER BY id LIMIT 9", "number the rows"),
    ("SELECT id FROM Profiles", "no table of events"),
    ("SELECT count(*) AS n FROM information_schema.tables", "no table of events"),
    (
        "WITH RECURSIVE n AS (SELECT min(id) AS id FROM Instruction UNION ALL SELECT id + 1 FROM n WHERE id < 9) \
         SELECT id FROM n",
        "one process",
    ),
];

fn statements(data: &Path, report: &str) -> Vec<String> {
    let printed = said(data, &["report", report, "--sql"]);
    let lines = printed.lines().filter(|line| !line.starts_with("-- "));
    lines.map(|line| line.trim_end_matches(';').replace("{engine}", "vector")).collect()
}

/// Rows, and what was said beside them.
pub(crate) fn ask(data: &Path, names: &[&str], sql: &str, engine: &str) -> (Vec<Value>, String) {
    let args = [&["query"], names, &[sql, "--output-format", "json", "--engine", engine]].concat();
    let output = tool(data, &args).output().unwrap();
    let told = text(&output.stderr);
    assert!(output.status.success(), "{sql}: {told}");
    (serde_json::from_slice(&output.stdout).unwrap(), told)
}

/// Sums of reals come in another order on several machines.
pub(crate) fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| alike(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| alike(x, y)))
        }
        _ => a == b,
    }
}

/// Without an order by the user, rows come in any.
fn sorted(mut rows: Vec<Value>, sql: &str) -> Value {
    if !sql.contains("ORDER BY") {
        rows.sort_by_key(ToString::to_string);
    }
    Value::Array(rows)
}

/// Asks both; whether the cluster answered.
fn both(data: &Path, names: &[&str], sql: &str, cluster: &Cluster) -> bool {
    let (ours, _) = ask(data, names, sql, "local");
    let (theirs, told) = ask(data, names, sql, &cluster.engine());
    let (ours, theirs) = (sorted(ours, sql), sorted(theirs, sql));
    assert!(alike(&ours, &theirs), "{sql}\n{ours}\n{theirs}");
    assert!(told.is_empty() || told.starts_with("note: "), "{told}");
    told.is_empty()
}

#[test]
fn every_statement_answers_alike() {
    let Some(programs) = programs() else { return };
    let cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let ids = ["moe-dge", CAPTURES[0]].map(|capture| store(data, capture, &[]));
    let (mut there, mut all) = (0, 0);
    let mut count = |far: bool| {
        there += usize::from(far);
        all += 1;
    };
    for id in &ids {
        for sql in REPORTS.iter().flat_map(|report| statements(data, report)) {
            let far = both(data, &[id], &sql, &cluster);
            assert!(far || sql.contains("file_row_index"), "{sql} stayed here");
            count(far);
        }
        for sql in OWN {
            count(both(data, &[id], sql, &cluster));
        }
    }
    for sql in statements(data, "compare") {
        count(both(data, &[&ids[0], &ids[1]], &sql, &cluster));
    }
    // Most are answered by the cluster, and those that are not say why.
    assert!(there * 10 > all * 6, "{there} of {all}");
    for (sql, why) in HERE {
        let (theirs, told) = ask(data, &[&ids[0]], sql, &cluster.engine());
        assert!(told.starts_with("note: ") && told.contains(why), "{sql}: {told}");
        assert_eq!(theirs, ask(data, &[&ids[0]], sql, "local").0, "{sql}");
    }
    // Wrong statements are told as without a cluster.
    for sql in ["SELECT nothing FROM Instruction", "SELEC", "DROP TABLE Instruction"] {
        let told = |engine: &str| {
            let args = ["query", &ids[0], sql, "--engine", engine];
            let output = tool(data, &args).output().unwrap();
            assert_eq!(output.status.code(), Some(1));
            text(&output.stderr)
        };
        assert_eq!(told(&cluster.engine()), told("local"));
    }
}

#[test]
fn every_report_is_the_same() {
    let Some(programs) = programs() else { return };
    let cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let ids = ["moe-dge", CAPTURES[1]].map(|capture| store(data, capture, &[]));
    let report = |name: &str, engine: &str| -> Value {
        let args =
            ["report", name, &ids[0], &ids[1], "--output-format", "json", "--engine", engine];
        let output = tool(data, &args).output().unwrap();
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for name in REPORTS.iter().copied().chain(["compare"]) {
        let (ours, theirs) = (report(name, "local"), report(name, &cluster.engine()));
        assert!(alike(&ours, &theirs), "{name}\n{ours:#}\n{theirs:#}");
    }
}

/// Many ranks below one folder are one dataset, and a cluster reads each file once.
#[test]
fn ranks_of_a_folder_are_one_dataset() {
    let Some(programs) = programs() else { return };
    let cluster = Cluster::start(&programs, 2, &[]);
    let dir = tempfile::tempdir().unwrap();
    // Each host stored its own.
    for (rank, capture) in CAPTURES.iter().chain(&["moe-dge", "attn-tkg"]).enumerate() {
        let host = dir.path().join(format!("host{}", rank % 3));
        store(&host, capture, &["--display-name", &format!("rank_{rank}")]);
    }
    let folder = format!("{}/", dir.path().display());
    for sql in [
        "SELECT profile, count(*) AS n, sum(duration_ns) AS t, max(end_ts) AS e FROM Instruction GROUP BY profile",
        "SELECT count(*) AS n FROM DmaPacket WHERE profile = 'rank_4' AND transfer_bytes > 64",
        "SELECT profile, total_time, hbm_read_bytes FROM Summary ORDER BY profile",
        "SELECT a.opcode, count(*) AS n FROM p1.Instruction a JOIN main.Instruction b \
         ON a.id = b.id AND b.profile LIKE 'rank%' GROUP BY a.opcode",
    ] {
        assert!(both(dir.path(), &[&folder], sql, &cluster), "{sql} stayed here");
    }
}

/// Executors read an object store with credentials of their own.
#[cfg(feature = "s3")]
#[test]
fn profiles_in_an_object_store() {
    let Some(programs) = programs() else { return };
    let Some(server) = crate::s3::Server::start() else { return };
    let environment = server.environment();
    let cluster = Cluster::start(&programs, 2, &environment);
    let dir = tempfile::tempdir().unwrap();
    for (rank, capture) in CAPTURES.iter().enumerate() {
        store(dir.path(), capture, &["--display-name", &format!("rank {rank}")]);
    }
    server.upload(dir.path(), "profiles", "job 7/");
    let far = tempfile::tempdir().unwrap();
    let asked = |args: &[&str]| -> Value {
        let mut command = tool(far.path(), args);
        let output = command.envs(environment.iter().cloned()).output().unwrap();
        assert!(output.status.success(), "{args:?} {}{}", text(&output.stderr), cluster.logs());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (url, engine) = ("s3://profiles/job 7", cluster.engine());
    for sql in [
        "SELECT profile, engine, count(*) AS n, sum(duration_ns) AS t FROM Instruction \
         GROUP BY profile, engine ORDER BY profile, engine",
        "SELECT profile, total_time FROM Summary ORDER BY profile",
        "SELECT opcode FROM p2.Instruction ORDER BY start_ts, id LIMIT 20",
    ] {
        let args = ["query", url, sql, "--output-format", "json", "--engine", &engine];
        let ours = ask(dir.path(), &[&format!("{}/", dir.path().display())], sql, "local").0;
        assert!(alike(&asked(&args), &Value::Array(ours)), "{sql}");
    }
    let report = ["report", "dma", url, "--output-format", "json", "--engine", &engine];
    let near = ["report", "dma", url, "--output-format", "json"];
    assert!(alike(&asked(&report), &asked(&near)));
}
