//! The tables of the JSON export, row by row.

use std::collections::BTreeMap;

use neuron_core::engine::Engine;
use neuron_core::isa::Record;
use neuron_core::isa::body::Body;
use neuron_core::neff::features;
use neuron_core::ntff::Notification;
use profile_engine::cores::{Core, QueueKind};
use profile_engine::debug::id_text;
use profile_engine::layer::LayerNode;
use profile_engine::program::Slot;
use profile_engine::row::{Edge, InstructionRow};
use profile_engine::summary::{self, GROUPS};
use profile_engine::usage::UsageRow;
use profile_engine::{Capture, ReadAt};
use serde_json::{Map, Value, json};

use super::{Names, Profile, metrics};

/// A row.
pub type Row = Map<String, Value>;

/// A table: its name, and its rows.
type Table<'p> = (&'static str, Box<dyn Iterator<Item = Row> + 'p>);

/// Version of the layout of the vendor's export that this follows.
const DATA_VERSION: u32 = 8;

/// Whole nanoseconds.
const fn ns(ps: u64) -> u64 {
    ps / 1000
}

/// A single-precision number with its own digits, not those of its double.
fn single(number: f32) -> Value {
    number
        .to_string()
        .parse::<f64>()
        .map_or(Value::Null, |digits| if digits == 0.0 { json!(0) } else { json!(digits) })
}

#[allow(clippy::cast_possible_truncation, reason = "the viewer's precision is meant")]
fn single_of(number: f64) -> Value {
    single(number as f32)
}

/// A row of what is always there.
fn row(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        other => Row::from_iter([(String::from("value"), other)]),
    }
}

