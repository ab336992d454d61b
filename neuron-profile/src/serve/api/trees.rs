//! Sums of a range as a tree, and layers as bars.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::{Path, Query, State};
use profile_store::Profile;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::kinds::{cut, work};
use super::timeline::{Range, WIDTH};
use super::{Shared, with_profile};
use crate::analysis::layers::{self, bars};
use crate::analysis::region::{Peaks, peaks};
use crate::analysis::tree::{By, Node, Sums, Tree, cores};
use crate::serve::answer::Trouble;

/// Nodes where nothing is said, and at most.
const USUAL: usize = 1000;
const MOST: usize = 10_000;

/// Which tree, and what of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    by: Option<String>,
    from: Option<u64>,
    to: Option<u64>,
    limit: Option<usize>,
    sort: Option<String>,
    under: Option<usize>,
    depth: Option<usize>,
}

/// The number by which nodes are kept.
fn weight(node: &Node<'_>, sort: &str) -> Result<u64, Trouble> {
    let work = &node.work;
    Ok(match sort {
        "busy" => node.sums.busy,
        "time" => node.sums.time,
        "count" => node.sums.count,
        "flops" => work.flops,
        "bytes" => work.hbm_read.saturating_add(work.hbm_write).saturating_add(node.dma_bytes),
        "name" => 0,
        _ => return Err(Trouble::request("sort is busy, time, count, flops, bytes or name")),
    })
}

pub(super) async fn operators(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| tree(profile, &asked));
    value.await.map(Json)
}

fn tree(profile: &Profile, asked: &Asked) -> Result<Value, Trouble> {
    let word = asked.by.as_deref().unwrap_or("layer");
    let by = By::of(word);
    let by =
        by.ok_or_else(|| Trouble::request("by is layer, operator, source, opcode or queue"))?;
    let (from, to) = (asked.from.unwrap_or(0), asked.to.unwrap_or(profile.manifest().total_ns));
    let cores = cores(profile)?;
    let mut tree = Tree::new(profile, by, &cores);
    let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    tree.fill(profile, &profile.selection(from, to, &lanes)?);
    if by == By::Layer {
        tree.spans(profile)?;
    }
    let under = asked.under;
    if under.is_some_and(|node| node >= tree.nodes.len()) {
        return Err(Trouble::new(404, format!("the tree has {} nodes", tree.nodes.len())));
    }
    let base = under.and_then(|node| tree.nodes.get(node)).map_or(0, |node| node.depth);
    let deepest = asked.depth.map_or(usize::MAX, |depth| base.saturating_add(depth));
    let sort = asked.sort.as_deref().unwrap_or("busy");
    // In the order of the answer: what weighs most is kept.
    let mut found: Vec<(Reverse<u64>, usize)> = Vec::new();
    let mut total = 0;
    for (at, node) in tree.nodes.iter().enumerate() {
        let inside = under.is_none_or(|under| tree.above(at, base) == Some(under));
        if !inside || node.sums.count == 0 && node.sums.busy == 0 {
            continue;
        }
        total += 1;
        if node.depth <= deepest {
            found.push((Reverse(weight(node, sort)?), at));
        }
    }
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
    found.sort_by_key(|(weight, at)| {
        let node = tree.nodes.get(*at);
        (*weight, node.map(|node| node.depth), node.map(|node| node.name), *at)
    });
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for (_, at) in found.iter().take(limit) {
        let mut next = Some(*at);
        while let Some(at) = next.filter(|at| kept.insert(*at)) {
            next = tree.nodes.get(at).and_then(|node| node.parent).filter(|_| Some(at) != under);
        }
    }
    let cut_off = found.len() > limit;
    let order: Vec<usize> = found.into_iter().map(|(_, at)| at).collect();
    let peaks = peaks(profile)?;
    let whole: u64 = tree.nodes.iter().filter(|n| n.parent.is_none()).map(|n| n.sums.busy).sum();
    let about = Telling { tree: &tree, peaks, span: to - from, whole, under };
    Ok(json!({
        "by": word,
        "from": from,
        "to": to,
        "nodes": about.ordered(&kept, &order),
        "total": total,
        "cut": cut_off || total > kept.len(),
    }))
}

