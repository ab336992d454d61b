//! Sums of a range as a tree: by layer and operator, operator, source line,
//! opcode, or DMA ring.
//!
//! The tree has a node for everything that the profile holds, whatever the
//! range, so numbers of nodes stay. Sums are those of kinds in lanes
//! (`Profile::selection`), each added to its node and all above it: the cost is
//! that of the selection, and a step for each kind and level.

use std::collections::{BTreeMap, HashMap};

use profile_store::kinds::{NONE, Work};
use profile_store::read::{LaneSums, Line};
use profile_store::{Error, LaneKind, Profile};

/// What the levels of a tree are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Core, components of the layer's path, operator.
    Layer,
    /// HLO operator.
    Operator,
    /// File, line.
    Source,
    /// Engine, opcode.
    Opcode,
    /// DMA engine, ring.
    Queue,
}

impl By {
    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "layer" => Self::Layer,
            "operator" => Self::Operator,
            "source" => Self::Source,
            "opcode" => Self::Opcode,
            "queue" => Self::Queue,
            _ => return None,
        })
    }

    /// Whether it has the events of such lanes.
    const fn has(self, kind: LaneKind) -> bool {
        matches!(self, Self::Queue) == matches!(kind, LaneKind::Dma)
    }
}

/// Sums of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Events that begin in the range.
    pub count: u64,
    /// Sum of their lengths without waits, ns.
    pub time: u64,
    /// Time that they cover and no event of their lane before them, without
    /// waits, ns.
    pub busy: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.time += other.time;
        self.busy += other.busy;
    }
}

/// A node.
#[derive(Debug, Clone, Default)]
pub struct Node<'p> {
    /// The node above.
    pub parent: Option<usize>,
    /// Levels above it.
    pub depth: usize,
    /// Its component of the path.
    pub name: &'p str,
    /// It and all below it.
    pub sums: Sums,
    /// The same by row of the timeline.
    pub engines: BTreeMap<&'p str, Sums>,
    /// Time of waits, ns.
    pub wait: u64,
    /// Bytes and operations.
    pub work: Work,
    /// Bytes of packets.
    pub dma_bytes: u64,
    /// Nodes below it, in the order in which they were met.
    pub children: Vec<usize>,
    /// First start and last end in the whole execution, ns, of layers.
    pub span: Option<(u64, u64)>,
}

/// See the module.
#[derive(Debug)]
pub struct Tree<'p> {
    /// Nodes, parents first.
    pub nodes: Vec<Node<'p>>,
    /// Node of each kind of a lane.
    leaves: HashMap<(usize, u32), usize>,
}

/// Components of the path of a kind in a lane.
fn components<'p>(
    profile: &'p Profile,
    by: By,
    (engine, core): (&'p str, &'p str),
    kind: u32,
) -> Vec<&'p str> {
    let all = profile.kinds();
    let of = all.kind(kind);
    let text = |place: Option<u32>| all.text(place.unwrap_or(NONE));
    match by {
        By::Layer => {
            let layer = text(of.map(|kind| kind.layer)).unwrap_or_default();
            let parts = layer.split('/').filter(|part| !part.is_empty());
            let operator = text(of.map(|kind| kind.operator));
            [core].into_iter().chain(parts).chain(operator).collect()
        }
        By::Operator => vec![text(of.map(|kind| kind.operator)).unwrap_or("(no operator)")],
        By::Source => match text(of.map(|kind| kind.source)) {
            None => vec!["(no source)"],
            Some(source) => match source.rsplit_once(':') {
                Some((file, line)) => vec![file, line],
                None => vec![source],
            },
        },
        By::Opcode | By::Queue => vec![engine, profile.name(kind)],
    }
}

