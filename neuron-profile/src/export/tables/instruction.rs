//! Rows of instructions, and of the memories that they use.

use neuron_core::isa::Record;
use neuron_core::isa::body::Body;
use profile_engine::cores::Core;
use profile_engine::debug::id_text;
use profile_engine::program::Slot;
use profile_engine::row::{Edge, InstructionRow};
use profile_engine::usage::UsageRow;
use profile_engine::{Capture, ReadAt};
use serde_json::{Value, json};

use super::{Row, ns, row, single};

pub(super) fn instruction<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    core: &Core,
    at: &InstructionRow,
    edges: &[Edge],
) -> Row {
    let slot = at.slot.and_then(|slot| core.slot(at.engine, slot));
    let origin = slot.and_then(|slot| core.origin(slot));
    let (opcode, operands) =
        slot.map_or_else(Default::default, |slot| slot.text(core.arch, &core.names));
    let engine = at.engine.display_name();
    let product = slot.is_some_and(|slot| slot.role.product);
    let id = |id: u64| if id == 0 { String::new() } else { id_text(id) };
    let mut out = row(json!({
        "id": at.id,
        "subgraph": core.name,
        "fully_qualified_subgraph": format!("/{}", core.name),
        "subgroup": engine,
        "label": if product { "TensorMatrix" } else { engine },
        "timestamp": ns(at.start),
        "duration": ns(at.end - at.start),
        "evt_wait_time": capture.chip.wait_ns(at.wait_cycles),
        "crc_in": at.crc_in,
        "crc_out": at.crc_out,
        "pc": at.slot.unwrap_or(at.pc),
        "opcode": opcode,
        "operands": operands,
        "activation_fn": slot.map_or_else(String::new, |slot| activation(core, slot)),
        "instruction_type": slot.map_or("", |slot| slot.purpose.name()),
        "bir_id": origin.map_or_else(String::new, |origin| id(origin.bir_id)),
        "raw_bir_id": origin.map_or(0, |origin| origin.bir_id),
        "bir_instruction_name": origin.map_or("", |origin| &origin.name),
        "penguin_id": origin.map_or_else(String::new, |origin| id(origin.penguin_id)),
        "raw_penguin_id": origin.map_or(0, |origin| origin.penguin_id),
        "hlo_name": origin.map_or("", |origin| &origin.hlo_name),
        "hlo_attrs": origin.map_or("", |_| "[]"),
        "layer": origin.map_or("", |origin| &origin.layer),
    }));
    let Some(slot) = slot else { return out };
    let mut add = |key: &str, value: Value| {
        out.insert(key.to_owned(), value);
    };
    if let Some(compiled) = slot.neff_slot {
        add("compiler_pc", json!(compiled));
    }
    if let Some((opcode, operands)) = slot.compiled_text(core.arch, &core.names) {
        add("compiler_opcode", json!(opcode));
        add("compiler_operands", json!(operands));
    }
    let traffic = &slot.traffic;
    for (key, count) in [
        ("hbm_read_bytes", traffic.hbm_read),
        ("hbm_write_bytes", traffic.hbm_write),
        ("sbuf_read_bytes", traffic.sbuf_read),
        ("sbuf_write_bytes", traffic.sbuf_write),
        ("psum_read_bytes", traffic.psum_read),
        ("psum_write_bytes", traffic.psum_write),
        ("psum_read_sbuf_write_bytes", traffic.psum_read_sbuf_write),
        ("elements", traffic.elements),
    ] {
        if count > 0 {
            add(key, json!(count));
        }
    }
    if traffic.psum_read_sbuf_write > 0 {
        add("is_psum_read_sbuf_write", json!(true));
    }
    if let Some(source) = origin.map(|origin| &origin.source).filter(|source| !source.is_empty()) {
        add("nki_source_location", json!(source));
    }
    if !edges.is_empty() {
        let list: Vec<Value> =
            edges.iter().map(|edge| json!({ "id": edge.id, "type": edge.kind.name() })).collect();
        add("predecessors", json!(list));
    }
    out
}

/// The function of an ACTIVATE.
fn activation(core: &Core, slot: &Slot) -> String {
    let record = Record::decode(core.arch, &slot.bytes);
    match record.instruction().map(|instruction| &instruction.body) {
        Some(Body::Activate(body)) => body.function.to_string(),
        Some(Body::ActivateQuantize(body)) => body.function.to_string(),
        _ => String::new(),
    }
}

pub(super) fn usage(core: &str, sample: &UsageRow) -> Row {
    match sample {
        UsageRow::Sbuf { time, shares: [first, second, third, fourth], average } => row(json!({
            "subgraph": core,
            "type": "sb",
            "timestamp": ns(*time),
            "usage_avg": single(*average),
            "partition_0_usage": single(*first),
            "partition_32_usage": single(*second),
            "partition_64_usage": single(*third),
            "partition_96_usage": single(*fourth),
        })),
        UsageRow::Psum { time, banks } => {
            let full = u8::try_from(banks.iter().filter(|bank| **bank).count()).unwrap_or(0);
            let mut out = row(json!({
                "subgraph": core,
                "type": "psum",
                "timestamp": ns(*time),
                "usage_avg": single(f32::from(full) / 8.0),
            }));
            for (index, bank) in banks.iter().enumerate() {
                out.insert(format!("bank_{index}_usage"), json!(u8::from(*bank)));
            }
            out
        }
    }
}
