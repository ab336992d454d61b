//! Layers as bars: for each level of the tree of layers, the runs of columns in
//! which one of them covers more than any other.
//!
//! The columns are those of a viewport, each with the kind that covers most of
//! it, so the cost is that of the viewport.

use profile_store::read::Columns;
use profile_store::{Error, LaneKind, Profile};

use super::tree::{By, Tree};

/// Bars at most.
const MOST: usize = 20_000;

/// A run of columns of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Node of the tree by layer.
    pub node: usize,
    /// Begin of its first column, ns.
    pub from: u64,
    /// End of its last, ns.
    pub to: u64,
    /// Time that it covers in them, of all lanes, ns.
    pub busy: u64,
    /// One of its kinds.
    pub kind: u32,
}

/// The bars of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Physical core.
    pub core: u32,
    /// Level, from 0.
    pub depth: usize,
    /// From left to right.
    pub bars: Vec<Bar>,
}

/// All bars of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bars {
    /// The columns.
    pub columns: Columns,
    /// By core and level.
    pub rows: Vec<Row>,
    /// There were more.
    pub cut: bool,
}

/// What covers most of a column, per level: node, busy ns, a kind.
type Best = Vec<Vec<(usize, u64, u32)>>;

/// The bars of lanes between `from` and `to` (ns) in at least `width` columns.
///
/// # Errors
///
/// As for [`Profile::viewport`].
pub fn bars(
    profile: &Profile,
    tree: &Tree<'_>,
    (from, to): (u64, u64),
    width: u32,
    lanes: &[usize],
) -> Result<Bars, Error> {
    let columns = Columns::new(from, to, width)?;
    let of = |lane: usize| profile.lanes().get(lane);
    let lanes: Vec<usize> = lanes
        .iter()
        .copied()
        .filter(|lane| of(*lane).is_some_and(|lane| lane.kind == LaneKind::Engine))
        .collect();
    let view = profile.viewport(from, to, width, &lanes)?;
    let mut cores: Vec<u32> = lanes.iter().filter_map(|lane| Some(of(*lane)?.core)).collect();
    cores.sort_unstable();
    cores.dedup();
    let mut rows = Vec::new();
    for core in cores {
        let mut cells: Best = vec![Vec::new(); columns.columns as usize];
        for lane in &view.lanes {
            if of(lane.lane).is_none_or(|line| line.core != core) {
                continue;
            }
            for column in &lane.columns {
                let waits = profile.kinds().kind(column.name).is_some_and(|kind| kind.waits);
                let leaf = tree.leaf(lane.lane, column.name).filter(|_| !waits && column.busy > 0);
                if let (Some(leaf), Some(cell)) = (leaf, cells.get_mut(column.at as usize)) {
                    cell.push((leaf, column.busy, column.name));
                }
            }
        }
        // Level 0 of the tree is the core.
        let deepest =
            cells.iter().flatten().filter_map(|(leaf, ..)| Some(tree.nodes.get(*leaf)?.depth));
        for depth in 1..=deepest.max().unwrap_or(0) {
            rows.push(Row { core, depth: depth - 1, bars: level(tree, &cells, depth, &columns) });
        }
    }
    let mut left = MOST;
    let mut cut = false;
    for row in &mut rows {
        cut |= row.bars.len() > left;
        row.bars.truncate(left);
        left -= row.bars.len();
    }
    Ok(Bars { columns, rows, cut })
}

/// The runs of one level. Columns in which nothing happens do not end a run.
fn level(tree: &Tree<'_>, cells: &Best, depth: usize, columns: &Columns) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut open = false;
    for (at, cell) in (0..).zip(cells) {
        let mut sums: Vec<(usize, u64, u32)> = Vec::new();
        for (leaf, busy, kind) in cell {
            let Some(node) = tree.above(*leaf, depth) else { continue };
            match sums.iter_mut().find(|(known, ..)| *known == node) {
                Some(sum) => sum.1 += busy,
                None => sums.push((node, *busy, *kind)),
            }
        }
        let best = sums.into_iter().max_by_key(|(node, busy, _)| (*busy, std::cmp::Reverse(*node)));
        let Some((node, busy, kind)) = best else {
            open &= cell.is_empty();
            continue;
        };
        let (begin, end) = (columns.begin(at), columns.begin(at + 1));
        match bars.last_mut().filter(|last| open && last.node == node) {
            Some(last) => {
                last.to = end;
                last.busy += busy;
            }
            None => bars.push(Bar { node, from: begin, to: end, busy, kind }),
        }
        open = true;
    }
    bars
}

/// The tree that bars point into.
pub fn tree<'p>(profile: &'p Profile, cores: &'p [String]) -> Tree<'p> {
    Tree::new(profile, By::Layer, cores)
}
