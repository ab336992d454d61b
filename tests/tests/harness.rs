//! The helpers themselves: what they hand to the other tests is right.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Path to mode and link target, as `ls` prints them.
type Listing = BTreeMap<String, String>;

fn list(root: &Path, dir: &Path, listing: &mut Listing) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if metadata.is_symlink() {
            listing.insert(name, format!("-> {}", path.read_link().unwrap().display()));
        } else {
            let kind = if metadata.is_dir() { 'd' } else { '-' };
            listing.insert(name, format!("{kind}{:o}", metadata.permissions().mode() & 0o7777));
            if metadata.is_dir() {
                list(root, &path, listing);
            }
        }
    }
}

/// `rwxr-x---` as a number.
fn mode(letters: &str) -> u32 {
    letters.chars().fold(0, |mode, letter| mode * 2 + u32::from(letter != '-'))
}

#[test]
fn an_unpacked_tree_is_what_tar_lists() {
    if !neuron_tests::require("tar") {
        return;
    }
    let archive = neuron_tests::fixture("real-driver/trees/trn1-16.tar.gz");
    let output = Command::new("tar").arg("-tvzf").arg(archive).output().unwrap();
    assert!(output.status.success());
    let mut expected = Listing::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let name = words[5].trim_start_matches("./").trim_end_matches('/').to_owned();
        let (kind, letters) = words[0].split_at(1);
        let entry = match kind {
            "l" => format!("-> {}", words[7]),
            kind => format!("{kind}{:o}", mode(letters)),
        };
        if !name.is_empty() {
            expected.insert(name, entry);
        }
    }
    assert!(expected.len() > 6000, "{}", expected.len());

    let root = neuron_tests::unpack_tree("trn1-16");
    let mut found = Listing::new();
    list(&root, &root, &mut found);
    // The overlay adds two files.
    for path in ["ioctl.json", "sys/module/neuron/refcnt"] {
        assert!(found.remove(path).is_some(), "{path}");
    }
    assert_eq!(found.len(), expected.len());
    for (path, entry) in &expected {
        assert_eq!(found.get(path), Some(entry), "{path}");
    }
    assert_eq!(root, neuron_tests::unpack_tree("trn1-16"));
}

#[test]
fn a_binary_is_found_and_starts() {
    let path = neuron_tests::bin("neuron-ls");
    assert!(path.is_absolute(), "{}", path.display());
    // What it answers is the matter of other tests.
    assert!(Command::new(path).arg("--version").output().is_ok());
}

#[test]
fn a_missing_tool_skips_and_is_written_down() {
    // In a process of its own, because the variables belong to the process.
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("skipped");
    let this_test = |name: &str, skip: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("NEURON_TESTS_SKIP", skip)
            .env("NEURON_TESTS_SKIP_LOG", &log)
            .output()
            .unwrap()
    };
    let output = this_test("an_unpacked_tree_is_what_tar_lists", "python3 tar");
    assert!(output.status.success());
    let line = "an_unpacked_tree_is_what_tar_lists: needs tar\n";
    assert_eq!(std::fs::read_to_string(&log).unwrap(), line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, format!("skipped: {line}"));
}
