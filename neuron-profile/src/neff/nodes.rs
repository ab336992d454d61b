//! What runs in a NEFF, for `neff info`: nodes of the host graph with their
//! inputs and outputs.

use neuron_core::neff::doc::{Executor, Graph, Node, VarKind, Variable};
use neuron_core::neff::{Model, Subgraph, Tensor, Usage, node_tensors};
use std::collections::{HashMap, HashSet};

/// A node of the host graph, or one subgraph of it.
pub(super) struct NodeRow {
    pub(super) index: Option<usize>,
    pub(super) executor: &'static str,
    pub(super) name: String,
    pub(super) variables: Vec<VariableRow>,
}

pub(super) struct VariableRow {
    pub(super) name: String,
    pub(super) size: Option<u64>,
    pub(super) usage: &'static str,
    pub(super) format: Option<String>,
    pub(super) shape: Option<Vec<i64>>,
    pub(super) dtype: Option<String>,
}

/// Most variables that are shown; real files have tens.
const MOST_ROWS: usize = 65_536;

/// The nodes that something runs; a node on NeuronCores is shown by its
/// subgraphs, as the packager tool does.
pub(super) fn nodes(model: &Model, show_weights: bool, show_spills: bool) -> Vec<NodeRow> {
    let shown = Shown { model, tensors: HashMap::new(), show_weights, show_spills };
    shown.with_tensors().rows()
}

/// What rows are made of.
struct Shown<'m> {
    model: &'m Model,
    tensors: HashMap<(Usage, &'m str), &'m Tensor>,
    show_weights: bool,
    show_spills: bool,
}

impl<'m> Shown<'m> {
    fn with_tensors(mut self) -> Self {
        for tensor in &self.model.tensors {
            self.tensors.entry((tensor.usage, &tensor.name)).or_insert(tensor);
        }
        self
    }

    fn rows(&self) -> Vec<NodeRow> {
        let mut rows = Vec::new();
        let mut kelfs = HashSet::new();
        let mut variables = 0;
        let graph = self.model.graph.as_ref();
        for (index, node) in graph.iter().flat_map(|graph| graph.executable()) {
            if variables > MOST_ROWS {
                break;
            }
            let kelf = node.attr("kelf").filter(|_| node.executor() == Executor::NeuronCore);
            let subgraphs = self.model.subgraphs.iter();
            let mut subgraphs = subgraphs.filter(|sg| Some(sg.kelf_member.as_str()) == kelf);
            let first = kelf.is_some_and(|kelf| kelfs.insert(kelf));
            if first && subgraphs.clone().next().is_some() {
                rows.extend(subgraphs.by_ref().map(|sg| self.subgraph(sg, Some(index))));
            } else {
                let row = node_row(graph, index, node);
                variables += 1 + row.variables.len();
                rows.push(row);
            }
        }
        let rest =
            self.model.subgraphs.iter().filter(|sg| !kelfs.contains(sg.kelf_member.as_str()));
        rows.extend(rest.map(|sg| self.subgraph(sg, None)));
        rows
    }

    fn subgraph(&self, subgraph: &Subgraph, index: Option<usize>) -> NodeRow {
        let mut variables = Vec::new();
        for (name, variable) in subgraph.definition.var.iter() {
            let usage = match variable.kind() {
                Some(VarKind::Input) => "IN",
                Some(VarKind::Output) => "OUT",
                Some(VarKind::File) if self.show_weights => "WEIGHT",
                Some(VarKind::TmpBuf | VarKind::Virtual) if self.show_spills => "SPILL",
                _ => continue,
            };
            variables.push(self.variable(subgraph, name, variable, usage));
            if variables.len() > MOST_ROWS {
                break;
            }
        }
        let order =
            |row: &VariableRow| ["IN", "OUT", "WEIGHT"].iter().position(|u| *u == row.usage);
        variables.sort_by_key(|row| order(row).unwrap_or(3));
        NodeRow { index, executor: "NeuronCore", name: subgraph.name.clone(), variables }
    }

    fn variable(
        &self,
        subgraph: &Subgraph,
        name: &str,
        variable: &Variable,
        usage: &'static str,
    ) -> VariableRow {
        let wanted = if usage == "IN" { Usage::Input } else { Usage::Output };
        let tensor = self.tensors.get(&(wanted, name));
        // Constants stand in the tensor map under the stem of their member.
        let stem = variable.member().and_then(|member| {
            let stem = member.strip_prefix("value_")?.strip_suffix(".npy")?;
            Some(stem.to_owned())
        });
        let map = subgraph.tensor_map.as_ref();
        let mapped = map.and_then(|map| map.tensor(name).or_else(|| map.tensor(&stem?)));
        let shape = tensor.and_then(|tensor| tensor.shape.clone());
        let dtype = tensor.and_then(|tensor| tensor.dtype.clone());
        VariableRow {
            name: name.to_owned(),
            size: variable.size,
            usage,
            format: mapped.and_then(|tensor| tensor.tf_format.clone()),
            shape: shape
                .or_else(|| mapped.and_then(|tensor| tensor.tf_shape.clone()))
                .or_else(|| variable.shape.clone()),
            dtype: dtype
                .or_else(|| mapped.and_then(|tensor| tensor.dtype.clone()))
                .or_else(|| variable.dtype.clone()),
        }
    }
}

/// A node without subgraphs, by the host graph alone: an operator of the host,
/// or a kelf that is absent.
fn node_row(graph: Option<&Graph>, index: usize, node: &Node) -> NodeRow {
    let executor = if node.executor() == Executor::Cpu { "CPU" } else { "NeuronCore" };
    let tensors = graph.map(|graph| node_tensors(graph, index)).unwrap_or_default();
    let variables = tensors.into_iter().map(|tensor| VariableRow {
        name: tensor.name,
        size: tensor.bytes,
        usage: if tensor.usage == Usage::Input { "IN" } else { "OUT" },
        format: None,
        shape: tensor.shape,
        dtype: tensor.dtype,
    });
    let variables = variables.collect();
    NodeRow { index: Some(index), executor, name: node.name.clone(), variables }
}

/// DMA blocks, their transfers, queue sets and variables.
pub(super) fn counts(subgraph: &Subgraph) -> [usize; 4] {
    let of_engines = subgraph.programs.iter().filter_map(|program| program.json.as_ref());
    let lists = of_engines.map(|json| &json.dma).chain([&subgraph.definition.dma]);
    let blocks: Vec<_> = lists.flatten().flatten().collect();
    let transfers = blocks.iter().map(|block| block.desc.len()).sum();
    let definition = &subgraph.definition;
    [blocks.len(), transfers, definition.dma_queue.len(), definition.var.len()]
}
