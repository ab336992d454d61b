//! What a NEFF says before anything of it is made ready: its nodes, and how
//! many cores and how much memory each needs.

use std::collections::BTreeMap;

use neuron_core::neff::doc::{Executor, Graph, GraphAttrs, KELF_FUNCTION, Names, Node, VarKind};
use neuron_core::neff::{
    Builder, Mode, Model, Neff, Options, Packing, Problem, Report, Rule, Severity, Subgraph,
    Tensor, Usage, node_tensors,
};

use crate::failure::{Code, Failure};

const PLACE: &str = "NEFF:neff_parse";

/// Newest format that is read (neff.md §2).
const NEWEST: &str = "2.0";

/// Device memory of a node in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Memory {
    pub(crate) code: u64,
    pub(crate) constants: u64,
    pub(crate) scratchpad: u64,
    /// Inputs and outputs of one request.
    pub(crate) tensors: u64,
}

/// A node that something runs.
#[derive(Debug, Clone)]
pub(crate) struct NodeOutline {
    pub(crate) name: String,
    /// Its place in the graph; `None` for a file without one.
    pub(crate) index: Option<usize>,
    /// Its kelf member; `None` for a CPU node.
    pub(crate) kelf: Option<String>,
    /// Cores; 0 for a CPU node.
    pub(crate) need: u32,
    pub(crate) memory: Memory,
}

/// A NEFF, read.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) neff: Neff<'a>,
    pub(crate) model: Model,
    pub(crate) nodes: Vec<NodeOutline>,
}

impl<'a> Outline<'a> {
    /// Reads a NEFF for cores of `lnc` physical ones.
    pub(crate) fn read(bytes: &'a [u8], lnc: u32) -> Result<Self, Failure> {
        let neff = Neff::open(bytes, &Options::strict()).map_err(refused)?;
        // A file for the host alone breaks a rule of today's loader; all other
        // rules hold.
        let mut report = Report::new(Mode::Lenient);
        let model = Model::read(&neff, &mut report).map_err(refused)?;
        let (on_cores, on_host) = model.node_counts();
        let host_alone = on_cores == 0 && on_host > 0;
        let broken = report.warnings().iter().find(|problem| {
            let allowed = host_alone && problem.rule == Rule::KelfNode;
            problem.rule.severity() == Severity::Strict && !allowed
        });
        if let Some(problem) = broken {
            return Err(refused(problem.clone()));
        }
        let nodes = nodes(&model, lnc)?;
        Ok(Self { bytes, neff, model, nodes })
    }

    /// The format's version, `1.0`.
    pub(crate) fn version(&self) -> (u64, u64) {
        (self.neff.header.major, self.neff.header.minor)
    }

    /// The host graph.
    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.model.graph.as_ref()
    }

    /// Cores in normal mode, and in shared-NC mode (neuron-rtd.md §3.2).
    pub(crate) fn needs(&self) -> (u32, u32) {
        let needs = || self.nodes.iter().map(|node| node.need);
        (needs().sum(), needs().max().unwrap_or(0))
    }

    /// A NEFF with one node's program only; `None` where the file is that.
    pub(crate) fn part(&self, node: &NodeOutline) -> Result<Option<Vec<u8>>, Failure> {
        let Some(kelf) = &node.kelf else { return Ok(None) };
        let others = |other: &NodeOutline| other.kelf.as_ref().is_some_and(|k| k != kelf);
        if !self.nodes.iter().any(others) {
            return Ok(None);
        }
        let failed = |reason: String| {
            Failure::new(Code::Invalid, "NMGR:dlr_kelf_stage", format!("{}: {reason}", node.name))
        };
        let own: Vec<&Subgraph> =
            self.model.subgraphs.iter().filter(|sub| sub.kelf_member == *kelf).collect();
        let mut builder = Builder::with_header(self.neff.header.clone());
        builder.packing = Packing::Bare;
        for member in self.neff.members() {
            let name = member.name();
            let wanted = own.iter().any(|subgraph| {
                name == subgraph.definition_member
                    || (!subgraph.folder.is_empty() && name.starts_with(&subgraph.folder))
            });
            let name = if name == kelf { "kelf-0.json" } else { name };
            if (wanted || member.name() == kelf) && !name.ends_with('/') {
                let body = self.neff.archive.body(member).map_err(refused)?;
                builder.add(name, body).map_err(|problem| failed(problem.to_string()))?;
            }
        }
        if let (Some(graph), Some(index)) = (&self.model.graph, node.index) {
            let graph = serde_json::to_vec(&alone(graph, index, &node.name));
            let graph = graph.map_err(|error| failed(error.to_string()))?;
            builder.add("neff.json", graph).map_err(|problem| failed(problem.to_string()))?;
        }
        let mut out = std::io::Cursor::new(Vec::new());
        builder.write(&mut out).map_err(|error| failed(error.to_string()))?;
        Ok(Some(out.into_inner()))
    }
}

