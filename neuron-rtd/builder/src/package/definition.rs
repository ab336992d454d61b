//! Members of a subgraph: definition, streams, JSON of the engines, constants
//! (neff.md §5.3 to §5.5).

use std::collections::BTreeMap;

use neuron_core::isa::{Engine, Instruction};
use neuron_core::neff::Builder;
use neuron_core::neff::doc::{
    Definition, EngineJson, MappedTensor, QueueSet, TensorMap, Variable as Entry,
};
use serde_json::{Value, json};

use super::{PRODUCER, folder, json, stem};
use crate::emit::{LANES, Queue};
use crate::error::Result;
use crate::lower::{CoreProgram, POOL_SCRATCH, Variable, VariableKind};

/// The one set of functions of ACT. It has no tables: the software NeuronCore
/// computes the functions (our choice).
const FUNCTIONS: &str = "simulator_functions";
/// Semaphore of table loads, as in real files.
const TABLE_SEMAPHORE: i64 = 12;

/// Adds the members of one core.
pub(super) fn add(
    builder: &mut Builder<'static>,
    number: usize,
    core: &CoreProgram,
    ranks: usize,
) -> Result<()> {
    let folder = folder(number);
    for (engine, lines) in Engine::ALL.into_iter().zip(&core.streams.engines) {
        let stem = stem(engine);
        let records = lines.iter().map(|line| &line.instruction);
        let bytes: Vec<u8> = records.flat_map(Instruction::encode).collect();
        builder.add(&format!("{folder}/{stem}.bin"), bytes)?;
        let mut document = EngineJson {
            name: Some(format!("{stem}.json")),
            instr: Some(Value::from(format!("{stem}.bin"))),
            dma: Some(Vec::new()),
            ..EngineJson::default()
        };
        if engine == Engine::Act && core.tables {
            document.act_semaphore = Some(TABLE_SEMAPHORE);
            document.activation_function_sets = Some(vec![FUNCTIONS.to_owned()]);
        }
        builder.add(&format!("{folder}/{stem}.json"), json(&document)?)?;
    }
    for variable in &core.variables {
        if let VariableKind::Constant(array) = &variable.kind {
            builder.add(&format!("{folder}/{}", file_name(variable)), array.to_npy())?;
        }
    }
    builder.add(&format!("{folder}/tensor_map.json"), json(&tensor_map(core))?)?;
    builder.add(&format!("{folder}/def.json"), json(&definition(core, ranks))?)?;
    Ok(())
}

fn file_name(variable: &Variable) -> String {
    format!("value_{}.npy", variable.name)
}

fn definition(core: &CoreProgram, ranks: usize) -> Definition {
    let file = |engine, end: &str| Some(format!("{}{end}", stem(engine)));
    let debug =
        |engine, layer: &str| Some(vec![format!("debug_info_{layer}_{}.dbg", stem(engine))]);
    let group: Vec<usize> = (0..ranks).collect();
    let all_groups = if core.collective { json!([group]) } else { json!([]) };
    Definition {
        act: file(Engine::Act, ".json"),
        dve: file(Engine::Dve, ".json"),
        pe: file(Engine::Pe, ".json"),
        pool: file(Engine::Pool, ".json"),
        sp: file(Engine::Sp, ".json"),
        act_instr: file(Engine::Act, ".bin"),
        dve_instr: file(Engine::Dve, ".bin"),
        pe_instr: file(Engine::Pe, ".bin"),
        pool_instr: file(Engine::Pool, ".bin"),
        sp_instr: file(Engine::Sp, ".bin"),
        act_dbg: debug(Engine::Act, "backend"),
        dve_dbg: debug(Engine::Dve, "backend"),
        pe_dbg: debug(Engine::Pe, "backend"),
        pool_dbg: debug(Engine::Pool, "backend"),
        sp_dbg: debug(Engine::Sp, "backend"),
        act_asm_dbg: debug(Engine::Act, "asm"),
        dve_asm_dbg: debug(Engine::Dve, "asm"),
        pe_asm_dbg: debug(Engine::Pe, "asm"),
        pool_asm_dbg: debug(Engine::Pool, "asm"),
        sp_asm_dbg: debug(Engine::Sp, "asm"),
        name: Some("definition".to_owned()),
        version: Some("0.6".to_owned()),
        git_version: Some(PRODUCER.to_owned()),
        cc_streams: Some(json!({ "num_streams": 0 })),
        var: variables(core),
        dma_queue: queues(core),
        replica_groups: core.collective.then_some(all_groups),
        rank_world_size: Some(if core.collective { ranks as i64 } else { 0 }),
        // as in real files of the same generation
        runtime_statebuffer_reservation: Some(vec![json!({
            "type": "evtaccel", "base_partition": 0, "partitions": 128, "offset": 229_368, "size": 8
        })]),
        runtime_event_count: Some(12),
        runtime_semaphore_count: Some(3),
        neff_features: Some(Vec::new()),
        ..Definition::default()
    }
}

