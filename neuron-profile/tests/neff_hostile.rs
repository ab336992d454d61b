//! Files that lie: `neuron-profile neff` writes nothing outside, takes little
//! memory and tells what it found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/neff.rs"]
mod support;

use neuron_core::neff::{Builder, Neff, Options};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use support::{block, fixture, one, path, run, tool, wrap};

/// No file outside of the folder, no link, no device; nothing half done.
#[test]
fn unsafe_archives_write_nothing() {
    for (name, kind, link) in [
        ("../outside", b'0', ""),
        ("/tmp/neff-test-outside", b'0', ""),
        ("a/../../outside", b'0', ""),
        ("..", b'0', ""),
        ("a\\..\\outside", b'0', ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("a.neff"), one(name, kind, link)).unwrap();
        let output = tool(&inner, &["unpack", "a.neff", "out"]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("rule name-unsafe"), "{name}");
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 1, "{name}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
        assert!(!Path::new("/tmp/neff-test-outside").exists());
    }
    // Links and devices are passed over with a warning, refused when strict.
    for kind in [b'1', b'2', b'3', b'4', b'6'] {
        let folder = tempfile::tempdir().unwrap();
        let mut payload = block("link", 0, kind, "/etc").to_vec();
        payload.extend_from_slice(&block("link/file", 1, b'0', ""));
        payload.push(b'x');
        payload.resize(1536 + 1024, 0);
        fs::write(folder.path().join("a.neff"), wrap(&payload)).unwrap();
        let output = tool(folder.path(), &["unpack", "a.neff", "out"]);
        assert_eq!(output.status.code(), Some(3));
        let made = fs::symlink_metadata(folder.path().join("out/link")).unwrap();
        assert!(made.is_dir());
        assert_eq!(fs::read(folder.path().join("out/link/file")).unwrap(), b"x");
        let output = tool(folder.path(), &["unpack", "--strict", "a.neff", "other"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!folder.path().join("other").exists());
    }
    // The folder itself is no link to elsewhere.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", folder.path().join("out")).unwrap();
    let output = tool(folder.path(), &["unpack", &path("moe-dge.neff"), "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path().join("elsewhere")).unwrap().count(), 0);
    // Nothing but plain files is packed.
    let output = tool(folder.path(), &["pack", ".", "a.neff"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(fixture("moe-dge.neff")).unwrap();
    let cut = folder.path().join("cut.neff");
    fs::write(&cut, &bytes[..60_000]).unwrap();
    let cut = cut.to_str().unwrap();
    let (code, out, err) = run(&["ls", cut]);
    assert_eq!(code, Some(3));
    assert!(out.lines().count() > 10 && out.lines().count() < 71);
    assert!(err.contains("file offset 0x10: data_size is 143360"), "{err}");
    let (code, out, err) = run(&["ls", "--strict", cut]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(err.lines().count(), 1, "{err}");
    let (code, out, _) = run(&["verify", cut]);
    assert_eq!(code, Some(3));
    assert!(out.contains("not sound"));
    let (code, out, err) = run(&["info", "/dev/null"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("rule file-short"), "{err}");
    let (code, _, err) = run(&["info", "/no/such.neff"]);
    assert_eq!(
        (code, err.as_str()),
        (Some(1), "neuron-profile: cannot open /no/such.neff: no such file or directory\n")
    );
}

/// Sizes that a file claims take no memory: the address space is limited to
/// far less than them.
#[test]
fn claimed_sizes_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut payload = block("huge", 1 << 31, b'0', "").to_vec();
    payload.extend_from_slice(&[7; 4096]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&payload).unwrap();
    for (name, payload) in [("bare", payload), ("gzip", gzip.finish().unwrap())] {
        let file = folder.path().join(name);
        fs::write(&file, wrap(&payload)).unwrap();
        let shell = format!(
            "ulimit -v 300000; exec {} neff ls {}",
            env!("CARGO_BIN_EXE_neuron-profile"),
            file.display()
        );
        let output = Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}");
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("rule short-body"), "{name}: {err}");
    }
}

/// KiB of address space in which the program itself has room, to 50 MB: much
/// in a build for tests.
fn room() -> u32 {
    let tool = env!("CARGO_BIN_EXE_neuron-profile");
    let starts = |kib: &u32| {
        let shell = format!("ulimit -v {kib}; exec {tool} --version >/dev/null 2>&1");
        Command::new("sh").args(["-c", &shell]).status().unwrap().success()
    };
    (1..100).map(|step| step * 50_000).find(starts).unwrap()
}

/// Runs the tool with an address space of so many KiB beside the program.
fn bounded(kib: u32, folder: &Path, args: &str) -> Output {
    let tool = env!("CARGO_BIN_EXE_neuron-profile");
    let kib = kib + room();
    let shell = format!("ulimit -v {kib}; exec {tool} neff {args}");
    Command::new("sh").args(["-c", &shell]).current_dir(folder).output().unwrap()
}

/// A `tar` in gzip as a NEFF.
fn gzip_neff(tar: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(tar).unwrap();
    wrap(&gzip.finish().unwrap())
}

/// A global owner's name of 1 MiB is not copied into each of 1000 entries.
#[test]
fn names_for_all_entries_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    for key in ["uname", "path"] {
        let length = (1 << 20) - 64;
        let text = format!(" {key}={}\n", "A".repeat(length));
        let record = format!("{}{text}", text.len() + 7);
        let mut tar = block("g", record.len() as u64, b'g', "").to_vec();
        tar.extend_from_slice(record.as_bytes());
        tar.resize(tar.len().next_multiple_of(512), 0);
        for index in 0..1000 {
            tar.extend_from_slice(&block(&format!("m{index}"), 0, b'0', ""));
        }
        tar.resize(tar.len() + 1024, 0);
        fs::write(folder.path().join("a.neff"), gzip_neff(&tar)).unwrap();
        let output = bounded(200_000, folder.path(), "verify a.neff");
        let err = String::from_utf8(output.stderr).unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        if key == "uname" {
            assert_eq!(output.status.code(), Some(3), "{err}");
            assert!(out.contains("1000 members"), "{out}");
        } else {
            assert_eq!(output.status.code(), Some(1), "{err}");
            assert!(err.contains("a name for all entries has"), "{err}");
        }
    }
}

/// `moe-dge.neff` with these members put in place or added.
fn changed(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let bytes = fs::read(fixture("moe-dge.neff")).unwrap();
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let mut builder = Builder::new(1);
    for member in neff.members() {
        let name = member.name();
        if ["neff.json", "info.json"].contains(&name) {
            builder.add(name, neff.archive.body(member).unwrap().into_owned()).unwrap();
        }
    }
    for (name, body) in members {
        builder.add(name, body.clone()).unwrap();
    }
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}

/// A file with `count` subgraphs whose engines all name `big.json` and `big.bin`.
fn sharing(count: usize, json: Vec<u8>, stream: Vec<u8>, name: &str) -> Vec<u8> {
    let bytes = fs::read(fixture("moe-dge.neff")).unwrap();
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let value = |name: &str| -> Value {
        serde_json::from_slice(&neff.body(name).unwrap().unwrap()).unwrap()
    };
    let mut definition = value("sg00/def.json");
    for engine in ["pe", "act", "pool", "dve", "sp"] {
        definition[engine] = "big.json".into();
        definition[format!("{engine}_instr")] = "big.bin".into();
    }
    let mut kelf = value("kelf-0.json");
    let graph =
        |i| serde_json::json!({"name": format!("{name}{i}"), "definition": format!("d{i}.json")});
    kelf["graphs"] = (0..count).map(graph).collect();
    let mut members = vec![
        (String::from("kelf-0.json"), kelf.to_string().into_bytes()),
        (String::from("big.json"), json),
        (String::from("big.bin"), stream),
    ];
    let definition = definition.to_string().into_bytes();
    members.extend((0..count).map(|i| (format!("d{i}.json"), definition.clone())));
    changed(&members)
}

/// Members that many subgraphs name are parsed and unpacked once.
#[test]
fn shared_members_take_memory_once() {
    let folder = tempfile::tempdir().unwrap();
    let blocks: Vec<String> =
        (0..20_000).map(|id| format!(r#"{{"id":{id},"queue":"q","desc":[]}}"#)).collect();
    let json = format!(r#"{{"name":"x","instr":"big.bin","dma":[{}]}}"#, blocks.join(","));
    let file = sharing(20, json.into_bytes(), vec![0; 64], "sg");
    fs::write(folder.path().join("a.neff"), file).unwrap();
    // One parsed copy is some megabytes, a hundred would be a gigabyte.
    let output = bounded(150_000, folder.path(), "ls a.neff");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?} {err}", output.status);
    assert!(String::from_utf8_lossy(&output.stdout).contains("big.json"));

    // 17 MiB are not held by the archive; 40 copies would not fit.
    let json = br#"{"name":"x","instr":"big.bin"}"#.to_vec();
    let file = sharing(8, json, vec![0; 17 << 20], "sg");
    fs::write(folder.path().join("b.neff"), file).unwrap();
    let output = bounded(250_000, folder.path(), "disasm b.neff | head -n 1");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with("# sg0 "), "{out} {}", String::from_utf8_lossy(&output.stderr));
    let output = bounded(250_000, folder.path(), "disasm -o json b.neff | head -c 1000000");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains(r#""streams":[{"subgraph":"sg0""#), "{}", &out[..1000]);
    // Each engine of each subgraph names the 17 MiB: the listing has an end.
    let again = "sg3 ACT: streams named before it would have 285212672 bytes again";
    assert!(out.contains(again), "{}", &out[..1000]);
}

#[test]
fn names_are_shown_on_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let json = br#"{"name":"x","instr":"big.bin"}"#.to_vec();
    let file = sharing(1, json, vec![0; 65], "sg\u{1b}[31m\nEVIL: NOP;");
    fs::write(folder.path().join("a\u{1b}\n.neff"), file).unwrap();
    let output = tool(folder.path(), &["disasm", "a\u{1b}\n.neff"]);
    assert_eq!(output.status.code(), Some(3));
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("EVIL")), "{text}");
        assert!(text.contains("\\u{1b}[31m\\nEVIL"), "{text}");
    }
    let output = tool(folder.path(), &["info", "no\u{1b}\nsuch"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.lines().count() == 1 && !err.contains('\u{1b}'), "{err}");

    // The warnings of the file stand in the JSON too.
    let output = tool(folder.path(), &["disasm", "-o", "json", "a\u{1b}\n.neff"]);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = all["findings"]["list"].as_array().unwrap();
    assert!(list.iter().any(|finding| finding["place"].is_string()), "{list:?}");
    assert!(list.iter().any(|f| f["message"].as_str().unwrap().contains("no whole record")));
    assert_eq!(all["findings"]["damaged"], true);
    assert_eq!(all["streams"].as_array().unwrap().len(), 5);
}

#[test]
fn zeros_are_no_neff() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zeros");
    fs::write(&file, [0; 2048]).unwrap();
    for command in ["info", "ls", "verify"] {
        let (code, out, err) = run(&[command, file.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{command}");
        assert!(err.contains("it is no NEFF"), "{err}");
    }
}

/// A document is refused by its size before it is unpacked, and all of them
/// together by theirs before they are parsed.
#[test]
fn long_texts_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |name: &str, body: &[u8]| {
        let mut entry = block(name, body.len() as u64, b'0', "").to_vec();
        entry.extend_from_slice(body);
        entry.resize(entry.len().next_multiple_of(512), 0);
        entry
    };
    let end = [0; 1024];
    let spaces = [entry("neff.json", &vec![b' '; 300 << 20]), end.to_vec()].concat();
    // fast, so that it stays below the largest ratio
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&spaces).unwrap();
    drop(spaces);
    fs::write(folder.path().join("a.neff"), wrap(&gzip.finish().unwrap())).unwrap();
    for command in ["ls", "info", "verify"] {
        let output = bounded(200_000, folder.path(), &format!("{command} a.neff"));
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {err}");
        assert!(err.contains("neff.json has 314572800 bytes, the limit is 268435456"), "{err}");
    }
    let output = bounded(200_000, folder.path(), "cat -o json a.neff neff.json");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("leave -o json out"), "{err}");
}

