//! Pieces of a page: gzip in base64, one after the other, each found by its
//! place. A browser unpacks those that it needs.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::{Value, json};

/// See the module.
pub(super) struct Archive<'w> {
    out: &'w mut dyn Write,
    /// Letters so far.
    at: u64,
}

impl<'w> Archive<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, at: 0 }
    }

    /// Adds bytes; gives the place: first letter and letters.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<Value> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(bytes)?;
        let text = STANDARD.encode(packed.finish()?);
        self.out.write_all(text.as_bytes())?;
        let (at, length) = (self.at, u64::try_from(text.len())?);
        self.at += length;
        Ok(json!([at, length]))
    }

    /// Adds a value as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<Value> {
        self.bytes(&serde_json::to_vec(value)?)
    }
}

/// Whole numbers as their first one and the steps between them: they are packed
/// into few bytes. Numbers that a browser would round are written as they are.
pub(super) fn steps(numbers: &[i64]) -> Value {
    const EXACT: u64 = 1 << 53;
    if numbers.iter().any(|number| number.unsigned_abs() > EXACT) {
        return json!({ "v": numbers });
    }
    let mut last = 0;
    let steps = numbers.iter().map(|number| {
        let step = number - last;
        last = *number;
        step
    });
    json!({ "d": steps.collect::<Vec<_>>() })
}

/// As [`steps`].
pub(super) fn places(numbers: &[u64]) -> Value {
    let numbers: Vec<i64> =
        numbers.iter().map(|number| i64::try_from(*number).unwrap_or(i64::MAX)).collect();
    steps(&numbers)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn pieces_are_found_by_their_place() {
        let mut out = Vec::new();
        let mut archive = Archive::new(&mut out);
        let first = archive.bytes(b"one").unwrap();
        let second = archive.json(&json!([1, 2])).unwrap();
        let text = String::from_utf8(out).unwrap();
        let read = |place: &Value| {
            let (at, length) = (place[0].as_u64().unwrap(), place[1].as_u64().unwrap());
            let part = &text[usize::try_from(at).unwrap()..][..usize::try_from(length).unwrap()];
            let bytes = STANDARD.decode(part).unwrap();
            let mut plain = String::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut plain).unwrap();
            plain
        };
        assert_eq!((read(&first), read(&second)), (String::from("one"), String::from("[1,2]")));
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(steps(&[5, 7, 7, -1]), json!({ "d": [5, 2, 0, -8] }));
        assert_eq!(steps(&[i64::MAX]), json!({ "v": [i64::MAX] }));
        assert_eq!(steps(&[]), json!({ "d": [] }));
    }
}
