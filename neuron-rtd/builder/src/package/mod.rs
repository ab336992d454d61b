//! Packs programs into a NEFF (neff.md §12).
//!
//! Its target word is `npu-sim`, which no loader of the vendor knows, and its
//! build version says which program wrote it.

mod debug;
mod definition;
mod host;

use neuron_core::neff::Builder;

use crate::error::{BuildError, Result};
use crate::lower::{CoreProgram, lower};
use crate::model::{HostNode, Model};

/// Who wrote the file: build version of the header.
pub const PRODUCER: &str = concat!("neuron-builder ", env!("CARGO_PKG_VERSION"));

/// Most cores of a file: what the header counts (neff.md §2).
const MOST_CORES: usize = 64;

/// A model as a NEFF.
#[derive(Debug, Clone)]
pub struct Built {
    /// The file.
    pub bytes: Vec<u8>,
    /// Physical cores of all Neuron nodes.
    pub cores: usize,
    /// Records of all streams.
    pub instructions: usize,
}

impl Model {
    /// Lowers the graphs and packs the file.
    ///
    /// # Errors
    ///
    /// When the nodes do not fit each other or a graph does not fit a core.
    pub fn build(&self) -> Result<Built> {
        let mut programs = Vec::new();
        for node in &self.nodes {
            let HostNode::Neuron(node) = node else {
                continue;
            };
            let lowered: Result<Vec<CoreProgram>> = node.cores.iter().map(lower).collect();
            programs.push(lowered?);
        }
        self.pack(&programs)
    }

    /// Packs programs that exist, one list of cores for each Neuron node.
    ///
    /// # Errors
    ///
    /// When the nodes do not fit each other.
    pub fn pack(&self, programs: &[Vec<CoreProgram>]) -> Result<Built> {
        let cores = programs.iter().map(Vec::len).sum::<usize>();
        if cores == 0 || cores > MOST_CORES {
            let reason = format!("{cores} cores, a file has 1 to {MOST_CORES}");
            return Err(BuildError::Model { model: self.name.clone(), reason });
        }
        if self.name.is_empty() || self.name.len() > 255 || !self.name.is_ascii() {
            let reason = "names are 1 to 255 bytes of ASCII".to_owned();
            return Err(BuildError::Model { model: self.name.clone(), reason });
        }
        let mut builder = self.header(programs);
        builder.add("neff.json", host::document(self)?)?;
        builder.add("info.json", host::info(self, &builder.header)?)?;
        let mut number = 0;
        for (node, cores) in programs.iter().enumerate() {
            let kelf = host::kelf_name(node);
            builder.add(&kelf, host::kelf(number, cores.len())?)?;
            for (rank, core) in cores.iter().enumerate() {
                definition::add(&mut builder, number, core, cores.len())?;
                debug::add(&mut builder, number, core, &format!("{}.{rank}", self.name))?;
                number += 1;
            }
        }
        let mut bytes = Vec::new();
        builder.write(&mut bytes)?;
        let instructions = programs.iter().flatten().map(|core| core.streams.instructions()).sum();
        Ok(Built { bytes, cores: number, instructions })
    }

    fn header(&self, programs: &[Vec<CoreProgram>]) -> Builder<'static> {
        let mut builder = Builder::new(1);
        let header = &mut builder.header;
        // every subgraph is a core of its own; logical cores have one each
        let cores = programs.iter().map(Vec::len).sum::<usize>();
        header.num_tpb = u32::try_from(cores).unwrap_or(u32::MAX);
        header.requested_tpb = header.num_tpb;
        let mut lists = programs.iter();
        let needs = self.nodes.iter().map(|node| match node {
            HostNode::Neuron(_) => lists.next().map_or(0, Vec::len),
            HostNode::Cpu(_) => 0,
        });
        for (slot, need) in header.tpb_per_node.iter_mut().zip(needs) {
            *slot = u8::try_from(need).unwrap_or(u8::MAX);
        }
        put_text(&mut header.build_version, PRODUCER);
        put_text(&mut header.name, &self.name);
        builder
    }
}

/// Text and zeros, at least one.
fn put_text(field: &mut [u8], text: &str) {
    let most = field.len().saturating_sub(1);
    for (to, from) in field.iter_mut().take(most).zip(text.bytes()) {
        *to = from;
    }
}

/// A document as compilers write it: two spaces, keys in the order of the type.
fn json(document: &impl serde::Serialize) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(document)?)
}

/// Folder of a subgraph.
fn folder(number: usize) -> String {
    format!("sg{number:02}")
}

/// Stem of an engine's members (neff.md §4.2).
fn stem(engine: neuron_core::isa::Engine) -> &'static str {
    use neuron_core::isa::Engine;
    match engine {
        Engine::Pe => "PE",
        Engine::Act => "Activation",
        Engine::Pool => "Pool",
        Engine::Dve => "DVE",
        Engine::Sp => "SP",
    }
}
