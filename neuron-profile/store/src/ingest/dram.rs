//! `TensorInfo`, `ScratchpadTensor` and `ScratchpadUsage`: tensors in device
//! memory and what was done to them.

use std::collections::HashMap;

use profile_engine::dram::{Scratch, TensorUse};
use profile_engine::{Capture, ReadAt, Totals};
use serde_json::json;

use super::small::{Row, object};

/// The tensors of the model, with what was loaded of them by any core.
pub(super) fn tensors<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    totals: &Totals,
    uses: &[Vec<TensorUse>],
) -> Vec<Row> {
    let mut loads: HashMap<&str, (u64, u64)> = HashMap::new();
    // Where nothing was recorded nothing is known.
    let recorded = (0..).zip(capture.cores.iter().zip(uses)).filter(|(at, _)| ran(totals, *at));
    for (_, (core, uses)) in recorded {
        for (tensor, of) in core.tensors.list.iter().zip(uses) {
            let sum = loads.entry(&tensor.name).or_default();
            *sum = (sum.0 + of.loads, sum.1.saturating_add(of.loaded_bytes));
        }
    }
    let row = |tensor: &profile_engine::tensors::TensorInfo| {
        let shape: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
        let known = loads.get(tensor.name.as_str());
        let (count, bytes) = (known.map(|sum| sum.0), known.map(|sum| sum.1));
        let times = bytes.filter(|_| tensor.bytes > 0).map(|all| all as f64 / tensor.bytes as f64);
        object(json!({
            "variable_name": tensor.name,
            "type": tensor.kind.name(),
            "format": tensor.format,
            "shape": format!("[{}]", shape.join(" ")),
            "size": tensor.bytes,
            "node": capture.node,
            "load_to_sbuf_avg_size_bytes": bytes.zip(count).and_then(|(all, n)| all.checked_div(n)),
            "load_to_sbuf_total_size_bytes": bytes,
            "load_to_sbuf_dma_count": count,
            "load_to_sbuf_repeat_factor": times,
        }))
    };
    capture.tensors.iter().map(row).collect()
}

/// Whether instructions of a core were recorded.
fn ran(totals: &Totals, core: usize) -> bool {
    totals.cores.get(core).is_some_and(|core| core.instructions.iter().any(|count| *count > 0))
}

/// The tensors that the program keeps for itself.
pub(super) fn scratch<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    totals: &Totals,
    uses: &[Vec<TensorUse>],
) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, (core, uses)) in capture.cores.iter().zip(uses).enumerate() {
        for (tensor, of) in core.tensors.list.iter().zip(uses) {
            let offset = match tensor.scratch {
                None => continue,
                Some(Scratch::Private) => None,
                Some(Scratch::Shared { offset, .. }) => Some(offset),
            };
            let ran = ran(totals, at);
            rows.push(object(json!({
                "variable_name": tensor.name,
                "shared": offset.is_some(),
                "offset_bytes": offset,
                "size": tensor.bytes,
                "start_ts": of.span.map(|(start, _)| start / 1000),
                "end_ts": of.span.map(|(_, end)| end / 1000),
                "write_count": ran.then_some(of.writes),
                "read_count": ran.then_some(of.reads),
                "pcore_idx": at,
            })));
        }
    }
    rows
}

/// How many bytes of them are in use over time, core after core.
pub(super) fn usage<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    uses: &[Vec<TensorUse>],
) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, (core, uses)) in capture.cores.iter().zip(uses).enumerate() {
        for (time, bytes) in core.tensors.scratch_usage(uses) {
            rows.push(object(json!({
                "timestamp": time / 1000, "used_bytes": bytes, "pcore_idx": at,
            })));
        }
    }
    rows
}
