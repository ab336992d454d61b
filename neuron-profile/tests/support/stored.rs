//! Real captures in a store, and the tool over it.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Captures with an export of the vendor's tool.
pub(crate) const CAPTURES: [&str; 4] =
    ["attn-base-bf16-512", "attn-fused-bf16-512", "attn-fused-fp32-512", "attn-fused-fp32-1024"];

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

/// The tool over a store.
pub(crate) fn tool(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(args).env("NEURON_PROFILE_DATA", data).stdin(Stdio::null());
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Its stdout; it must succeed and say nothing else.
pub(crate) fn said(data: &Path, args: &[&str]) -> String {
    let output = tool(data, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "{args:?}");
    text(&output.stdout)
}

/// The one line of an error.
pub(crate) fn refused(data: &Path, args: &[&str]) -> String {
    let output: Output = tool(data, args).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    assert_eq!(told.lines().count(), 1, "{args:?}: {told}");
    told
}

/// Rows of a query.
pub(crate) fn rows(data: &Path, profiles: &[&str], sql: &str) -> Vec<Value> {
    let args = [&["query"], profiles, &[sql, "--output-format", "json"]].concat();
    serde_json::from_str(&said(data, &args)).unwrap()
}

/// Stores a pair of files under a name; gives the id.
pub(crate) fn store_files(data: &Path, neff: &Path, ntff: &Path, more: &[&str]) -> String {
    let mut command = tool(data, &["view", "--ingest-only", "-n"]);
    let output = command.arg(neff).arg("-s").arg(ntff).args(more).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line = text(&output.stdout);
    let id = line.strip_prefix("Profile \"").and_then(|l| l.strip_suffix("\" is ready to view\n"));
    id.unwrap_or_else(|| panic!("{line:?}")).to_owned()
}

/// Stores a capture; gives the id.
pub(crate) fn store(data: &Path, capture: &str, more: &[&str]) -> String {
    let (neff, ntff) = (fixture(&format!("{capture}.neff")), fixture(&format!("{capture}.ntff")));
    store_files(data, &neff, &ntff, more)
}

/// A capture of which every record is gone; gives the id.
pub(crate) fn store_empty(data: &Path) -> String {
    use neuron_core::ntff::{Options, Reader, Writer};
    let bytes = std::fs::read(fixture("attn-fused-fp32-512.ntff")).unwrap();
    let mut reader = Reader::new(bytes.as_slice(), Options::default()).unwrap();
    let mut info = reader.info().clone();
    info.session_notifications.clear();
    let path = data.join("empty.ntff");
    let mut writer = Writer::new(std::fs::File::create(&path).unwrap(), 6, info).unwrap();
    let sections = reader.sections().to_vec();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        // Programs stay.
        if sections[chunk.index].trace_type().is_none() {
            writer.bytes(chunk.bytes).unwrap();
        }
    }
    writer.finish().unwrap();
    let mut command = tool(data, &["view", "--ingest-only", "-n"]);
    command.arg(fixture("attn-fused-fp32-512.neff")).arg("-s").arg(&path);
    let output = command.output().unwrap();
    let line = text(&output.stdout);
    let id = line.strip_prefix("Profile \"").and_then(|l| l.strip_suffix("\" is ready to view\n"));
    id.unwrap_or_else(|| panic!("{line:?} {}", text(&output.stderr))).to_owned()
}
