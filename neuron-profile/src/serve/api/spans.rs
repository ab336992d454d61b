//! Events of a timeline one by one, where they are few, in bytes as those of a
//! viewport:
//!
//! ```text
//! head    u32 "NVE1", u32 lanes
//! lane    u32 number, u32 count n, then four arrays of n:
//!         u64 row, u64 start ns, u64 end ns, u32 kind,
//!         and 4 bytes of padding where n is odd
//! ```
//!
//! Lanes with more events than asked for are left out.

use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use profile_store::read::{LaneSpans, Span};
use serde::Deserialize;

use super::{Shared, timeline, with_profile};
use crate::serve::answer::Trouble;

/// The first bytes.
const MAGIC: &[u8; 4] = b"NVE1";

/// Events of a lane where nothing is said.
const LIMIT: u32 = 256;

/// A range of time and lanes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// ns
    from: u64,
    /// ns
    to: u64,
    /// Events of a lane at most.
    #[serde(default)]
    limit: Option<u32>,
    /// Numbers with commas between; all if left out.
    #[serde(default)]
    lanes: Option<String>,
}

pub(super) async fn spans(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = with_profile(shared, id, move |profile| {
        let lanes = timeline::lanes(asked.lanes.as_deref(), profile)?;
        let limit = asked.limit.unwrap_or(LIMIT);
        Ok(encode(&profile.spans(asked.from, asked.to, &lanes, limit)?))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes.await?))
}

fn encode(lanes: &[LaneSpans]) -> Vec<u8> {
    let few: Vec<(usize, &[Span])> =
        lanes.iter().filter_map(|lane| Some((lane.lane, lane.spans.as_deref()?))).collect();
    let size = 8 + few.iter().map(|(_, spans)| 12 + 28 * spans.len()).sum::<usize>();
    let mut out = Vec::with_capacity(size);
    let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    out.extend(MAGIC);
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
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_with_too_many_are_left_out() {
        let span = |row| Span { row, start: 2, end: 3, name: 4 };
        let lane = |lane, spans| LaneSpans { lane, spans };
        let bytes = encode(&[lane(7, Some(vec![span(5)])), lane(8, None), lane(9, Some(vec![]))]);
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((&bytes[..4], u32_at(4)), (&b"NVE1"[..], 2));
        assert_eq!((u32_at(8), u32_at(12)), (7, 1));
        assert_eq!((u64_at(16), u64_at(24), u64_at(32), u32_at(40)), (5, 2, 3, 4));
        // One event of 28 bytes and 4 of padding.
        assert_eq!((u32_at(48), u32_at(52), bytes.len()), (9, 0, 56));
    }
}