/// The graph of one Neuron node by itself, whose kelf member is `kelf-0.json`.
fn alone(graph: &Graph, index: usize, name: &str) -> Graph {
    let tensors = node_tensors(graph, index);
    let (inputs, outputs): (Vec<&Tensor>, Vec<&Tensor>) =
        tensors.iter().partition(|tensor| tensor.usage == Usage::Input);
    let count = inputs.len() as u64;
    let attribute = |key: &str, value: &str| (key.to_owned(), value.into());
    let mut nodes: Vec<Node> = inputs
        .iter()
        .map(|tensor| Node { op: "null".to_owned(), name: tensor.name.clone(), ..Node::default() })
        .collect();
    nodes.push(Node {
        op: "tvm_op".to_owned(),
        name: name.to_owned(),
        attrs: Some(BTreeMap::from([
            attribute("func_name", KELF_FUNCTION),
            attribute("kelf", "kelf-0.json"),
            attribute("flatten_data", "0"),
            attribute("num_inputs", &count.to_string()),
            attribute("num_outputs", &outputs.len().to_string()),
        ])),
        inputs: (0..count).map(|input| vec![input, 0, 0]).collect(),
        output_names: Some(Names::Many(outputs.iter().map(|tensor| tensor.name.clone()).collect())),
        ..Node::default()
    });
    let all = || inputs.iter().chain(&outputs);
    let shapes = all().map(|tensor| tensor.shape.clone().unwrap_or_default()).collect();
    let words = all().map(|tensor| tensor.dtype.clone().unwrap_or_default()).collect();
    let entries = count + outputs.len() as u64;
    Graph {
        nodes,
        arg_nodes: (0..count).collect(),
        heads: (0..outputs.len() as u64).map(|output| vec![count, output, 0]).collect(),
        attrs: GraphAttrs {
            shape: Some(("list_shape".to_owned(), shapes)),
            dltype: Some(("list_str".to_owned(), words)),
            ..GraphAttrs::default()
        },
        node_row_ptr: (0..=count).chain([entries]).collect(),
        metadata: None,
    }
}

/// A broken rule as the loader tells it.
fn refused(problem: Problem) -> Failure {
    match problem.rule {
        Rule::Major => {
            let received = problem.value.trim_start_matches("the version is ");
            let text = format!("NEFF version mismatch supported: {NEWEST} received: {received}");
            Failure::new(Code::UnsupportedVersion, PLACE, text)
        }
        Rule::FeatureBits => Failure::new(Code::UnsupportedVersion, PLACE, problem),
        Rule::LimitRead => Failure::new(Code::Resource, PLACE, problem),
        _ => Failure::new(Code::Invalid, PLACE, problem),
    }
}

fn nodes(model: &Model, lnc: u32) -> Result<Vec<NodeOutline>, Failure> {
    let of_kelf = |name: Option<String>, index: Option<usize>, kelf: Option<String>| {
        let own = model
            .subgraphs
            .iter()
            .filter(|sub| kelf.as_ref().is_none_or(|kelf| sub.kelf_member == *kelf));
        let own: Vec<&Subgraph> = own.collect();
        let physical = u32::try_from(own.len()).unwrap_or(u32::MAX);
        NodeOutline {
            name: name.unwrap_or_else(|| "sg00".to_owned()),
            index,
            kelf: kelf.or_else(|| model.kelf_member.clone()),
            need: physical.div_ceil(lnc.max(1)).max(1),
            memory: memory(&own),
        }
    };
    let Some(graph) = &model.graph else {
        return Ok(vec![of_kelf(None, None, None)]);
    };
    let mut nodes = Vec::new();
    for (index, node) in graph.executable() {
        let name = Some(node.name.clone());
        nodes.push(if node.executor() == Executor::NeuronCore {
            of_kelf(name, Some(index), node.attr("kelf").map(str::to_owned))
        } else {
            let (kelf, memory) = (None, Memory::default());
            NodeOutline { name: node.name.clone(), index: Some(index), kelf, need: 0, memory }
        });
    }
    if nodes.is_empty() {
        return Err(Failure::new(Code::Invalid, PLACE, "the graph has no node to run"));
    }
    Ok(nodes)
}

fn memory(subgraphs: &[&Subgraph]) -> Memory {
    let mut memory = Memory::default();
    let add = |to: &mut u64, bytes: u64| *to = to.saturating_add(bytes);
    for subgraph in subgraphs {
        for slots in subgraph.slots() {
            add(&mut memory.code, slots.saturating_mul(neuron_core::neff::SLOT));
        }
        for variable in subgraph.definition.var.values() {
            let size = variable.size.unwrap_or(0);
            match variable.kind() {
                Some(VarKind::File) => add(&mut memory.constants, size),
                Some(VarKind::TmpBuf) => add(&mut memory.scratchpad, size),
                Some(VarKind::Input | VarKind::Output) => add(&mut memory.tensors, size),
                _ => {}
            }
        }
    }
    memory
}
