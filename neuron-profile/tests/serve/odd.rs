//! Profiles that a viewer must stand: without events, with names of a megabyte,
//! with a hundred thousand layers, and of an older version.

use std::path::Path;

use neuron_core::ntff::{self, Reader, SectionKind};
use prost::Message as _;
use serde_json::{Value, json};

use super::server::{Server, stored, tool};
use super::support::{fixture, path};
use super::wire;

/// A trace of a real capture without any record.
fn without_records(to: &Path) {
    let bytes = std::fs::read(fixture("attn-fused-bf16-512.ntff")).unwrap();
    let reader = Reader::new(bytes.as_slice(), ntff::Options::default()).unwrap();
    let blobs = usize::try_from(reader.header().blobs_start()).unwrap();
    let mut info = reader.info().clone();
    let sections = reader.sections().iter();
    let programs = sections.filter(|section| matches!(section.kind, SectionKind::Program { .. }));
    let programs: u64 = programs.map(|section| section.size).sum();
    for message in &mut info.session_notifications {
        (message.offset, message.size) = (programs, 0);
    }
    let message = info.encode_to_vec();
    let mut out = bytes[..128].to_vec();
    out[1..9].copy_from_slice(&(message.len() as u64).to_le_bytes());
    out.extend_from_slice(&message);
    out.extend_from_slice(&bytes[blobs..blobs + usize::try_from(programs).unwrap()]);
    std::fs::write(to, out).unwrap();
}

