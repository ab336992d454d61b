//! The wire format, walked by the table of the schema.
//!
//! prost decodes, but says neither where an error is nor which bytes it did
//! not understand, and it lets a small message grow large in memory. This walk
//! goes first: it checks every length, counts the memory that decoding would
//! take, and hands out each value by name, which is also what a dump prints.
//! Known messages nest only as deep as the schema.

use super::table::{Enum, Field, Kind, Message};
use super::{Finding, Limits, Rule};

/// A value of a message.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// `bool`
    Bool(bool),
    /// `uint32`, `uint64`
    Unsigned(u64),
    /// `int32`, `int64`
    Signed(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// An enum; numbers without a name are allowed.
    Enum(&'static Enum, i32),
    /// `string`
    Text(&'a str),
    /// `bytes`
    Bytes(&'a [u8]),
}

/// What a walk tells. Offsets are positions in the file.
pub trait Visitor {
    /// A value.
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let _ = (field, value);
    }
    /// A message begins.
    fn enter(&mut self, field: &'static Field) {
        let _ = field;
    }
    /// It ends.
    fn leave(&mut self, field: &'static Field) {
        let _ = field;
    }
    /// A number that does not fit the type of its field; protobuf keeps its low
    /// bits.
    fn misfit(
        &mut self,
        message: &'static Message,
        field: &'static Field,
        offset: u64,
        value: u64,
    ) {
        let _ = (message, field, offset, value);
    }
    /// A field that the schema does not have; `bytes` is its value as it lies
    /// in the file.
    fn unknown(&mut self, message: &'static Message, number: u32, offset: u64, bytes: &[u8]) {
        let _ = (message, number, offset, bytes);
    }
}

/// Only checks.
impl Visitor for () {}

/// A field as it lies in the file.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    /// Number.
    pub number: u32,
    /// Wire type: 0 varint, 1 eight bytes, 2 length-delimited, 3 group, 5 four
    /// bytes.
    pub wire: u8,
    /// Value of a varint; else 0.
    pub varint: u64,
    /// Bytes of the value, without its length.
    pub bytes: &'a [u8],
    /// Position of `bytes` in the file.
    pub offset: u64,
    /// Bytes of key, length and value.
    pub size: usize,
}

/// Reads the fields of one message.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    message: &'static Message,
    nesting: usize,
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl<'a> Fields<'a> {
    /// Of `bytes`, which lie at `base` in the file.
    pub fn new(bytes: &'a [u8], base: u64, message: &'static Message, nesting: usize) -> Self {
        Self { bytes, at: 0, base, message, nesting }
    }

    /// Position in the file.
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(wide(self.at))
    }

    fn finding(&self, rule: Rule) -> Finding {
        Finding { offset: self.offset(), rule }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn varint(&mut self) -> Result<u64, Finding> {
        let mut value = 0_u64;
        for (index, byte) in self.rest().iter().take(10).enumerate() {
            let part = u64::from(byte & 0x7f);
            // The tenth byte holds one bit.
            if index == 9 && part > 1 {
                break;
            }
            value |= part << (7 * index);
            if byte & 0x80 == 0 {
                self.at += index + 1;
                return Ok(value);
            }
        }
        Err(self.finding(Rule::Varint { message: self.message.name }))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..length)?;
        self.at += length;
        Some(taken)
    }

    fn fixed(&mut self, length: usize) -> Result<&'a [u8], Finding> {
        let rule = Rule::Fixed { message: self.message.name };
        self.take(length).ok_or_else(|| self.finding(rule))
    }

    fn key(&mut self) -> Result<(u32, u8), Finding> {
        let start = self.clone();
        let key = self.varint()?;
        let number = key >> 3;
        match u32::try_from(number) {
            Ok(small) if (1..1 << 29).contains(&small) => Ok((small, (key & 7).to_le_bytes()[0])),
            _ => Err(start.finding(Rule::FieldNumber { message: self.message.name, number })),
        }
    }

    fn delimited(&mut self, field: u32) -> Result<&'a [u8], Finding> {
        let start = self.clone();
        let length = self.varint()?;
        let left = wide(self.rest().len());
        usize::try_from(length).ok().and_then(|length| self.take(length)).ok_or_else(|| {
            let message = self.message.name;
            start.finding(Rule::Length { message, field, length, left })
        })
    }

    /// Goes to the end of a group. Nothing that we know uses groups; they are
    /// skipped as any unknown field is.
    fn skip_group(&mut self, number: u32) -> Result<(), Finding> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let start = self.clone();
            let (number, wire) = self.key()?;
            match wire {
                3 if open.len() >= self.nesting => {
                    let message = self.message.name;
                    return Err(start.finding(Rule::Nesting { message, limit: self.nesting }));
                }
                3 => open.push(number),
                4 if number == innermost => {
                    open.pop();
                }
                4 => return Err(start.finding(Rule::Group { message: self.message.name })),
                _ => {
                    self.body(number, wire)?;
                }
            }
        }
        Ok(())
    }

    /// The value after a key: its varint, its bytes and where they lie.
    fn body(&mut self, number: u32, wire: u8) -> Result<(u64, &'a [u8], u64), Finding> {
        let (from, offset) = (self.at, self.offset());
        match wire {
            0 => {
                let value = self.varint()?;
                Ok((value, self.bytes.get(from..self.at).unwrap_or_default(), offset))
            }
            1 => Ok((0, self.fixed(8)?, offset)),
            2 => {
                let bytes = self.delimited(number)?;
                Ok((0, bytes, self.offset().saturating_sub(wide(bytes.len()))))
            }
            3 => {
                self.skip_group(number)?;
                Ok((0, self.bytes.get(from..self.at).unwrap_or_default(), offset))
            }
            4 => Err(self.finding(Rule::Group { message: self.message.name })),
            5 => Ok((0, self.fixed(4)?, offset)),
            _ => Err(self.finding(Rule::WireType { message: self.message.name, wire })),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Raw<'a>, Finding>;

    /// Ends after the first error: nothing behind it can be found.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest().is_empty() {
            return None;
        }
        let from = self.at;
        let field = self.key().and_then(|(number, wire)| {
            let (varint, bytes, offset) = self.body(number, wire)?;
            Ok(Raw { number, wire, varint, bytes, offset, size: self.at - from })
        });
        if field.is_err() {
            self.bytes = &[];
        }
        Some(field)
    }
}

