//! `neuron-profile ntff` as a user runs it: results, exit codes, pipes, memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "support/stream.rs"]
mod stream;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("ntff").args(args);
    command
}

fn run(args: &[&str], file: &Path) -> Output {
    tool(args).arg(file).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(args: &[&str], file: &Path) -> Value {
    let output = run(&[args, &["-o", "json"]].concat(), file);
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Feeds stdin and gives back the output.
fn piped(args: &[&str], bytes: &[u8]) -> Output {
    let mut child = tool(args)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Beside the reading of the output, which may be as long.
        scope.spawn(move || stdin.write_all(bytes).unwrap());
        child.wait_with_output().unwrap()
    })
}

#[test]
fn info_of_a_real_trace() {
    let value = json(&["info"], &fixture("moe-dge.ntff"));
    assert_eq!(value["form"], 6);
    assert_eq!(value["message_bytes"], 10374);
    assert_eq!(value["bytes"], 917_030);
    assert_eq!(value["neff_uuid"], "a8a790d126d347ad866ec1a3ef8e866e");
    assert_eq!(value["runtime_version"], "2.30.51 (faafe)");
    assert_eq!(value["executions"][0]["start_ps"], 341_377_197_827_663_285_u64);
    let core = &value["cores"][0];
    assert_eq!(core["core"], 4);
    assert_eq!(core["starts"], serde_json::json!([1514, 496, 977, 415, 45]));
    assert_eq!(core["updates"], 4621);
    assert_eq!(core["dma_bytes"], 25_534_164);
    assert_eq!(core["first"], 341_377_197_818_428_300_u64);
    assert_eq!(value["findings"]["damaged"], false);

    let output = run(&["info"], &fixture("moe-dge.ntff"));
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    for line in [
        "core 4 (sg00)",
        "  PE        1551     1514     1513        0",
        "  dma packets 9393 begun, 9393 ended, 9393 completed, 25534164 bytes",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line}\n{shown}");
    }
}

/// Every record is in the dump: as many entries as the sizes say, and the
/// numbers of the vendor's export for one of them.
#[test]
fn dump_has_every_record() {
    let value = json(&["dump"], &fixture("attn-fused-fp32-512.ntff"));
    assert_eq!(value["message"]["neff_name"], "fused.neff");
    assert_eq!(value["message"]["session_notifications"].as_array().unwrap().len(), 22);
    assert_eq!(value["header_stray"].as_str().unwrap().len(), 238);
    let sections = value["sections"].as_array().unwrap();
    let entries = |name: &str| {
        let section = sections.iter().find(|section| section["section"] == name).unwrap();
        section["entries"].as_array().unwrap()
    };
    assert_eq!(entries("core 4 NC INSTRUCTION trace").len(), 10064 / 16);
    assert_eq!(entries("core 4 PE program").len(), 12864 / 64);
    assert_eq!(entries("core 4 DMA DMA trace").len(), 3 * 480);
    let throttle = &entries("core 4 NC THROTTLE trace")[0];
    assert_eq!(throttle["kind"], "throttle");
    assert_eq!((&throttle["k"], &throttle["n"]), (&8.into(), &8.into()));
    let total: usize = sections.iter().map(|s| s["entries"].as_array().unwrap().len()).sum();
    assert_eq!(total, 56384 / 64 + (107_200 - 56384) / 16);

    let output = run(&["dump", "--no-records"], &fixture("attn-fused-fp32-512.ntff"));
    let shown = text(&output.stdout);
    assert!(shown.contains("name: \"qPoolDynamic\"") && !shown.contains(" PE start "));
}

#[test]
fn inspect_files() {
    let events = json(&["info"], &fixture("inspect/ntrace.pb"));
    assert_eq!(events["frames"], 1676);
    assert_eq!(events["event_types"]["30"], 796);
    let run_info = json(&["info"], &fixture("inspect/trace_info.pb"));
    assert_eq!(run_info["message"]["pid"], 713_479);
    let memory = json(&["dump"], &fixture("inspect/host_mem.pb"));
    assert_eq!(memory["frames"][599]["bytes_used"], 15_042_867_200_u64);
    assert_eq!(json(&["verify"], &fixture("inspect/cpu_util.pb"))["frames"], 7200);
}