pub(super) fn all<'p, S: ReadAt + ?Sized>(
    profile: &'p Profile<'_, S>,
    names: &'p Names,
) -> Vec<Table<'p>> {
    let Profile { capture, rows, outcome } = profile;
    let core = |index: usize| capture.cores.get(index);
    let name = move |index: usize| core(index).map_or("", |core| core.name.as_str());
    let totals = &outcome.totals;
    vec![
        ("metadata", Box::new(std::iter::once(metadata(capture)))),
        ("profile_info", Box::new(std::iter::once(profile_info(names)))),
        ("neff_header", Box::new(std::iter::once(neff_header(capture)))),
        ("neff_node", Box::new(neff_nodes(capture).into_iter())),
        (
            "model_info",
            Box::new(capture.cores.iter().zip(&totals.cores).map(|(core, sums)| {
                let hz = capture.chip.clock;
                let [tensor, scalar, gpsimd, vector, sync] = sums.instructions;
                row(json!({
                    "sg_name": core.name,
                    "nd_idx": core.device,
                    "nc_idx": core.number,
                    "neuroncore_cycle_count": whole_cycles(sums.last_end, hz),
                    "trace_count": sums.instructions.iter().sum::<u64>()
                        + sums.packets + sums.updates,
                    "event_count": sums.updates,
                    "dma_queue_count": core.queues.len(),
                    "tensor_engine_instruction_count": tensor,
                    "scalar_engine_instruction_count": scalar,
                    "gpsimd_engine_instruction_count": gpsimd,
                    "vector_engine_instruction_count": vector,
                    "sync_engine_instruction_count": sync,
                }))
            })),
        ),
        ("nc_mem_usage", Box::new(capture.cores.iter().flat_map(memory))),
        ("dma_queues_info", Box::new(capture.cores.iter().flat_map(queues))),
        ("summary", Box::new(std::iter::once(metrics::object(&summary::summary(capture, totals))))),
        ("summary_groups", Box::new(std::iter::once(groups(profile)))),
        (
            "summary_group_order",
            Box::new(std::iter::once(
                (0_u64..).zip(GROUPS).map(|(at, group)| (group.to_owned(), json!(at))).collect(),
            )),
        ),
        (
            "layer_summary",
            Box::new(totals.layers.iter().map(move |node| layer(capture, name(node.core), node))),
        ),
        (
            "instruction",
            Box::new(rows.instructions.iter().filter_map(move |(at, edges)| {
                Some(instruction(capture, core(at.core)?, at, edges))
            })),
        ),
        (
            "dma",
            Box::new(rows.packets.iter().map(move |packet| {
                let size = packet.bytes;
                row(json!({
                    "id": packet.id,
                    "subgraph": name(packet.core),
                    "subgroup": format!("Q{}-E{}", packet.queue, packet.engine),
                    "dma_engine": packet.engine.to_string(),
                    "dma_queue": packet.queue.to_string(),
                    "queue_type": packet.kind.name(),
                    "packet_idx": packet.index,
                    "packet_aggregation_id":
                        (packet.core + 1) * 16 + usize::from(packet.queue),
                    "timestamp": ns(packet.start),
                    "duration": ns(packet.end - packet.start),
                    "transfer_size": size,
                    "read_size": size,
                    "write_size": size,
                    "transfer_rate": single(packet.rate()),
                    "crc": packet.crc,
                    "op": "",
                    "variable": "unknown",
                    "source": [["unknown"]],
                    "dest": ["unknown"],
                    "semaphore_id": "-1",
                    "aggregated": "no",
                    "duplicate": "no",
                    "is_cc_dma": "no",
                }))
            })),
        ),
        (
            "semaphore_update",
            Box::new(rows.updates.iter().filter(|at| at.update.is_semaphore).filter_map(
                move |at| {
                    let text = core(at.core)?.names.text(at.update.id);
                    let named = !text.starts_with('$');
                    Some(row(json!({
                        "subgraph": name(at.core),
                        "timestamp": ns(at.time),
                        "id": if named { text } else { at.update.id.to_string() },
                        "value": at.update.value,
                    })))
                },
            )),
        ),
        (
            "ham",
            Box::new(rows.throttles.iter().map(move |at| {
                row(json!({
                    "subgraph": name(at.core),
                    "timestamp": ns(at.time),
                    "duration": ns(at.duration),
                    "k": at.k,
                    "n": at.n,
                    "type": at.activity,
                }))
            })),
        ),
        (
            "active_time",
            Box::new(rows.actives.iter().map(move |at| {
                row(json!({
                    "subgraph": name(at.core),
                    "pcore_idx": at.core,
                    "engine": at.engine.display_name().to_lowercase(),
                    "start_ts": ns(at.start),
                    "end_ts": ns(at.end),
                    "duration_ns": ns(at.end - at.start),
                }))
            })),
        ),
        (
            "dma_throughput",
            Box::new(rows.throughputs.iter().map(move |at| {
                row(json!({
                    "subgraph": name(at.core),
                    "timestamp": ns(at.time),
                    "transfer_rate": single_of(at.rate),
                    "total_transfer_bytes": at.total,
                    "hbm_transfer_rate": 0,
                    "hbm_total_transfer_bytes": 0,
                    "uses_hbm": "false",
                }))
            })),
        ),
        (
            "pending_dma",
            Box::new(rows.pendings.iter().map(move |at| {
                row(json!({
                    "subgraph": name(at.core), "timestamp": ns(at.time), "value": at.value,
                }))
            })),
        ),
        (
            "instruction_usage",
            Box::new(outcome.usage.iter().enumerate().flat_map(move |(core, samples)| {
                samples.iter().map(move |sample| usage(name(core), sample))
            })),
        ),
        (
            "error",
            Box::new(rows.notices.iter().filter_map(move |at| {
                let (kind, text) = match at.what {
                    Notification::Fault(fault) => ("Errors", format!("{fault:?}")),
                    Notification::Error(report) => ("Errors", format!("{report:?}")),
                    _ => return None,
                };
                Some(row(json!({
                    "subgraph": name(at.core),
                    "timestamp": ns(at.time),
                    "type": kind,
                    "description": text,
                })))
            })),
        ),
        ("warnings", Box::new(warnings(profile).into_iter())),
    ]
}

/// Cycles of a clock, rounded down.
fn whole_cycles(ps: u64, hz: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a clock is some 1e9, not negative"
    )]
    let hz = hz as u64;
    u64::try_from(u128::from(ps) * u128::from(hz) / 1_000_000_000_000).unwrap_or(u64::MAX)
}

fn metadata<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Row {
    let total = ns(capture.total_ps());
    let chip = &capture.chip;
    row(json!({
        "data_version": DATA_VERSION,
        "ntff_version": capture.form(),
        "num_subgraphs": capture.cores.len(),
        "num_physical_cores": capture.cores.len(),
        "vnc_enabled": capture.cores.len() > 1,
        "is_simulation": false,
        "is_ext": true,
        "ticks_per_nanosec": 1000,
        "first_hw_timestamp": 0,
        "last_hw_timestamp": total,
        "first_ts": moment(0),
        "last_ts": moment(total),
        "pe_num_rows": chip.rows,
        "pe_num_cols": chip.columns,
        "pe_clock_freq": chip.matrix_clock / 1e9,
        "pe_clock_others": chip.clock / 1e9,
        "dma_ddr_bandwidth": chip.dma_bandwidth,
        "hbm_ddr_bandwidth": chip.memory_bandwidth,
    }))
}

