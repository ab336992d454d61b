//! `neff info`: header, nodes and programs.
//!
//! The first two blocks carry what the packager tool of the vendor prints, with
//! its labels; its `TimeSeries` column is left out, since no member of a file
//! carries it. The rest is more: cores, digest, build, programs.

use super::open::{Input, warnings};
use crate::output::{Exit, Format, json, table};
use anyhow::Context;
use neuron_core::neff::doc::{Engine, Executor, Target, VarKind, Variable};
use neuron_core::neff::{
    Encoding, GzipLayout, Model, Neff, Subgraph, Tensor, Usage, features, shown,
};
use serde_json::{Value, json as value};
use std::io::{self, Write};

/// Show header, inputs and outputs, and programs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// Show constants too
    #[arg(short = 'w', long)]
    show_weights: bool,

    /// Show scratch variables too
    #[arg(short, long)]
    show_spills: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open_checked(&bytes)?;
    let mut report = neff.report.clone();
    let model = Model::read(&neff, &mut report).with_context(|| args.input.name())?;
    let nodes = nodes(args, &model);
    match args.input.output {
        Format::Json => {
            let mut all = document(&neff, &model, &nodes);
            all["warnings"] = warnings(&report);
            json(out, &all)?;
        }
        Format::Text => {
            header_text(out, &neff)?;
            nodes_text(out, &nodes)?;
            more_text(out, &neff, &model)?;
            out.flush()?;
        }
    }
    Ok(args.input.warn(&report))
}

/// A node of the host graph, or one subgraph of it.
struct NodeRow {
    index: Option<usize>,
    executor: &'static str,
    name: String,
    variables: Vec<VariableRow>,
}

struct VariableRow {
    name: String,
    size: Option<u64>,
    usage: &'static str,
    format: Option<String>,
    shape: Option<Vec<i64>>,
    dtype: Option<String>,
}

fn nodes(args: &Args, model: &Model) -> Vec<NodeRow> {
    let mut rows = Vec::new();
    let mut with_subgraphs = false;
    for (index, node) in model.graph.iter().flat_map(|graph| graph.executable()) {
        if node.executor() == Executor::NeuronCore && !model.subgraphs.is_empty() {
            with_subgraphs = true;
            rows.extend(model.subgraphs.iter().map(|sg| subgraph(args, model, sg, Some(index))));
        } else {
            let executor = if node.executor() == Executor::Cpu { "CPU" } else { "NeuronCore" };
            let name = node.name.clone();
            rows.push(NodeRow { index: Some(index), executor, name, variables: Vec::new() });
        }
    }
    if !with_subgraphs {
        rows.extend(model.subgraphs.iter().map(|sg| subgraph(args, model, sg, None)));
    }
    rows
}

fn subgraph(args: &Args, model: &Model, subgraph: &Subgraph, index: Option<usize>) -> NodeRow {
    let mut variables = Vec::new();
    for (name, variable) in &subgraph.definition.var {
        let usage = match variable.kind() {
            Some(VarKind::Input) => "IN",
            Some(VarKind::Output) => "OUT",
            Some(VarKind::File) if args.show_weights => "WEIGHT",
            Some(VarKind::TmpBuf | VarKind::Virtual) if args.show_spills => "SPILL",
            _ => continue,
        };
        variables.push(variable_row(model, subgraph, name, variable, usage));
    }
    let order = |row: &VariableRow| ["IN", "OUT", "WEIGHT"].iter().position(|u| *u == row.usage);
    variables.sort_by_key(|row| order(row).unwrap_or(3));
    NodeRow { index, executor: "NeuronCore", name: subgraph.name.clone(), variables }
}

fn variable_row(
    model: &Model,
    subgraph: &Subgraph,
    name: &str,
    variable: &Variable,
    usage: &'static str,
) -> VariableRow {
    let wanted = if usage == "IN" { Usage::Input } else { Usage::Output };
    let tensor: Option<&Tensor> =
        model.tensors.iter().find(|tensor| tensor.name == name && tensor.usage == wanted);
    // Constants stand in the tensor map under the stem of their member.
    let map = subgraph.tensor_map.as_ref();
    let stem = variable.member().and_then(|member| {
        let stem = member.strip_prefix("value_")?.strip_suffix(".npy")?;
        Some(stem.to_owned())
    });
    let mapped = map.and_then(|map| map.tensor(name).or_else(|| map.tensor(&stem?)));
    let shape = tensor.and_then(|tensor| tensor.shape.clone());
    let dtype = tensor.and_then(|tensor| tensor.dtype.clone());
    VariableRow {
        name: name.to_owned(),
        size: variable.size,
        usage,
        format: mapped.and_then(|tensor| tensor.tf_format.clone()),
        shape: shape
            .or_else(|| mapped.and_then(|tensor| tensor.tf_shape.clone()))
            .or_else(|| variable.shape.clone()),
        dtype: dtype
            .or_else(|| mapped.and_then(|tensor| tensor.dtype.clone()))
            .or_else(|| variable.dtype.clone()),
    }
}

fn lines(out: &mut dyn Write, title: &str, lines: &[(&str, String)]) -> io::Result<()> {
    writeln!(out, "{title}")?;
    for (label, text) in lines {
        writeln!(out, "{}", format!("      {:<31}{text}", format!("{label}:")).trim_end())?;
    }
    Ok(())
}

