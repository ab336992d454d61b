//! Tables about the files: one row, or a few for each core.

use std::collections::BTreeMap;

use neuron_core::neff::features;
use profile_engine::about::{self, moment};
use profile_engine::cores::Core;
use profile_engine::summary;
use profile_engine::{Capture, ReadAt};
use serde_json::json;

use super::{Row, ns, row};
use crate::export::{Names, Profile};

/// Version of the layout of the vendor's export that this follows.
const DATA_VERSION: u32 = 8;

pub(super) fn metadata<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Row {
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

pub(super) fn profile_info(names: &Names) -> Row {
    row(json!({
        "profile_name": names.profile,
        "profile_type": "normal",
        "ntff_filename": names.trace,
        "neff_name": "",
        "cc_only": false,
        "profiler_version": env!("CARGO_PKG_VERSION"),
    }))
}

pub(super) fn neff_header<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Row {
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
pub(super) fn neff_nodes<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Vec<Row> {
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

/// Each class of memory, then the sum.
pub(super) fn memory(core: &Core) -> impl Iterator<Item = Row> {
    about::memory(core).into_iter().map(|(usage, bytes)| {
        row(json!({
            "nd": core.device, "nc": core.number, "usage_type": usage, "amount_bytes": bytes,
        }))
    })
}

/// One row for each ring and name: that of its last engine.
pub(super) fn queues(core: &Core) -> impl Iterator<Item = Row> {
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
pub(super) fn groups<S: ReadAt + ?Sized>(profile: &Profile<'_, S>) -> Row {
    summary::summary(&profile.capture, &profile.outcome.totals)
        .into_iter()
        .map(|metric| (metric.name, json!(metric.group)))
        .collect()
}
