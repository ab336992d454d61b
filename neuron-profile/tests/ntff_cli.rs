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
#[path = "support/ntff.rs"]
mod support;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::{fixture, json, packed, piped, run, text, tool};

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
    assert_eq!(core["first_ps"], 341_377_197_818_428_300_u64);
    assert_eq!(core["last_ps"], 341_377_198_111_972_155_u64);
    assert!(core.get("first").is_none() && core.get("last").is_none());
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
    assert_eq!(events["event_names"]["30"], "dmem_buf_copyin");
    assert_eq!(events["event_names"].as_object().unwrap().len(), 20);
    assert_eq!(
        (&events["bytes"], &events["whole_frame_bytes"]),
        (&230_793.into(), &230_793.into())
    );
    let shown = text(&run(&["info"], &fixture("inspect/ntrace.pb")).stdout);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = "event type 30 dmem_buf_copyin 796";
    assert!(shown.lines().any(|line| words(line) == wanted), "{shown}");
    let shown = text(&run(&["dump"], &fixture("inspect/ntrace.pb")).stdout);
    assert_eq!(shown.matches("  event_type: 30 dmem_buf_copyin\n").count(), 796);
    let dumped = json(&["dump"], &fixture("inspect/ntrace.pb"));
    assert_eq!(
        (&dumped["kind"], &dumped["bytes"]),
        (&"system trace events".into(), &230_793.into())
    );
    let frames = dumped["frames"].as_array().unwrap();
    let copies = frames.iter().filter(|frame| frame["event_name"] == "dmem_buf_copyin");
    assert_eq!(copies.filter(|frame| frame["event_type"] == 30).count(), 796);
    let run_info = json(&["info"], &fixture("inspect/trace_info.pb"));
    assert_eq!(run_info["message"]["pid"], 713_479);
    let memory = json(&["dump"], &fixture("inspect/host_mem.pb"));
    assert_eq!(memory["frames"][599]["bytes_used"], 15_042_867_200_u64);
    assert_eq!(json(&["verify"], &fixture("inspect/cpu_util.pb"))["frames"], 7200);
}

/// The exit status is in the help and in the man page of each command.
#[test]
fn exit_status_is_in_the_help() {
    for command in ["info", "dump", "verify"] {
        let help = text(&tool(&[command, "--help"]).output().unwrap().stdout);
        let page = format!("assets/neuron-profile-ntff-{command}.1");
        let page =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        for shown in [help, page] {
            assert!(shown.contains("Exit status:") && shown.contains("  3  a part"), "{shown}");
        }
    }
}

/// DMA engines have one number everywhere: that of the device, which is also
/// the one in the vendor's export.
#[test]
fn dma_engines_of_the_device() {
    let export: Value =
        serde_json::from_slice(&std::fs::read(fixture("attn-fused-fp32-512.json")).unwrap())
            .unwrap();
    let exported: BTreeSet<u64> = export["dma"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["dma_engine"].as_str().unwrap().parse().unwrap())
        .collect();
    let value = json(&["dump"], &fixture("attn-fused-fp32-512.ntff"));
    let sections = value["sections"].as_array().unwrap();
    let records = |core: u64| {
        let name = format!("core {core} DMA DMA trace");
        let section = sections.iter().find(|section| section["section"] == name.as_str());
        section.unwrap()["entries"].as_array().unwrap()
    };
    let number = |record: &Value, key: &str| record[key].as_u64().unwrap();
    let mut engines = BTreeSet::new();
    for record in records(4).iter().chain(records(5)) {
        engines.insert(number(record, "engine"));
        assert_eq!(number(record, "engine") % 32, number(record, "engine_mod_32"), "{record}");
    }
    assert!(exported.is_subset(&engines) && exported.len() > 16, "{exported:?} {engines:?}");
    assert!(engines.iter().all(|engine| (64..96).contains(engine)), "{engines:?}");
    // The text has the same ones in the same order.
    let shown = text(&run(&["dump"], &fixture("attn-fused-fp32-512.ntff")).stdout);
    let lines: Vec<u64> = shown
        .lines()
        .filter_map(|line| line.split_once(" dma engine ")?.1.split(' ').next()?.parse().ok())
        .collect();
    let ours: Vec<u64> =
        records(4).iter().chain(records(5)).map(|record| number(record, "engine")).collect();
    assert_eq!(lines, ours);
}

#[test]
fn gzip_is_unwrapped() {
    let data = std::fs::read(fixture("attn-fused-fp32-512.ntff")).unwrap();
    let output = piped(&["verify"], &packed(&data));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("ok: 110488 bytes"));
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
