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

/// Reads `body`, the member `name`. `None` where it does not parse and the
/// report is lenient. Nesting is bounded by the JSON reader itself (128).
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
    let mut unknown = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let parsed = serde_ignored::deserialize(&mut reader, |path| {
        if unknown.len() < MOST_UNKNOWN {
            unknown.push(path.to_string());
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