/// What the fields of a node need.
struct Telling<'t, 'p> {
    tree: &'t Tree<'p>,
    peaks: Peaks,
    span: u64,
    whole: u64,
    under: Option<usize>,
}

impl Telling<'_, '_> {
    /// Nodes behind their parents; those of one parent in the order of weight.
    fn ordered(&self, kept: &BTreeSet<usize>, order: &[usize]) -> Vec<Value> {
        let mut rank = vec![usize::MAX; self.tree.nodes.len()];
        for (place, at) in order.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*at) {
                *rank = place;
            }
        }
        let ranked = |mut list: Vec<usize>| {
            list.retain(|at| kept.contains(at));
            // The last one is taken first.
            list.sort_by_key(|at| Reverse((rank.get(*at).copied(), *at)));
            list
        };
        let roots = match self.under {
            Some(under) => vec![under],
            None => (0..self.tree.nodes.len())
                .filter(|at| self.tree.nodes.get(*at).is_some_and(|node| node.parent.is_none()))
                .collect(),
        };
        let mut next = ranked(roots);
        let mut out = Vec::new();
        while let Some(at) = next.pop() {
            let Some(node) = self.tree.nodes.get(at) else { continue };
            out.push(self.fields(at, node));
            next.extend(ranked(node.children.clone()));
        }
        out
    }

    fn fields(&self, at: usize, node: &Node<'_>) -> Value {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let peak = self.peaks.flops * self.peaks.cores * self.span as f64 / 1e9;
        let useful = node.work.flops.saturating_sub(node.work.transpose_flops);
        let path = self.tree.path(at);
        let whole = self.under == Some(at);
        let text = |text: &str| if whole { text.to_owned() } else { cut(text).into_owned() };
        let mut fields = match work(&node.work) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("node", json!(at));
        set("parent", json!(node.parent.filter(|_| !whole)));
        set("depth", json!(node.depth));
        set("name", json!(text(node.name)));
        set("path", json!(text(&path)));
        set("leaf", json!(node.children.is_empty()));
        set("count", json!(node.sums.count));
        set("time_ns", json!(node.sums.time));
        set("busy_ns", json!(node.sums.busy));
        set("wait_ns", json!(node.wait));
        set("share", json!(share(node.sums.busy as f64, self.whole as f64)));
        set("hfu", json!(share(node.work.flops as f64, peak)));
        set("mfu", json!(share(useful as f64, peak)));
        set("dma_bytes", json!(node.dma_bytes));
        set("engines", engines(node.engines.iter().map(|(name, sums)| (*name, sums))));
        if let Some((start, end)) = node.span {
            set("start_ns", json!(start));
            set("end_ns", json!(end));
        }
        Value::Object(fields)
    }
}

/// Sums by row of the timeline.
pub(super) fn engines<'a>(list: impl Iterator<Item = (&'a str, &'a Sums)>) -> Value {
    let one = |(name, sums): (&str, &Sums)| {
        let value = json!({ "count": sums.count, "time_ns": sums.time, "busy_ns": sums.busy });
        (name.to_owned(), value)
    };
    Value::Object(list.map(one).collect())
}

pub(super) async fn layers(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(range): Query<Range>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let cores = cores(profile)?;
        let tree = layers::tree(profile, &cores);
        let lanes = range.lanes(profile)?;
        let width = range.width.unwrap_or(WIDTH);
        let found = bars(profile, &tree, (range.from, range.to), width, &lanes)?;
        let rows = found.rows.iter().map(|row| {
            let bars = row.bars.iter().map(|bar| {
                json!({
                    "name": cut(tree.nodes.get(bar.node).map_or("", |node| node.name)),
                    "path": cut(&tree.path(bar.node)),
                    "node": bar.node,
                    "from": bar.from,
                    "to": bar.to,
                    "busy_ns": bar.busy,
                    "kind": bar.kind,
                })
            });
            json!({ "core": row.core, "depth": row.depth, "bars": bars.collect::<Vec<_>>() })
        });
        let rows: Vec<Value> = rows.collect();
        let column_ns = 1_u64 << found.columns.shift;
        let start = found.columns.start;
        Ok(json!({ "start": start, "column_ns": column_ns, "rows": rows, "cut": found.cut }))
    });
    value.await.map(Json)
}
