//! Tiles as bytes, little-endian, every number at a multiple of its size: a
//! browser reads them as typed arrays, without parsing.
//!
//! ```text
//! head    u32 "NVT1", u32 lanes, u32 columns, u32 0, u64 start ns, u64 ns of a column
//! lane    u32 number, u32 count n, then five arrays of n:
//!         u64 row, u64 busy ns, u32 column, u32 events that begin, u32 name,
//!         and 4 bytes of padding where n is odd
//! ```

use profile_store::read::Viewport;

/// The first bytes.
const MAGIC: &[u8; 4] = b"NVT1";

/// A viewport as bytes.
pub(super) fn viewport(view: &Viewport) -> Vec<u8> {
    let counts = view.lanes.iter().map(|lane| lane.columns.len());
    let size = 32 + counts.map(|count| 8 + 28 * count + 4).sum::<usize>();
    let mut out = Vec::with_capacity(size);
    let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    out.extend(MAGIC);
    out.extend(word(view.lanes.len()));
    out.extend(view.columns.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(view.start.to_le_bytes());
    out.extend(view.column_ns.to_le_bytes());
    for lane in &view.lanes {
        out.extend(word(lane.lane));
        out.extend(word(lane.columns.len()));
        let columns = || lane.columns.iter();
        columns().for_each(|column| out.extend(column.row.to_le_bytes()));
        columns().for_each(|column| out.extend(column.busy.to_le_bytes()));
        columns().for_each(|column| out.extend(column.at.to_le_bytes()));
        columns().for_each(|column| out.extend(column.count.to_le_bytes()));
        columns().for_each(|column| out.extend(column.name.to_le_bytes()));
        if lane.columns.len() % 2 == 1 {
            out.extend([0; 4]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use profile_store::read::{Column, LaneView};

    use super::*;

    #[test]
    fn arrays_are_aligned() {
        let column = |at| Column { at, count: 2, busy: 3, name: 4, row: 5 };
        let lane = |lane, columns| LaneView { lane, columns };
        let lanes = vec![lane(7, vec![column(0)]), lane(9, vec![column(1), column(2)])];
        let bytes = viewport(&Viewport { start: 64, column_ns: 32, columns: 3, lanes });
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((&bytes[..4], u32_at(4), u32_at(8)), (&b"NVT1"[..], 2, 3));
        assert_eq!((u64_at(16), u64_at(24)), (64, 32));
        // Lane 7: one column of 28 bytes and 4 of padding.
        assert_eq!((u32_at(32), u32_at(36), u64_at(40), u64_at(48)), (7, 1, 5, 3));
        assert_eq!((u32_at(56), u32_at(60), u32_at(64)), (0, 2, 4));
        assert_eq!((u32_at(72), u32_at(76)), (9, 2));
        assert_eq!((u32_at(112), u32_at(116)), (1, 2));
        assert_eq!(bytes.len(), 72 + 8 + 56);
    }
}
