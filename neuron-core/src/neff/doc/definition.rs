//! `sgNN/def.json`: variables, queues and the names of the engine members
//! (sheet section 5.3).

use super::json::unique;
use crate::engine::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A definition. Every key may be absent but `var`; without it there is
/// nothing to load, which the model's checks say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Definition {
    /// JSON member of the scalar engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<String>,
    /// JSON member of the vector engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dve: Option<String>,
    /// JSON member of the tensor engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe: Option<String>,
    /// JSON member of the general engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// JSON member of the sync engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp: Option<String>,
    /// Stream member of the scalar engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_instr: Option<String>,
    /// Stream member of the vector engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dve_instr: Option<String>,
    /// Stream member of the tensor engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_instr: Option<String>,
    /// Stream member of the general engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_instr: Option<String>,
    /// Stream member of the sync engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp_instr: Option<String>,
    /// Backend debug members of the scalar engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_dbg: Option<Vec<String>>,
    /// Backend debug members of the vector engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dve_dbg: Option<Vec<String>>,
    /// Backend debug members of the tensor engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_dbg: Option<Vec<String>>,
    /// Backend debug members of the general engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_dbg: Option<Vec<String>>,
    /// Backend debug members of the sync engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp_dbg: Option<Vec<String>>,
    /// Asm debug members of the scalar engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_asm_dbg: Option<Vec<String>>,
    /// Asm debug members of the vector engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dve_asm_dbg: Option<Vec<String>>,
    /// Asm debug members of the tensor engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_asm_dbg: Option<Vec<String>>,
    /// Asm debug members of the general engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_asm_dbg: Option<Vec<String>>,
    /// Asm debug members of the sync engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp_asm_dbg: Option<Vec<String>>,
    /// Backend debug members of DMA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma_dbg: Option<Vec<String>>,
    /// `definition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `0.6` or `0.6-`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Version of the producer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_version: Option<String>,
    /// Collective streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_streams: Option<Value>,
    /// Collective streams, other form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_streams: Option<Value>,
    /// Collective stream, other form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_stream: Option<Value>,
    /// Names of further debug members, such as the wavegraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_info: Option<BTreeMap<String, Value>>,
    /// Variables by name.
    #[serde(default, deserialize_with = "unique")]
    pub var: BTreeMap<String, Variable>,
    /// Queue sets by name.
    #[serde(default, deserialize_with = "unique")]
    pub dma_queue: BTreeMap<String, QueueSet>,
    /// Descriptor blocks of the subgraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<Vec<super::DmaBlock>>,
    /// Collective groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_groups: Option<Value>,
    /// Collective routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_target_pairs: Option<Value>,
    /// World size.
    #[serde(default, rename = "#rank_world_size", skip_serializing_if = "Option::is_none")]
    pub rank_world_size: Option<i64>,
    /// Custom-op library members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ucode_lib: Option<super::Names>,
    /// Default extended-ISA library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ext_isa_ucode_lib_def: Option<Value>,
    /// State-buffer carve-outs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_statebuffer_reservation: Option<Vec<Value>>,
    /// Events kept for the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_event_count: Option<u64>,
    /// Semaphores kept for the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_semaphore_count: Option<u64>,
    /// Conversion of 8-bit floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp8_conversion_config: Option<BTreeMap<String, Value>>,
    /// Readable part of the feature bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neff_features: Option<Vec<String>>,
}

impl Definition {
    /// JSON member of an engine, relative to the subgraph's folder.
    pub fn engine_json(&self, engine: Engine) -> Option<&str> {
        match engine {
            Engine::Act => self.act.as_deref(),
            Engine::Dve => self.dve.as_deref(),
            Engine::Pe => self.pe.as_deref(),
            Engine::Pool => self.pool.as_deref(),
            Engine::Sp => self.sp.as_deref(),
        }
    }

    /// Stream member of an engine as named here; older producers name it in
    /// the engine's JSON only.
    pub fn engine_stream(&self, engine: Engine) -> Option<&str> {
        match engine {
            Engine::Act => self.act_instr.as_deref(),
            Engine::Dve => self.dve_instr.as_deref(),
            Engine::Pe => self.pe_instr.as_deref(),
            Engine::Pool => self.pool_instr.as_deref(),
            Engine::Sp => self.sp_instr.as_deref(),
        }
    }

    /// Backend debug members of an engine.
    pub fn backend_debug(&self, engine: Engine) -> &[String] {
        let members = match engine {
            Engine::Act => &self.act_dbg,
            Engine::Dve => &self.dve_dbg,
            Engine::Pe => &self.pe_dbg,
            Engine::Pool => &self.pool_dbg,
            Engine::Sp => &self.sp_dbg,
        };
        members.as_deref().unwrap_or_default()
    }

