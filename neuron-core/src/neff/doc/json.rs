//! One way to read any JSON member: bounded size and depth, errors with an
//! offset, unknown keys told.

use crate::neff::problem::{Place, Problem, Report, Rule, widen};
use serde::de::DeserializeOwned;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Unknown keys told for one member; a foreign document would have thousands.
const MOST_UNKNOWN: usize = 20;

/// Deepest nesting; the JSON reader has the same limit where it goes down, but
/// passes over values that nobody asks for without counting.
const MOST_DEEP: usize = 127;

/// Most objects and most commas of one member. A value in memory is larger than
/// its text where the text is `{}` or `0`; honest documents come nowhere near.
const MOST_OBJECTS: u64 = 4 << 20;
const MOST_COMMAS: u64 = 32 << 20;

/// Most bytes of all JSON members of a file that are parsed, each as often as
/// it is named: long texts have neither brackets nor commas.
const MOST_BYTES: u64 = 512 << 20;

/// What a member's brackets and commas ask for.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    /// Offset of the first bracket beyond the deepest nesting.
    too_deep: Option<usize>,
    objects: u64,
    commas: u64,
}

/// Objects, commas and bytes of the members of one file, each as often as it is
/// named, since each mention is checked: of the first two no more than one
/// member alone may have.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    spent: Cost,
    /// What each member asks for.
    costs: BTreeMap<String, Cost>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    objects: u64,
    commas: u64,
    bytes: u64,
}

impl Budget {
    /// Counts the member `name` before it is parsed.
    pub(crate) fn charge(&mut self, name: &str, body: &[u8]) -> Result<(), Problem> {
        let shape = shape(body);
        let cost = Cost { objects: shape.objects, commas: shape.commas, bytes: widen(body.len()) };
        self.costs.insert(name.to_owned(), cost);
        self.again(name)
    }

    /// Counts a member that was parsed before once more.
    pub(crate) fn again(&mut self, name: &str) -> Result<(), Problem> {
        let cost = self.costs.get(name).copied().unwrap_or_default();
        let Cost { objects, commas, bytes } = &mut self.spent;
        *objects = objects.saturating_add(cost.objects);
        *commas = commas.saturating_add(cost.commas);
        *bytes = bytes.saturating_add(cost.bytes);
        if *objects > MOST_OBJECTS || *commas > MOST_COMMAS || *bytes > MOST_BYTES {
            let value = format!(
                "with those before it {objects} objects, {commas} commas, {bytes} bytes of JSON"
            );
            return Err(Problem::new(Rule::LimitJson, Place::member(name, 0), value));
        }
        Ok(())
    }
}

/// Counts brackets and commas outside of strings.
fn shape(body: &[u8]) -> Shape {
    let mut shape = Shape { too_deep: None, objects: 0, commas: 0 };
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in body.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                depth += 1;
                shape.objects += u64::from(*byte == b'{');
            }
            b',' => shape.commas += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_DEEP {
            shape.too_deep = Some(at);
            break;
        }
    }
    shape
}

/// Reads `body`, the member `name`. `None` where it does not parse and the
/// report is lenient.
pub(crate) fn parse<T: DeserializeOwned>(
    name: &str,
    body: &[u8],
    limit: u64,
    report: &mut Report,
) -> Result<Option<T>, Problem> {
    if widen(body.len()) > limit {
        let value = format!("{name} has {} bytes, the limit is {limit}", body.len());
        return Err(Problem::new(Rule::LimitJson, Place::member(name, 0), value));
    }
    let shape = shape(body);
    if shape.objects > MOST_OBJECTS || shape.commas > MOST_COMMAS {
        let value = format!("{} objects, {} commas", shape.objects, shape.commas);
        return Err(Problem::new(Rule::LimitJson, Place::member(name, 0), value));
    }
    if let Some(at) = shape.too_deep {
        let value = format!("it is nested deeper than {MOST_DEEP} levels");
        report.note(Rule::JsonSyntax, Place::member(name, at), value)?;
        return Ok(None);
    }
    // The reader does not look into texts that nobody asks for.
    if let Err(error) = std::str::from_utf8(body) {
        let place = Place::member(name, error.valid_up_to());
        report.note(Rule::JsonSyntax, place, "it is not UTF-8")?;
        return Ok(None);
    }
    let mut unknown = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let parsed = serde_ignored::deserialize(&mut reader, |path| {
        let path = path.to_string();
        // A document that is read for its syntax only is ignored as a whole.
        if unknown.len() < MOST_UNKNOWN && path != "." {
            unknown.push(path);
        }
    });
    let parsed: Result<T, serde_json::Error> =
        parsed.and_then(|value| reader.end().map(|()| value));
    match parsed {
        Ok(value) => {
            for path in unknown {
                let key = path.rsplit('.').next().unwrap_or_default().to_owned();
                let place = Place::key(name, path.replace('.', "/"));
                report.note(Rule::JsonUnknown, place, format!("the key is {key:?}"))?;
            }
            Ok(Some(value))
        }
        Err(error) => {
            let at = offset(body, error.line(), error.column());
            report.note(Rule::JsonSyntax, Place::member(name, at), error.to_string())?;
            Ok(None)
        }
    }
}

