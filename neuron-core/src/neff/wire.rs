//! Protobuf on the wire: just enough to read the debug layers and metaneff,
//! with offsets.

use super::problem::{Place, Problem, Rule};

/// One field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
    /// Offset of the field in the member.
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    /// The bytes and their offset in the member.
    Bytes(&'a [u8], usize),
}

/// Walks the fields of a message.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    name: &'a str,
    bytes: &'a [u8],
    at: usize,
    base: usize,
}

impl<'a> Fields<'a> {
    /// The message `bytes` of the member `name`, at `base` in it.
    pub(super) fn new(name: &'a str, bytes: &'a [u8], base: usize) -> Self {
        Self { name, bytes, at: 0, base }
    }

    /// A problem at an offset of the member.
    pub(super) fn bad(&self, at: usize, value: &str) -> Problem {
        Problem::new(Rule::Protobuf, Place::member(self.name, at), value)
    }

    /// The message in a field's bytes.
    pub(super) fn inner(&self, field: &Field<'a>) -> Result<Self, Problem> {
        let (bytes, base) = self.bytes_of(field)?;
        Ok(Self::new(self.name, bytes, base))
    }

    fn bytes_of(&self, field: &Field<'a>) -> Result<(&'a [u8], usize), Problem> {
        match field.value {
            Value::Bytes(bytes, base) => Ok((bytes, base)),
            Value::Number(_) => {
                Err(self.bad(field.at, &format!("field {} is a number", field.number)))
            }
        }
    }

    /// A field's bytes.
    pub(super) fn raw(&self, field: &Field<'a>) -> Result<&'a [u8], Problem> {
        self.bytes_of(field).map(|(bytes, _)| bytes)
    }

    /// A field's text; bytes that are not UTF-8 are escaped.
    pub(super) fn text(&self, field: &Field<'a>) -> Result<String, Problem> {
        let bytes = self.raw(field)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.escape_ascii().to_string(),
        })
    }

    /// A field's number.
    pub(super) fn number(&self, field: &Field<'a>) -> Result<u64, Problem> {
        match field.value {
            Value::Number(number) => Ok(number),
            Value::Bytes(..) => {
                Err(self.bad(field.at, &format!("field {} is not a number", field.number)))
            }
        }
    }

    /// Adds a repeated number: one, or several packed.
    pub(super) fn numbers(&self, field: &Field<'a>, out: &mut Vec<u64>) -> Result<(), Problem> {
        match field.value {
            Value::Number(number) => out.push(number),
            Value::Bytes(bytes, base) => {
                let mut packed = Self::new(self.name, bytes, base);
                while packed.at < bytes.len() {
                    out.push(packed.varint()?);
                }
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Problem> {
        let start = self.base + self.at;
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.bytes.get(self.at) else {
                return Err(self.bad(start, "a number is cut"));
            };
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(self.bad(start, "a number is beyond 64 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.bad(start, "a number has more than ten bytes"))
    }

    fn take(&mut self, length: u64, at: usize) -> Result<&'a [u8], Problem> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let Some(taken) = taken else {
            let value = format!("a field of {length} bytes, {} follow", rest.len());
            return Err(self.bad(at, &value));
        };
        self.at += taken.len();
        Ok(taken)
    }

    /// The next field, `None` at the end of the message.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, Problem> {
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let at = self.base + self.at;
        let key = self.varint()?;
        let number = key >> 3;
        if number == 0 {
            return Err(self.bad(at, "a field has number 0"));
        }
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => {
                let bytes = self.take(8, at)?.first_chunk::<8>();
                Value::Number(bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes)))
            }
            2 => {
                let length = self.varint()?;
                let start = self.base + self.at;
                Value::Bytes(self.take(length, at)?, start)
            }
            5 => {
                let bytes = self.take(4, at)?.first_chunk::<4>();
                Value::Number(bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes))))
            }
            other => return Err(self.bad(at, &format!("field {number} has wire type {other}"))),
        };
        Ok(Some(Field { number, value, at }))
    }
}
