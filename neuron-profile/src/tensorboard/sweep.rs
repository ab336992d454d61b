//! From spans that may overlap to slices that do not: where several are under
//! way at once, the slice is of all of them.

/// Something that lasts, of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// ns
    pub start: u64,
    /// ns
    pub end: u64,
    /// Whose.
    pub node: u32,
}

/// A slice: the nodes are in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// ns
    pub start: u64,
    /// ns
    pub end: u64,
    /// Whose.
    pub nodes: Vec<u32>,
}

/// Slices of spans, in order of time. With `bridge`, neighbours of the same
/// nodes are one slice also where nothing is under way between them.
pub fn slices(spans: &[Span], bridge: bool) -> Vec<Slice> {
    let mut edges: Vec<(u64, bool, u32)> = Vec::with_capacity(spans.len() * 2);
    for span in spans.iter().filter(|span| span.start < span.end) {
        edges.push((span.start, true, span.node));
        edges.push((span.end, false, span.node));
    }
    edges.sort_unstable();
    let mut out: Vec<Slice> = Vec::new();
    // How often each node is under way; few are at once.
    let mut active: Vec<(u32, u32)> = Vec::new();
    let mut since = 0;
    let mut at = 0;
    while let Some((time, ..)) = edges.get(at).copied() {
        if !active.is_empty() && since < time {
            push(&mut out, since, time, &active, bridge);
        }
        while let Some((_, begins, node)) = edges.get(at).filter(|edge| edge.0 == time).copied() {
            match active.binary_search_by_key(&node, |known| known.0) {
                Ok(place) => {
                    if let Some(known) = active.get_mut(place) {
                        known.1 = if begins { known.1 + 1 } else { known.1.saturating_sub(1) };
                    }
                }
                Err(place) if begins => active.insert(place, (node, 1)),
                // An end before its begin at the same time.
                Err(_) => {}
            }
            at += 1;
        }
        active.retain(|known| known.1 > 0);
        since = time;
    }
    out
}

fn push(out: &mut Vec<Slice>, start: u64, end: u64, active: &[(u32, u32)], bridge: bool) {
    let same = |slice: &Slice| slice.nodes.iter().copied().eq(active.iter().map(|known| known.0));
    match out.last_mut() {
        Some(last) if (bridge || last.end == start) && same(last) => last.end = end,
        _ => out.push(Slice { start, end, nodes: active.iter().map(|known| known.0).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(start: u64, end: u64, node: u32) -> Span {
        Span { start, end, node }
    }

    fn told(spans: &[Span], bridge: bool) -> Vec<(u64, u64, Vec<u32>)> {
        slices(spans, bridge)
            .into_iter()
            .map(|slice| (slice.start, slice.end, slice.nodes))
            .collect()
    }

    #[test]
    fn where_two_overlap_the_slice_is_of_both() {
        let spans = [span(0, 10, 1), span(5, 15, 2), span(20, 30, 2), span(30, 40, 2)];
        let wanted =
            vec![(0, 5, vec![1]), (5, 10, vec![1, 2]), (10, 15, vec![2]), (20, 40, vec![2])];
        assert_eq!(told(&spans, false), wanted);
        let bridged = vec![(0, 5, vec![1]), (5, 10, vec![1, 2]), (10, 40, vec![2])];
        assert_eq!(told(&spans, true), bridged);
        assert!(told(&[span(3, 3, 1)], false).is_empty());
    }

    #[test]
    fn a_node_counts_once_however_often_it_is_under_way() {
        assert_eq!(told(&[span(0, 4, 1), span(2, 6, 1), span(3, 5, 1)], false), [(0, 6, vec![1])]);
    }

    proptest! {
        /// At each moment the slice has exactly the nodes that are under way.
        #[test]
        fn every_moment_is_right(raw in prop::collection::vec((0_u64..60, 0_u64..12, 0_u32..5), 0..40)) {
            let spans: Vec<Span> =
                raw.iter().map(|(start, length, node)| span(*start, start + length, *node)).collect();
            let found = slices(&spans, false);
            for time in 0..75 {
                let mut wanted: Vec<u32> = spans
                    .iter()
                    .filter(|span| span.start <= time && time < span.end)
                    .map(|span| span.node)
                    .collect();
                wanted.sort_unstable();
                wanted.dedup();
                let here: Vec<&Slice> =
                    found.iter().filter(|slice| slice.start <= time && time < slice.end).collect();
                prop_assert!(here.len() <= 1);
                let nodes = here.first().map(|slice| slice.nodes.clone()).unwrap_or_default();
                prop_assert_eq!(nodes, wanted);
            }
        }
    }
}
