//! Addresses and access patterns (isa-layouts.md §2.4, §2.5; neuroncore.md
//! §1.2, §3.4).

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use super::field::{Field, RecordBytes, newtype_field};

/// First address of PSUM in the space of the engines.
pub const PSUM_BASE: u32 = 0x200_0000;
/// Bytes from one SBUF partition to the next.
pub const SBUF_PARTITION_STRIDE: u32 = 0x4_0000;
/// Bytes from one PSUM partition to the next.
pub const PSUM_PARTITION_STRIDE: u32 = 0x8000;
/// Bytes of a PSUM bank.
pub const PSUM_BANK_BYTES: u32 = 2048;

/// Address in a record of an engine, 4 bytes as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Addr4(pub u32);
newtype_field!(Addr4(u32));

/// What an [`Addr4`] means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The state buffer.
    Sbuf {
        /// Partition, 0 to 127.
        partition: u8,
        /// Byte in the partition.
        byte: u32,
    },
    /// The accumulation buffer.
    Psum {
        /// Partition, 0 to 127.
        partition: u8,
        /// Byte in the partition; the bank is `byte / 2048`.
        byte: u32,
    },
    /// A form that takes the address or the shape from a register, or an
    /// indirect one (top byte, neuroncore.md §3.4), or no address at all. No
    /// real file holds one.
    Other(u32),
}

impl Addr4 {
    /// In SBUF; `None` past the partition or its end.
    pub fn sbuf(partition: u8, byte: u32) -> Option<Self> {
        (partition < 128 && byte < SBUF_PARTITION_STRIDE)
            .then(|| Self(u32::from(partition) * SBUF_PARTITION_STRIDE + byte))
    }

    /// In PSUM; `None` past the partition or its end.
    pub fn psum(partition: u8, byte: u32) -> Option<Self> {
        (partition < 128 && byte < PSUM_PARTITION_STRIDE)
            .then(|| Self(PSUM_BASE + u32::from(partition) * PSUM_PARTITION_STRIDE + byte))
    }

    /// What it means.
    pub fn place(self) -> Place {
        let split = |offset: u32, stride: u32| {
            u8::try_from(offset / stride).ok().map(|partition| (partition, offset % stride))
        };
        let psum_end = PSUM_BASE + 128 * PSUM_PARTITION_STRIDE;
        let place = if self.0 < PSUM_BASE {
            split(self.0, SBUF_PARTITION_STRIDE)
                .map(|(partition, byte)| Place::Sbuf { partition, byte })
        } else if self.0 < psum_end {
            split(self.0 - PSUM_BASE, PSUM_PARTITION_STRIDE)
                .map(|(partition, byte)| Place::Psum { partition, byte })
        } else {
            None
        };
        place.unwrap_or(Place::Other(self.0))
    }
}

/// `0x2000800`.
impl fmt::Display for Addr4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Addr4 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Address in a DMA or memory record, 8 bytes as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Addr8(pub u64);
newtype_field!(Addr8(u64));

/// What an [`Addr8`] means; the top byte tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// 00: an address of the device.
    Device(u64),
    /// 10: a variable of the NEFF, before loading only.
    Variable {
        /// Its `var_id`, below 2^24.
        id: u32,
        /// Offset in bytes.
        offset: u32,
    },
    /// 20: an entry of the address table (the `dge-table` variables).
    Table {
        /// Entry, below 2^24.
        index: u32,
        /// Offset in bytes.
        offset: u32,
    },
    /// 28: an entry of the address table, with the offset in a register.
    TableRegister {
        /// Entry, below 2^24.
        index: u32,
        /// Register whose 32 bits are the offset in bytes.
        register: u8,
    },
    /// Any other form, as it stands.
    Other(u64),
}

impl Addr8 {
    /// What it means.
    pub const fn location(self) -> Location {
        let [b0, b1, b2, b3, b4, b5, b6, form] = self.0.to_le_bytes();
        let low = u32::from_le_bytes([b0, b1, b2, b3]);
        let high = u32::from_le_bytes([b4, b5, b6, 0]);
        match form {
            0x00 => Location::Device(self.0),
            0x10 => Location::Variable { id: high, offset: low },
            0x20 => Location::Table { index: high, offset: low },
            0x28 if low < 256 => Location::TableRegister { index: high, register: b0 },
            _ => Location::Other(self.0),
        }
    }

    /// The bytes of a location; `None` when a number does not fit its place.
    pub fn of(location: Location) -> Option<Self> {
        let pack = |form: u64, high: u32, low: u32| {
            (high < 1 << 24).then(|| Self(form << 56 | u64::from(high) << 32 | u64::from(low)))
        };
        match location {
            Location::Device(address) => (address >> 56 == 0).then_some(Self(address)),
            Location::Variable { id, offset } => pack(0x10, id, offset),
            Location::Table { index, offset } => pack(0x20, index, offset),
            Location::TableRegister { index, register } => pack(0x28, index, u32::from(register)),
            Location::Other(bits) => Some(Self(bits)),
        }
    }
}

