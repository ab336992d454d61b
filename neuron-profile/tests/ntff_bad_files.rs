//! `neuron-profile ntff` on what is cut, damaged, nonsense or no trace at all.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "support/ntff.rs"]
mod support;

use std::process::{Command, Stdio};

use neuron_core::ntff::messages::{BlockTimestampInfo, NtffInfo, neff_node_info::Node};
use neuron_core::ntff::{Options, Reader, Writer};
use serde_json::Value;
use support::{fixture, json, packed, piped, run, text};

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
    // One byte behind the header is too short for a letter, however it is packed.
    let output = piped(&["info"], &whole[..11]);
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