impl<'p> Tree<'p> {
    /// The nodes of a profile, without sums. `cores` are the names of cores.
    pub fn new(profile: &'p Profile, by: By, cores: &'p [String]) -> Self {
        let mut tree = Self { nodes: Vec::new(), leaves: HashMap::new() };
        let mut known: HashMap<(Option<usize>, &'p str), usize> = HashMap::new();
        let lanes = profile.lanes().iter().enumerate().filter(|(_, lane)| by.has(lane.kind));
        for (at, lane) in lanes {
            let core = usize::try_from(lane.core).ok().and_then(|core| cores.get(core));
            let core = core.map_or("core", String::as_str);
            // A row outside every program has no key.
            let kinds = lane.keys.iter().map(|(_, kind)| *kind).chain([u32::MAX]);
            for kind in kinds {
                if kind == u32::MAX && by != By::Layer {
                    continue;
                }
                if tree.leaves.contains_key(&(at, kind)) {
                    continue;
                }
                let mut node = None;
                for name in components(profile, by, (&lane.name, core), kind) {
                    let next = *known.entry((node, name)).or_insert_with(|| {
                        let depth = node.map_or(0, |above| tree.depth(above) + 1);
                        tree.nodes.push(Node { parent: node, depth, name, ..Node::default() });
                        let fresh = tree.nodes.len() - 1;
                        if let Some(above) = node.and_then(|above| tree.nodes.get_mut(above)) {
                            above.children.push(fresh);
                        }
                        fresh
                    });
                    node = Some(next);
                }
                if let Some(node) = node {
                    tree.leaves.insert((at, kind), node);
                }
            }
        }
        tree
    }

    fn depth(&self, node: usize) -> usize {
        self.nodes.get(node).map_or(0, |node| node.depth)
    }

    /// The node of a kind in a lane.
    pub fn leaf(&self, lane: usize, kind: u32) -> Option<usize> {
        self.leaves.get(&(lane, kind)).or_else(|| self.leaves.get(&(lane, u32::MAX))).copied()
    }

    /// Adds the sums of a range.
    pub fn fill(&mut self, profile: &'p Profile, sums: &[LaneSums]) {
        for lane in sums {
            let Some(of) = profile.lanes().get(lane.lane) else { continue };
            for sum in &lane.names {
                let kind = profile.kind(sum.name);
                let (time, busy, wait) =
                    if kind.waits { (0, 0, sum.time) } else { (sum.time, sum.busy, 0) };
                let sums = Sums { count: sum.count, time, busy };
                let mut next = self.leaf(lane.lane, sum.name);
                while let Some(node) = next.and_then(|at| self.nodes.get_mut(at)) {
                    node.sums.add(sums);
                    node.engines.entry(&of.name).or_default().add(sums);
                    node.wait += wait;
                    node.work.add(&kind.work, sum.count);
                    node.dma_bytes += sum.bytes;
                    next = node.parent;
                }
            }
        }
    }

    /// Names from the root to a node, with slashes between.
    pub fn path(&self, node: usize) -> String {
        let mut names = Vec::new();
        let mut next = self.nodes.get(node);
        while let Some(node) = next {
            names.push(node.name);
            next = node.parent.and_then(|above| self.nodes.get(above));
        }
        names.reverse();
        names.join("/")
    }

    /// The node at this depth above a node, or the node itself.
    pub fn above(&self, node: usize, depth: usize) -> Option<usize> {
        let mut at = node;
        while self.nodes.get(at)?.depth > depth {
            at = self.nodes.get(at)?.parent?;
        }
        (self.nodes.get(at)?.depth == depth).then_some(at)
    }

    /// Takes the spans of layers from `LayerSummary`.
    ///
    /// # Errors
    ///
    /// A table that cannot be read.
    pub fn spans(&mut self, profile: &Profile) -> Result<(), Error> {
        if !profile.manifest().tables.contains_key("LayerSummary") {
            return Ok(());
        }
        let mut known: HashMap<String, (u64, u64)> = HashMap::new();
        for batch in profile.batches("LayerSummary")? {
            let path = || profile.dir().join("LayerSummary.parquet");
            let batch = batch.map_err(|error| Error::damaged(&path(), error))?;
            for line in Line::all(&batch) {
                let time = |name| line.long(name).and_then(|time| u64::try_from(time).ok());
                let span = time("start_ts").zip(time("end_ts"));
                if let (Some(name), Some(span)) = (line.text("name"), span) {
                    known.insert(name.trim_start_matches('/').to_owned(), span);
                }
            }
        }
        for at in 0..self.nodes.len() {
            let span = known.get(&self.path(at)).copied();
            if let Some(node) = self.nodes.get_mut(at) {
                node.span = span;
            }
        }
        Ok(())
    }
}

/// Names of the cores of a profile: of their subgraphs where known.
///
/// # Errors
///
/// A table that cannot be read.
pub fn cores(profile: &Profile) -> Result<Vec<String>, Error> {
    let most = profile.lanes().iter().map(|lane| lane.core).max().unwrap_or(0);
    let mut names: Vec<String> = (0..=most).map(|core| format!("core {core}")).collect();
    if profile.manifest().tables.contains_key("ModelInfo") {
        for batch in profile.batches("ModelInfo")? {
            let path = || profile.dir().join("ModelInfo.parquet");
            let batch = batch.map_err(|error| Error::damaged(&path(), error))?;
            for line in Line::all(&batch) {
                let core = line.long("pcore_idx").and_then(|core| usize::try_from(core).ok());
                let place = core.and_then(|core| names.get_mut(core));
                if let (Some(place), Some(name)) = (place, line.text("sg_name")) {
                    name.clone_into(place);
                }
            }
        }
    }
    Ok(names)
}
