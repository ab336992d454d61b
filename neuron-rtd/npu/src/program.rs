//! A NEFF made ready to run: decoded streams, buffers, variables and blocks.
//!
//! A file is read as strictly as a loader reads it: one that breaks a rule of
//! neff.md, its digest among them, is no program. Beyond that check nothing
//! here depends on a file's name, digest or shape.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use neuron_core::instance::Arch;
use neuron_core::isa::{Engine, Record, decode_stream};
use neuron_core::neff::doc::{DmaBlock, Kelf, Target, VarKind, Variable};
use neuron_core::neff::{Mode, Model, Neff, Options, Problem, Report, Subgraph, Usage};

use crate::fault::Fault;
use crate::hbm::{Hbm, Place};
use crate::memory::Buffer;
use crate::time::Faults;

/// Why a file cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no NEFF, or a broken one.
    #[error("{0}")]
    Neff(#[from] Problem),
    /// The file is for hardware that no sheet describes.
    #[error("NEFF: the target is not known; give a file for v1, v2, v3 or v4")]
    Target,
    /// The file has no program.
    #[error("NEFF: there is no subgraph to run")]
    Empty,
    /// The file was opened without the checks of a loader.
    #[error("NEFF: it was not checked; open it in strict mode, with its digest")]
    Unchecked,
    /// The file has several Neuron nodes, or not the one that was asked for.
    #[error("NEFF: {}; choose one of {}", Wanted(.wanted.as_deref()), .kelfs.join(", "))]
    Node {
        /// The kelf member that was asked for.
        wanted: Option<String>,
        /// Those that there are.
        kelfs: Vec<String>,
    },
    /// A member cannot be used.
    #[error("NEFF: {member}: {reason}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong with it.
        reason: String,
    },
}

struct Wanted<'a>(Option<&'a str>);

impl fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(kelf) => write!(f, "no Neuron node has {kelf}"),
            None => f.write_str("there are several Neuron nodes"),
        }
    }
}

/// An input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Input or output.
    pub usage: Usage,
    /// Bytes.
    pub bytes: u64,
    /// Data type word, where the file has one.
    pub dtype: Option<String>,
    /// Shape, where the file has one.
    pub shape: Option<Vec<i64>>,
    pub(crate) buffer: usize,
}

/// A program for one or more physical cores.
#[derive(Debug, Clone)]
pub struct Program {
    /// What of it cannot run, once a run without arithmetic asked for it.
    pub(crate) faults: OnceLock<Vec<Faults>>,
    pub(crate) arch: Arch,
    pub(crate) cores: Vec<CoreProgram>,
    pub(crate) hbm: Hbm,
    tensors: Vec<TensorInfo>,
}

/// The program of one physical core.
#[derive(Debug, Clone)]
pub struct CoreProgram {
    /// `sg00`.
    pub name: String,
    pub(crate) streams: [Vec<Record>; 5],
    variables: BTreeMap<u64, Result<Place, String>>,
    names: BTreeMap<String, u64>,
    tables: Vec<Vec<u64>>,
    blocks: BTreeMap<(u8, String, u64), DmaBlock>,
    /// Ranks of each collective group, or why they cannot be read.
    pub(crate) replica_groups: Result<Vec<Vec<usize>>, String>,
    /// Pairs of ranks of each permute, or why they cannot be read.
    pub(crate) routes: Result<Vec<Vec<Vec<usize>>>, String>,
}

impl Default for CoreProgram {
    fn default() -> Self {
        Self {
            name: String::new(),
            streams: Default::default(),
            variables: BTreeMap::new(),
            names: BTreeMap::new(),
            tables: Vec::new(),
            blocks: BTreeMap::new(),
            replica_groups: Ok(Vec::new()),
            routes: Ok(Vec::new()),
        }
    }
}

impl CoreProgram {
    /// Records of an engine, in order.
    pub fn stream(&self, engine: Engine) -> &[Record] {
        self.streams.get(usize::from(engine.number())).map_or(&[], Vec::as_slice)
    }

    /// Where a variable lies.
    pub(crate) fn variable(&self, id: u64) -> Result<Place, Fault> {
        match self.variables.get(&id) {
            Some(Ok(place)) => Ok(*place),
            Some(Err(reason)) => Err(Fault::unknown(reason.clone())),
            None => Err(Fault::address(format!("no variable {id}"))),
        }
    }

    pub(crate) fn named(&self, name: &str) -> Result<Place, Fault> {
        let id = self.names.get(name);
        self.variable(*id.ok_or_else(|| Fault::address(format!("no variable {name:?}")))?)
    }

    /// The variable that an entry of the address table stands for.
    pub(crate) fn table(&self, index: u32) -> Result<Place, Fault> {
        let [table] = self.tables.as_slice() else {
            return Err(Fault::unknown(format!("one of {} address tables", self.tables.len())));
        };
        let entry = usize::try_from(index).ok().and_then(|index| table.get(index));
        let missing = || Fault::address(format!("no entry {index} of the address table"));
        self.variable(*entry.ok_or_else(missing)?)
    }

