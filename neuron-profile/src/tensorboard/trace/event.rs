//! Events of a file, one by one: the file is never in memory as a whole.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// A number or a text: ids of processes and threads are either.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Label(pub(super) String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(from)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        }))
    }
}

/// An event. Fields that it has not are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    /// What kind of event it is.
    pub(super) ph: String,
    pub(super) name: Label,
    pub(super) pid: Label,
    pub(super) tid: Label,
    /// µs
    pub(super) ts: Option<f64>,
    /// µs
    pub(super) dur: Option<f64>,
    pub(super) args: Option<Map<String, Value>>,
}

/// Who takes events.
type Take<'t> = &'t mut dyn FnMut(Event);

/// Calls `take` with each event.
///
/// # Errors
///
/// Another form, or too many events; the text says where.
pub(super) fn each(
    reader: impl Read,
    most: usize,
    take: Take<'_>,
) -> Result<(), serde_json::Error> {
    // serde_json reads byte by byte: a buffer between saves most of the calls.
    let buffered = std::io::BufReader::with_capacity(1 << 16, reader);
    let mut from = serde_json::Deserializer::from_reader(buffered);
    Document { most, take }.deserialize(&mut from)?;
    from.end()
}

/// An object with `traceEvents`, or the list alone.
struct Document<'t> {
    most: usize,
    take: Take<'t>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with traceEvents, or a list of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<Label>()? {
            if key.0 == "traceEvents" {
                found = true;
                map.next_value_seed(Events { most: self.most, take: &mut *self.take })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found { Ok(()) } else { Err(A::Error::custom("no traceEvents")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Events { most: self.most, take: self.take }.visit_seq(seq)
    }
}

/// The list.
struct Events<'t> {
    most: usize,
    take: Take<'t>,
}

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut left = self.most;
        while let Some(event) = seq.next_element()? {
            left = left.checked_sub(1).ok_or_else(|| {
                let text =
                    format!("more than {} events; neuron-profile view shows more", self.most);
                A::Error::custom(text)
            })?;
            (self.take)(event);
        }
        Ok(())
    }
}
