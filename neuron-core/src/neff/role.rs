//! What each member is for (sheet section 4.1).

use super::doc::{Engine, Names};
use super::file::Neff;
use super::model::{Model, Subgraph};
use std::collections::HashMap;

/// The role of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Host graph.
    HostGraph,
    /// List of subgraphs.
    Kelf,
    /// Definition of a subgraph.
    Definition,
    /// JSON of an engine.
    EngineJson(Engine),
    /// Instruction stream of an engine.
    Stream(Engine),
    /// Text disassembly of a stream.
    Disassembly,
    /// Bytes of a constant.
    Weights,
    /// Table of the activation or vector engine.
    Table,
    /// Activation metadata.
    ActInfo,
    /// Custom-op library or its list.
    CustomOps,
    /// Host operators and their parameters.
    HostOperators,
    /// Layouts of tensors.
    TensorMap,
    /// Build metadata.
    Info,
    /// Statistics of the compiler.
    Statistics,
    /// Debug layer.
    Debug,
    /// Source lines of kernels.
    KernelLines,
    /// Dropped by the loader.
    Dropped,
}

impl Role {
    /// Words for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::HostGraph => "host graph",
            Self::Kelf => "subgraph list",
            Self::Definition => "definition",
            Self::EngineJson(_) => "engine",
            Self::Stream(_) => "instructions",
            Self::Disassembly => "disassembly",
            Self::Weights => "weights",
            Self::Table => "table",
            Self::ActInfo => "activation metadata",
            Self::CustomOps => "custom operators",
            Self::HostOperators => "host operators",
            Self::TensorMap => "tensor map",
            Self::Info => "build metadata",
            Self::Statistics => "statistics",
            Self::Debug => "debug",
            Self::KernelLines => "source lines",
            Self::Dropped => "dropped by the loader",
        }
    }

    /// Whether the loader reads it.
    pub fn is_loaded(self) -> bool {
        !matches!(
            self,
            Self::Disassembly
                | Self::TensorMap
                | Self::Info
                | Self::Statistics
                | Self::Debug
                | Self::KernelLines
                | Self::Dropped
        )
    }
}

/// End of the names that the loader drops.
const DROPPED: &str = "wavegraph-bin.json";

/// The roles of all members that have a known one: by what the JSON members
/// name first, then by the members' own names.
pub fn roles(neff: &Neff<'_>, model: &Model) -> HashMap<String, Role> {
    let mut roles = HashMap::new();
    for name in model.kelf_member.iter().chain(&model.more_kelfs) {
        roles.insert(name.clone(), Role::Kelf);
    }
    if let Some(name) = model.graph_member {
        roles.insert(name.to_owned(), Role::HostGraph);
    }
    for subgraph in &model.subgraphs {
        of_subgraph(subgraph, &mut roles);
    }
    for member in neff.members() {
        let name = member.name();
        if name.ends_with(DROPPED) {
            roles.insert(name.to_owned(), Role::Dropped);
        } else if !roles.contains_key(name)
            && let Some(role) = by_name(name)
        {
            roles.insert(name.to_owned(), role);
        }
    }
    roles
}

fn of_subgraph(subgraph: &Subgraph, roles: &mut HashMap<String, Role>) {
    let definition = &subgraph.definition;
    roles.insert(subgraph.definition_member.clone(), Role::Definition);
    let mut add = |file: &str, role| {
        roles.insert(subgraph.member(file), role);
    };
    for variable in definition.var.values() {
        if let Some(file) = variable.member() {
            add(&file, Role::Weights);
        }
    }
    match &definition.ucode_lib {
        Some(Names::One(file)) => add(file, Role::CustomOps),
        Some(Names::Many(files)) => files.iter().for_each(|file| add(file, Role::CustomOps)),
        None => {}
    }
    let debug = Engine::ALL.into_iter().flat_map(|engine| {
        [definition.asm_debug(engine), definition.backend_debug(engine)].concat()
    });
    for file in debug.chain(definition.dma_dbg.iter().flatten().cloned()) {
        add(&file, Role::Debug);
    }
    for program in &subgraph.programs {
        let engine = program.engine;
        if let Some(file) = definition.engine_json(engine) {
            add(file, Role::EngineJson(engine));
        }
        let Some(json) = &program.json else { continue };
        for file in json.table_members() {
            add(file, Role::Table);
        }
        if let Some(file) = &json.act_info {
            add(file, Role::ActInfo);
        }
        for set in json.activation_function_sets.iter().flatten() {
            for end in [".json", "_bkt.bin", "_ctrl.bin"] {
                add(&format!("{set}{end}"), Role::Table);
            }
        }
    }
    for program in &subgraph.programs {
        if let Some(stream) = &program.stream_member {
            roles.insert(stream.clone(), Role::Stream(program.engine));
        }
    }
}

fn by_name(name: &str) -> Option<Role> {
    let last = name.rsplit('/').next().unwrap_or(name);
    Some(match last {
        "info.json" => Role::Info,
        "tensor_map.json" => Role::TensorMap,
        "cpu.so" | "cpu.params" => Role::HostOperators,
        "ucode_lib.json" => Role::CustomOps,
        "act_info.json" => Role::ActInfo,
        "hlo_stats.json"
        | "hlo_metrics.json"
        | "metrics.json"
        | "global_metric_store.json"
        | "icMetadata.json"
        | "loop.json"
        | "kernel_info.json"
        | "instruction_stats.txt"
        | "dma_stats.txt" => Role::Statistics,
        "kernel_debug_info.json" => Role::KernelLines,
        _ if last.ends_with(".klir.debuginfo.json") => Role::KernelLines,
        _ if last.starts_with("debug_info") || name.starts_with("debug_info/") => Role::Debug,
        _ if last.ends_with(".asm") => Role::Disassembly,
        _ => return None,
    })
}
