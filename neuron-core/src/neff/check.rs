//! Checks of the JSON members, in the order of the loader's gates 9 to 17
//! (sheet section 9.2), then our own.

use super::doc::{
    Definition, DmaBlock, Engine, EngineJson, Graph, Kelf, Names, QUEUE_TYPES, Target,
    UcodeLibrary, VarKind,
};
use super::documents::Documents;
use super::file::Neff;
use super::model::{SLOT, Subgraph, ucode};
use super::problem::{Place, Problem, Report, Rule, widen};
use std::collections::BTreeSet;

/// The host graph: lists fit together.
pub(super) fn graph(name: &str, graph: &Graph, report: &mut Report) -> Result<(), Problem> {
    let mut wrong =
        |path: &str, value: String| report.note(Rule::GraphShape, Place::key(name, path), value);
    let nodes = widen(graph.nodes.len());
    let rows = &graph.node_row_ptr;
    if widen(rows.len()) != nodes + 1 {
        wrong("node_row_ptr", format!("{} elements for {nodes} nodes", rows.len()))?;
    }
    if rows.windows(2).any(|pair| pair.first() > pair.last()) {
        wrong("node_row_ptr", String::from("it decreases"))?;
    }
    for index in graph.arg_nodes.iter().filter(|index| **index >= nodes) {
        wrong("arg_nodes", format!("node {index} of {nodes}"))?;
    }
    let lists = [
        ("attrs/shape", graph.attrs.shape.as_ref().map(|(_, list)| list.len())),
        ("attrs/dltype", graph.attrs.dltype.as_ref().map(|(_, list)| list.len())),
    ];
    for (path, length) in lists {
        match length {
            None => wrong(path, String::from("it is absent"))?,
            Some(length) => {
                let entries = rows.last().copied().unwrap_or(0);
                if widen(length) < entries {
                    wrong(path, format!("{length} elements for {entries} entries"))?;
                }
            }
        }
    }
    let heads = graph.heads.iter().map(|head| ("heads", head));
    let inputs = graph.nodes.iter().flat_map(|node| &node.inputs);
    for (path, triple) in heads.chain(inputs.map(|input| ("nodes", input))) {
        if triple.len() < 2 || triple.len() > 3 || triple.first().is_none_or(|n| *n >= nodes) {
            wrong(path, format!("{triple:?} is no output of one of {nodes} nodes"))?;
        }
    }
    Ok(())
}

/// The kelf member: version, target, count of subgraphs.
pub(super) fn kelf(
    neff: &Neff<'_>,
    name: &str,
    kelf: &Kelf,
    report: &mut Report,
) -> Result<(), Problem> {
    if !kelf.version.contains('.') {
        let value = format!("the version is {:?}", kelf.version);
        report.note(Rule::KelfVersion, Place::key(name, "version"), value)?;
    }
    let target = || format!("the target is {:?}", kelf.target.as_deref().unwrap_or_default());
    match Target::parse(kelf.target.as_deref()) {
        None => report.note(Rule::Target, Place::key(name, "target"), target())?,
        Some(Target::V1) => report.note(Rule::TargetOld, Place::key(name, "target"), target())?,
        Some(_) => {}
    }
    let (count, size) = (kelf.graphs.len(), neff.header.logical_core_size());
    // Inf1 pipelines and old files have several without a logical core size.
    if count == 0 || count > 1 && neff.header.major == 2 && widen(count) != u64::from(size) {
        let value = format!("{count} subgraphs, logical core size {size}");
        report.note(Rule::SubgraphCount, Place::key(name, "graphs"), value)?;
    }
    Ok(())
}

