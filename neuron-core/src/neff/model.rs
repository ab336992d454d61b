//! The JSON members of a NEFF, read together and checked against each other
//! and against the archive (sheet sections 5 and 9.2).

use super::check;
use super::doc::{
    Definition, Engine, EngineJson, Executor, Graph, Info, Kelf, KelfGraph, Metric, Target,
    TensorMap, UcodeLibrary,
};
use super::documents::Documents;
use super::file::Neff;
use super::problem::{Place, Problem, Report, Rule};
use super::tensor::{self, Tensor};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use crate::engine::SLOT;

/// Most subgraphs: their folders have two digits (sheet section 4.1).
const MOST_SUBGRAPHS: usize = 100;

/// What the JSON members say. A part is `None` where its member is absent or
/// does not parse and the report is lenient.
#[derive(Debug, Clone)]
pub struct Model {
    /// Name of the host graph's member.
    pub graph_member: Option<&'static str>,
    /// The host graph.
    pub graph: Option<Graph>,
    /// Name of the first kelf member, the one that runtime 2 loads.
    pub kelf_member: Option<String>,
    /// That member.
    pub kelf: Option<Kelf>,
    /// Names of the kelf members of further Neuron nodes (runtime 1).
    pub more_kelfs: Vec<String>,
    /// Subgraphs, in the order of the kelf members.
    pub subgraphs: Vec<Subgraph>,
    /// Inputs and outputs, inputs first, each in the order of the host graph.
    pub tensors: Vec<Tensor>,
    /// `info.json`.
    pub info: Option<Info>,
    /// `metrics.json`.
    pub metrics: Option<Vec<Metric>>,
}

/// The program of one physical core.
#[derive(Debug, Clone)]
pub struct Subgraph {
    /// `sg00`.
    pub name: String,
    /// The kelf member that lists it.
    pub kelf_member: String,
    /// Member that defines it.
    pub definition_member: String,
    /// Folder of its members, with the slash: `sg00/`.
    pub folder: String,
    /// The definition.
    pub definition: Definition,
    /// Programs, in the order of the hardware index; engines that the
    /// definition does not name are absent.
    pub programs: Vec<Program>,
    /// Layouts of tensors; shared by the subgraphs of one folder.
    pub tensor_map: Option<Arc<TensorMap>>,
}

/// What one engine runs.
#[derive(Debug, Clone)]
pub struct Program {
    /// The engine.
    pub engine: Engine,
    /// Its JSON; shared by all programs that name one member.
    pub json: Option<Arc<EngineJson>>,
    /// Member with its instruction stream; `None` where none is named.
    pub stream_member: Option<String>,
    /// Instructions: 64-byte slots of the stream. An absent stream is empty.
    pub slots: u64,
}

impl Subgraph {
    /// Full name of a member of this subgraph.
    pub fn member(&self, name: &str) -> String {
        format!("{}{name}", self.folder)
    }

    /// The program of an engine.
    pub fn program(&self, engine: Engine) -> Option<&Program> {
        self.programs.iter().find(|program| program.engine == engine)
    }

    /// Slots of the five engines, in the order of their hardware index.
    pub fn slots(&self) -> [u64; 5] {
        Engine::ALL.map(|engine| self.program(engine).map_or(0, |program| program.slots))
    }
}