/// Checks messages against the schema under a budget of memory.
#[derive(Debug)]
pub struct Walker<'v, V> {
    visitor: &'v mut V,
    nesting: usize,
    budget: u64,
    limit: u64,
}

impl<'v, V: Visitor> Walker<'v, V> {
    /// A walker whose budget lasts for all that it walks.
    pub fn new(visitor: &'v mut V, limits: &Limits) -> Self {
        Self { visitor, nesting: limits.nesting, budget: limits.decoded, limit: limits.decoded }
    }

    /// What is left of the budget.
    pub fn left(&self) -> u64 {
        self.budget
    }

    /// Walks the fields of a message that lies at `base` in the file.
    ///
    /// # Errors
    ///
    /// The first place that does not hold to the wire format or the schema.
    pub fn message(
        &mut self,
        bytes: &[u8],
        base: u64,
        message: &'static Message,
    ) -> Result<(), Finding> {
        for raw in Fields::new(bytes, base, message, self.nesting) {
            self.field(&raw?, message)?;
        }
        Ok(())
    }

    /// Walks one field.
    ///
    /// # Errors
    ///
    /// As [`Self::message`].
    pub fn field(&mut self, raw: &Raw<'_>, message: &'static Message) -> Result<(), Finding> {
        let Some(field) = message.field(raw.number) else {
            self.visitor.unknown(message, raw.number, raw.offset, raw.bytes);
            return Ok(());
        };
        let wanted = wire_type(field.kind);
        match field.kind {
            _ if raw.wire != wanted => {
                if field.repeated && raw.wire == 2 && wanted != 2 {
                    return self.packed(raw, message, field);
                }
                let rule = Rule::WireMismatch {
                    message: message.name,
                    field: field.name,
                    wire: raw.wire,
                    wanted,
                };
                Err(Finding { offset: raw.offset, rule })
            }
            Kind::Message(inner) => {
                self.spend(wide(inner.memory), raw.offset, message)?;
                self.visitor.enter(field);
                self.message(raw.bytes, raw.offset, inner)?;
                self.visitor.leave(field);
                Ok(())
            }
            Kind::String => {
                self.spend(wide(raw.bytes.len()), raw.offset, message)?;
                let text = std::str::from_utf8(raw.bytes).map_err(|error| Finding {
                    offset: raw.offset.saturating_add(wide(error.valid_up_to())),
                    rule: Rule::Text { message: message.name, field: field.name },
                })?;
                self.visitor.value(field, Value::Text(text));
                Ok(())
            }
            Kind::Bytes => {
                self.spend(wide(raw.bytes.len()), raw.offset, message)?;
                self.visitor.value(field, Value::Bytes(raw.bytes));
                Ok(())
            }
            _ => {
                if field.repeated {
                    self.spend(8, raw.offset, message)?;
                }
                self.scalar(message, field, raw.varint, raw.bytes, raw.offset);
                Ok(())
            }
        }
    }