    /// Asm debug members of an engine.
    pub fn asm_debug(&self, engine: Engine) -> &[String] {
        let members = match engine {
            Engine::Act => &self.act_asm_dbg,
            Engine::Dve => &self.dve_asm_dbg,
            Engine::Pe => &self.pe_asm_dbg,
            Engine::Pool => &self.pool_asm_dbg,
            Engine::Sp => &self.sp_asm_dbg,
        };
        members.as_deref().unwrap_or_default()
    }
}

/// A variable: a piece of device memory, or a list of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Variable {
    /// What it is; see [`Self::kind`].
    #[serde(rename = "type")]
    pub type_word: String,
    /// Unique number.
    pub var_id: u64,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<u64>,
    /// Data type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<i64>>,
    /// Shape on the device, old producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_shape: Option<Vec<i64>>,
    /// Shape in the framework, old producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framework_shape: Option<Vec<i64>>,
    /// Bytes of an element, old producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_size: Option<u64>,
    /// Layout word, old producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Repeats the type, old producers.
    #[serde(default, rename = "#transfer-type", skip_serializing_if = "Option::is_none")]
    pub transfer_type: Option<String>,
    /// Hint for a simulator, never a payload.
    #[serde(default, rename = "#file-name", skip_serializing_if = "Option::is_none")]
    pub simulator_file: Option<String>,
    /// Member with the bytes of a constant, in the subgraph's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// Same, other producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Folder of `file_name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Offset in the shared scratchpad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_variable_off: Option<u64>,
    /// Area of the scratchpad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_buf: Option<String>,
    /// Area: `main`, `alt`, `sharded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_path: Option<String>,
    /// Variable whose address is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referenced_var_id: Option<u64>,
    /// Variable ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<u64>>,
    /// Seen empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<Vec<Value>>,
}

/// What a variable is, with the runtime's class number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarKind {
    /// On-chip memory, class 1.
    StateBuffer,
    /// Constant with a member, class 3.
    File,
    /// Private scratch, class 4.
    TmpBuf,
    /// Model input, class 5.
    Input,
    /// Model output, class 6.
    Output,
    /// Address of another variable, class 7.
    Pointer,
    /// Shared scratchpad, class 8.
    Virtual,
    /// List of variables, class 9.
    List,
    /// Table of addresses for descriptor generation, class 10 (inferred).
    DgeTable,
    /// On another core, class 11.
    Remote,
    /// `local`, `shared`, `sharded` or `main`: seen, class not published.
    Unclassed,
}

impl Variable {
    /// What it is; `None` for an unknown word.
    pub fn kind(&self) -> Option<VarKind> {
        Some(match self.type_word.as_str() {
            "state-buffer" => VarKind::StateBuffer,
            "file" => VarKind::File,
            "tmp-buf" => VarKind::TmpBuf,
            "input" => VarKind::Input,
            "output" => VarKind::Output,
            "pointer" => VarKind::Pointer,
            "virtual" => VarKind::Virtual,
            "list" => VarKind::List,
            "dge-table" => VarKind::DgeTable,
            "remote" => VarKind::Remote,
            "local" | "shared" | "sharded" | "main" => VarKind::Unclassed,
            _ => return None,
        })
    }

    /// Member with the bytes of a constant, relative to the subgraph's folder.
    pub fn member(&self) -> Option<String> {
        let file = self.file_name.as_deref().or(self.file.as_deref())?;
        Some(match &self.prefix {
            Some(prefix) => format!("{prefix}/{file}"),
            None => file.to_owned(),
        })
    }
}

/// A set of DMA queues.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QueueSet {
    /// `in`, `out`, `data`, `embedding_update`, `dynamic`, `act_load`.
    #[serde(rename = "type")]
    pub type_word: String,
    /// Key of the engine that triggers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Queues, 1 if absent, at most 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_queues: Option<u64>,
    /// Completion semaphore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semaphore: Option<i64>,
    /// Completion semaphores, one a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semaphore_set: Option<Vec<i64>>,
    /// Rings that may be swapped in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_instances: Option<Vec<String>>,
    /// Inf1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// `main` or `alt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_path: Option<String>,
    /// Descriptors made from indices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indirect_memcpy: Option<Value>,
    /// Descriptors made by hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dge: Option<Value>,
    /// Scratch for descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_dma: Option<Value>,
    /// Semaphore of embedding updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_update_sync_semaphore: Option<Value>,
}

/// The types of queue sets that are known.
pub(crate) const QUEUE_TYPES: [&str; 6] =
    ["in", "out", "data", "embedding_update", "dynamic", "act_load"];