/// Byte offset of a line and column, both counted from 1.
fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let skipped = line.saturating_sub(1);
    let start = match skipped {
        0 => 0,
        _ => {
            let mut newlines = body.iter().enumerate().filter(|(_, b)| **b == b'\n');
            newlines.nth(skipped - 1).map_or(0, |(at, _)| at + 1)
        }
    };
    (start + column.saturating_sub(1)).min(body.len())
}

/// An object whose keys are names: each may occur once.
pub(super) fn unique<'de, D, V>(reader: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct Unique<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut out = BTreeMap::new();
            while let Some(key) = map.next_key::<String>()? {
                if out.contains_key(&key) {
                    return Err(A::Error::custom(format!("duplicate key {key:?}")));
                }
                let value = map.next_value()?;
                out.insert(key, value);
            }
            Ok(out)
        }
    }

    reader.deserialize_map(Unique(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neff::problem::Mode;

    #[test]
    fn nesting_is_counted_outside_of_strings() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(shape(nested(127).as_bytes()).too_deep, None);
        assert_eq!(shape(nested(128).as_bytes()).too_deep, Some(127));
        let text = format!("{{\"a\\\"{}\": 0}}", "[".repeat(500));
        assert_eq!(shape(text.as_bytes()).too_deep, None);
        assert_eq!(shape("[]".repeat(500).as_bytes()).too_deep, None);
        // What passes here passes the JSON reader too.
        let mut report = Report::new(Mode::Strict);
        let parsed: Option<serde_json::Value> =
            parse("n", nested(127).as_bytes(), 1000, &mut report).unwrap();
        assert!(parsed.is_some());
    }

    #[test]
    fn many_small_values_are_refused() {
        let mut report = Report::new(Mode::Lenient);
        let limit = 1 << 30;
        let objects = format!("[{}{{}}]", "{},".repeat(4 << 20));
        let error =
            parse::<Vec<serde::de::IgnoredAny>>("n", objects.as_bytes(), limit, &mut report);
        assert_eq!(error.unwrap_err().rule, Rule::LimitJson);
        let numbers = format!("[{}0]", "0,".repeat((32 << 20) + 1));
        let error =
            parse::<Vec<serde::de::IgnoredAny>>("n", numbers.as_bytes(), limit, &mut report);
        assert_eq!(error.unwrap_err().rule, Rule::LimitJson);
        // Commas in strings are text.
        assert_eq!(shape(br#"[",,{{"]"#), Shape { too_deep: None, objects: 0, commas: 0 });
    }

    /// Each mention of a member counts, also of one that was parsed before.
    #[test]
    fn mentions_add_up() {
        let objects = |count: usize| format!("[{}{{}}]", "{},".repeat(count - 1)).into_bytes();
        let quarter = objects(1 << 20);
        let mut budget = Budget::default();
        budget.charge("a", &quarter).unwrap();
        for _ in 0..3 {
            budget.again("a").unwrap();
        }
        let error = budget.again("a").unwrap_err();
        assert_eq!(error.rule, Rule::LimitJson);
        assert!(error.value.contains("5242880 objects"), "{}", error.value);
        // Long texts count by their bytes.
        let text = format!("\"{}\"", "x".repeat(128 << 20)).into_bytes();
        let mut budget = Budget::default();
        budget.charge("a", &text).unwrap();
        for name in ["b", "c"] {
            budget.charge(name, &text).unwrap();
        }
        assert_eq!(budget.charge("d", &text).unwrap_err().rule, Rule::LimitJson);
        // A second member finds the budget used up by the first.
        let mut budget = Budget::default();
        budget.charge("a", &objects(4 << 20)).unwrap();
        assert_eq!(budget.charge("b", b"{}").unwrap_err().rule, Rule::LimitJson);
        // One that was never charged costs nothing.
        Budget::default().again("unknown").unwrap();
    }

    #[test]
    fn offsets_of_lines() {
        assert_eq!(offset(b"ab\ncd\nef", 1, 1), 0);
        assert_eq!(offset(b"ab\ncd\nef", 2, 2), 4);
        assert_eq!(offset(b"ab\ncd\nef", 3, 9), 8);
        assert_eq!(offset(b"", 1, 0), 0);
        assert_eq!(offset(b"ab", 9, 1), 0);
    }
}