fn variables(core: &CoreProgram) -> BTreeMap<String, Entry> {
    let sbuf = Entry { type_word: "state-buffer".to_owned(), ..Entry::default() };
    let mut all = BTreeMap::from([("SB".to_owned(), sbuf)]);
    for (id, variable) in (1..).zip(&core.variables) {
        let elements: usize = variable.shape.iter().product();
        let mut entry = Entry {
            type_word: match variable.kind {
                VariableKind::Input => "input",
                VariableKind::Output => "output",
                VariableKind::Constant(_) => "file",
                VariableKind::Scratch => "tmp-buf",
            }
            .to_owned(),
            var_id: id,
            size: Some((elements * variable.element.bytes()) as u64),
            dtype: Some(variable.element.word().to_owned()),
            shape: Some(sizes(variable)),
            ops: Some(Vec::new()),
            ..Entry::default()
        };
        if matches!(variable.kind, VariableKind::Constant(_)) {
            entry.file_name = Some(file_name(variable));
        }
        all.insert(variable.name.clone(), entry);
    }
    all
}

fn sizes(variable: &Variable) -> Vec<i64> {
    variable.shape.iter().map(|size| *size as i64).collect()
}

/// The dynamic queues, named as compilers do. POOL makes its descriptors in
/// software and needs scratch for them.
fn queues(core: &CoreProgram) -> BTreeMap<String, QueueSet> {
    let queue = |queue: &Queue| {
        let (name, scratch) = match queue {
            Queue::Load => ("qSPDynamicHW", None),
            Queue::Store => {
                let scratch = json!({
                    "SB_scratch_partition_offset": 0, "SB_scratch_partition_size": POOL_SCRATCH
                });
                ("qPoolDynamic", Some(scratch))
            }
            Queue::Collective => return None,
        };
        let set = QueueSet {
            type_word: "dynamic".to_owned(),
            owner: Some(queue.owner().key().to_owned()),
            num_queues: Some(LANES as u64),
            semaphore_set: Some(queue.semaphores().map(i64::from).collect()),
            fabric_path: Some("main".to_owned()),
            dynamic_dma: scratch,
            ..QueueSet::default()
        };
        Some((name.to_owned(), set))
    };
    core.streams.queues.iter().filter_map(queue).collect()
}

fn tensor_map(core: &CoreProgram) -> TensorMap {
    let mapped = |variable: &Variable| {
        let kind = match variable.kind {
            VariableKind::Input => Some("input".to_owned()),
            VariableKind::Output => Some("output".to_owned()),
            VariableKind::Constant(_) => None,
            VariableKind::Scratch => return None,
        };
        let format = ["", "C", "NC", "NCW", "NCHW"].get(variable.shape.len()).copied();
        let format = format.unwrap_or_default().to_owned();
        let tensor = MappedTensor {
            dtype: Some(variable.element.word().to_owned()),
            is_const: Some(kind.is_none()),
            kind,
            layer_name: Some(variable.name.clone()),
            sim_format: Some(format.clone()),
            sim_shape: Some(sizes(variable)),
            tf_file: Some(file_name(variable)),
            tf_format: Some(format),
            tf_shape: Some(sizes(variable)),
            ..MappedTensor::default()
        };
        Some((variable.name.clone(), tensor))
    };
    TensorMap::Tensors(core.variables.iter().filter_map(mapped).collect())
}
