//! The built binary: `neuron-profile neff`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/neff.rs"]
mod support;

use neuron_core::neff::{Builder, Neff, Options, Packing};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use support::{block, fixture, path, run, tool, wrap};

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
    assert_eq!(info["findings"]["list"], Value::Array(Vec::new()));
    assert_eq!(info["findings"]["damaged"], false);
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
    // written, and told that no loader takes it
    assert_eq!(output.status.code(), Some(3));
    let mut builder = Builder::new(1);
    builder.header.set_name("a.neff");
    builder.packing = Packing::default();
    builder.add("sg00/pe.bin", vec![0; 64]).unwrap();
    builder.add("neff.json", b"{}".as_slice()).unwrap();
    let mut expected = Vec::new();
    builder.write(&mut expected).unwrap();
    assert_eq!(fs::read(folder.path().join("a.neff")).unwrap(), expected);
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

/// A full disk is not the fault of the file that was read.
#[test]
fn a_failed_write_is_told_as_such() {
    let file = path("moe-dge.neff");
    for args in [&["cat", &file, "neff.json"][..], &["ls", &file], &["info", "-o", "json", &file]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
            .arg("neff")
            .args(args)
            .stdout(full)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = "neuron-profile: cannot write to stdout: no space left on device\n";
        assert_eq!(err, said, "{args:?}");
    }
}

#[test]
fn a_file_comes_by_stdin_too() {
    let large = fs::read(fixture("moe-dge.neff")).unwrap();
    let named = run(&["ls", &path("moe-dge.neff")]).1;
    let mut child = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
        .args(["neff", "ls", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || stdin.write_all(&large));
    let piped = child.wait_with_output().unwrap();
    assert_eq!(piped.status.code(), Some(0));
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), named);
    let redirected = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
        .args(["neff", "ls", "-"])
        .stdin(fs::File::open(fixture("moe-dge.neff")).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(redirected.stdout).unwrap(), named);
}

#[test]
fn a_trace_is_sent_to_its_own_command() {
    let (code, out, err) = run(&["info", &path("moe-dge.ntff")]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("no NEFF but an NTFF, 'neuron-profile ntff' reads it"), "{err}");
    let output = Command::new(env!("CARGO_BIN_EXE_neuron-profile"))
        .args(["ntff", "info", &path("moe-dge.neff")])
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(err.contains("no NTFF but a NEFF, 'neuron-profile neff' reads it"), "{err}");
}

#[test]
fn values_that_no_header_holds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/a"), "a").unwrap();
    let name = "n".repeat(256);
    let label = "l".repeat(128);
    let signed = format!("+{}", "0".repeat(31));
    for (flag, value, said) in [
        ("--name", name.as_str(), "give at most 255 bytes"),
        ("--label", &label, "give at most 127 bytes"),
        ("--uuid", &signed, "give 32 hex digits"),
    ] {
        let output = tool(folder.path(), &["pack", "in", "out", flag, value]);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{flag}");
        assert!(err.contains(said), "{err}");
    }
    // Without neff.json it is an archive that no loader takes, and that is said.
    let output = tool(folder.path(), &["pack", "in", "out", "--name", &name[1..]]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("damage: ") && err.contains("neff.json"), "{err}");
    assert!(folder.path().join("out").is_file());
}

#[test]
fn a_packed_file_goes_to_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let file = path("moe-dge.neff");
    assert_eq!(tool(folder.path(), &["unpack", &file, "in"]).status.code(), Some(0));
    assert_eq!(
        tool(folder.path(), &["pack", "in", "a.neff", "--like", &file]).status.code(),
        Some(0)
    );
    let piped = tool(folder.path(), &["pack", "in", "-", "--like", &file]);
    assert_eq!(piped.status.code(), Some(0));
    assert!(piped.stdout == fs::read(folder.path().join("a.neff")).unwrap());
    assert!(!folder.path().join("-").exists());
    for (flags, said) in [
        (&["--like", "in/neff.json"][..], "in/neff.json: it is no NEFF"),
        (&["-k", "1.0", "-e", "virtual-core"], "features count from major version 2 on"),
    ] {
        let output = tool(folder.path(), &[&["pack", "in", "b.neff"], flags].concat());
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
        assert!(err.contains(said), "{err}");
    }
}
