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

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use neuron_core::ntff::messages::{BlockTimestampInfo, NtffInfo, neff_node_info::Node};
use neuron_core::ntff::{Options, Reader, Writer};
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

#[test]
fn a_cut_file_is_a_partial_result() {
    let data = std::fs::read(fixture("moe-dge.ntff")).unwrap();
    for command in ["info", "dump", "verify"] {
        let output = piped(&[command], &data[..700_000]);
        assert_eq!(output.status.code(), Some(3), "{command}");
        let (shown, told) = (text(&output.stdout), text(&output.stderr));
        if command == "verify" {
            // Its result is the findings.
            assert!(shown.contains("damage: byte 700000: ") && told.is_empty(), "{told}");
        } else {
            assert!(told.contains("stdin: damage: byte 700000: "), "{command}: {told}");
            assert!(told.contains("stdin: note: byte "), "{command}: {told}");
            assert!(!shown.contains("damage") && !shown.contains("rule "), "{command}");
        }
        // A document has all findings, and damage is told beside it.
        let output = piped(&[command, "-o", "json"], &data[..700_000]);
        assert_eq!(output.status.code(), Some(3), "{command}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let list = value["findings"]["list"].as_array().unwrap();
        let damage: Vec<&Value> =
            list.iter().filter(|finding| finding["severity"] == "damage").collect();
        assert!(damage.len() > 1 && damage.len() < list.len(), "{command}");
        let told = text(&output.stderr);
        assert_eq!(told.lines().count(), if command == "verify" { 0 } else { damage.len() });
        assert!(told.lines().all(|line| line.starts_with("stdin: damage: ")), "{told}");
        assert_eq!(value["bytes"], 700_000, "{command}");
        // Notes are told of a sound file too, and change no exit.
        let output = piped(&[command], &data);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let told = text(&output.stderr);
        assert!(told.lines().all(|line| line.starts_with("stdin: note: ")), "{told}");
        assert_eq!(told.is_empty(), command == "verify", "{told}");
    }
    // The records before the cut are shown: PE's come first.
    let shown = text(&piped(&["info"], &data[..700_000]).stdout);
    assert!(shown.contains("     1514     1513"), "{shown}");
    let events = std::fs::read(fixture("inspect/ntrace.pb")).unwrap();
    for command in ["info", "dump"] {
        let output = piped(&[command], &events[..1000]);
        assert_eq!(output.status.code(), Some(3));
        assert!(!text(&output.stdout).contains("damage"));
        let told = text(&output.stderr);
        assert!(told.starts_with("stdin: damage: byte ") && told.lines().count() == 1, "{told}");
        let output = piped(&[command, "-o", "json"], &events[..1000]);
        assert_eq!(text(&output.stderr), told);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["kind"], "system trace events");
        // Bytes read, as of a trace; and how far the frames are whole.
        assert_eq!(value["bytes"], 1000);
        assert_eq!(value["whole_frame_bytes"], value["findings"]["list"][0]["offset"]);
        assert_ne!(value["whole_frame_bytes"], 1000);
    }
    let value: Value =
        serde_json::from_slice(&piped(&["verify", "-o", "json"], &events[..1000]).stdout).unwrap();
    assert_eq!(value["bytes"], 1000);
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

/// What is no file of these says what it is not, and what to give.
#[test]
fn other_files_are_refused() {
    let users = b"root:x:0:0:root:/root:/bin/bash\n".repeat(40);
    let document = br#"{"events": [], "data_version": 2}"#.repeat(20);
    let hlo = [b"\x0a\x13SyncTensorsGraph.23\x12\x13SyncTensors".as_slice(), &users].concat();
    let events = std::fs::read(fixture("inspect/ntrace.pb")).unwrap();
    let samples = std::fs::read(fixture("inspect/cpu_util.pb")).unwrap();
    for data in [
        &users[..],
        &users[..40],
        &document,
        &hlo,
        &events[1..5000],
        &events[..50],
        &samples[7..5000],
    ] {
        for command in ["info", "dump", "verify"] {
            let output = piped(&[command], data);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert!(output.stdout.is_empty() && told.lines().count() == 1, "{told}");
            assert!(told.contains("stdin: byte 0: neither an NTFF"), "{told}");
            assert!(told.contains("give one of these (rule not-ntff)"), "{told}");
        }
    }
}

/// Of a cut run description every whole field is shown.
#[test]
fn a_cut_run_description_keeps_its_whole_fields() {
    let data = std::fs::read(fixture("inspect/trace_info.pb")).unwrap();
    let whole = json(&["info"], &fixture("inspect/trace_info.pb"));
    for (cut, last) in [(1000, "host_stats"), (1500, "host_stats"), (1890, "instance_type")] {
        for command in ["info", "dump", "verify"] {
            let output = piped(&[command, "-o", "json"], &data[..cut]);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{command} {cut}: {told}");
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(value["kind"], "description of an inspect run");
            assert_eq!(
                (&value["bytes"], &value["findings"]["damaged"]),
                (&cut.into(), &true.into())
            );
            if command == "verify" {
                continue;
            }
            assert!(told.starts_with("stdin: damage: "), "{told}");
            let message = value["message"].as_object().unwrap();
            assert!(message.contains_key(last), "{cut}: {message:?}");
            for (name, field) in message {
                match field {
                    Value::Array(list) => {
                        let all = whole["message"][name].as_array().unwrap();
                        assert_eq!(list[..], all[..list.len()]);
                    }
                    _ => assert_eq!(*field, whole["message"][name], "{name}"),
                }
            }
        }
    }
}

/// Times and devices that cannot be are found by each command.
#[test]
fn nonsense_of_clocks_windows_and_devices_is_found() {
    let data = std::fs::read(fixture("attn-fused-fp32-512.ntff")).unwrap();
    let changed = |change: &dyn Fn(&mut NtffInfo)| {
        let mut reader = Reader::new(data.as_slice(), Options::default()).unwrap();
        let mut info = reader.info().clone();
        change(&mut info);
        let mut blobs = vec![Vec::new(); reader.sections().len()];
        while let Some(chunk) = reader.next_chunk().unwrap() {
            blobs[chunk.index].extend_from_slice(chunk.bytes);
        }
        let mut writer = Writer::new(Vec::new(), 6, info).unwrap();
        blobs.iter().for_each(|blob| writer.bytes(blob).unwrap());
        writer.finish().unwrap()
    };
    let clock = |init_timestamp, expected_timestamp_inc| {
        changed(&move |info| {
            let Some(Node::NdNode(node)) = &mut info.neff_nodes[0].node else { panic!() };
            let clock = BlockTimestampInfo {
                init_timestamp,
                actual_timestamp_inc: 1,
                expected_timestamp_inc,
            };
            node.graphs[0].timestamp_info.as_mut().unwrap().pe = Some(clock);
        })
    };
    let window = changed(&|info| {
        let window = &mut info.execution_timeline[0];
        std::mem::swap(&mut window.start, &mut window.end);
    });
    let check = |data: &[u8], exit: i32, rules: &[(&str, &str)]| {
        for command in ["info", "verify"] {
            let output = piped(&[command, "-o", "json"], data);
            assert_eq!(output.status.code(), Some(exit), "{rules:?}");
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            let list = value["findings"]["list"].as_array().unwrap();
            let found: Vec<(&str, &str)> = list
                .iter()
                .map(|f| (f["rule"].as_str().unwrap(), f["severity"].as_str().unwrap()))
                .filter(|(rule, _)| *rule != "hardware-loss")
                .collect();
            assert_eq!(found, rules);
        }
    };
    check(&changed(&|_| ()), 0, &[]);
    check(&clock(u64::MAX, 1), 3, &[("clock-range", "damage")]);
    check(&clock(0, u64::MAX), 3, &[("clock-range", "damage")]);
    check(&window, 3, &[("window", "damage")]);
    for arch in [0, 1 << 63] {
        check(&changed(&move |info| info.arch = arch), 0, &[("arch", "note")]);
    }
}

/// Errors of the system are told in one style, without their number.
#[test]
fn errors_of_the_system() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().display().to_string();
    let told = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        text(&output.stderr)
    };
    for command in ["info", "dump", "verify"] {
        assert_eq!(
            told(&["ntff", command, &folder]),
            format!("neuron-profile: cannot read {folder}: is a directory\n")
        );
    }
    let missing = format!("{folder}/no/such");
    let reason = "no such file or directory\n";
    assert_eq!(
        told(&["ntff", "info", &missing]),
        format!("neuron-profile: cannot open {missing}: {reason}")
    );
    let neff = fixture("matmul-small.neff").display().to_string();
    let made = told(&["neff", "unpack", &neff, &format!("{missing}/out")]);
    assert_eq!(made, format!("neuron-profile: cannot make a folder in {missing}: {reason}"));
    let packed = told(&["neff", "pack", &missing, &format!("{folder}/x.neff")]);
    assert!(packed.ends_with(&format!(": {reason}")) && packed.contains(&missing), "{packed}");
}

#[test]
fn errors_are_one_line_with_exit_1() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty.ntff");
    std::fs::write(&empty, b"").unwrap();
    let short = home.path().join("short.ntff");
    std::fs::write(&short, [[6].as_slice(), &[0; 99]].concat()).unwrap();
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
            let both = [output.stdout, output.stderr].map(|bytes| text(&bytes));
            let told = both.each_ref().map(|text| text.matches("(rule gzip-cut)").count());
            assert_eq!(told, if command == "verify" { [1, 0] } else { [0, 1] });
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
        assert!(error.contains("neither an NTFF, which begins"), "{error}");
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
