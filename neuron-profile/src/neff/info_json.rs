//! The JSON document of `neff info`.

use super::nodes::{NodeRow, counts};
use neuron_core::neff::doc::Target;
use neuron_core::neff::{Encoding, GzipLayout, Model, Neff, Subgraph, Usage, features};
use serde_json::{Value, json as value};

/// How a gzip payload is laid out.
pub(super) fn gzip_layout<'n>(neff: &'n Neff<'_>) -> Option<&'n GzipLayout> {
    match &neff.archive.encoding {
        Encoding::Gzip(layout) => layout.as_ref(),
        Encoding::Bare => None,
    }
}

/// Everything `neff info` knows, but the warnings.
pub(super) fn document(neff: &Neff<'_>, model: &Model, nodes: &[NodeRow]) -> Value {
    let header = &neff.header;
    let gzip = gzip_layout(neff).map(|layout| {
        value!({
            "mtime": layout.header.mtime,
            "xfl": layout.header.xfl,
            "os": layout.header.os,
            "deflate_bytes": layout.deflate,
            "crc32": format!("{:08x}", layout.crc),
            "padding": layout.padding,
        })
    });
    let nodes: Value = nodes.iter().map(node_document).collect();
    let tensors: Value = model
        .tensors
        .iter()
        .map(|tensor| {
            value!({
                "name": tensor.name,
                "usage": if tensor.usage == Usage::Input { "input" } else { "output" },
                "dtype": tensor.dtype,
                "shape": tensor.shape,
                "bytes": tensor.bytes,
            })
        })
        .collect();
    let subgraphs: Value = model.subgraphs.iter().map(subgraph_document).collect();
    value!({
        "header": {
            "package_version": header.packager,
            "header_size": header.header_size,
            "data_size": header.data_size,
            "major_version": header.major,
            "minor_version": header.minor,
            "build_version": header.build_version_text(),
            "num_neuron_cores": header.num_tpb,
            "requested_neuron_cores": header.requested_tpb,
            "neuron_cores_per_node": header.tpb_per_node.to_vec(),
            "hash": header.hash_hex(),
            "uuid": header.uuid_hex(),
            "name": header.name_text(),
            "feature_bits": header.feature_bits,
            "features": features::labels(header.feature_bits),
            "lnc_size": header.lnc_size,
        },
        "digest": {
            "form": neff.digest.as_ref().and_then(|digest| digest.form).map(|form| form.name()),
            "matches": neff.digest.as_ref().map(|digest| digest.form.is_some()),
        },
        "cores": {
            "full_speed": header.cores_for_full_speed(),
            "at_least": header.cores_at_least(),
            "logical_core_size": header.logical_core_size(),
        },
        "archive": {
            "encoding": if gzip.is_some() { "gzip" } else { "tar" },
            "members": neff.members().len(),
            "unpacked_bytes": neff.archive.unpacked,
            "gzip": gzip,
        },
        "target": model.kelf.as_ref().and_then(|kelf| kelf.target.clone()),
        "families": model.target().map(Target::families),
        "info": model.info,
        "metrics": model.metrics,
        "nodes": nodes,
        "tensors": tensors,
        "subgraphs": subgraphs,
    })
}

fn node_document(node: &NodeRow) -> Value {
    let variables: Value = node
        .variables
        .iter()
        .map(|variable| {
            value!({
                "name": variable.name,
                "size": variable.size,
                "type": variable.usage,
                "format": variable.format,
                "shape": variable.shape,
                "dtype": variable.dtype,
            })
        })
        .collect();
    value!({
        "node": node.index,
        "executor": node.executor,
        "name": node.name,
        "variables": variables,
    })
}

fn subgraph_document(subgraph: &Subgraph) -> Value {
    let [blocks, transfers, queues, variables] = counts(subgraph);
    let programs: Value = subgraph
        .programs
        .iter()
        .map(|program| {
            value!({
                "engine": program.engine,
                "stream": program.stream_member,
                "slots": program.slots,
            })
        })
        .collect();
    value!({
        "name": subgraph.name,
        "definition": subgraph.definition_member,
        "programs": programs,
        "dma_blocks": blocks,
        "dma_transfers": transfers,
        "queues": queues,
        "variables": variables,
    })
}