impl Model {
    /// Reads the JSON members; warnings go to `report`.
    ///
    /// # Errors
    ///
    /// The first broken rule that refuses the file in the report's mode.
    pub fn read(neff: &Neff<'_>, report: &mut Report) -> Result<Self, Problem> {
        let documents = &mut Documents::new(neff);
        let (graph_member, graph) = graph(documents, report)?;
        let mut kelfs = kelf_members(neff, graph_member, graph.as_ref(), report)?.into_iter();
        let kelf_member = kelfs.next();
        let mut subgraphs = Vec::new();
        let mut kept = Kept::default();
        let kelf = match &kelf_member {
            Some(name) => kelf_subgraphs(documents, name, &mut subgraphs, &mut kept, report)?,
            None => None,
        };
        let more_kelfs: Vec<String> = kelfs.collect();
        for name in &more_kelfs {
            kelf_subgraphs(documents, name, &mut subgraphs, &mut kept, report)?;
        }
        let target = kelf.as_ref().and_then(|kelf| Target::parse(kelf.target.as_deref()));
        for subgraph in &subgraphs {
            check::definition(documents, subgraph, target, report)?;
        }
        let tensors = tensor::list(graph_member, graph.as_ref(), &subgraphs, report)?;
        Ok(Self {
            graph_member,
            graph,
            kelf_member,
            kelf,
            more_kelfs,
            subgraphs,
            tensors,
            info: documents.optional("info.json", report)?,
            metrics: documents.optional("metrics.json", report)?,
        })
    }

    /// The hardware it is for; `None` for an unknown word or without kelf.
    pub fn target(&self) -> Option<Target> {
        Target::parse(self.kelf.as_ref()?.target.as_deref())
    }

    /// Nodes of the host graph that NeuronCores run, and that the host runs.
    pub fn node_counts(&self) -> (usize, usize) {
        let count = |executor| {
            let nodes = self.graph.iter().flat_map(Graph::executable);
            nodes.filter(|(_, node)| node.executor() == executor).count()
        };
        (count(Executor::NeuronCore), count(Executor::Cpu))
    }
}

/// The host graph: `neff.json`, else the legacy name.
fn graph(
    documents: &mut Documents<'_, '_>,
    report: &mut Report,
) -> Result<(Option<&'static str>, Option<Graph>), Problem> {
    for name in ["neff.json", "kelp.json"] {
        if documents.neff.member(name).is_some() {
            let graph = documents.optional::<Graph>(name, report)?;
            if let Some(graph) = &graph {
                check::graph(name, graph, report)?;
            }
            return Ok((Some(name), graph));
        }
    }
    let at = Place::File(super::problem::widen(documents.neff.payload_range.start));
    report.note(Rule::GraphAbsent, at, "neither is present")?;
    Ok((None, None))
}

/// The kelf members that the nodes of the graph name, each once; without one,
/// `kelf-0.json` or `kelf-a.json` if present (our choice, sheet section 5.1).
fn kelf_members(
    neff: &Neff<'_>,
    graph_member: Option<&str>,
    graph: Option<&Graph>,
    report: &mut Report,
) -> Result<Vec<String>, Problem> {
    let mut names: Vec<String> = Vec::new();
    if let (Some(name), Some(graph)) = (graph_member, graph) {
        let mut seen = HashSet::new();
        let mut count = 0_usize;
        let nodes = graph.executable().map(|(_, node)| node);
        for node in nodes.filter(|node| node.executor() == Executor::NeuronCore) {
            count += 1;
            match node.attr("kelf") {
                Some(kelf) if seen.insert(kelf) => names.push(kelf.to_owned()),
                Some(_) => {}
                None => {
                    let value = format!("node {} has no 'kelf'", node.name);
                    report.note(Rule::KelfNode, Place::key(name, "nodes"), value)?;
                }
            }
        }
        if count == 0 {
            report.note(Rule::KelfNode, Place::key(name, "nodes"), "no node is '__kelf'")?;
        }
    }
    if names.is_empty() {
        let known = ["kelf-0.json", "kelf-a.json"].into_iter();
        names.extend(known.filter(|name| neff.member(name).is_some()).map(str::to_owned).take(1));
    }
    Ok(names)
}

/// Members that were parsed, by name: many subgraphs may name one.
#[derive(Default)]
struct Kept {
    engines: Parsed<EngineJson>,
    maps: Parsed<TensorMap>,
}

/// `None` for a member that is absent or does not parse.
type Parsed<T> = HashMap<String, Option<Arc<T>>>;

