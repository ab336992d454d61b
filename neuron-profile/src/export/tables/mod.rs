//! The tables of the JSON export, row by row.

mod about;
mod instruction;
mod layer;

use neuron_core::ntff::Notification;
use profile_engine::ReadAt;
use profile_engine::summary::{self, GROUPS};
use serde_json::{Map, Value, json};

use super::{Names, Profile, metrics};
use about::{groups, memory, metadata, neff_header, neff_nodes, profile_info, queues};
use instruction::{instruction, usage};
use layer::{layer, warnings};

/// A row.
pub type Row = Map<String, Value>;

/// A table: its name, and its rows.
type Table<'p> = (&'static str, Box<dyn Iterator<Item = Row> + 'p>);

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