#[test]
fn a_cut_file_is_a_partial_result() {
    let data = std::fs::read(fixture("moe-dge.ntff")).unwrap();
    for command in ["info", "dump", "verify"] {
        let output = piped(&[command], &data[..700_000]);
        assert_eq!(output.status.code(), Some(3), "{command}");
        assert!(text(&output.stdout).contains("damage: byte 700000: "), "{command}");
        assert!(output.stderr.is_empty());
        assert_eq!(piped(&[command], &data).status.code(), Some(0), "{command}");
    }
    // The records before the cut are shown: PE's come first.
    let shown = text(&piped(&["info"], &data[..700_000]).stdout);
    assert!(shown.contains("     1514     1513"), "{shown}");
    let events = std::fs::read(fixture("inspect/ntrace.pb")).unwrap();
    let output = piped(&["info"], &events[..1000]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn errors_are_one_line_with_exit_1() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty.ntff");
    std::fs::write(&empty, b"").unwrap();
    let short = home.path().join("short.ntff");
    std::fs::write(&short, [6; 100]).unwrap();
    let missing = home.path().join("missing.ntff");
    for (file, wanted) in [
        (&empty, "nothing was executed"),
        (&short, "ends inside its 128-byte header, after 100 bytes"),
        (&missing, "cannot open"),
    ] {
        for command in ["info", "dump", "verify"] {
            let output = run(&[command], file);
            assert_eq!(output.status.code(), Some(1));
            assert!(output.stdout.is_empty());
            let error = text(&output.stderr);
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(
                error.contains(wanted) && error.contains(&file.display().to_string()),
                "{error}"
            );
        }
    }
    let output = run(&["info", "-o", "yaml"], &empty);
    assert_eq!(output.status.code(), Some(1));
}

fn packed(data: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(data).unwrap();
    packer.finish().unwrap()
}

#[test]
fn gzip_is_unwrapped() {
    let data = std::fs::read(fixture("attn-fused-fp32-512.ntff")).unwrap();
    let output = piped(&["verify"], &packed(&data));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("ok: 110488 bytes"));
}

/// What was inflated before the damage is shown, and the damage is told once.
#[test]
fn a_damaged_gzip_wrapper_keeps_what_is_whole() {
    let data = std::fs::read(fixture("moe-dge.ntff")).unwrap();
    let whole = packed(&data);
    let cut = &whole[..whole.len() - 5000];
    let mut flipped = whole.clone();
    let at = flipped.len() - 5000;
    flipped[at..at + 100].fill(0xff);
    for bytes in [cut, &flipped] {
        for command in ["info", "dump", "verify"] {
            let output = piped(&[command], bytes);
            assert_eq!(output.status.code(), Some(3), "{command}");
            assert!(output.stderr.is_empty());
            assert_eq!(text(&output.stdout).matches("(rule gzip-cut)").count(), 1);
        }
        let output = piped(&["dump", "-o", "json"], bytes);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let list = value["findings"]["list"].as_array().unwrap();
        assert!(list.iter().any(|finding| finding["rule"] == "gzip-cut"));
        assert!(value["sections"].as_array().unwrap().len() > 3);
    }
    // The same records as of the plain file that ends where the inflating did.
    let value: Value = serde_json::from_slice(&piped(&["info", "-o", "json"], cut).stdout).unwrap();
    let length = usize::try_from(value["bytes"].as_u64().unwrap()).unwrap();
    assert!(length > data.len() / 2, "{length}");
    let plain: Value =
        serde_json::from_slice(&piped(&["info", "-o", "json"], &data[..length]).stdout).unwrap();
    assert_eq!(value["cores"], plain["cores"]);

    let trailing = [whole.as_slice(), b"xy"].concat();
    let output = piped(&["verify"], &trailing);
    assert_eq!(output.status.code(), Some(3));
    let shown = text(&output.stdout);
    assert!(shown.contains("2 bytes after the gzip wrapper"), "{shown}");
    assert!(shown.contains("917030 bytes"), "{shown}");
    // Bytes that begin like a member but are none.
    let output = piped(&["verify"], &[whole.as_slice(), &[0x1f, 0x1f]].concat());
    let shown = text(&output.stdout);
    assert!(shown.contains("2 bytes after the gzip wrapper"), "{shown}");
    // Two members on end are one file.
    let halves = data.split_at(data.len() / 2);
    let members: Vec<u8> = [halves.0, halves.1].iter().flat_map(|half| packed(half)).collect();
    let output = piped(&["verify"], &members);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    // A block of a type that deflate has not, behind whole blocks: all of them
    // are kept.
    let mut broken = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    broken.reserve(data.len());
    let mut packer = flate2::Compress::new(flate2::Compression::fast(), false);
    packer.compress_vec(&data[..500_001], &mut broken, flate2::FlushCompress::Sync).unwrap();
    assert_eq!(packer.total_in(), 500_001);
    broken.extend([0xff; 64]);
    let value: Value =
        serde_json::from_slice(&piped(&["info", "-o", "json"], &broken).stdout).unwrap();
    let kept = value["bytes"].as_u64().unwrap();
    assert_eq!(kept, 500_001);
    // Nothing at all inside: an error, not an empty trace.
    let output = piped(&["info"], &whole[..12]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("gzip wrapper is damaged"));
}