/// The member `name`, read by `read` if it was not before.
fn shared<T>(
    parsed: &mut Parsed<T>,
    documents: &mut Documents<'_, '_>,
    name: String,
    read: impl FnOnce(&mut Documents<'_, '_>, &str) -> Result<Option<T>, Problem>,
) -> Result<Option<Arc<T>>, Problem> {
    if let Some(found) = parsed.get(&name) {
        documents.again(&name)?;
        return Ok(found.clone());
    }
    let found = read(documents, &name)?.map(Arc::new);
    parsed.insert(name, found.clone());
    Ok(found)
}

/// Reads a kelf member and adds its subgraphs.
fn kelf_subgraphs(
    documents: &mut Documents<'_, '_>,
    name: &str,
    subgraphs: &mut Vec<Subgraph>,
    kept: &mut Kept,
    report: &mut Report,
) -> Result<Option<Kelf>, Problem> {
    let Some(kelf) = documents.required::<Kelf>(name, report)? else {
        return Ok(None);
    };
    check::kelf(documents.neff, name, &kelf, report)?;
    let place = || Place::key(name, "graphs");
    if kelf.graphs.len().saturating_add(subgraphs.len()) > MOST_SUBGRAPHS {
        let value = format!("there are {} and {}", subgraphs.len(), kelf.graphs.len());
        return Err(Problem::new(Rule::LimitSubgraphs, place(), value));
    }
    for graph in &kelf.graphs {
        if subgraphs.iter().any(|other| other.definition_member == graph.definition) {
            let value = format!("{} occurs again", graph.definition);
            report.note(Rule::SubgraphTwice, place(), value)?;
            continue;
        }
        subgraphs.extend(subgraph(documents, name, graph, kept, report)?);
    }
    Ok(Some(kelf))
}

fn subgraph(
    documents: &mut Documents<'_, '_>,
    kelf_member: &str,
    graph: &KelfGraph,
    kept: &mut Kept,
    report: &mut Report,
) -> Result<Option<Subgraph>, Problem> {
    let definition_member = graph.definition.as_str();
    let Some(definition) = documents.required::<Definition>(definition_member, report)? else {
        return Ok(None);
    };
    let folder = definition_member.rfind('/').map_or(0, |at| at + 1);
    let folder = definition_member.get(..folder).unwrap_or_default().to_owned();
    let mut programs = Vec::new();
    for engine in Engine::ALL {
        let json = match definition.engine_json(engine) {
            Some(file) => {
                let name = format!("{folder}{file}");
                shared(&mut kept.engines, documents, name, |documents, name| {
                    documents.required(name, report)
                })?
            }
            None => None,
        };
        let named = definition.engine_stream(engine).map(str::to_owned);
        let in_json = || json.as_deref().and_then(EngineJson::stream).map(str::to_owned);
        let stream_member = named.or_else(in_json).map(|file| format!("{folder}{file}"));
        if stream_member.is_none() && json.is_none() {
            continue;
        }
        let stream = stream_member.as_deref().and_then(|name| documents.neff.member(name));
        let slots = stream.map_or(0, |member| member.size() / SLOT);
        programs.push(Program { engine, json, stream_member, slots });
    }
    let name = format!("{folder}tensor_map.json");
    let tensor_map = shared(&mut kept.maps, documents, name, |documents, name| {
        documents.optional(name, report)
    })?;
    Ok(Some(Subgraph {
        name: graph.name.clone(),
        kelf_member: kelf_member.to_owned(),
        definition_member: definition_member.to_owned(),
        folder,
        definition,
        programs,
        tensor_map,
    }))
}

/// The custom-op libraries that a definition names.
pub(super) fn ucode(
    documents: &mut Documents<'_, '_>,
    name: &str,
    report: &mut Report,
) -> Result<Vec<UcodeLibrary>, Problem> {
    // Whether the document is a list or one entry is not published; both are read.
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Libraries {
        Many(Vec<UcodeLibrary>),
        One(UcodeLibrary),
    }
    Ok(match documents.required::<Libraries>(name, report)? {
        Some(Libraries::Many(libraries)) => libraries,
        Some(Libraries::One(library)) => vec![library],
        None => Vec::new(),
    })
}
