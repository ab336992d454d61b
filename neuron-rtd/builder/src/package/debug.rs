//! Debug members: which layer and which line of code an instruction is from
//! (neff.md §8).
//!
//! The asm layer has a record for each slot with the id of a backend record;
//! that one has a name, the source line, and the id of a penguin record, which
//! is the operator; above it the hlo record has the path of its layer. A
//! backend record also names those whose bytes it reads or writes. Slots that
//! no operator asked for have empty records.

use std::collections::BTreeMap;

use neuron_core::isa::Engine;
use neuron_core::neff::Builder;

use super::{folder, stem};
use crate::emit::{Edge, Line, Part, Step};
use crate::error::Result;
use crate::graph::Node;
use crate::lower::CoreProgram;

/// A protobuf message.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn packed(&mut self, field: u64, values: &[u64]) {
        let mut packed = Self::default();
        for value in values {
            packed.varint(*value);
        }
        self.bytes(field, &packed.0);
    }

    fn attribute(&mut self, key: &str, value: &str) {
        let mut entry = Self::default();
        entry.bytes(1, key.as_bytes());
        entry.bytes(2, value.as_bytes());
        self.bytes(7, &entry.0);
    }
}

/// Numbers of engines in debug members.
fn engine_number(engine: Engine) -> u64 {
    match engine {
        Engine::Pe => 1,
        Engine::Act => 2,
        Engine::Pool => 3,
        Engine::Dve => 5,
        Engine::Sp => 6,
    }
}

/// Numbers of edges in debug members.
fn edge_number(edge: Edge) -> u64 {
    match edge {
        Edge::Anti => 2,
        Edge::Output => 3,
        Edge::Flow => 4,
    }
}

/// Id of a record of a subgraph: the subgraph in the top 16 bits.
fn id(number: usize, index: usize) -> u64 {
    (number as u64) << 48 | index as u64
}

/// Adds the debug members of one core; `function` names its graph.
pub(super) fn add(
    builder: &mut Builder<'static>,
    number: usize,
    core: &CoreProgram,
    function: &str,
) -> Result<()> {
    let folder = folder(number);
    let files = files(&core.nodes);
    let parts = core.streams.engines.iter().flatten().filter_map(|line| part(line, &core.nodes));
    let steps: BTreeMap<Step, usize> =
        (1..).zip(parts).map(|(index, (part, _))| (part.step, index)).collect();
    let mut index = 0;
    for (engine, lines) in Engine::ALL.into_iter().zip(&core.streams.engines) {
        let mut asm = Message::default();
        let mut backend = Message::default();
        asm.bytes(1, b"Instructions in the order of the stream");
        asm.bytes(2, format!("debug_info_backend_{}.dbg", stem(engine)).as_bytes());
        backend.bytes(1, b"Instructions of the builder");
        backend.bytes(2, format!("debug_info_penguin.dbg_sg{number:06}").as_bytes());
        for line in lines {
            let mut slot = Message::default();
            if let Some((part, node)) = part(line, &core.nodes) {
                index += 1;
                slot.packed(3, &[id(number, index)]);
                let record = instruction(part, node, number, &steps, &files);
                backend.bytes(3, &record.0);
            }
            asm.bytes(3, &slot.0);
        }
        for layer in [&mut asm, &mut backend] {
            layer.number(4, engine_number(engine));
        }
        for file in files.keys() {
            backend.bytes(5, file.as_bytes());
        }
        backend.bytes(7, function.as_bytes());
        builder.add(&format!("{folder}/debug_info_asm_{}.dbg", stem(engine)), asm.0)?;
        builder.add(&format!("{folder}/debug_info_backend_{}.dbg", stem(engine)), backend.0)?;
    }
    let [penguin, hlo] = layers(number, &core.nodes);
    builder.add(&format!("debug_info/debug_info_penguin.dbg_sg{number:06}"), penguin.0)?;
    builder.add(&format!("debug_info/debug_info_hlo.dbg_sg{number:06}"), hlo.0)?;
    Ok(())
}

fn part<'a>(line: &'a Line, nodes: &'a [Node]) -> Option<(&'a Part, &'a Node)> {
    let part = line.part.as_ref()?;
    Some((part, nodes.get(part.node)?))
}

/// Source files, with their number.
fn files(nodes: &[Node]) -> BTreeMap<&str, usize> {
    let mut files: BTreeMap<&str, usize> =
        nodes.iter().map(|node| (node.source.file.as_str(), 0)).collect();
    for (number, slot) in files.values_mut().enumerate() {
        *slot = number;
    }
    files
}

fn instruction(
    part: &Part,
    node: &Node,
    number: usize,
    steps: &BTreeMap<Step, usize>,
    files: &BTreeMap<&str, usize>,
) -> Message {
    let mut record = Message::default();
    let index = steps.get(&part.step).copied().unwrap_or_default();
    record.number(1, id(number, index));
    record.bytes(2, format!("I-{}-{index}.{}.{}", part.node, node.layer, part.what).as_bytes());
    record.packed(3, &[id(number, part.node + 1)]);
    let after: Vec<(u64, u64)> = part
        .after
        .iter()
        .filter_map(|(step, edge)| Some((id(number, *steps.get(step)?), edge_number(*edge))))
        .collect();
    let (ids, kinds): (Vec<u64>, Vec<u64>) = after.into_iter().unzip();
    if !ids.is_empty() {
        record.packed(4, &ids);
    }
    record.number(6, if part.transpose { 3 } else { 1 });
    let file = files.get(node.source.file.as_str()).copied().unwrap_or_default();
    record.attribute("kernel_file", &file.to_string());
    record.attribute("kernel_line", &node.source.line.to_string());
    record.attribute("kernel_name", "0");
    if !kinds.is_empty() {
        record.packed(9, &kinds);
    }
    record
}

/// The operators, and their layers.
fn layers(number: usize, nodes: &[Node]) -> [Message; 2] {
    let mut penguin = Message::default();
    let mut hlo = Message::default();
    penguin.bytes(1, b"Operators");
    penguin.bytes(2, format!("debug_info_hlo.dbg_sg{number:06}").as_bytes());
    hlo.bytes(1, b"Layers");
    for (index, node) in nodes.iter().enumerate() {
        let word = node.op.word();
        let mut record = Message::default();
        record.number(1, id(number, index + 1));
        record.bytes(2, format!("{word}.{index}").as_bytes());
        record.packed(3, &[id(number, index + 1)]);
        record.number(6, 1);
        penguin.bytes(3, &record.0);
        let mut record = Message::default();
        record.number(1, id(number, index + 1));
        record.bytes(2, node.layer.as_bytes());
        record.number(6, 1);
        record.attribute("op_type", word);
        record.attribute("source_file", &node.source.file);
        record.attribute("source_line", &node.source.line.to_string());
        hlo.bytes(3, &record.0);
    }
    [penguin, hlo]
}