impl Serialize for Addr8 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.location().serialize(serializer)
    }
}

/// An operand in SBUF or PSUM: a start and `N` free dimensions, innermost
/// first, the same for every partition. Element (p, i0, i1, ..) is at `start +
/// p x partition stride + (i0 x steps[0] + i1 x steps[1] + ..) x element size`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern<const N: usize> {
    /// Address of the first element.
    pub start: Addr4,
    /// Steps in elements; 0 repeats, negative walks back.
    pub steps: [i16; N],
    /// Counts; a dimension that is not used has 1.
    pub counts: [u16; N],
}

impl<const N: usize> Default for Pattern<N> {
    fn default() -> Self {
        Self { start: Addr4(0), steps: [0; N], counts: [0; N] }
    }
}

impl<const N: usize> Pattern<N> {
    /// Elements in one partition: the product of the counts. It is below
    /// 2^64 for up to four dimensions.
    pub fn elements(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).product()
    }

    /// Offsets of the elements from the start, in elements, in walk order:
    /// dimension 0 runs fastest. There are as many as [`Pattern::elements`].
    pub fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.elements()).map(|position| {
            let mut rest = position;
            let mut offset = 0;
            for (step, count) in self.steps.iter().zip(self.counts) {
                // counts are not 0 here, or there would be no position
                let index = rest % u64::from(count);
                rest /= u64::from(count);
                offset += i64::from(*step) * i64::try_from(index).unwrap_or(0);
            }
            offset
        })
    }
}

impl<const N: usize> Field for Pattern<N> {
    const SIZE: usize = 4 + 4 * N;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        Self {
            start: Field::read(bytes, offset),
            steps: Field::read(bytes, offset + 4),
            counts: Field::read(bytes, offset + 4 + 2 * N),
        }
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        self.start.write(bytes, offset);
        self.steps.write(bytes, offset + 4);
        self.counts.write(bytes, offset + 4 + 2 * N);
    }
}

/// `0x369f4[-1,0,0][128,1,1]`.
impl<const N: usize> fmt::Display for Pattern<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}][{}]", self.start, Joined(&self.steps), Joined(&self.counts))
    }
}

impl<const N: usize> Serialize for Pattern<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Pattern", 4)?;
        object.serialize_field("start", &self.start)?;
        object.serialize_field("place", &self.start.place())?;
        object.serialize_field("steps", self.steps.as_slice())?;
        object.serialize_field("counts", self.counts.as_slice())?;
        object.end()
    }
}

/// Numbers with commas between them.
pub(crate) struct Joined<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for Joined<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "," };
            write!(f, "{gap}{item}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses of isa-layouts.md §2.4.
    #[test]
    fn places_of_engine_addresses() {
        assert_eq!(Addr4(0x369f4).place(), Place::Sbuf { partition: 0, byte: 0x369f4 });
        assert_eq!(Addr4::sbuf(32, 8).unwrap().place(), Place::Sbuf { partition: 32, byte: 8 });
        assert_eq!(Addr4(0x200_8800).place(), Place::Psum { partition: 1, byte: 0x800 });
        assert_eq!(Addr4(0x8000_0005).place(), Place::Other(0x8000_0005));
        assert!(Addr4::psum(128, 0).is_none() && Addr4::sbuf(0, 0x4_0000).is_none());
    }

    /// isa-layouts.md §3.1: two spellings of one walk.
    #[test]
    fn offsets_follow_the_walk() {
        let walk = |steps, counts| Pattern { start: Addr4(0), steps, counts };
        let flat: Vec<_> = walk([-1, 0, 0], [128, 1, 1]).offsets().collect();
        let tiled: Vec<_> = walk([-1, 0, -32], [32, 1, 4]).offsets().collect();
        assert_eq!(flat, tiled);
        assert_eq!((flat.len(), flat.last()), (128, Some(&-127)));
        assert_eq!(
            walk([2, 10, 0], [2, 3, 1]).offsets().collect::<Vec<_>>(),
            [0, 2, 10, 12, 20, 22]
        );
        assert_eq!(walk([1, 1, 1], [4, 0, 4]).offsets().count(), 0);
    }

    /// Register form of isa-layouts.md §7, row B8 / D4.
    #[test]
    fn locations_of_dma_addresses() {
        let register = Addr8(0x2800_0001_0000_001f);
        assert_eq!(register.location(), Location::TableRegister { index: 1, register: 31 });
        for bits in [0, 0x8020_0003_6500, 0x1000_0002_0000_0040, 0x2000_0003_0000_0010, 1 << 63] {
            assert_eq!(Addr8::of(Addr8(bits).location()), Some(Addr8(bits)));
        }
        assert!(Addr8::of(Location::Device(1 << 56)).is_none());
    }
}
