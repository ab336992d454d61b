//! Bytes that at least one of a changing set of ranges covers: a tree over the
//! pieces between all their ends.

/// See the module.
#[derive(Debug)]
pub(crate) struct Covered {
    edges: Vec<u64>,
    /// Ranges over a whole node, and bytes covered below it.
    nodes: Vec<(u32, u64)>,
}

impl Covered {
    pub(crate) fn new(mut edges: Vec<u64>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let nodes = vec![(0, 0); 4 * edges.len()];
        Self { edges, nodes }
    }

    pub(crate) fn total(&self) -> u64 {
        self.nodes.get(1).map_or(0, |node| node.1)
    }

    pub(crate) fn change(&mut self, (from, to): (u64, u64), begins: bool) {
        let at = |edge: u64| self.edges.partition_point(|one| *one < edge);
        let (from, to) = (at(from), at(to));
        let pieces = self.edges.len().saturating_sub(1);
        if from < to {
            self.node(1, (0, pieces), (from, to), begins);
        }
    }

    fn node(&mut self, at: usize, own: (usize, usize), wanted: (usize, usize), begins: bool) {
        let middle = usize::midpoint(own.0, own.1);
        let whole = wanted.0 <= own.0 && own.1 <= wanted.1;
        if !whole {
            if wanted.0 < middle {
                self.node(2 * at, (own.0, middle), wanted, begins);
            }
            if middle < wanted.1 {
                self.node(2 * at + 1, (middle, own.1), wanted, begins);
            }
        }
        let below = |child: usize| self.nodes.get(child).map_or(0, |node| node.1);
        let parts = if own.1 - own.0 > 1 { below(2 * at) + below(2 * at + 1) } else { 0 };
        let edge = |at: usize| self.edges.get(at).copied().unwrap_or(0);
        let length = edge(own.1).saturating_sub(edge(own.0));
        let Some(node) = self.nodes.get_mut(at) else { return };
        match (whole, begins) {
            (true, true) => node.0 += 1,
            (true, false) => node.0 = node.0.saturating_sub(1),
            (false, _) => {}
        }
        node.1 = if node.0 > 0 { length } else { parts };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against counting each byte.
    #[test]
    fn covered_bytes_are_those_of_a_count() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let ranges: Vec<(u64, u64)> = (0..40)
            .map(|_| {
                let from = next(200);
                (from, from + next(40))
            })
            .collect();
        let mut edges: Vec<u64> = ranges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut covered = Covered::new(edges);
        let mut counts = [0_i32; 256];
        let mut on = [false; 40];
        for _ in 0..400 {
            let at = usize::try_from(next(40)).unwrap();
            on[at] = !on[at];
            covered.change(ranges[at], on[at]);
            for byte in ranges[at].0..ranges[at].1 {
                counts[usize::try_from(byte).unwrap()] += if on[at] { 1 } else { -1 };
            }
            let bytes = counts.iter().filter(|count| **count > 0).count();
            assert_eq!(covered.total(), u64::try_from(bytes).unwrap());
        }
    }
}
