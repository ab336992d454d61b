//! Entries of a zoom level, and the list of the pages of a block.

use crate::encode::bits::{read_varint, varint};
use crate::lanes::Sum;

/// One entry of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// First bin.
    pub bin: u64,
    /// Bins; more than one are all full.
    pub bins: u64,
    /// Events that begin in it.
    pub count: u64,
    /// Busy ns of each bin.
    pub busy: u64,
    /// Kind that covers most.
    pub name: u32,
}

/// Appends an entry; `before` is the bin behind the last one.
pub(super) fn put(out: &mut Vec<u8>, before: u64, entry: &Entry) {
    let run = entry.bins > 1;
    varint(out, (entry.bin.saturating_sub(before) << 1) | u64::from(run));
    if run {
        varint(out, entry.bins);
    } else {
        varint(out, entry.count);
        varint(out, entry.busy);
    }
    varint(out, u64::from(entry.name));
}

/// Reads the entries of a page that begins with `bin`; stops at bytes that are
/// none, and says whether there were some.
pub fn entries(mut bytes: &[u8], bin: u64, shift: u32, mut each: impl FnMut(Entry)) -> bool {
    let mut at = bin;
    while !bytes.is_empty() {
        let mut one = || -> Option<Entry> {
            let head = read_varint(&mut bytes)?;
            let bin = at.checked_add(head >> 1)?;
            let (bins, count, busy) = if head & 1 == 1 {
                (read_varint(&mut bytes)?, 0, 1_u64.checked_shl(shift)?)
            } else {
                (1, read_varint(&mut bytes)?, read_varint(&mut bytes)?)
            };
            let name = u32::try_from(read_varint(&mut bytes)?).ok()?;
            at = bin.checked_add(bins)?;
            Some(Entry { bin, bins, count, busy, name })
        };
        match one() {
            Some(entry) => each(entry),
            None => return false,
        }
    }
    true
}

/// A page of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowPage {
    /// Rows.
    pub rows: u64,
    /// First start, ns.
    pub start: u64,
    /// Last start, ns.
    pub last: u64,
    /// Latest end in the lane before this page, ns.
    pub before: u64,
    /// Latest end in the lane after it, ns.
    pub covered: u64,
    /// Byte and length of the pages of starts, ends and keys in the table.
    pub at: [(u64, u32); 3],
    /// Sums by name.
    pub sums: Vec<Sum>,
}

/// The pages of a block as bytes.
pub(crate) fn write_pages(pages: &[RowPage]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, pages.len() as u64);
    for page in pages {
        for value in [page.rows, page.start, page.last, page.before, page.covered] {
            varint(&mut out, value);
        }
        for (at, size) in page.at {
            varint(&mut out, at);
            varint(&mut out, u64::from(size));
        }
        varint(&mut out, page.sums.len() as u64);
        for Sum(name, count, time, busy, moved) in &page.sums {
            for value in [u64::from(*name), *count, *time, *busy, *moved] {
                varint(&mut out, value);
            }
        }
    }
    out
}

/// Back; `None` for other bytes. `full` says that sums have bytes.
pub fn read_pages(mut bytes: &[u8], full: bool) -> Option<Vec<RowPage>> {
    let bytes = &mut bytes;
    let count = usize::try_from(read_varint(bytes)?).ok()?;
    // A page has at least twelve bytes.
    let mut out = Vec::with_capacity(count.min(bytes.len() / 12));
    for _ in 0..count {
        let mut page = RowPage {
            rows: read_varint(bytes)?,
            start: read_varint(bytes)?,
            last: read_varint(bytes)?,
            before: read_varint(bytes)?,
            covered: read_varint(bytes)?,
            ..RowPage::default()
        };
        for place in &mut page.at {
            *place = (read_varint(bytes)?, u32::try_from(read_varint(bytes)?).ok()?);
        }
        for _ in 0..read_varint(bytes)? {
            let name = u32::try_from(read_varint(bytes)?).ok()?;
            let [count, time, busy] =
                [read_varint(bytes)?, read_varint(bytes)?, read_varint(bytes)?];
            let moved = if full { read_varint(bytes)? } else { 0 };
            page.sums.push(Sum(name, count, time, busy, moved));
        }
        out.push(page);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut seen = 0;
            entries(&bytes, 0, 4, |_| seen += 1);
            prop_assert!(seen <= bytes.len());
            let _ = (read_pages(&bytes, true), read_pages(&bytes, false));
        }
    }
}