    pub(crate) fn block(&self, engine: Engine, queue: &str, id: u64) -> Option<&DmaBlock> {
        self.blocks.get(&(engine.number(), queue.to_owned(), id))
    }
}

impl Program {
    /// Reads a NEFF of one Neuron node.
    ///
    /// # Errors
    ///
    /// As [`Program::from_node`], and when the container is broken.
    pub fn from_neff(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::from_node(&Neff::open(bytes, &Options::strict().holding_all())?, None)
    }

    /// Makes one Neuron node of an opened NEFF ready: the one whose kelf member
    /// this is, or the only one.
    ///
    /// # Errors
    ///
    /// When the file was not opened in strict mode with its digest, its JSON
    /// breaks a rule, there is no such node, the hardware is unknown, or a
    /// stream or constant is missing. Records are looked at when they run.
    pub fn from_node(neff: &Neff<'_>, kelf: Option<&str>) -> Result<Self, LoadError> {
        if neff.options.mode != Mode::Strict || neff.digest.is_none() {
            return Err(LoadError::Unchecked);
        }
        let model = Model::read(neff, &mut Report::new(Mode::Strict))?;
        let kelfs = model.kelf_member.iter().chain(&model.more_kelfs);
        let own = match kelf {
            Some(kelf) => kelfs.clone().find(|name| *name == kelf),
            None if model.more_kelfs.is_empty() => model.kelf_member.as_ref(),
            None => None,
        };
        let Some(own) = own else {
            let wanted = kelf.map(str::to_owned);
            return Err(LoadError::Node { wanted, kelfs: kelfs.cloned().collect() });
        };
        let arch = match target(neff, &model, own)? {
            Some(Target::V1) => Arch::V1,
            // `*`: the oldest generation that has records (our choice)
            Some(Target::V2 | Target::Any) => Arch::V2,
            // our own builder's records are those of v3
            Some(Target::V3 | Target::Simulator) => Arch::V3,
            Some(Target::V4) => Arch::V4,
            None => return Err(LoadError::Target),
        };
        let mut loader = Loader { neff, arch, hbm: Hbm::default(), tensors: Vec::new() };
        let mut cores = Vec::new();
        for subgraph in model.subgraphs.iter().filter(|subgraph| subgraph.kelf_member == *own) {
            cores.push(loader.core(subgraph)?);
        }
        if cores.is_empty() {
            return Err(LoadError::Empty);
        }
        let Loader { hbm, mut tensors, .. } = loader;
        for tensor in &mut tensors {
            let mut listed = model.tensors.iter();
            let listed = listed.find(|t| t.name == tensor.name && t.usage == tensor.usage);
            tensor.dtype = listed.and_then(|listed| listed.dtype.clone());
            tensor.shape = listed.and_then(|listed| listed.shape.clone());
        }
        Ok(Self { faults: OnceLock::new(), arch, cores, hbm, tensors })
    }

    /// Generation of the hardware that it is for.
    pub const fn arch(&self) -> Arch {
        self.arch
    }

    /// The program of each physical core.
    pub fn cores(&self) -> &[CoreProgram] {
        &self.cores
    }

    /// Inputs and outputs, by name.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }
}

/// The hardware that a kelf member is for.
fn target(neff: &Neff<'_>, model: &Model, kelf: &str) -> Result<Option<Target>, LoadError> {
    if model.kelf_member.as_deref() == Some(kelf) {
        return Ok(model.target());
    }
    let body = neff.body(kelf).ok_or_else(|| member_error(kelf, "is absent"))??;
    let kelf: Kelf =
        serde_json::from_slice(&body).map_err(|error| member_error(kelf, error.to_string()))?;
    Ok(Target::parse(kelf.target.as_deref()))
}

struct Loader<'n, 'a> {
    neff: &'n Neff<'a>,
    arch: Arch,
    hbm: Hbm,
    tensors: Vec<TensorInfo>,
}

fn member_error(member: &str, reason: impl Into<String>) -> LoadError {
    LoadError::Member { member: member.to_owned(), reason: reason.into() }
}

/// Lists of ranks, however deep.
fn ranks<T: serde::de::DeserializeOwned + Default>(
    lists: &Option<serde_json::Value>,
) -> Result<T, String> {
    let Some(lists) = lists else { return Ok(T::default()) };
    serde_json::from_value(lists.clone()).map_err(|error| format!("lists of ranks: {error}"))
}

