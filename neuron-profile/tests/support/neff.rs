//! The tool, fixtures, and small NEFFs of any content.

#![allow(dead_code, reason = "each test file uses a part")]

use neuron_core::neff::{Builder, digest};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

pub(crate) fn tool(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.arg("neff").args(args).current_dir(folder).output().unwrap()
}

/// Runs in a folder that does not matter; exit code, stdout, stderr.
pub(crate) fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let output = tool(Path::new("/"), args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn path(name: &str) -> String {
    fixture(name).canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A header block with a right checksum.
pub(crate) fn block(name: &str, size: u64, kind: u8, link: &str) -> [u8; 512] {
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
pub(crate) fn wrap(payload: &[u8]) -> Vec<u8> {
    let mut header = Builder::new(1).header;
    header.data_size = payload.len() as u64;
    let mut hasher = digest::Hasher::for_packager(2);
    hasher.update(payload);
    header.hash = digest::field(&hasher.finish(), digest::WRITTEN_FORM);
    [&header.to_bytes()[..], payload].concat()
}

/// A NEFF with one entry of a kind and name, and a body of one byte for files.
pub(crate) fn one(name: &str, kind: u8, link: &str) -> Vec<u8> {
    let body = u64::from(kind == b'0');
    let mut payload = block(name, body, kind, link).to_vec();
    if body > 0 {
        payload.push(b'x');
    }
    payload.resize(payload.len().next_multiple_of(512) + 1024, 0);
    wrap(&payload)
}
