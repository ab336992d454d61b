//! Names of an instruction on the levels above it, out of the debug members.
//!
//! Settled on the exports: a NEFF slot leads through the asm layer to the
//! backend record (id and name of the instruction, its kind, what it takes data
//! from and what else it waits for); the first parent of that is the id in the penguin layer. The next two
//! steps, to the HLO instruction and the framework's operator, follow the same
//! links in NEFFs that have those layers; no export shows them (inferred).

use std::collections::HashMap;

use neuron_core::engine::Engine;
use neuron_core::neff::{
    DebugLayer, DebugRecord, Neff, Problem, Report, StackFrames, Subgraph, SubgraphDebug,
};

use crate::kernels::Kernels;

/// Most call stacks of one instruction, and most records above it that are looked
/// at on each layer (our choice).
const MOST_FRAMES: usize = 16;

/// Layer name of an instruction that the compiler made and no framework
/// operator owns.
pub const UNKNOWN_LAYER: &str = "Unknown";

/// How one instruction takes data from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// A kind without a name.
    Other,
    /// Order alone.
    Ordered,
    /// It overwrites what the other one reads.
    Anti,
    /// It overwrites what the other one wrote.
    Output,
    /// It reads what the other one wrote.
    Flow,
}

impl Dependence {
    fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Ordered,
            2 => Self::Anti,
            3 => Self::Output,
            4 => Self::Flow,
            _ => Self::Other,
        }
    }

    /// The viewer's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "UNKNOWN",
            Self::Ordered => "ORDERED",
            Self::Anti => "ANTI_DEPENDENCE",
            Self::Output => "OUTPUT_DEPENDENCE",
            Self::Flow => "FLOW_DEPENDENCE",
        }
    }
}

/// What the compiler made an instruction for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Purpose {
    /// Not told.
    #[default]
    Unknown,
    /// The computation itself.
    Regular,
    /// To and from memory for want of space.
    Spill,
    /// A change of layout.
    Transpose,
}

impl Purpose {
    const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Regular,
            2 => Self::Spill,
            3 => Self::Transpose,
            _ => Self::Unknown,
        }
    }

    /// The viewer's word, empty when not told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Regular => "REGULAR",
            Self::Spill => "SPILL",
            Self::Transpose => "TRANSPOSE",
        }
    }
}

/// The compiler's instruction behind a slot. Several slots may share one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Backend id: bits 63 to 48 subgraph, 47 to 32 function, 31 to 0 number.
    pub bir_id: u64,
    /// Backend name.
    pub name: String,
    /// Purpose.
    pub purpose: Purpose,
    /// Penguin id, 0 for none.
    pub penguin_id: u64,
    /// HLO instruction, empty for none.
    pub hlo_name: String,
    /// HLO id, 0 for none.
    pub hlo_id: u64,
    /// Path of the framework's operator, `Unknown` for none.
    pub layer: String,
    /// `file:line`, empty for none.
    pub source: String,
    /// Name among the instructions of kernels, empty for none.
    pub kernel: String,
    /// Framework call stacks that it was made in, the innermost frame of each:
    /// ids in [`crate::Capture::frames`].
    pub frames: Vec<u64>,
    /// Backend ids that it takes data from or waits for.
    pub predecessors: Vec<(u64, Dependence)>,
}

impl Origin {
    /// [`Origin::frames`] as text, with commas (our choice).
    pub fn frame_ids(&self) -> String {
        self.frames.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

/// The origins of one subgraph, by backend id.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    debug: SubgraphDebug,
    upper: [Upper; 3],
}

/// A layer above the backend, by id.
type Upper = HashMap<u64, Above>;

/// A record of it.
#[derive(Debug, Clone, Default)]
struct Above {
    name: String,
    /// Ids in the layer above; the first stands for the names of all.
    parents: Vec<u64>,
    frame: u64,
}

impl Above {
    fn parent(&self) -> u64 {
        self.parents.first().copied().unwrap_or(0)
    }
}

impl Origins {
    pub(crate) fn read(
        neff: &Neff<'_>,
        subgraph: &Subgraph,
        report: &mut Report,
    ) -> Result<Self, Problem> {
        let debug = SubgraphDebug::read(neff, subgraph, report)?;
        let upper = ["penguin", "hlo", "pttf"].map(|name| layer(neff, subgraph, name));
        Ok(Self { debug, upper })
    }

    /// Backend id of a NEFF slot.
    pub(crate) fn id(&self, engine: Engine, slot: usize) -> Option<u64> {
        self.debug.instruction(engine, slot).map(|(_, record)| record.id)
    }

