//! Shows a message by the names of its schema.

use std::io::Write;

use anyhow::Result;
use neuron_core::ntff::table::{Field, Message};
use neuron_core::ntff::wire::{Fields, Value, Visitor, Walker};
use neuron_core::ntff::{Limits, Rule};
use neuron_core::text::hex;
use serde_json::{Map, Value as Json};

/// Writes indented text; a broken field is left out (the findings tell it).
pub(super) fn text(
    out: &mut dyn Write,
    bytes: &[u8],
    message: &'static Message,
    indent: usize,
) -> Result<()> {
    let mut printer = Printer { out, indent, failed: None };
    walk(bytes, message, &mut printer);
    match printer.failed {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Most decoded bytes of a message shown as JSON, which is built in memory and
/// takes about ten times as much. Real messages take a hundredth of it.
const JSON: u64 = 32 << 20;

/// The same as one JSON object; a repeated field is a list.
///
/// # Errors
///
/// A message over the limit.
pub(super) fn json(bytes: &[u8], message: &'static Message) -> Result<Json> {
    let limits = Limits { decoded: JSON, ..Limits::default() };
    let mut nothing = ();
    let mut budget = Walker::new(&mut nothing, &limits);
    for raw in Fields::new(bytes, 0, message, limits.nesting).map_while(Result::ok) {
        if let Err(finding) = budget.field(&raw, message)
            && matches!(finding.rule, Rule::Memory { .. })
        {
            anyhow::bail!("the message is too large for JSON; use the text output");
        }
    }
    let mut builder = Builder { open: vec![Map::new()] };
    walk(bytes, message, &mut builder);
    Ok(Json::Object(builder.open.swap_remove(0)))
}

/// Walks field by field so that what is whole of a damaged message is shown.
fn walk<V: Visitor + Nested>(bytes: &[u8], message: &'static Message, visitor: &mut V) {
    let limits = Limits::default();
    for raw in Fields::new(bytes, 0, message, limits.nesting).map_while(Result::ok) {
        // Seen first without output, so that a broken field shows nothing.
        if Walker::new(&mut (), &limits).field(&raw, message).is_ok() {
            let _ = Walker::new(visitor, &limits).field(&raw, message);
        }
        if visitor.stopped() {
            return;
        }
    }
}

trait Nested {
    /// Whether there is no use in going on.
    fn stopped(&self) -> bool {
        false
    }
}

struct Printer<'o> {
    out: &'o mut dyn Write,
    indent: usize,
    failed: Option<std::io::Error>,
}

impl Printer<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{:1$}{text}", "", self.indent).err();
        }
    }
}

impl Nested for Printer<'_> {
    fn stopped(&self) -> bool {
        self.failed.is_some()
    }
}

impl Visitor for Printer<'_> {
    fn enter(&mut self, field: &'static Field) {
        self.line(format_args!("{}:", field.name));
        self.indent += 2;
    }

    fn leave(&mut self, _: &'static Field) {
        self.indent -= 2;
    }

    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let name = field.name;
        match value {
            Value::Bool(value) => self.line(format_args!("{name}: {value}")),
            Value::Unsigned(value) => self.line(format_args!("{name}: {value}")),
            Value::Signed(value) => self.line(format_args!("{name}: {value}")),
            Value::Float(value) => self.line(format_args!("{name}: {value}")),
            Value::Double(value) => self.line(format_args!("{name}: {value}")),
            Value::Enum(list, value) => match list.value(value) {
                Some(known) => self.line(format_args!("{name}: {known}")),
                None => self.line(format_args!("{name}: {value}")),
            },
            Value::Text(value) => self.line(format_args!("{name}: {value:?}")),
            Value::Bytes(value) => self.line(format_args!("{name}: {}", hex(value))),
        }
    }

    fn unknown(&mut self, _: &'static Message, number: u32, _: u64, bytes: &[u8]) {
        self.line(format_args!("unknown field {number}: {}", hex(bytes)));
    }
}

struct Builder {
    /// Objects that are being filled, the innermost last; never empty.
    open: Vec<Map<String, Json>>,
}

impl Nested for Builder {}

impl Builder {
    fn put(&mut self, field: &'static Field, value: Json) {
        let Some(object) = self.open.last_mut() else { return };
        if field.repeated {
            let list = object.entry(field.name).or_insert_with(|| Json::Array(Vec::new()));
            if let Json::Array(list) = list {
                list.push(value);
            }
        } else {
            object.insert(field.name.to_owned(), value);
        }
    }
}

impl Visitor for Builder {
    fn enter(&mut self, _: &'static Field) {
        self.open.push(Map::new());
    }

    fn leave(&mut self, field: &'static Field) {
        if let Some(object) = self.open.pop() {
            self.put(field, Json::Object(object));
        }
    }

    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let value = match value {
            Value::Bool(value) => value.into(),
            Value::Unsigned(value) => value.into(),
            Value::Signed(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::Double(value) => value.into(),
            Value::Enum(list, value) => list.value(value).map_or_else(|| value.into(), Json::from),
            Value::Text(value) => value.into(),
            Value::Bytes(value) => hex(value).into(),
        };
        self.put(field, value);
    }

    fn unknown(&mut self, _: &'static Message, number: u32, _: u64, bytes: &[u8]) {
        if let Some(object) = self.open.last_mut() {
            object.insert(format!("unknown_{number}"), hex(bytes).into());
        }
    }
}