#[test]
fn zeros_are_refused() {
    for command in ["info", "dump", "verify"] {
        let output = piped(&[command], &[0; 4096]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(output.stdout.is_empty());
        let error = text(&output.stderr);
        assert!(error.contains("neither an NTFF nor a file of an inspect run"), "{error}");
    }
}

/// Text of the file cannot steer the terminal.
#[test]
fn control_characters_are_escaped() {
    let mut data = std::fs::read(fixture("attn-fused-fp32-512.ntff")).unwrap();
    for word in [&b"fused.neff"[..], b"sg00"] {
        let places: Vec<usize> = (0..4000).filter(|at| data[*at..].starts_with(word)).collect();
        assert!(!places.is_empty());
        places.iter().for_each(|at| data[*at] = 0x1b);
    }
    for command in ["info", "dump", "verify"] {
        let output = piped(&[command], &data);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(!output.stdout.contains(&0x1b), "{command}");
    }
    let shown = text(&piped(&["info"], &data).stdout);
    assert!(shown.contains("\\u{1b}used.neff") && shown.contains("(\\u{1b}g00)"), "{shown}");
}

#[test]
fn a_finding_has_a_rule_and_a_cut_section_its_size() {
    let data = std::fs::read(fixture("moe-dge.ntff")).unwrap();
    let output = piped(&["verify", "-o", "json"], &data[..700_000]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = value["findings"]["list"].as_array().unwrap();
    let cut: Vec<&Value> = list.iter().filter(|f| f["rule"] == "section-cut").collect();
    assert!(cut.len() > 1);
    for finding in cut {
        let message = finding["message"].as_str().unwrap();
        assert!(message.ends_with("the file ends at byte 700000"), "{message}");
    }
    let value = json(&["info"], &fixture("moe-dge.ntff"));
    assert_eq!((&value["generation"], &value["chip"]), (&3.into(), &"trn2".into()));
}

#[test]
fn a_closed_pipe_is_quiet_success() {
    let mut child = tool(&["dump"])
        .arg(fixture("moe-dge.ntff"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

/// A stream larger than the memory that reading it may take.
#[test]
fn memory_does_not_grow_with_the_file() {
    let run = stream::run(Path::new(env!("CARGO_BIN_EXE_neuron-profile")), "verify", 96 << 20);
    assert_eq!(run.status, Some(0), "{}", run.output);
    assert!(run.peak_bytes < 64 << 20, "peak {} bytes", run.peak_bytes);
}
