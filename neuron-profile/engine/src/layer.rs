//! Times and operations of each layer of a core.
//!
//! Settled on the table `layer_summary` (12 rows equal): there is a node for
//! the core and one for each prefix of a layer path. Start and end are those of
//! all its instructions. Instruction times and active times leave out waits,
//! counts do not. A share is a quotient of single-precision numbers. The
//! utilisations of the matrix unit divide by the span from the first start to
//! the last end **among the rows that began no later than the last row of the
//! tensor engine**, times both cores of a logical core.

use neuron_core::engine::Engine;

use crate::debug::Purpose;
use crate::program::Slot;
use crate::row::InstructionRow;
use crate::union::Union;

/// Rows that wait for a row of the tensor engine at most (our choice).
const WAITING: usize = 1 << 16;

/// One engine in a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineTotals {
    /// Instructions, waits too.
    pub(crate) count: u64,
    /// Their time without waits, in ps.
    pub(crate) time: u64,
    /// The same, overlaps counted once.
    pub(crate) active: Union,
}

impl EngineTotals {
    pub(crate) fn note(&mut self, row: &InstructionRow, waits: bool) {
        self.count += 1;
        if !waits {
            self.time += row.end - row.start;
            self.active.note(row.start, row.end);
        }
    }
}

/// A node.
#[derive(Debug, Clone)]
pub struct LayerNode {
    /// `/sg00`, `/sg00/layer`.
    pub name: String,
    /// Index of the core.
    pub core: usize,
    /// First start, ps; larger than `end` when nothing ran.
    pub start: u64,
    /// Last end, ps.
    pub end: u64,
    /// Operations of products.
    pub flops: u64,
    /// Those that change a layout only.
    pub transpose_flops: u64,
    engines: [EngineTotals; 5],
    tensor_start: Option<u64>,
    span_end: u64,
    /// Rows that began after the last row of the tensor engine.
    waiting: Vec<(u64, u64)>,
}

impl LayerNode {
    fn new(name: String, core: usize) -> Self {
        Self {
            name,
            core,
            start: u64::MAX,
            end: 0,
            flops: 0,
            transpose_flops: 0,
            engines: Default::default(),
            tensor_start: None,
            span_end: 0,
            waiting: Vec::new(),
        }
    }

    /// Whether anything ran.
    pub const fn is_empty(&self) -> bool {
        self.start > self.end
    }

    /// Instructions of an engine.
    pub fn count(&self, engine: Engine) -> u64 {
        self.engine(engine).count
    }

    /// Time of them without waits, in ps.
    pub fn time(&self, engine: Engine) -> u64 {
        self.engine(engine).time
    }

    /// The same, overlaps counted once.
    pub fn active(&self, engine: Engine) -> u64 {
        self.engine(engine).active.total()
    }

    /// The span that utilisations of the matrix unit divide by, in ps.
    pub const fn tensor_span(&self) -> u64 {
        self.span_end.saturating_sub(self.start)
    }

    fn engine(&self, engine: Engine) -> &EngineTotals {
        let [pe, act, pool, dve, sp] = &self.engines;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
    }

    fn note(&mut self, row: &InstructionRow, slot: Option<&Slot>) {
        self.start = self.start.min(row.start);
        self.end = self.end.max(row.end);
        let waits = slot.is_some_and(|slot| slot.role.waits);
        if let Some(engine) = self.engines.get_mut(row.engine.index()) {
            engine.note(row, waits);
        }
        if let Some(slot) = slot {
            let flops = slot.traffic.elements * 2;
            self.flops += flops;
            if slot.purpose == Purpose::Transpose {
                self.transpose_flops += flops;
            }
        }
        if row.engine == Engine::Pe {
            self.tensor_start = self.tensor_start.max(Some(row.start));
        }
        if self.tensor_start.is_some_and(|last| row.start <= last) {
            self.span_end = self.span_end.max(row.end);
        } else {
            // A later end makes earlier ones that began no sooner useless.
            while self.waiting.last().is_some_and(|last| last.0 >= row.start) {
                self.waiting.pop();
            }
            self.waiting.push((row.start, row.end));
            if self.waiting.len() > WAITING {
                self.waiting.drain(..WAITING / 2);
            }
        }
        if row.engine == Engine::Pe {
            let last = self.tensor_start.unwrap_or(0);
            let until = self.waiting.partition_point(|(start, _)| *start <= last);
            for (_, end) in self.waiting.drain(..until) {
                self.span_end = self.span_end.max(end);
            }
        }
    }
}

/// The nodes of one core.
#[derive(Debug)]
pub(crate) struct Layers {
    nodes: Vec<LayerNode>,
    /// Nodes of each layer, without the core's own.
    paths: Vec<Vec<usize>>,
}

impl Layers {
    pub(crate) fn new(core: usize, name: &str, layers: &[String]) -> Self {
        let root = format!("/{name}");
        let mut nodes = vec![LayerNode::new(root.clone(), core)];
        let mut paths = Vec::new();
        for layer in layers {
            let mut path = Vec::new();
            let ends = layer.match_indices('/').map(|(at, _)| at).chain([layer.len()]);
            for end in ends.filter(|end| *end > 0) {
                let name = format!("{root}/{}", layer.get(..end).unwrap_or(layer));
                let at = nodes.iter().position(|node| node.name == name).unwrap_or_else(|| {
                    nodes.push(LayerNode::new(name, core));
                    nodes.len() - 1
                });
                path.push(at);
            }
            paths.push(path);
        }
        Self { nodes, paths }
    }

    pub(crate) fn note(&mut self, row: &InstructionRow, slot: Option<&Slot>) {
        if let Some(root) = self.nodes.first_mut() {
            root.note(row, slot);
        }
        let path = slot.and_then(|slot| slot.layer).and_then(|layer| self.paths.get(layer));
        for at in path.into_iter().flatten() {
            if let Some(node) = self.nodes.get_mut(*at) {
                node.note(row, slot);
            }
        }
    }

    pub(crate) fn into_nodes(self) -> Vec<LayerNode> {
        self.nodes
    }
}