    /// The instruction of a backend id.
    pub(crate) fn origin(&self, id: u64, kernels: &Kernels) -> Option<Origin> {
        let (layer, record) = self.debug.by_id(id)?;
        let [penguin, hlo, framework] = &self.upper;
        let penguin_id = record.parents.first().copied().unwrap_or(0);
        let hlo_id = penguin.get(&penguin_id).map_or(0, Above::parent);
        let operator = hlo.get(&hlo_id).cloned().unwrap_or_default();
        let path = framework.get(&operator.parent()).map(|above| above.name.clone());
        let source = layer.source(record);
        Some(Origin {
            bir_id: record.id,
            name: record.name.clone(),
            purpose: Purpose::from_number(record.kind),
            penguin_id,
            kernel: kernels.name(&record.name, penguin_id).unwrap_or_default(),
            frames: frames(record, penguin, hlo),
            hlo_name: operator.name,
            hlo_id,
            layer: path.unwrap_or_else(|| UNKNOWN_LAYER.to_owned()),
            source: source.map(|s| format!("{}:{}", s.file, s.line)).unwrap_or_default(),
            predecessors: predecessors(record),
        })
    }
}

/// Call stacks of a record, of what it was made for and of the operators of
/// that, each once: those that were fused have one each.
fn frames(record: &DebugRecord, penguin: &Upper, hlo: &Upper) -> Vec<u64> {
    fn above<'l>(ids: &'l [u64], layer: &'l Upper) -> impl Iterator<Item = &'l Above> {
        ids.iter().take(MOST_FRAMES).filter_map(|id| layer.get(id))
    }
    let of = above(&record.parents, penguin).flat_map(|made_for| {
        let operators = above(&made_for.parents, hlo).map(|operator| operator.frame);
        std::iter::once(made_for.frame).chain(operators)
    });
    let mut out = Vec::new();
    for frame in std::iter::once(record.frame).chain(of) {
        if frame != 0 && !out.contains(&frame) && out.len() < MOST_FRAMES {
            out.push(frame);
        }
    }
    out
}

/// Framework call stacks of a NEFF, or why there are none though it has the member.
pub(crate) fn call_stacks(neff: &Neff<'_>) -> Result<StackFrames, String> {
    const MEMBER: &str = "debug_info/debug_info_stack_frame_index.dbg";
    match parsed(neff, MEMBER) {
        Some(layer) => Ok(layer?.frames.unwrap_or_default()),
        None => Ok(StackFrames::default()),
    }
}

/// What it takes data from, then what else it waits for, each once.
fn predecessors(record: &DebugRecord) -> Vec<(u64, Dependence)> {
    let mut out: Vec<(u64, Dependence)> = Vec::new();
    for (ids, kinds) in
        [(&record.dataflow, &record.dataflow_kinds), (&record.scheduling, &record.scheduling_kinds)]
    {
        let kinds = kinds.iter().copied().chain(std::iter::repeat(0));
        for (id, kind) in ids.iter().copied().zip(kinds) {
            if !out.iter().any(|(known, _)| *known == id) {
                out.push((id, Dependence::from_number(kind)));
            }
        }
    }
    out
}

/// An id in the viewer's form: `sg0000:218805`.
pub fn id_text(id: u64) -> String {
    format!("sg{:04}:{}", id >> 48, id & 0xffff_ffff)
}

/// The records of a layer that all engines share. The member ends with the number
/// of the subgraph: `.dbg_sg000000`. One that does not parse is left out; the
/// reading of the NEFF has told it.
fn layer(neff: &Neff<'_>, subgraph: &Subgraph, name: &str) -> Upper {
    let digits = subgraph.name.trim_start_matches("sg");
    let start = format!("debug_info/debug_info_{name}.dbg");
    let own = format!("{start}_sg{digits}");
    let mut out = HashMap::new();
    let layer = parsed(neff, &own).or_else(|| parsed(neff, &start));
    for record in layer.into_iter().flatten().flat_map(|layer| layer.records) {
        let above = Above { name: record.name, parents: record.parents, frame: record.frame };
        out.entry(record.id).or_insert(above);
    }
    out
}

/// The layer of the first member whose name begins so, or why it has none.
fn parsed(neff: &Neff<'_>, start: &str) -> Option<Result<DebugLayer, String>> {
    let member = neff.members().iter().find(|member| member.name().starts_with(start))?;
    let (size, limit) = (member.size(), neff.options.limits.debug);
    if size > limit {
        return Some(Err(format!("{start} has {size} bytes, the limit is {limit}")));
    }
    let read = neff.archive.body(member);
    let layer = read.and_then(|body| DebugLayer::parse(member.name(), &body));
    Some(layer.map_err(|problem| problem.to_string()))
}
