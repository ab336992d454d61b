//! Recorded sysfs trees of the real driver, and the same view of a simulated one.

// Each test binary uses a part of this.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used, clippy::panic)]

pub mod doubles;
pub mod reading;

use std::collections::BTreeMap;
use std::path::PathBuf;

use neuron_core::driver::Files;
use neuron_core::sim::{Entry, View};

/// A leaf: mode, kind (`d`, `f`, `l`) and content. `None` reads as an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    pub mode: u32,
    pub kind: char,
    pub content: Option<String>,
}

pub type Tree = BTreeMap<String, Leaf>;

pub fn fixture(path: &str) -> PathBuf {
    neuron_tests::fixture(format!("real-driver/{path}"))
}

/// The tree of neuron0 in a `sysfs-*.txt` (`mode|kind|path|content`).
pub fn recorded(file: &str) -> Tree {
    let text = std::fs::read_to_string(fixture(file)).unwrap();
    let mut lines = text.lines();
    assert!(lines.any(|line| line.starts_with("# tree of neuron0")), "{file}");
    lines
        .take_while(|line| !line.starts_with("# "))
        .map(|line| {
            let mut parts = line.splitn(4, '|');
            let mode = u32::from_str_radix(parts.next().unwrap(), 8).unwrap();
            let kind = parts.next().unwrap().chars().next().unwrap();
            let path = parts.next().unwrap().trim_start_matches("./").to_owned();
            let content = parts.next().unwrap_or_default();
            // A link stands as `./name -> target`.
            let (path, content) = match path.split_once(" -> ") {
                Some((path, target)) => (path.to_owned(), target.to_owned()),
                None => (path, content.replace("\\n", "\n")),
            };
            let failed = content.starts_with('!');
            (path, Leaf { mode, kind, content: (!failed).then_some(content) })
        })
        .collect()
}

/// The tree of one simulated device.
pub fn simulated(view: &View, device: u32) -> Tree {
    let root = format!("sys/devices/virtual/neuron_device/neuron{device}");
    let mut tree = Tree::new();
    let dir = Leaf { mode: 0o755, kind: 'd', content: Some(String::new()) };
    tree.insert(String::from("."), dir.clone());
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        for (name, entry) in view.entries(&format!("{root}/{path}")).unwrap() {
            let inner = if path.is_empty() { name } else { format!("{path}/{name}") };
            let leaf = match entry {
                Entry::Dir => {
                    waiting.push(inner.clone());
                    dir.clone()
                }
                Entry::Link(target) => Leaf { mode: 0o777, kind: 'l', content: Some(target) },
                Entry::File(mode, _) => {
                    let content = view.read(&format!("{root}/{inner}")).ok();
                    let content = content.map(|bytes| String::from_utf8(bytes).unwrap());
                    Leaf { mode, kind: 'f', content }
                }
                Entry::Node(_) => panic!("a device node in sysfs: {inner}"),
            };
            assert!(tree.insert(inner.clone(), leaf).is_none(), "{inner} is listed twice");
        }
    }
    tree
}

/// Asserts that two trees are equal, naming every leaf that is not.
pub fn assert_same(got: &Tree, wanted: &Tree, except: &[&str], what: &str) {
    let mut wrong = Vec::new();
    for path in wanted.keys().chain(got.keys().filter(|path| !wanted.contains_key(*path))) {
        let (got, wanted) = (got.get(path), wanted.get(path));
        let same = if except.contains(&path.as_str()) {
            // The value is the virtual machine's; the rest must agree.
            got.map(|l| (l.mode, l.kind)) == wanted.map(|l| (l.mode, l.kind))
                && shape(got) == shape(wanted)
        } else {
            got == wanted
        };
        if !same {
            wrong.push(format!("{path}: got {got:?}, recorded {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{what}: {} leaves differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A content with every run of hexadecimal digits, dots and commas folded, so
/// that only the form is left.
fn shape(leaf: Option<&Leaf>) -> Option<String> {
    let content = leaf?.content.as_ref()?;
    let (name, numbers) = match content.strip_prefix("POWER_STATUS_") {
        Some(rest) => ("POWER_STATUS,", rest.split_once(',')?.1),
        None => ("", content.as_str()),
    };
    let mut folded = String::from(name);
    for c in numbers.chars() {
        let c = if c.is_ascii_hexdigit() { '#' } else { c };
        if !(c == '#' && folded.ends_with('#')) {
            folded.push(c);
        }
    }
    // A list is one form whatever its length.
    Some(folded.replace("#, #", "#"))
}
