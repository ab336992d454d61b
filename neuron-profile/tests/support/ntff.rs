//! Runs `neuron-profile ntff` for its tests.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

pub(crate) fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("ntff").args(args);
    command
}

pub(crate) fn run(args: &[&str], file: &Path) -> Output {
    tool(args).arg(file).stdin(Stdio::null()).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn json(args: &[&str], file: &Path) -> Value {
    let output = run(&[args, &["-o", "json"]].concat(), file);
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Feeds stdin and gives back the output.
pub(crate) fn piped(args: &[&str], bytes: &[u8]) -> Output {
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

pub(crate) fn packed(data: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(data).unwrap();
    packer.finish().unwrap()
}