impl Loader<'_, '_> {
    fn core(&mut self, subgraph: &Subgraph) -> Result<CoreProgram, LoadError> {
        let mut core = CoreProgram { name: subgraph.name.clone(), ..CoreProgram::default() };
        core.replica_groups = ranks(&subgraph.definition.replica_groups);
        core.routes = ranks(&subgraph.definition.src_target_pairs);
        for program in &subgraph.programs {
            let key = program.engine.key();
            let Some(engine) = Engine::ALL.into_iter().find(|engine| engine.key() == key) else {
                continue;
            };
            // an absent stream is an empty one (neff.md §6)
            let member = program.stream_member.as_deref().unwrap_or_default();
            if let (Some(body), Some(stream)) =
                (self.neff.body(member), core.streams.get_mut(usize::from(engine.number())))
            {
                *stream = decode_stream(self.arch, &body?)
                    .map_err(|error| member_error(member, error.to_string()))?;
            }
            for block in program.json.iter().filter_map(|json| json.dma.as_ref()).flatten() {
                let queue = block.queue.clone().unwrap_or_default();
                let key = (engine.number(), queue, block.id.unwrap_or_default());
                if let Some(twice) = core.blocks.insert(key, block.clone()) {
                    let text = format!("block {:?} of queue {:?} twice", twice.id, twice.queue);
                    return Err(member_error(&subgraph.definition_member, text));
                }
            }
        }
        // Areas of scratch that variables share, by name, with their size.
        let mut areas: BTreeMap<[Option<&str>; 2], (usize, u64)> = BTreeMap::new();
        for (name, variable) in &subgraph.definition.var {
            core.names.insert(name.clone(), variable.var_id);
            let place = match variable.kind() {
                Some(VarKind::DgeTable) => {
                    core.tables.push(variable.list.clone().unwrap_or_default());
                    Err("an address table as data".to_owned())
                }
                Some(VarKind::Virtual) => {
                    let area =
                        [&variable.backing_buf, &variable.fabric_path].map(|name| name.as_deref());
                    let start = variable.backing_variable_off.unwrap_or_default();
                    let size = variable.size.unwrap_or_default();
                    let fresh = self.hbm.buffers.len();
                    let (buffer, end) = areas.entry(area).or_insert_with(|| {
                        self.hbm.buffers.push(Buffer::new(0));
                        (fresh, 0)
                    });
                    *end = (*end).max(start.saturating_add(size));
                    Ok(Place::Hbm { buffer: *buffer, start, size })
                }
                _ => self.place(subgraph, name, variable)?,
            };
            core.variables.insert(variable.var_id, place);
        }
        for (buffer, size) in areas.into_values() {
            if let Some(area) = self.hbm.buffers.get_mut(buffer) {
                *area = Buffer::new(size);
            }
        }
        Ok(core)
    }

    /// Where a variable lies that has memory of its own.
    fn place(
        &mut self,
        subgraph: &Subgraph,
        name: &str,
        variable: &Variable,
    ) -> Result<Result<Place, String>, LoadError> {
        let size = variable.size.unwrap_or_default();
        let usage = match variable.kind() {
            Some(VarKind::StateBuffer) => return Ok(Ok(Place::Sbuf)),
            Some(VarKind::Input) => Some(Usage::Input),
            Some(VarKind::Output) => Some(Usage::Output),
            Some(VarKind::TmpBuf | VarKind::File) => None,
            _ => return Ok(Err(format!("a variable of type {:?}", variable.type_word))),
        };
        if let Some(usage) = usage {
            let mut known = self.tensors.iter();
            if let Some(known) = known.find(|t| t.name == name && t.usage == usage) {
                if known.bytes != size {
                    let text = format!("{name} has {size} bytes, elsewhere {}", known.bytes);
                    return Err(member_error(&subgraph.definition_member, text));
                }
                return Ok(Ok(Place::Hbm { buffer: known.buffer, start: 0, size }));
            }
        }
        let (buffer, mut content) = (self.hbm.buffers.len(), Buffer::new(size));
        if let Some(usage) = usage {
            let name = name.to_owned();
            let (dtype, shape) = (None, None);
            self.tensors.push(TensorInfo { name, usage, bytes: size, dtype, shape, buffer });
        } else if variable.kind() == Some(VarKind::File) {
            let member = subgraph.member(&variable.member().unwrap_or_default());
            let body = self.neff.body(&member).ok_or_else(|| member_error(&member, "is absent"))?;
            let body = body?;
            // the data of a .npy member are its last bytes (isa-layouts.md §8)
            let start = usize::try_from(size).ok().and_then(|size| body.len().checked_sub(size));
            let data = start.and_then(|start| body.get(start..));
            let data = data.ok_or_else(|| {
                member_error(&member, format!("has {} bytes, not {size}", body.len()))
            })?;
            content.write(0, data).map_err(|fault| member_error(&member, fault.to_string()))?;
        }
        self.hbm.buffers.push(content);
        Ok(Ok(Place::Hbm { buffer, start: 0, size }))
    }
}
