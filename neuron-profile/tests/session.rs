//! `neuron-profile show-session` and `recommend`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/stored.rs"]
mod stored;

use serde_json::Value;
use stored::{fixture, refused, store, text, tool};

const CAPTURE: &str = "attn-fused-fp32-512";

fn path(name: &str) -> String {
    fixture(name).canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Stdout of a command that may tell notes on stderr.
fn shown(args: &[&str]) -> String {
    let output = tool(std::path::Path::new("/nowhere"), args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The counts that are known of the capture from other decoders.
#[test]
fn a_session_has_its_cores() {
    let (neff, ntff) = (path(&format!("{CAPTURE}.neff")), path(&format!("{CAPTURE}.ntff")));
    let table = shown(&["show-session", "-s", &ntff, "-n", &neff]);
    assert!(table.contains("UUID: 858910c24e1f4fc783a881c09fb52205\n"), "{table}");
    assert!(table.contains("NTFF Version: 6\n"), "{table}");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip_while(|line| !line.starts_with("NODE ID"))
        .skip(1)
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    // Node, ns, executor, name, records, ps, updates, errors, PE, ACT, POOL, queues, SP.
    let row = |at: usize, cells: [usize; 9]| cells.map(|cell| rows[at][cell]);
    let cells = [0, 1, 2, 3, 5, 6, 8, 9, 12];
    assert_eq!(
        row(0, cells),
        ["0", "38091", "ND 0 NC 4", "sg00", "38091607", "456", "164", "40", "27"]
    );
    assert_eq!(
        row(1, cells),
        ["0", "13776", "ND 0 NC 5", "sg01", "13776645", "305", "41", "30", "25"]
    );

    let json: Value = serde_json::from_str(&shown(&["show-session", "-s", &ntff, "-j"])).unwrap();
    let graph = &json["NeffNodes"][0]["NodeInfo"]["Graphs"][0];
    assert_eq!((&graph["NC"], &graph["CycleCount"]), (&4.into(), &38_091_607.into()));
    assert_eq!(graph["EventsCount"], 456);
    assert!(graph["DMAQueues"].as_array().unwrap().iter().all(|queue| queue["Name"].is_string()));

    // A packet has a start, an end and a completion.
    let dma = shown(&["show-session", "-s", &ntff, "--show-dma"]);
    assert_eq!(dma.lines().filter(|line| line.contains(" bytes crc ")).count(), 480 + 11);
    let trace = shown(&["show-session", "-s", &ntff, "--show-trace"]);
    assert_eq!(trace.lines().filter(|line| line.contains("PE start pc")).count(), 164 + 41);
    let program = shown(&["show-session", "-s", &ntff, "-i"]);
    let slots = program.lines().filter(|line| line.trim().len() == 128).count();
    assert!(slots > 124, "{slots}");

    let data = std::path::Path::new("/nowhere");
    let other = path("attn-base-bf16-512.neff");
    assert!(refused(data, &["show-session", "-s", &ntff, "-n", &other]).contains("UUID"));
    assert!(refused(data, &["show-session", "-s", &neff]).contains("it is no NTFF but a NEFF"));
    assert!(
        refused(data, &["show-session", "-s", &path("inspect/ntrace.pb")]).contains("inspect run")
    );
}

#[test]
fn recommendations_are_the_heaviest_findings() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let capture = "moe-dge";
    let id = store(data, capture, &[]);
    let ask = |args: &[&str]| {
        let output = tool(data, &[&["recommend"], args].concat()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let markdown = ask(&[&id]);
    assert!(markdown.starts_with("# Recommendations for moe-dge\n"), "{markdown}");
    let items = markdown.lines().filter(|line| line.starts_with("## ")).count();
    assert!((1..=3).contains(&items), "{markdown}");
    for what in ["**Symptom**", "**Change**", "**Expected speed-up**", "**Trade-offs**"] {
        assert_eq!(markdown.matches(what).count(), items, "{what}");
    }
    // The files themselves give the same, and leave the store alone.
    let (neff, ntff) = (path(&format!("{capture}.neff")), path(&format!("{capture}.ntff")));
    assert_eq!(ask(&["-n", &neff, "-s", &ntff]), markdown);
    assert_eq!(std::fs::read_dir(data.join("profiles")).unwrap().count(), 1);
    // Lines of the kernel are quoted where its sources are.
    let kernels = data.join("sources/kernels/moe_tkg/agents");
    std::fs::create_dir_all(&kernels).unwrap();
    let source: String = (1..=2000).map(|line| format!("    line_{line}()\n")).collect();
    std::fs::write(kernels.join("v6b_1_coalesce_down_dma.py"), source).unwrap();
    let root = data.join("sources");
    let quoted = ask(&[&id, "--nki-source-root", root.to_str().unwrap()]);
    let line = quoted.lines().find(|line| line.trim().starts_with("`line_")).unwrap();
    let number: String = line.chars().filter(char::is_ascii_digit).collect();
    assert!(quoted.contains(&format!("v6b_1_coalesce_down_dma.py:{number}")), "{line}");
    assert!(refused(data, &["recommend"]).contains("no profile"));
}
