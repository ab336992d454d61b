//! Sources: attached, uploaded, read, and what their lines cost.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::server::{Server, stored, tool};
use super::support::path;
use super::trees::{long, rows};

const FILE: &str = "/home/ubuntu/nki-moe/kernels/attn_tkg/agents/v6_ultimate.py";

fn segment(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn lines_cost_what_their_instructions_cost() {
    let data = tempfile::tempdir().unwrap();
    // Where the kernel was written is not where it is now.
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("agents")).unwrap();
    let text = "# kernel\n</script><b>line</b>\n";
    std::fs::write(root.path().join("agents/v6_ultimate.py"), text).unwrap();
    let (neff, ntff) = (path("attn-tkg.neff"), path("attn-tkg.ntff"));
    let roots = root.path().to_str().unwrap();
    let args = ["view", "-n", &neff, "-s", &ntff, "--ingest-only", "--nki-source-root", roots];
    let output = tool(data.path(), &args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 sources are kept") && told.contains("creation_ops.py"), "{told}");
    let id = stored(data.path(), "attn-tkg");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");

    let answer = server.get(&format!("{at}/sources/{}", segment(FILE)));
    assert_eq!((answer.status, answer.text().as_str()), (200, text));
    let head = answer.head.to_lowercase();
    assert!(head.contains("content-type: text/plain; charset=utf-8"), "{head}");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");

    let table = rows(&server, &at, "Instruction");
    let total = long(&server.json(&at), "total_ns");
    for (from, to) in [(0, total), (total / 5, total / 2)] {
        let mut wanted: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
        for row in table.iter().filter(|row| (from..to).contains(&long(row, "start_ts"))) {
            let source = row["nki_source_location"].as_str().unwrap_or_default();
            let line = source.strip_prefix(FILE).and_then(|rest| rest.strip_prefix(':'));
            if let Some(line) = line {
                let sums = wanted.entry(line.parse().unwrap()).or_default();
                sums[0] += 1;
                sums[1] += row["raw_flops"].as_u64().unwrap_or(0);
                if row["opcode"] != "EVENT_SEMAPHORE" {
                    sums[2] += long(row, "end_ts") - long(row, "start_ts");
                }
            }
        }
        let path = format!("{at}/sources/{}/lines?from={from}&to={to}", segment(FILE));
        let lines = server.json(&path);
        let found: BTreeMap<u64, [u64; 3]> = lines["lines"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| long(line, "count") > 0)
            .map(|line| (long(line, "line"), ["count", "flops", "time_ns"].map(|k| long(line, k))))
            .collect();
        assert_eq!(found, wanted);
        assert!(wanted.len() > 10);
        // From a line to its instructions.
        let (line, sums) = wanted.iter().next().unwrap();
        let q = segment(&format!("nki_source_location=\"{FILE}:{line}\""));
        let hits =
            server.json(&format!("{at}/search?q={q}&from={from}&to={to}&tables=Instruction"));
        assert_eq!(hits["total"], sums[0]);
    }
    let list = server.json(&format!("{at}/sources"));
    let file = |name: &str| {
        let files = list["files"].as_array().unwrap();
        files.iter().find(|file| file["name"] == name).cloned().unwrap_or(Value::Null)
    };
    assert_eq!((&file(FILE)["stored"], &file(FILE)["bytes"]), (&json!(true), &json!(text.len())));
    let other = list["files"].as_array().unwrap().iter().filter(|file| file["stored"] == false);
    assert_eq!(other.count(), 1);
}

#[test]
fn sources_are_uploaded_and_kept() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}/sources");
    assert_eq!(server.json(&at)["files"], json!([]));
    let name = format!("{at}/{}", segment("../../<b>.py"));
    assert_eq!(server.get(&name).status, 404);
    assert_eq!(server.ask("PUT", &name, "print('ä')\n".as_bytes()).status, 204);
    assert_eq!(server.get(&name).text(), "print('ä')\n");
    assert_eq!(server.json(&at)["files"][0]["name"], "../../<b>.py");
    assert_eq!(server.json(&format!("{name}/lines"))["lines"], json!([]));
    // Nothing is written outside of the profile's own directory.
    let below = data.path().join("sources").join(&id);
    assert_eq!(std::fs::read_dir(&below).unwrap().count(), 1);
    assert_eq!(server.ask("PUT", &name, &[0xff, 0xfe]).status, 400);
    assert_eq!(server.ask("PUT", &name, &vec![b' '; (8 << 20) + 1]).status, 413);
    assert_eq!(server.ask("PUT", &format!("{at}/a%0Ab"), b"x").status, 400);
    let none = "/api/v1/profiles/n_0000000000000000000000000000000000000000/sources";
    assert_eq!(server.ask("PUT", &format!("{none}/a"), b"x").status, 404);
    assert_eq!(server.get(none).status, 404);
    assert_eq!(server.get(&format!("{at}/a/lines?from=5&to=5")).status, 400);
    assert_eq!(server.ask("DELETE", &name, &[]).status, 204);
    assert_eq!(server.ask("DELETE", &name, &[]).status, 404);
    assert_eq!(server.ask("PUT", &format!("{at}/a.py"), b"x").status, 204);
    // Stored anew, a profile keeps them; deleted, it does not.
    let (neff, ntff) = (path("attn-fused-bf16-512.neff"), path("attn-fused-bf16-512.ntff"));
    let again = ["view", "-n", &neff, "-s", &ntff, "--ingest-only", "--force"];
    assert!(tool(data.path(), &again).output().unwrap().status.success());
    assert_eq!(server.get(&format!("{at}/a.py")).text(), "x");
    assert_eq!(server.ask("DELETE", &format!("/api/v1/profiles/{id}"), &[]).status, 204);
    assert!(!below.exists());
}