/// One definition and the members it names.
pub(super) fn definition(
    documents: &mut Documents<'_, '_>,
    subgraph: &Subgraph,
    target: Option<Target>,
    report: &mut Report,
) -> Result<(), Problem> {
    let neff = documents.neff;
    let name = &subgraph.definition_member;
    let definition = &subgraph.definition;
    variables(name, definition, report)?;
    queues(name, definition, report)?;
    let reserved = definition.runtime_statebuffer_reservation.is_some();
    if target == Some(Target::V3) && !reserved {
        let place = Place::key(name, "runtime_statebuffer_reservation");
        report.note(Rule::Reservation, place, "it is absent")?;
    }
    for (path, file) in definition.debug_info.iter().flatten() {
        if let Some(file) = file.as_str() {
            let place = Place::key(name, format!("debug_info/{path}"));
            named(neff, subgraph, file, Rule::MemberAbsentOptional, place, report)?;
        }
    }
    for (variable, value) in &definition.var {
        if let Some(file) = value.member() {
            let place = Place::key(name, format!("var/{variable}"));
            named(neff, subgraph, &file, Rule::MemberAbsent, place, report)?;
        }
    }
    for engine in Engine::ALL {
        let lists = [definition.backend_debug(engine), definition.asm_debug(engine)];
        for file in lists.into_iter().flatten() {
            let place = Place::key(name, format!("{}_dbg", engine.key()));
            named(neff, subgraph, file, Rule::MemberAbsentOptional, place, report)?;
        }
    }
    for program in &subgraph.programs {
        if let Some(stream) = &program.stream_member {
            let key = format!("{}_instr", program.engine.key());
            stream_member(neff, name, &key, stream, report)?;
        }
        if let Some(json) = &program.json {
            let file = definition.engine_json(program.engine).unwrap_or_default();
            engine(neff, subgraph, &subgraph.member(file), json, report)?;
        }
    }
    for (index, block) in definition.dma.iter().flatten().enumerate() {
        dma(definition, name, index, block, report)?;
    }
    let libraries: BTreeSet<&str> = match &definition.ucode_lib {
        Some(Names::One(file)) => BTreeSet::from([file.as_str()]),
        Some(Names::Many(files)) => files.iter().map(String::as_str).collect(),
        None => BTreeSet::new(),
    };
    let mut all: Vec<UcodeLibrary> = Vec::new();
    for file in libraries {
        all.extend(ucode(documents, &subgraph.member(file), report)?);
    }
    for (index, value) in UcodeLibrary::faults(&all) {
        report.note(Rule::CustomOps, Place::key(name, format!("ucode_lib/{index}")), value)?;
    }
    Ok(())
}