/// Nanoseconds after 1970 in the form of RFC 3339, without zeros at the end.
fn moment(ns: u64) -> String {
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let fraction = format!(".{rest:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let (day, hours) = (hours / 24 + 1, hours % 24);
    format!("1970-01-{day:02}T{hours:02}:{minutes:02}:{:02}{fraction}Z", seconds % 60)
}

fn profile_info(names: &Names) -> Row {
    row(json!({
        "profile_name": names.profile,
        "profile_type": "normal",
        "ntff_filename": names.trace,
        "neff_name": "",
        "cc_only": false,
        "profiler_version": env!("CARGO_PKG_VERSION"),
    }))
}

fn neff_header<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Row {
    let header = &capture.neff;
    row(json!({
        "package_version": header.packager.to_string(),
        "header_size": header.header_size.to_string(),
        "data_size": header.data_size.to_string(),
        "major_version": header.major.to_string(),
        "minor_version": header.minor.to_string(),
        "build_version": header.build_version_text(),
        "number_of_logical_neuroncores": header.num_tpb.to_string(),
        "number_of_neuroncores_per_lnc": header.logical_core_size().to_string(),
        "hash": header.hash_hex(),
        "uuid": header.uuid_hex(),
        "network_name": header.name_text(),
        "enabled_features": features::labels(header.feature_bits).join(", "),
    }))
}

/// One row for each core that runs the node, one for each tensor.
fn neff_nodes<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Vec<Row> {
    let node = capture.node.map_or_else(String::new, |node| node.to_string());
    let cores = capture.cores.iter().map(|core| {
        row(json!({
            "node": node, "sg_name": core.name,
            "type": "", "format": "", "shape": "", "variable_name": "",
        }))
    });
    let tensors = capture.tensors.iter().map(|tensor| {
        let shape: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
        row(json!({
            "variable_name": tensor.name,
            "type": tensor.kind.name(),
            "format": tensor.format,
            "shape": format!("[{}]", shape.join(" ")),
            "size": tensor.bytes.to_string(),
            "sg_name": "",
        }))
    });
    cores.chain(tensors).collect()
}

/// The viewer's words for the memory classes of a trace.
const MEMORY: [(&str, &str); 22] = [
    ("generic", "Generic"),
    ("pe", "Tensor Instructions"),
    ("act", "Scalar Instructions"),
    ("pool", "GpSimd Instructions"),
    ("dve", "Vector Instructions"),
    ("sp", "Sync Instructions"),
    ("io", "IO"),
    ("spill", "DRAM Spill"),
    ("weight", "Weights"),
    ("profiler buffers", "Profiler Buffers"),
    ("act table", "Scalar Table"),
    ("shared scratchpad", "Shared Scratchpad"),
    ("tensor", "Tensors"),
    ("ucode", "Ucode lib"),
    ("pool stdio", "GpSimd STDIO"),
    ("collectives", "Collectives"),
    ("scratchpad", "Scratchpad"),
    ("xt cc", "XT CC (unused)"),
    ("dma rings runtime", "DMA Rings Runtime"),
    ("dma rings spill", "DMA Rings Spill"),
    ("dma rings io", "DMA Rings IO"),
    ("dma rings collectives", "DMA Rings Collectives"),
];

/// Each class of memory, then the sum.
fn memory(core: &Core) -> impl Iterator<Item = Row> {
    let line = |usage: &str, bytes: u64| {
        row(json!({
            "nd": core.device, "nc": core.number, "usage_type": usage, "amount_bytes": bytes,
        }))
    };
    let classes = core.memory.iter().map(move |(class, bytes)| {
        let word = MEMORY.iter().find(|(known, _)| known == class).map(|(_, word)| *word);
        line(word.unwrap_or(class), *bytes)
    });
    let total = core.memory.iter().map(|(_, bytes)| bytes).sum();
    let total = (!core.memory.is_empty()).then(|| line("Total", total));
    classes.chain(total)
}

/// One row for each ring and name: that of its last engine.
fn queues(core: &Core) -> impl Iterator<Item = Row> {
    let mut last = BTreeMap::new();
    for queue in core.queues.values() {
        last.insert((queue.queue, &queue.name), queue);
    }
    last.into_values().map(|queue| {
        row(json!({
            "subgraph": core.name,
            "q_name": queue.name,
            "q_type": queue.type_name(),
            "q_idx": queue.queue,
            "q_eng_idx": queue.engine,
            "q_axi_port": queue.axi_port,
            "q_dram_channel": queue.dram_channel,
            "q_event_id": queue.event_id,
        }))
    })
}

/// The group of each metric.
fn groups<S: ReadAt + ?Sized>(profile: &Profile<'_, S>) -> Row {
    summary::summary(&profile.capture, &profile.outcome.totals)
        .into_iter()
        .map(|metric| (metric.name, json!(metric.group)))
        .collect()
}

fn layer<S: ReadAt + ?Sized>(capture: &Capture<'_, S>, core: &str, node: &LayerNode) -> Row {
    let peak = capture.chip.peak() * count_real(u64::try_from(capture.cores.len()).unwrap_or(1));
    let span = count_real(node.tensor_span()) / 1e12;
    let rate = |flops: u64| {
        if flops == 0 || span == 0.0 { json!(0) } else { json!(count_real(flops) / span / peak) }
    };
    let useful = node.flops - node.transpose_flops;
    let mut out = row(json!({
        "name": node.name,
        "fully_qualified_subgraph": format!("/{core}"),
        "start": ns(node.start),
        "end": ns(node.end),
        "duration": ns(node.end - node.start),
        "tensor_engine_flop_count": node.flops,
        "tensor_engine_model_flop_count": useful,
        "tensor_engine_hfu": rate(node.flops),
        "tensor_engine_mfu": rate(useful),
    }));
    for engine in Engine::ALL {
        let name = format!("{}_engine", engine.display_name().to_lowercase());
        let active = node.active(engine);
        out.insert(format!("{name}_instruction_count"), json!(node.count(engine)));
        out.insert(format!("{name}_instruction_time"), json!(ns(node.time(engine))));
        out.insert(format!("{name}_active_time"), json!(ns(active)));
        out.insert(format!("{name}_active_percent"), share(active, node.end - node.start));
    }
    out
}

#[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
const fn count_real(count: u64) -> f64 {
    count as f64
}

/// A quotient of single-precision numbers.
#[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
fn share(part: u64, whole: u64) -> Value {
    if whole == 0 { json!(0) } else { single(part as f32 / whole as f32) }
}

fn instruction<S: ReadAt + ?Sized>(
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

fn usage(core: &str, sample: &UsageRow) -> Row {
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

/// What makes numbers of the profile incomplete, as the vendor's tool tells it.
fn warnings<S: ReadAt + ?Sized>(profile: &Profile<'_, S>) -> Vec<Row> {
    const MISSING: &str = "Missing Data";
    let Profile { capture, outcome, .. } = profile;
    let totals = &outcome.totals;
    let dynamic = [QueueKind::SoftwareDynamic, QueueKind::HardwareDynamic];
    let dynamic = dynamic.iter().any(|kind| totals.packets_by_kind.contains_key(kind));
    let unmatched = &totals.unmatched;
    let read = &unmatched.read;
    let given = [
        (
            dynamic && totals.descriptor_notices == 0,
            MISSING,
            String::from(
                "The trace has no notifications of descriptor generation, so transfers of \
                 dynamic DMA are not known; capture with --enable-dge-notifs to have them",
            ),
        ),
        (
            !capture.has_compiler_metrics,
            MISSING,
            String::from("The NEFF has no metrics of its compiler; a newer compiler writes them"),
        ),
        (
            capture.hlo_macs.is_none(),
            MISSING,
            String::from(
                "The NEFF has no HLO statistics: model_flops and mfu_hlo_estimated_percent are \
                 0; hardware_flops - transpose_flops and mfu_inst_estimated_percent stand",
            ),
        ),
        (
            read.missing_bytes > 0 || read.late > 0 || unmatched.overflow > 0,
            "Damaged Trace",
            format!(
                "{} bytes of records are missing, {} records came too late to be put in order, \
                 {} starts were given up",
                read.missing_bytes, read.late, unmatched.overflow
            ),
        ),
        (
            unmatched.instruction_ends > 0 || unmatched.packet_ends > 0,
            "Unmatched Records",
            format!(
                "{} ends of instructions and {} ends of packets have no start",
                unmatched.instruction_ends, unmatched.packet_ends
            ),
        ),
    ];
    given
        .into_iter()
        .filter(|(holds, ..)| *holds)
        .map(|(_, category, message)| row(json!({ "category": category, "message": message })))
        .collect()
}
