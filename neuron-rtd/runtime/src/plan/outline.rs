//! What a NEFF says before anything of it is made ready: its nodes, and how
//! many cores and how much memory each needs.

use neuron_core::neff::doc::{Executor, Graph, VarKind};
use neuron_core::neff::{Mode, Model, Neff, Options, Problem, Report, Rule, Severity, Subgraph};

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
    /// Physical cores that its program has.
    pub(crate) physical: u32,
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
}

/// A broken rule as the loader tells it.
pub(super) fn refused(problem: Problem) -> Failure {
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
            physical,
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
            let (need, physical) = (0, 0);
            NodeOutline {
                name: node.name.clone(),
                index: Some(index),
                kelf,
                need,
                physical,
                memory,
            }
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