fn header_text(out: &mut dyn Write, neff: &Neff<'_>) -> io::Result<()> {
    let header = &neff.header;
    let labels = features::labels(header.feature_bits);
    let features = if labels.is_empty() {
        String::from("N/A")
    } else {
        format!("{} ({:#x})", labels.join(", "), header.feature_bits)
    };
    lines(
        out,
        "NEFF Header:",
        &[
            ("Package Version", header.packager.to_string()),
            ("Header Size", format!("{:<10}(bytes)", header.header_size)),
            ("Data Size", format!("{:<10}(bytes)", header.data_size)),
            ("Major Version", header.major.to_string()),
            ("Minor Version", header.minor.to_string()),
            ("Build Version", shown(&header.build_version_text())),
            ("Number of Neuron cores", header.num_tpb.to_string()),
            ("Hash", header.hash_hex()),
            ("UUID", header.uuid_hex()),
            ("Network Name", shown(&header.name_text())),
            ("Enabled Features", features),
        ],
    )
}

fn shape_text(shape: &[i64]) -> String {
    let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
    format!("[{}]", sizes.join(","))
}

fn nodes_text(out: &mut dyn Write, nodes: &[NodeRow]) -> io::Result<()> {
    let heads = ["NODE", "Executor", "Name", "Variable", "Size", "Type", "Format", "Shape"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    if let Some(row) = rows.first_mut() {
        row.push(String::from("DataType"));
    }
    for node in nodes {
        let index = node.index.map(|index| index.to_string()).unwrap_or_default();
        rows.push(vec![index, node.executor.to_owned(), shown(&node.name)]);
        for variable in &node.variables {
            let blank = String::new;
            rows.push(vec![
                blank(),
                blank(),
                blank(),
                shown(&variable.name),
                variable.size.map(|size| size.to_string()).unwrap_or_default(),
                variable.usage.to_owned(),
                variable.format.as_deref().map(shown).unwrap_or_default(),
                variable.shape.as_deref().map(shape_text).unwrap_or_default(),
                variable.dtype.as_deref().map(shown).unwrap_or_default(),
            ]);
        }
    }
    writeln!(out, "\nNEFF Nodes:")?;
    table(out, "    ", &[], &rows)
}

fn digest_text(neff: &Neff<'_>) -> String {
    let kind = if neff.header.packager == 1 { "SHA-256" } else { "MD5" };
    match neff.digest.as_ref().map(|digest| digest.form) {
        Some(Some(form)) => format!("{kind} matches, {} form", form.name()),
        Some(None) => format!("{kind} of another payload"),
        None => String::from("not compared"),
    }
}

fn gzip_layout<'n>(neff: &'n Neff<'_>) -> Option<&'n GzipLayout> {
    match &neff.archive.encoding {
        Encoding::Gzip(layout) => layout.as_ref(),
        Encoding::Bare => None,
    }
}

fn more_text(out: &mut dyn Write, neff: &Neff<'_>, model: &Model) -> io::Result<()> {
    let header = &neff.header;
    let number = |number: Option<u32>| number.map_or(String::from("unknown"), |n| n.to_string());
    let stored = match &neff.archive.encoding {
        Encoding::Bare => "bare tar",
        Encoding::Gzip(_) => "gzip",
    };
    let members = neff.members().len();
    let unpacked = neff.archive.unpacked;
    let target = model.kelf.as_ref().and_then(|kelf| kelf.target.clone()).unwrap_or_default();
    let families = model.target().map_or("unknown", Target::families);
    let info = model.info.as_ref();
    let tool = info.and_then(|info| info.tool_version.as_deref()).unwrap_or("unknown");
    let cores = header.logical_core_size();
    let mut text = vec![
        ("Compiler", shown(tool)),
        ("Target", format!("{} ({families})", shown(&target))),
        ("Cores for full speed", number(header.cores_for_full_speed())),
        ("Cores at least", number(header.cores_at_least())),
        ("Cores requested", header.requested_tpb.to_string()),
        ("Logical core size", format!("{cores:<10}(physical cores)")),
        ("Digest", digest_text(neff)),
        ("Archive", format!("{stored}, {members} members, {unpacked} bytes unpacked")),
    ];
    if let Some(layout) = gzip_layout(neff).filter(|layout| layout.header.mtime != 0) {
        text.push(("Build Time", format!("{} (seconds since 1970)", layout.header.mtime)));
    }
    writeln!(out)?;
    lines(out, "NEFF Content:", &text)?;
    let mut rows = vec![vec![String::from("Subgraph")]];
    if let Some(row) = rows.first_mut() {
        row.extend(Engine::ALL.map(|engine| engine.key().to_uppercase()));
        row.extend(["DMA blocks", "DMA transfers", "Queues", "Variables"].map(str::to_owned));
    }
    for subgraph in &model.subgraphs {
        let counts = counts(subgraph);
        let mut row = vec![shown(&subgraph.name)];
        row.extend(subgraph.slots().map(|slots| slots.to_string()));
        row.extend(counts.map(|count| count.to_string()));
        rows.push(row);
    }
    writeln!(out, "\nNEFF Programs (instructions of 64 bytes):")?;
    table(out, "    ", &[0], &rows)
}

/// DMA blocks, their transfers, queue sets and variables.
fn counts(subgraph: &Subgraph) -> [usize; 4] {
    let of_engines = subgraph.programs.iter().filter_map(|program| program.json.as_ref());
    let lists = of_engines.map(|json| &json.dma).chain([&subgraph.definition.dma]);
    let blocks: Vec<_> = lists.flatten().flatten().collect();
    let transfers = blocks.iter().map(|block| block.desc.len()).sum();
    let definition = &subgraph.definition;
    [blocks.len(), transfers, definition.dma_queue.len(), definition.var.len()]
}

fn document(neff: &Neff<'_>, model: &Model, nodes: &[NodeRow]) -> Value {
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
                "engine": program.engine.key(),
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
