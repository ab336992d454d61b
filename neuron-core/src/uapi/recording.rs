//! Reads the recorded answers of the real driver (`ioctl.txt`), for tests.

use std::path::Path;

/// One recorded request.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// The heading above it, `/dev/neuron0 O_RDWR`.
    pub(crate) node: String,
    /// The first word, a request's name.
    pub(crate) name: String,
    /// Everything before `req=`.
    pub(crate) label: String,
    pub(crate) number: u32,
    pub(crate) nr: u32,
    pub(crate) ret: i32,
    pub(crate) errno: i32,
    /// The bytes that the driver wrote, from the start of the argument.
    pub(crate) bytes: Vec<u8>,
    /// The decoded line that the recorder printed.
    pub(crate) decoded: String,
}

impl Entry {
    /// The word after `key=` in the decoded line.
    pub(crate) fn field(&self, key: &str) -> &str {
        let found = self.decoded.split(' ').find_map(|word| {
            let (name, value) = word.split_once('=')?;
            (name == key).then_some(value)
        });
        found.unwrap_or_else(|| panic!("no {key} in {:?} of {}", self.decoded, self.label))
    }

    /// A decimal or `0x` field.
    pub(crate) fn number_of(&self, key: &str) -> u64 {
        let text = self.field(key);
        match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
            None => text.parse().unwrap(),
        }
    }

    /// A field `[1,2,3]`.
    pub(crate) fn list_of(&self, key: &str) -> Vec<u32> {
        let text = self.field(key).trim_matches(['[', ']']);
        text.split(',').filter(|t| !t.is_empty()).map(|t| t.parse().unwrap()).collect()
    }
}

/// The recordings by name, with their entries.
pub(crate) fn all() -> Vec<(&'static str, Vec<Entry>)> {
    ["2.24.7.0-inf1-4", "2.24.7.0-trn1-16", "2.24.7.0-trn2-16"]
        .into_iter()
        .map(|name| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../tests/fixtures/real-driver")
                .join(name)
                .join("ioctl.txt");
            (name, parse(&std::fs::read_to_string(path).unwrap()))
        })
        .collect()
}

fn parse(text: &str) -> Vec<Entry> {
    let mut node = String::new();
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("== ") {
            node = heading.to_owned();
        } else if let Some(detail) = line.strip_prefix("  ") {
            let entry = entries.last_mut().unwrap();
            match detail.strip_prefix("bytes[") {
                Some(rest) => entry.bytes = hex(rest.split_once("]:").unwrap().1),
                None if entry.decoded.is_empty() => entry.decoded = detail.to_owned(),
                None => {
                    entry.decoded.push('\n');
                    entry.decoded.push_str(detail);
                }
            }
        } else if !line.starts_with('#') {
            let (label, answer) = line.split_once("req=0x").unwrap();
            let word = |key: &str| {
                answer.split(' ').find_map(|w| w.strip_prefix(key)).unwrap().parse().unwrap()
            };
            entries.push(Entry {
                node: node.clone(),
                name: label.split(' ').next().unwrap().to_owned(),
                label: label.trim_end().to_owned(),
                number: u32::from_str_radix(answer.split(' ').next().unwrap(), 16).unwrap(),
                nr: u32::try_from(word("nr=")).unwrap(),
                ret: word("ret="),
                errno: word("errno="),
                ..Entry::default()
            });
        }
    }
    entries
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
