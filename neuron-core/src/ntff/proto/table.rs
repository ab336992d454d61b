//! The shape of the tables in [`schema`](super::schema).

/// A message and its fields.
#[derive(Debug)]
pub struct Message {
    /// Name in the schema.
    pub name: &'static str,
    /// Memory that one decoded value takes by itself, in bytes.
    pub memory: usize,
    /// Fields by rising number.
    pub fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// Number on the wire.
    pub number: u32,
    /// Name in the schema.
    pub name: &'static str,
    /// Whether it may occur more than once.
    pub repeated: bool,
    /// Type of its values.
    pub kind: Kind,
}

/// Type of a value.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names of protobuf")]
pub enum Kind {
    Bool,
    Uint32,
    Uint64,
    Int32,
    Int64,
    Enum(&'static Enum),
    Float,
    Double,
    String,
    Bytes,
    Message(&'static Message),
}

/// An enum and its values.
#[derive(Debug)]
pub struct Enum {
    /// Name in the schema.
    pub name: &'static str,
    /// Number and name of each value.
    pub values: &'static [(i32, &'static str)],
}

impl Message {
    /// The field of a number.
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(at)
    }
}

impl Enum {
    /// The name of a value.
    pub fn value(&self, number: i32) -> Option<&'static str> {
        self.values.iter().find(|(value, _)| *value == number).map(|(_, name)| *name)
    }
}