    /// A list of varints in one value; no list of fixed-size values exists.
    fn packed(
        &mut self,
        raw: &Raw<'_>,
        message: &'static Message,
        field: &'static Field,
    ) -> Result<(), Finding> {
        let mut list = Fields::new(raw.bytes, raw.offset, message, self.nesting);
        while !list.rest().is_empty() {
            let value = list.varint()?;
            self.spend(8, raw.offset, message)?;
            self.scalar(message, field, value, &[], raw.offset);
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        message: &'static Message,
        field: &'static Field,
        varint: u64,
        bytes: &[u8],
        offset: u64,
    ) {
        if !fits(field.kind, varint) {
            self.visitor.misfit(message, field, offset, varint);
        }
        self.visitor.value(field, scalar(field.kind, varint, bytes));
    }

    fn spend(&mut self, bytes: u64, offset: u64, message: &'static Message) -> Result<(), Finding> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                let rule = Rule::Memory { message: message.name, limit: self.limit };
                Err(Finding { offset, rule })
            }
        }
    }
}

/// The wire type of a kind.
fn wire_type(kind: Kind) -> u8 {
    match kind {
        Kind::Double => 1,
        Kind::String | Kind::Bytes | Kind::Message(_) => 2,
        Kind::Float => 5,
        _ => 0,
    }
}

/// The low 32 bits with their sign: how protobuf reads a 32-bit varint.
fn low_signed(value: u64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Whether a varint is in the range of its type.
fn fits(kind: Kind, value: u64) -> bool {
    match kind {
        Kind::Bool => value <= 1,
        Kind::Uint32 => u32::try_from(value).is_ok(),
        Kind::Int32 | Kind::Enum(_) => {
            i32::try_from(i64::from_le_bytes(value.to_le_bytes())).is_ok()
        }
        _ => true,
    }
}

fn scalar(kind: Kind, varint: u64, bytes: &[u8]) -> Value<'static> {
    match kind {
        Kind::Bool => Value::Bool(varint != 0),
        Kind::Uint32 => Value::Unsigned(varint & 0xffff_ffff),
        Kind::Int32 => Value::Signed(low_signed(varint).into()),
        Kind::Int64 => Value::Signed(i64::from_le_bytes(varint.to_le_bytes())),
        Kind::Enum(list) => Value::Enum(list, low_signed(varint)),
        Kind::Float => {
            Value::Float(f32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default()))
        }
        Kind::Double => {
            Value::Double(f64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default()))
        }
        _ => Value::Unsigned(varint),
    }
}
