//! `neff info`: header, nodes and programs.
//!
//! The first two blocks carry what the packager tool of the vendor prints, with
//! its labels; its `TimeSeries` column is left out, since no member of a file
//! carries it. The rest is more: cores, digest, build, programs.
use super::info_json::{document, gzip_layout};
use super::nodes::{NodeRow, counts, nodes};
use super::open::{Input, findings};
use crate::output::{Exit, Format, json, table};
use anyhow::Context;
use neuron_core::neff::doc::{Engine, Target};
use neuron_core::neff::{Encoding, Model, Neff, features, shown};
use std::io::{self, Write};

/// Show header, inputs and outputs, and programs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// Show constants too
    #[arg(short = 'w', long)]
    show_weights: bool,

    /// Leave the digest alone; it reads the whole file
    #[arg(long)]
    no_digest: bool,

    /// Show scratch variables too
    #[arg(short, long)]
    show_spills: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff =
        if args.no_digest { args.input.open(&bytes)? } else { args.input.open_checked(&bytes)? };
    let mut report = neff.report.clone();
    let model = Model::read(&neff, &mut report).with_context(|| args.input.name())?;
    let nodes = nodes(&model, args.show_weights, args.show_spills);
    match args.input.output {
        Format::Json => {
            let mut all = document(&neff, &model, &nodes);
            all["findings"] = findings(&report);
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
        row.extend(Engine::ALL.map(|engine| engine.to_string()));
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
