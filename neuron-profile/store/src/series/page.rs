//! Pages of a zoom level of a series.
//!
//! A page is 40 bytes for each of its entries, compressed: bins from the end of
//! the entry before (from 0 for the first), how many bins, least, largest, and
//! the integral of a bin, 8 bytes each, lowest first. The first bytes of all
//! entries come first, then their second ones, and so on: what is near each
//! other is alike. Pages of version [`BY_ENTRY`] are whole entries one after
//! the other, each with the number of its first bin.

use std::io;

use crate::encode::frames;

/// Entries of a page (our choice: a viewport reads four or five).
pub(super) const PAGE: usize = 256;

/// Bytes of an entry in a page.
const SIZE: usize = 40;

/// The version of the index whose pages are entry by entry.
const BY_ENTRY: u32 = 0;

/// The version of the index whose pages [`write()`] makes.
pub(super) const VERSION: u32 = 1;

/// One bin, or a run of bins in which the value is the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) bin: u64,
    pub(super) bins: u64,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Of each bin: value times ns.
    pub(super) integral: f64,
}

impl Entry {
    fn bytes(&self, gap: u64) -> [u8; SIZE] {
        let reals = [self.min, self.max, self.integral].map(f64::to_le_bytes);
        let mut out = [0; SIZE];
        let words = [gap.to_le_bytes(), self.bins.to_le_bytes()].into_iter().chain(reals);
        for (place, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word;
        }
        out
    }

    /// With the gap in place of its first bin.
    fn new(bytes: &[u8; SIZE]) -> Option<Self> {
        let [gap, bins, min, max, integral] = bytes.as_chunks::<8>().0 else { return None };
        Some(Self {
            bin: u64::from_le_bytes(*gap),
            bins: u64::from_le_bytes(*bins),
            min: f64::from_le_bytes(*min),
            max: f64::from_le_bytes(*max),
            integral: f64::from_le_bytes(*integral),
        })
    }
}

/// A page of entries in their order.
pub(super) fn write(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut end = 0;
    let rows = entries.iter().map(|entry| {
        let row = entry.bytes(entry.bin - end);
        end = entry.bin + entry.bins;
        row
    });
    let rows: Vec<_> = rows.collect();
    let mut bytes = Vec::with_capacity(rows.len() * SIZE);
    for place in 0..SIZE {
        bytes.extend(rows.iter().filter_map(|row| row.get(place)));
    }
    frames::pack(&bytes)
}

/// The entries of a page; `None` for other bytes. `version` is that of the index.
pub(super) fn read(bytes: &[u8], version: u32) -> Option<Vec<Entry>> {
    let bytes = frames::unpack(bytes, PAGE * SIZE).ok()?;
    let count = bytes.len() / SIZE;
    if bytes.len() % SIZE != 0 {
        return None;
    }
    if version == BY_ENTRY {
        return bytes.as_chunks().0.iter().map(Entry::new).collect();
    }
    let mut rows = vec![[0; SIZE]; count];
    for (place, column) in bytes.chunks(count.max(1)).enumerate() {
        for (row, byte) in rows.iter_mut().zip(column) {
            if let Some(to) = row.get_mut(place) {
                *to = *byte;
            }
        }
    }
    let mut end = 0_u64;
    let one = |row| {
        let entry = Entry::new(row)?;
        let bin = end.checked_add(entry.bin)?;
        end = bin.checked_add(entry.bins)?;
        Some(Entry { bin, ..entry })
    };
    rows.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn there_and_back(list in proptest::collection::vec((0..1_u64 << 40, 1..1_u64 << 20, any::<f64>()), 0..PAGE)) {
            let mut end = 0;
            let entries: Vec<Entry> = list.iter().map(|(gap, bins, value)| {
                let bin = end + gap;
                end = bin + bins;
                Entry { bin, bins: *bins, min: *value, max: value.abs(), integral: value * 3.0 }
            }).collect();
            let back = read(&write(&entries).unwrap(), VERSION).unwrap();
            // A number that is none is not equal to itself: by its bits.
            let bits = |list: &[Entry]| -> Vec<[u8; SIZE]> { list.iter().map(|e| e.bytes(e.bin)).collect() };
            prop_assert_eq!(bits(&back), bits(&entries));
        }

        #[test]
        fn pages_of_before(bins in proptest::collection::vec(any::<u64>(), 0..PAGE)) {
            let entry = |bin: &u64| Entry { bin: *bin, bins: 7, min: 0.5, max: 2.5, integral: 9.0 };
            let entries: Vec<Entry> = bins.iter().map(entry).collect();
            let plain: Vec<u8> = entries.iter().flat_map(|entry| entry.bytes(entry.bin)).collect();
            let bytes = frames::pack(&plain).unwrap();
            prop_assert_eq!(read(&bytes, BY_ENTRY), Some(entries));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
            let page = frames::pack(&bytes).unwrap();
            for version in [BY_ENTRY, VERSION] {
                prop_assert!(read(&bytes, version).is_none_or(|list| list.len() <= PAGE));
                let read = read(&page, version);
                prop_assert!(read.is_none_or(|list| list.len() == bytes.len() / SIZE));
            }
        }
    }
}