/// What a loader would trip over is told by `verify`.
#[test]
fn broken_content_is_not_sound() {
    let folder = tempfile::tempdir().unwrap();
    let real = fs::read(fixture("moe-dge.neff")).unwrap();
    let neff = Neff::open(&real, &Options::strict()).unwrap();
    let body = |name: &str| neff.body(name).unwrap().unwrap().into_owned();
    let json = |name: &str| -> Value { serde_json::from_slice(&body(name)).unwrap() };
    let verify = |name: &str, changed: Vec<u8>| {
        // all members but the one that is changed
        let mut builder = Builder::with_header(neff.header.clone());
        for member in neff.members() {
            let changed = (member.name() == name).then(|| changed.clone());
            builder.add(member.name(), changed.unwrap_or_else(|| body(member.name()))).unwrap();
        }
        let mut out = Vec::new();
        builder.write(&mut out).unwrap();
        fs::write(folder.path().join("a.neff"), out).unwrap();
        let output = tool(folder.path(), &["verify", "a.neff"]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let mut stream = body("sg00/PE.bin");
    stream[64 + 1] = 7;
    stream[128] = 0xfe;
    let (code, out) = verify("sg00/PE.bin", stream);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("sg00/PE.bin offset 0x41: 1 records, the first in slot 1 with 7 words"));
    assert!(out.contains("sg00/PE.bin offset 0x80: 1 records, the first in slot 2 with 0xfe"));

    let mut definition = json("sg00/def.json");
    let variables = definition["var"].as_object_mut().unwrap();
    for variable in variables.values_mut().take(2) {
        variable["var_id"] = 0.into();
    }
    let (code, out) = verify("sg00/def.json", definition.to_string().into_bytes());
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("two variables have id 0 (rule var-id"), "{out}");

    let mut kelf = json("kelf-0.json");
    kelf["target"] = "tonga".into();
    let (_, out) = verify("kelf-0.json", kelf.to_string().into_bytes());
    assert!(out.contains("note: kelf-0.json at /target: the target is \"tonga\" (rule target-old"));
    kelf["target"] = "v3".into();
    kelf["graphs"] = Value::Array(Vec::new());
    let (code, out) = verify("kelf-0.json", kelf.to_string().into_bytes());
    assert_eq!(code, Some(3));
    assert!(out.contains("0 subgraphs, logical core size 2 (rule subgraph-count"), "{out}");

    for (shape, said) in [
        (serde_json::json!([-1, 5]), "shape [-1, 5], of no known size (rule tensor-shape"),
        (serde_json::json!([1_u64 << 40, 1_u64 << 40]), "of no known size (rule tensor-size"),
    ] {
        let mut graph = json("neff.json");
        graph["attrs"]["shape"][1][0] = shape;
        let (_, out) = verify("neff.json", graph.to_string().into_bytes());
        assert!(out.contains(said), "{out}");
    }
    let mut info = body("info.json");
    let at = info.iter().position(|byte| *byte == b'{').unwrap() + 1;
    info.splice(at..at, b"\"odd\": \"\xff\", ".iter().copied());
    let (code, out) = verify("info.json", info);
    assert_eq!(code, Some(3));
    assert!(out.contains("info.json offset 0x9: it is not UTF-8"), "{out}");
}
