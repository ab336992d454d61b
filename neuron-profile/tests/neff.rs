//! The built binary: `neuron-profile neff`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use neuron_core::neff::{Builder, Neff, Options, Packing, digest};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn tool(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("neff").args(args).current_dir(folder).output().unwrap()
}

/// Runs in a folder that does not matter; exit code, stdout, stderr.
fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let output = tool(Path::new("/"), args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn path(name: &str) -> String {
    fixture(name).canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A header block with a right checksum.
fn block(name: &str, size: u64, kind: u8, link: &str) -> [u8; 512] {
    let mut out = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000644\x000000000\x000000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = out.iter().map(|b| u32::from(*b)).sum();
    out[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out
}

/// A NEFF with any payload.
fn wrap(payload: &[u8]) -> Vec<u8> {
    let mut header = Builder::new(1).header;
    header.data_size = payload.len() as u64;
    let mut hasher = digest::Hasher::for_packager(2);
    hasher.update(payload);
    header.hash = digest::field(&hasher.finish(), digest::WRITTEN_FORM);
    [&header.to_bytes()[..], payload].concat()
}

/// A NEFF with one entry of a kind and name, and a body of one byte for files.
fn one(name: &str, kind: u8, link: &str) -> Vec<u8> {
    let body = u64::from(kind == b'0');
    let mut payload = block(name, body, kind, link).to_vec();
    if body > 0 {
        payload.push(b'x');
    }
    payload.resize(payload.len().next_multiple_of(512) + 1024, 0);
    wrap(&payload)
}

#[test]
fn info_has_the_lines_of_the_packager_tool() {
    // The header of the packager guide's example; the payload is any of its size.
    let mut file = wrap(&{
        let mut payload = block("info.json", 2, b'0', "").to_vec();
        payload.extend_from_slice(b"{}");
        payload.resize(48_924, 0);
        payload
    });
    file[0xcc..0xdc].copy_from_slice(&0xc327_5f90_b87d_11ed_80b6_0e6b_4183_ae7f_u128.to_be_bytes());
    file[0xac..0xbc].copy_from_slice(&0xec4b_1b1f_a891_9a9b_e2c1_76fd_6326_9511_u128.to_be_bytes());
    file[0xdc..0xe5].copy_from_slice(b"cache/net");
    let folder = tempfile::tempdir().unwrap();
    let neff = folder.path().join("a.neff");
    fs::write(&neff, file).unwrap();
    let (code, out, err) = run(&["info", neff.to_str().unwrap()]);
    // The digest is of another payload, and there is no graph: a partial result.
    assert_eq!(code, Some(3));
    assert!(err.contains("(rule digest:") && err.contains("(rule graph-absent:"), "{err}");
    let words: Vec<String> = out
        .lines()
        .take(12)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        words,
        [
            "NEFF Header:",
            "Package Version: 2",
            "Header Size: 1024 (bytes)",
            "Data Size: 48924 (bytes)",
            "Major Version: 1",
            "Minor Version: 0",
            "Build Version:",
            "Number of Neuron cores: 1",
            "Hash: ec4b1b1fa8919a9be2c176fd63269511",
            "UUID: c3275f90b87d11ed80b60e6b4183ae7f",
            "Network Name: cache/net",
            "Enabled Features: N/A",
        ]
    );
}

#[test]
fn info_of_a_real_file() {
    let (code, out, err) = run(&["info", "-w", "-s", &path("attn-base-bf16-512.neff")]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let row = |start: &str| {
        let line = out.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row("Enabled Features"),
        "Enabled Features: virtual-core, v3-2x-4x-dve-perf-mode (0xc00)"
    );
    assert_eq!(row("NODE"), "NODE Executor Name Variable Size Type Format Shape DataType");
    assert_eq!(row("3  NeuronCore"), "3 NeuronCore sg00");
    assert_eq!(row("k_ref"), "k_ref 131072 IN NC [128,512] bfloat16");
    assert_eq!(row("kernel_out"), "kernel_out 131072 OUT NC [512,128] bfloat16");
    assert_eq!(row("identity_65"), "identity_65_sg0000 65536 WEIGHT CRSM [128,128,1,1] float32");
    assert_eq!(row("score_hbm_SsaClone0"), "score_hbm_SsaClone0_sg0000 1048576 SPILL");
    assert_eq!(row("Digest"), "Digest: MD5 matches, swapped form");
    assert_eq!(row("sg00 "), "sg00 117 23 8 20 8 0 0 3 10");
    let (_, short, _) = run(&["info", &path("attn-base-bf16-512.neff")]);
    assert!(!short.contains("WEIGHT") && !short.contains("SPILL"));
}

#[test]
fn every_command_speaks_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = path("matmul-small.neff");
    let json = |args: &[&str]| -> Value {
        let output = tool(folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(output.stderr, b"", "{args:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let info = json(&["info", "-o", "json", &file]);
    assert_eq!(info["header"]["uuid"], "00a04c535fd94f07bffdd5eacdefc852");
    assert_eq!(info["subgraphs"][1]["programs"][0]["slots"], 12);
    assert_eq!(info["warnings"], Value::Array(Vec::new()));
    let list = json(&["ls", "-o", "json", &file]);
    assert_eq!(list["members"].as_array().unwrap().len(), 72);
    assert!(list["members"].as_array().unwrap().iter().all(|member| member["role"] != "unknown"));
    let cat = json(&["cat", "-o", "json", &file, "kelf-0.json", "sg00/PE.bin"]);
    assert!(cat["members"][0]["text"].as_str().unwrap().contains("\"cayman\""));
    assert_eq!(cat["members"][1]["hex"].as_str().unwrap().len(), 2 * 768);
    let verify = json(&["verify", "-o", "json", &file]);
    assert_eq!((&verify["sound"], &verify["digest_form"]), (&Value::Bool(true), &"swapped".into()));
    let unpack = json(&["unpack", "-o", "json", &file]);
    assert_eq!((&unpack["folder"], &unpack["members"]), (&"matmul-small".into(), &72.into()));
    let pack = json(&["pack", "-o", "json", "matmul-small", "again.neff"]);
    assert_eq!(pack["members"], 72);
}

#[test]
fn cat_gives_the_bytes() {
    let output =
        tool(Path::new("/"), &["cat", &path("moe-dge.neff"), "sg00/SP.bin", "kelf-0.json"]);
    let bytes = fs::read(fixture("moe-dge.neff")).unwrap();
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let mut expected = neff.body("sg00/SP.bin").unwrap().unwrap().into_owned();
    expected.extend_from_slice(&neff.body("kelf-0.json").unwrap().unwrap());
    assert_eq!(output.stdout, expected);
    let (code, out, err) = run(&["cat", &path("moe-dge.neff"), "no/such"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.ends_with("there is no member no/such, 'neff ls' lists them\n"), "{err}");
}

#[test]
fn unpacked_and_packed_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = path("moe-dge.neff");
    let ok = |args: &[&str]| {
        let output = tool(folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    ok(&["unpack", &file, "members"]);
    let bytes = fs::read(&file).unwrap();
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    for member in neff.members() {
        let written = fs::read(folder.path().join("members").join(member.name())).unwrap();
        assert_eq!(written, *neff.archive.body(member).unwrap(), "{}", member.name());
    }
    ok(&["pack", "members", "one.neff", "--like", &file]);
    ok(&["pack", "members", "two.neff", "--like", &file]);
    ok(&["pack", "members", "bare.neff", "--like", &file, "--bare", "--digest", "plain"]);
    ok(&["verify", "--strict", "one.neff"]);
    ok(&["verify", "--strict", "bare.neff"]);
    let one = fs::read(folder.path().join("one.neff")).unwrap();
    assert_eq!(one, fs::read(folder.path().join("two.neff")).unwrap());
    let again = Neff::open(&one, &Options::strict()).unwrap();
    assert_eq!(again.header.uuid_hex(), "a8a790d126d347ad866ec1a3ef8e866e");
    assert_eq!(again.members().len(), 71);

    // What is there is not overwritten, and a failure leaves nothing behind.
    let output = tool(folder.path(), &["pack", "members", "one.neff"]);
    assert_eq!(output.status.code(), Some(1));
    let output = tool(folder.path(), &["unpack", &file, "members"]);
    assert_eq!(output.status.code(), Some(1));
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");

    // Header flags.
    #[rustfmt::skip]
    ok(&["pack", "members", "flags.neff", "-n", "net", "--label", "we 1.0", "-k", "2.7", "-r", "1",
        "-t", "3", "--uuid", "c3275f90-b87d-11ed-80b6-0e6b4183ae7f", "-e", "custom-ops", "-e", "virtual-core"]);
    let bytes = fs::read(folder.path().join("flags.neff")).unwrap();
    let header = Neff::open(&bytes, &Options::strict()).unwrap().header;
    assert_eq!(
        (header.name_text().as_str(), header.build_version_text().as_str()),
        ("net", "we 1.0")
    );
    assert_eq!((header.major, header.minor, header.packager, header.num_tpb), (2, 7, 1, 3));
    assert_eq!((header.feature_bits, header.lnc_size), (0x404, 2));
    assert_eq!(header.uuid_hex(), "c3275f90b87d11ed80b60e6b4183ae7f");
}

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

#[test]
fn usage_errors_and_closed_pipes() {
    for args in
        [&[][..], &["nope"], &["info"], &["info", "--nope", "f"], &["pack", "a", "b", "-k", "9.0"]]
    {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{args:?}");
        assert!(!err.is_empty(), "{args:?}");
    }
    let (code, out, err) = run(&["--help"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("unpack"));

    // The reader goes away before the tool writes.
    let large = "nki_moe_v6bkakepajm.klir.debuginfo.json";
    for args in
        [vec!["cat", large], vec!["ls"], vec!["info"], vec!["info", "-o", "json"], vec!["verify"]]
    {
        let file = path("moe-dge.neff");
        let mut all = vec!["neff", args[0], &file];
        all.extend(&args[1..]);
        let mut child = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
            .args(all)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// What the tool packs is what the library packs.
#[test]
fn packing_is_the_library_s() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in/sg00")).unwrap();
    fs::write(folder.path().join("in/neff.json"), "{}").unwrap();
    fs::write(folder.path().join("in/sg00/pe.bin"), [0; 64]).unwrap();
    let output = tool(folder.path(), &["pack", "in", "a.neff"]);
    assert_eq!(output.status.code(), Some(0));
    let mut builder = Builder::new(1);
    builder.header.set_name("a.neff");
    builder.packing = Packing::default();
    builder.add("sg00/pe.bin", vec![0; 64]).unwrap();
    builder.add("neff.json", b"{}".as_slice()).unwrap();
    let mut expected = Vec::new();
    builder.write(&mut expected).unwrap();
    assert_eq!(fs::read(folder.path().join("a.neff")).unwrap(), expected);
}

/// Runs the tool with an address space of so many KiB.
fn bounded(kib: u32, folder: &Path, args: &str) -> Output {
    let tool = env!("CARGO_BIN_EXE_neuron-profile");
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
    let warnings = all["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["rule"].is_string()), "{warnings:?}");
    assert!(warnings.iter().any(|w| w["text"].as_str().unwrap().contains("no whole record")));
    assert_eq!(all["streams"].as_array().unwrap().len(), 5);
}

#[test]
fn targets_that_are_no_files_stay() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/neff.json"), "{}").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("fifo")).status().unwrap().success());
    std::os::unix::fs::symlink("fifo", folder.path().join("link")).unwrap();
    for target in ["fifo", "link", "folder"] {
        let output = tool(folder.path(), &["pack", "in", target, "--force"]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{target}");
        assert!(err.lines().count() == 1 && err.contains("is not a plain file"), "{err}");
    }
    assert!(fs::metadata(folder.path().join("fifo")).unwrap().file_type().is_fifo());
    assert!(fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
}

#[test]
fn an_empty_folder_is_filled() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let file = path("moe-dge.neff");
    for target in ["out", "."] {
        let here = folder.path().join("out");
        let _ = fs::remove_dir_all(&here);
        fs::create_dir(&here).unwrap();
        let inode = fs::metadata(&here).unwrap().ino();
        let from = if target == "." { &here } else { folder.path() };
        let output = tool(from, &["unpack", &file, target]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::metadata(&here).unwrap().ino(), inode);
        assert!(here.join("sg00/def.json").is_file());
        let names = fs::read_dir(&here).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with('.')));
    }
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