fn variables(name: &str, definition: &Definition, report: &mut Report) -> Result<(), Problem> {
    let count = widen(definition.var.len());
    if count == 0 {
        report.note(Rule::NoVariables, Place::key(name, "var"), "there is no variable")?;
    }
    let output = |var: &super::doc::Variable| var.kind() == Some(VarKind::Output);
    if !definition.var.values().any(output) {
        report.note(Rule::NoOutput, Place::key(name, "var"), "no variable is an output")?;
    }
    let mut ids: Vec<u64> = definition.var.values().map(|var| var.var_id).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).find(|pair| pair.first() == pair.last());
    if let Some([id, _]) = twice {
        let value = format!("two variables have id {id}");
        report.note(Rule::VarId, Place::key(name, "var"), value)?;
    } else if !ids.iter().copied().eq(0..count) {
        let most = ids.last().copied().unwrap_or(0);
        let value = format!("{count} variables, ids up to {most}");
        report.note(Rule::VarDense, Place::key(name, "var"), value)?;
    }
    for (variable, value) in &definition.var {
        let place = || Place::key(name, format!("var/{variable}"));
        match value.kind() {
            None => {
                let text = format!("the type is {:?}", value.type_word);
                report.note(Rule::VarType, place(), text)?;
            }
            Some(VarKind::Pointer) if value.size != Some(8) => {
                let text = format!("a pointer has size {:?}", value.size);
                report.note(Rule::VarSize, place(), text)?;
            }
            Some(
                VarKind::File
                | VarKind::Input
                | VarKind::Output
                | VarKind::TmpBuf
                | VarKind::Virtual,
            ) if value.size.is_none() => {
                report.note(Rule::VarSize, place(), "it has no size")?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn queues(name: &str, definition: &Definition, report: &mut Report) -> Result<(), Problem> {
    for (queue, value) in &definition.dma_queue {
        let place = |key: &str| Place::key(name, format!("dma_queue/{queue}/{key}"));
        let owner = value.owner.as_deref().unwrap_or_default();
        if Engine::from_key(owner).is_none() {
            report.note(Rule::QueueOwner, place("owner"), format!("the owner is {owner:?}"))?;
        }
        if !QUEUE_TYPES.contains(&value.type_word.as_str()) {
            let text = format!("the type is {:?}", value.type_word);
            report.note(Rule::QueueType, place("type"), text)?;
        }
        let count = value.num_queues.unwrap_or(1);
        if !(1..=16).contains(&count) {
            report.note(Rule::QueueCount, place("num_queues"), format!("it is {count}"))?;
        }
    }
    Ok(())
}

/// A member of the subgraph that a key names.
fn named(
    neff: &Neff<'_>,
    subgraph: &Subgraph,
    file: &str,
    rule: Rule,
    place: Place,
    report: &mut Report,
) -> Result<(), Problem> {
    let member = subgraph.member(file);
    if neff.member(&member).is_none() {
        report.note(rule, place, format!("there is no {member}"))?;
    }
    Ok(())
}

fn stream_member(
    neff: &Neff<'_>,
    definition: &str,
    key: &str,
    stream: &str,
    report: &mut Report,
) -> Result<(), Problem> {
    let Some(member) = neff.member(stream) else {
        let place = Place::key(definition, key);
        return report.note(Rule::MemberAbsent, place, format!("there is no {stream}"));
    };
    if !member.size().is_multiple_of(SLOT) || member.size() > u64::from(u32::MAX) {
        let place = Place::Archive(member.entry.body_at);
        let value = format!("{stream} has {} bytes", member.size());
        report.note(Rule::StreamLength, place, value)?;
    }
    Ok(())
}

fn engine(
    neff: &Neff<'_>,
    subgraph: &Subgraph,
    name: &str,
    json: &EngineJson,
    report: &mut Report,
) -> Result<(), Problem> {
    if let Some(file) = &json.act_info {
        // The published sample names it and does not have it.
        let place = Place::key(name, "act_info");
        named(neff, subgraph, file, Rule::MemberAbsentOptional, place, report)?;
    }
    for file in json.table_members() {
        named(neff, subgraph, file, Rule::MemberAbsent, Place::key(name, "dve_tables"), report)?;
    }
    for (index, block) in json.dma.iter().flatten().enumerate() {
        dma(&subgraph.definition, name, index, block, report)?;
    }
    Ok(())
}

fn dma(
    definition: &Definition,
    name: &str,
    index: usize,
    block: &DmaBlock,
    report: &mut Report,
) -> Result<(), Problem> {
    let queues = &definition.dma_queue;
    if let Some(queue) = block.queue.as_ref().filter(|queue| !queues.contains_key(*queue)) {
        let place = Place::key(name, format!("dma/{index}/queue"));
        report.note(Rule::DmaName, place, format!("there is no queue {queue}"))?;
    }
    for (step, transfer) in block.desc.iter().enumerate() {
        for (key, variable) in [("from", &transfer.from), ("to", &transfer.to)] {
            let known = |name: &String| definition.var.contains_key(name);
            if let Some(variable) = variable.as_ref().filter(|name| !known(name)) {
                let place = Place::key(name, format!("dma/{index}/desc/{step}/{key}"));
                report.note(Rule::DmaName, place, format!("there is no variable {variable}"))?;
            }
        }
    }
    Ok(())
}
