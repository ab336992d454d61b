//! Fields of a record: a type, an offset, and nothing else.
//!
//! A payload is declared once with `layout!`; reading, writing, the list of
//! its fields and the mask of bytes that no field names follow from that one
//! declaration. Every field is a whole number of bytes and keeps every value
//! its bytes can have, so that encoding what was decoded gives the same bytes.

use serde::Serialize;

/// Bytes of one record on every generation from v2 on (neuroncore.md §3.2).
pub const RECORD_BYTES: usize = 64;

/// The bytes of one record.
pub type RecordBytes = [u8; RECORD_BYTES];

/// Name and place of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FieldSpec {
    /// Name, as in the Rust type.
    pub name: &'static str,
    /// Offset from the start of the record, in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// A value that stands in a record.
pub(crate) trait Field: Sized {
    /// Bytes it takes.
    const SIZE: usize;
    /// Reads it at an offset; `offset + SIZE` is at most [`RECORD_BYTES`].
    fn read(bytes: &RecordBytes, offset: usize) -> Self;
    /// Writes it at an offset; `offset + SIZE` is at most [`RECORD_BYTES`].
    fn write(&self, bytes: &mut RecordBytes, offset: usize);
}

/// A payload declared by [`layout!`].
pub(crate) trait Layout: Sized + Default {
    /// One bit per byte that a field names; bit 0 is byte 0.
    const MASK: u64;
    fn read(bytes: &RecordBytes) -> Self;
    fn write(&self, bytes: &mut RecordBytes);
}

/// Copies `N` bytes out; what would lie past the end reads as zero.
pub(crate) fn take<const N: usize>(bytes: &RecordBytes, offset: usize) -> [u8; N] {
    bytes.get(offset..offset + N).and_then(|part| part.try_into().ok()).unwrap_or([0; N])
}

/// Copies bytes in; what would lie past the end is dropped.
pub(crate) fn put<const N: usize>(bytes: &mut RecordBytes, offset: usize, value: [u8; N]) {
    if let Some(part) = bytes.get_mut(offset..offset + N) {
        part.copy_from_slice(&value);
    }
}

/// The mask of a list of fields. Fails to compile when a field leaves the
/// record, overlaps another or touches the header (bytes 0 to 11).
pub(crate) const fn payload_mask(fields: &[FieldSpec]) -> u64 {
    let mut mask = 0u64;
    let mut index = 0;
    while index < fields.len() {
        let field = fields[index];
        assert!(field.offset >= 12 && field.offset + field.size <= RECORD_BYTES);
        let mut byte = field.offset;
        while byte < field.offset + field.size {
            assert!(mask & (1 << byte) == 0, "two fields name the same byte");
            mask |= 1 << byte;
            byte += 1;
        }
        index += 1;
    }
    mask
}

macro_rules! integer_field {
    ($($type:ty),*) => { $(
        impl Field for $type {
            const SIZE: usize = size_of::<$type>();
            fn read(bytes: &RecordBytes, offset: usize) -> Self {
                Self::from_le_bytes(take(bytes, offset))
            }
            fn write(&self, bytes: &mut RecordBytes, offset: usize) {
                put(bytes, offset, self.to_le_bytes());
            }
        }
    )* };
}
integer_field!(u8, u16, i16, u32, i32, u64);

impl<F: Field + Copy + Default, const N: usize> Field for [F; N] {
    const SIZE: usize = F::SIZE * N;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        let mut out = [F::default(); N];
        for (index, item) in out.iter_mut().enumerate() {
            *item = F::read(bytes, offset + index * F::SIZE);
        }
        out
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        for (index, item) in self.iter().enumerate() {
            item.write(bytes, offset + index * F::SIZE);
        }
    }
}

/// Declares a payload: documented fields with their offsets.
macro_rules! layout {
    ($(#[$doc:meta])* $name:ident {
        $( $(#[$field_doc:meta])* $offset:literal $field:ident : $type:ty ),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
        pub struct $name { $( $(#[$field_doc])* pub $field: $type, )* }

        impl $name {
            /// Where each field stands.
            pub const FIELDS: &'static [$crate::isa::field::FieldSpec] = &[ $(
                $crate::isa::field::FieldSpec {
                    name: stringify!($field),
                    offset: $offset,
                    size: <$type as $crate::isa::field::Field>::SIZE,
                },
            )* ];
        }

        impl $crate::isa::field::Layout for $name {
            const MASK: u64 = $crate::isa::field::payload_mask(Self::FIELDS);
            #[allow(unused_variables, reason = "a payload may have no field")]
            fn read(bytes: &$crate::isa::field::RecordBytes) -> Self {
                Self { $( $field: $crate::isa::field::Field::read(bytes, $offset), )* }
            }
            #[allow(unused_variables, reason = "a payload may have no field")]
            fn write(&self, bytes: &mut $crate::isa::field::RecordBytes) {
                $( $crate::isa::field::Field::write(&self.$field, bytes, $offset); )*
            }
        }
    };
}
pub(crate) use layout;

/// Makes a newtype over an integer a field.
macro_rules! newtype_field {
    ($name:ident($inner:ty)) => {
        impl $crate::isa::field::Field for $name {
            const SIZE: usize = size_of::<$inner>();
            fn read(bytes: &$crate::isa::field::RecordBytes, offset: usize) -> Self {
                Self($crate::isa::field::Field::read(bytes, offset))
            }
            fn write(&self, bytes: &mut $crate::isa::field::RecordBytes, offset: usize) {
                $crate::isa::field::Field::write(&self.0, bytes, offset);
            }
        }
    };
}
pub(crate) use newtype_field;

/// Bytes of a record that no field names, kept as read; zero at the places of
/// named fields. All zero in every record of a real file that has a layout
/// here (isa-layouts.md §1.3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rest(RecordBytes);

impl Rest {
    /// No byte set.
    pub const NONE: Self = Self([0; RECORD_BYTES]);

    /// The bytes of a record outside `mask`.
    pub(crate) fn of(bytes: &RecordBytes, mask: u64) -> Self {
        let mut rest = *bytes;
        for (index, byte) in rest.iter_mut().enumerate() {
            if mask >> index & 1 == 1 {
                *byte = 0;
            }
        }
        Self(rest)
    }

    /// The 64 bytes.
    pub const fn bytes(&self) -> &RecordBytes {
        &self.0
    }

    /// Whether no byte is set.
    pub fn is_none(&self) -> bool {
        self.0.iter().fold(0, |all, byte| all | byte) == 0
    }

    /// Runs of set bytes, as (offset, bytes).
    pub fn runs(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut offset = 0;
        self.0.split(|byte| *byte == 0).filter_map(move |run| {
            let start = offset;
            offset += run.len() + 1;
            (!run.is_empty()).then_some((start, run))
        })
    }
}

impl Default for Rest {
    fn default() -> Self {
        Self::NONE
    }
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.runs()).finish()
    }
}

/// As `{"12": "ff00"}`: the set bytes in hexadecimal by offset.
impl Serialize for Rest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.runs().map(|(offset, run)| (offset, crate::text::hex(run))))
    }
}

/// Reads hexadecimal digits in pairs.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