/// The test's program and a library of the framework stand in the call stack of moe-dge's kernel alone.
#[test]
fn call_stacks_lead_to_sources() {
    const TEST: &str = "v6b_1_coalesce_down_dma.py";
    let data = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    for file in [TEST, "xla_op_registry.py"] {
        std::fs::write(root.path().join(file), file).unwrap();
    }
    let (neff, ntff) = (path("moe-dge.neff"), path("moe-dge.ntff"));
    let roots = root.path().to_str().unwrap();
    let args =
        ["view", "-n", &neff, "-s", &ntff, "--ingest-only", "--framework-source-root", roots];
    let output = tool(data.path(), &args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("2 sources are kept"), "{told}");
    assert!(!told.contains("compile.py"), "{told}");
    let id = stored(data.path(), "moe-dge");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let table = rows(&server, &at, "Instruction");
    let made = table.iter().position(|row| row["kernel_instruction_name"] == "inst.186:8").unwrap();
    let event = server.json(&format!("{at}/events/Instruction/{made}"));
    let stacks = event["call_stacks"].as_array().unwrap();
    let [kernel, framework] = stacks.as_slice() else { panic!("{stacks:?}") };
    assert_eq!((&kernel["of"], &framework["of"]), (&json!("kernel"), &json!("framework")));
    let iterations: Vec<String> = kernel["loops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|iteration| {
            format!("{} {}", iteration["variable"].as_str().unwrap(), iteration["line"])
        })
        .collect();
    assert_eq!(iterations, ["gu_t 203", "h_t 180", "k 145", "t 114"]);
    let inner = &framework["frames"][0];
    assert_eq!((&inner["line"], &inner["begins"]), (&json!(44), &Value::Null));
    let file = segment(inner["file"].as_str().unwrap());
    assert_eq!(server.get(&format!("{at}/sources/{file}")).text(), "xla_op_registry.py");
    let row = server.json(&format!("{at}/events/DmaPacket/0"));
    assert_eq!(row["call_stacks"], json!([]));
}
