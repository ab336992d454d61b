//! Tiles as bytes, little-endian, every number at a multiple of its size: a
//! browser reads them as typed arrays, without parsing.
//!
//! ```text
//! head    u32 "NVT1", u32 lanes, u32 columns, u32 0, u64 start ns, u64 ns of a column
//! lane    u32 number, u32 count n, then five arrays of n:
//!         u64 row, u64 busy ns, u32 column, u32 events that begin, u32 kind,
//!         and 4 bytes of padding where n is odd
//! ```
//!
//! Series and matches of a search have the same head, see HTTP.md. Events one by
//! one, alone or behind the columns of a viewport:
//!
//! ```text
//! head    u32 "NVE1", u32 lanes
//! lane    u32 number, u32 count n, then four arrays of n:
//!         u64 row, u64 start ns, u64 end ns, u32 kind,
//!         and 4 bytes of padding where n is odd
//! ```

use profile_store::read::{Columns, LaneSpans, Span, Viewport};
use profile_store::series::SeriesView;

/// The first bytes of a viewport, of series, of matches of a search, and of
/// events.
const TILES: &[u8; 4] = b"NVT1";
const SERIES: &[u8; 4] = b"NVS1";
const MATCHES: &[u8; 4] = b"NVM1";
const EVENTS: &[u8; 4] = b"NVE1";

fn word(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

/// What all begin with.
fn head(out: &mut Vec<u8>, magic: &[u8; 4], parts: usize, columns: u32, start: u64, column: u64) {
    out.extend(magic);
    out.extend(word(parts));
    out.extend(columns.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(column.to_le_bytes());
}

/// Series as bytes.
pub(crate) fn series(view: &SeriesView) -> Vec<u8> {
    let size = view.series.iter().map(|columns| 12 + 28 * columns.len()).sum::<usize>();
    let mut out = Vec::with_capacity(32 + size);
    let of = &view.columns;
    head(&mut out, SERIES, view.series.len(), of.columns, of.start, 1 << of.shift);
    for (place, columns) in view.series.iter().enumerate() {
        out.extend(word(place));
        out.extend(word(columns.len()));
        columns.iter().for_each(|column| out.extend(column.min.to_le_bytes()));
        columns.iter().for_each(|column| out.extend(column.max.to_le_bytes()));
        columns.iter().for_each(|column| out.extend(column.mean.to_le_bytes()));
        columns.iter().for_each(|column| out.extend(column.at.to_le_bytes()));
        if columns.len() % 2 == 1 {
            out.extend([0; 4]);
        }
    }
    out
}

/// Columns with a match by lane: which, and how many begin in it.
pub(crate) fn matches(of: &Columns, lanes: &[(usize, Vec<(u32, u32)>)]) -> Vec<u8> {
    let mut out = Vec::new();
    head(&mut out, MATCHES, lanes.len(), of.columns, of.start, 1 << of.shift);
    for (lane, columns) in lanes {
        out.extend(word(*lane));
        out.extend(word(columns.len()));
        columns.iter().for_each(|(at, _)| out.extend(at.to_le_bytes()));
        columns.iter().for_each(|(_, count)| out.extend(count.to_le_bytes()));
    }
    out
}

/// A viewport as bytes.
pub(crate) fn viewport(view: &Viewport) -> Vec<u8> {
    let counts = view.lanes.iter().map(|lane| lane.columns.len());
    let size = 32 + counts.map(|count| 8 + 28 * count + 4).sum::<usize>();
    let mut out = Vec::with_capacity(size);
    head(&mut out, TILES, view.lanes.len(), view.columns, view.start, view.column_ns);
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

/// Adds the events of those lanes that have them.
pub(crate) fn spans(out: &mut Vec<u8>, lanes: &[LaneSpans]) {
    let few: Vec<(usize, &[Span])> =
        lanes.iter().filter_map(|lane| Some((lane.lane, lane.spans.as_deref()?))).collect();
    let size = 8 + few.iter().map(|(_, spans)| 12 + 28 * spans.len()).sum::<usize>();
    out.reserve(size);
    out.extend(EVENTS);
    out.extend(word(few.len()));
    for (lane, spans) in few {
        out.extend(word(lane));
        out.extend(word(spans.len()));
        spans.iter().for_each(|span| out.extend(span.row.to_le_bytes()));
        spans.iter().for_each(|span| out.extend(span.start.to_le_bytes()));
        spans.iter().for_each(|span| out.extend(span.end.to_le_bytes()));
        spans.iter().for_each(|span| out.extend(span.name.to_le_bytes()));
        if spans.len() % 2 == 1 {
            out.extend([0; 4]);
        }
    }
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

    #[test]
    fn lanes_with_too_many_are_left_out() {
        let span = |row| Span { row, start: 2, end: 3, name: 4 };
        let lane = |lane, spans| LaneSpans { lane, spans };
        let mut bytes = Vec::new();
        spans(&mut bytes, &[lane(7, Some(vec![span(5)])), lane(8, None), lane(9, Some(vec![]))]);
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((&bytes[..4], u32_at(4)), (&b"NVE1"[..], 2));
        assert_eq!((u32_at(8), u32_at(12)), (7, 1));
        assert_eq!((u64_at(16), u64_at(24), u64_at(32), u32_at(40)), (5, 2, 3, 4));
        // One event of 28 bytes and 4 of padding.
        assert_eq!((u32_at(48), u32_at(52), bytes.len()), (9, 0, 56));
    }
}