#[test]
fn a_profile_without_events() {
    let data = tempfile::tempdir().unwrap();
    let trace = data.path().join("empty.ntff");
    without_records(&trace);
    let neff = path("attn-fused-bf16-512.neff");
    let args = ["view", "-n", &neff, "-s", trace.to_str().unwrap(), "--ingest-only"];
    let output = tool(data.path(), &args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let id = said.split('"').nth(1).unwrap();
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let profile = server.json(&at);
    assert_eq!((&profile["events"], &profile["lanes"]), (&json!(0), &json!([])));
    assert_eq!((&profile["names"], &profile["kinds"]), (&json!([]), &json!(0)));
    let total = profile["total_ns"].as_u64().unwrap();
    let range = format!("from=0&to={total}");
    assert_eq!(server.json(&format!("{at}/series"))["series"], json!([]));
    assert_eq!(server.get(&format!("{at}/series/data?ids=hfu.0&{range}")).status, 404);
    assert_eq!(server.json(&format!("{at}/kinds"))["total"], 0);
    for by in ["layer", "operator", "source", "opcode", "queue"] {
        let tree = server.json(&format!("{at}/operators?by={by}"));
        assert_eq!((&tree["nodes"], &tree["total"]), (&json!([]), &json!(0)));
    }
    assert_eq!(server.json(&format!("{at}/layers?{range}"))["rows"], json!([]));
    let metrics = server.json(&format!("{at}/summary?{range}"));
    for metric in metrics["metrics"].as_array().unwrap() {
        assert!(metric["value"].as_f64().unwrap().is_finite(), "{metric}");
    }
    let found = server.json(&format!("{at}/search?q=anything"));
    assert_eq!((&found["total"], &found["rows"]), (&json!(0), &json!([])));
    assert!(wire::matches(&server.get(&format!("{at}/matches?q=a&{range}")).body).1.is_empty());
    assert_eq!(server.json(&format!("{at}/sources"))["files"], json!([]));
    assert_eq!(server.json(&format!("{at}/sources/a.py/lines"))["lines"], json!([]));
    assert_eq!(server.json(&format!("{at}/selection?{range}"))["lanes"], json!([]));
    assert_eq!(server.get(&format!("{at}/events/Instruction/0")).status, 404);
    assert_eq!(server.get(&format!("{at}/events/Instruction/0/chain")).status, 404);
    assert!(server.json(&format!("{at}/summary"))["summary"][0]["total_time"].is_number());
}

fn change(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(file, value.to_string()).unwrap();
}

#[test]
fn names_of_a_megabyte_and_many_layers() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let dir = data.path().join("profiles").join(&id);
    let long = format!("<script>{}", "ä".repeat(500_000));
    let mut first = 0;
    change(&dir.join("kinds.json"), |kinds| {
        let texts = kinds["texts"].as_array_mut().unwrap();
        first = texts.len();
        texts.push(json!(long));
        texts.extend((0..100_000).map(|at| json!(format!("model/block{}/layer{at}", at % 50))));
        let kinds = kinds["kinds"].as_array_mut().unwrap();
        kinds[0]["layer"] = json!(first);
        let model = kinds[1].clone();
        for at in 0..100_000 {
            let mut kind = model.clone();
            kind["layer"] = json!(first + 1 + at);
            kinds.push(kind);
        }
    });
    change(&dir.join("lanes.json"), |index| {
        index["names"][0] = json!(long);
        let names = index["names"].as_array_mut().unwrap();
        let known = names.len();
        names.extend((0..100_000).map(|at| json!(format!("op{at}"))));
        // The first lane ran all of them once.
        let lane = &mut index["lanes"][0];
        let keys = lane["keys"].as_array_mut().unwrap();
        keys.extend((0..100_000).map(|at| json!([1_000_000 + at, known + at])));
        let sums = lane["blocks"][0]["sums"].as_array_mut().unwrap();
        sums.extend((0..100_000).map(|at| json!([known + at, 1, 5, 5, 0])));
    });
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let few = |path: &str, most: usize| {
        let answer = server.get(&format!("{at}{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.body.len() < most, "{path}: {} bytes", answer.body.len());
        answer
    };
    let profile = few("", 400_000).json();
    assert_eq!(profile["names"].as_array().unwrap().len(), 10_000);
    assert!(profile["kinds"].as_u64().unwrap() > 100_000);
    assert_eq!(profile["names"][0].as_str().unwrap().chars().count(), 257);
    let kinds = few("/kinds?limit=50000", 6_000_000).json();
    assert_eq!(kinds["next"], 50_000);
    let whole = server.json(&format!("{at}/kinds/0"));
    assert_eq!((&whole["name"], &whole["layer"]), (&json!(long), &json!(long)));
    let total = profile["total_ns"].as_u64().unwrap() + 1;
    let range = format!("from=0&to={total}");
    let tree = few(&format!("/operators?{range}"), 1_500_000).json();
    assert_eq!(tree["cut"], true);
    assert!(tree["total"].as_u64().unwrap() > 100_000);
    assert!(tree["nodes"].as_array().unwrap().len() <= 1000 + 16);
    few(&format!("/operators?by=opcode&{range}"), 1_500_000);
    few(&format!("/layers?{range}"), 4_000_000);
    few(&format!("/summary?{range}"), 100_000);
    few("/search?q=%22%3Cscript%22", 100_000);
    let answer = server.get("/");
    assert!(!answer.text().contains("<script>ä"));
}

#[test]
fn a_profile_of_an_older_version() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let dir = data.path().join("profiles").join(&id);
    for file in ["kinds.json", "series.json", "series"] {
        std::fs::remove_file(dir.join(file)).unwrap();
    }
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    assert_eq!(server.json(&format!("{at}/series"))["series"], json!([]));
    let kinds = server.json(&format!("{at}/kinds"));
    assert_eq!(kinds["total"].as_u64().unwrap() as usize, kinds["name"].as_array().unwrap().len());
    assert!(kinds["layer"].as_array().unwrap().iter().all(|layer| layer == -1));
    let tree = server.json(&format!("{at}/operators?by=opcode"));
    assert!(!tree["nodes"].as_array().unwrap().is_empty());
    assert_eq!(server.get(&format!("{at}/summary?from=0&to=1000")).status, 200);
    // Damage is told, not shown.
    std::fs::write(dir.join("series.json"), b"{").unwrap();
    std::fs::write(dir.join("kinds.json"), b"[]").unwrap();
    let server = Server::start(data.path(), &[]);
    let answer = server.get(&at);
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("--force"), "{}", answer.text());
}

#[test]
fn answers_of_the_interface_are_no_pages() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let head = server.get("/api/v1/health").head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    for header in ["nosniff", "referrer-policy: no-referrer", "same-origin", "no-store"] {
        assert!(head.contains(header), "{head}");
    }
    let page = server.get("/").head.to_lowercase();
    assert!(page.contains("default-src 'self'") || page.contains("default-src 'none'"), "{page}");
    assert!(page.contains("frame-ancestors 'none'") && !page.contains("unsafe"), "{page}");
    assert!(page.contains("script-src 'self'"), "{page}");
}
