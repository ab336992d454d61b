//! `neff disasm`: finds the instruction streams for `disasm.rs`.

use super::disasm::{Program, Stream};
use super::open::{Input, findings};
use crate::output::{Exit, Format};
use anyhow::Context;
use neuron_core::instance::Arch;
use neuron_core::isa::Engine;
use neuron_core::model::printable;
use neuron_core::neff::doc::Target;
use neuron_core::neff::{Member, Model, Neff, Report, Subgraph};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// List the instructions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open(&bytes)?;
    let mut report = neff.report.clone();
    let model = Model::read(&neff, &mut report).with_context(|| args.input.name())?;
    let arch = generation(&model);
    let mut not_shown = Vec::new();
    let (mut parts, mut mentioned) = (Vec::new(), Mentioned::default());
    for subgraph in &model.subgraphs {
        parts.push(Part::find(&neff, subgraph, &mut mentioned, &mut not_shown));
    }
    let in_json = args.input.output == Format::Json;
    if in_json {
        write!(out, "{{\"generation\":{},\"findings\":", arch.number())?;
        serde_json::to_writer(&mut *out, &all_findings(&report, &not_shown))?;
        out.write_all(b",\"streams\":[")?;
    }
    let mut first = true;
    for part in &parts {
        // The bodies of one subgraph at a time, each member once.
        let mut bodies = HashMap::new();
        for row in &part.rows {
            if let Some(name) = row.member
                && !bodies.contains_key(name)
            {
                let body = neff.body(name).transpose().with_context(|| args.input.name())?;
                bodies.insert(name, body.unwrap_or_default());
            }
        }
        let streams: Vec<Stream<'_>> = part
            .rows
            .iter()
            .map(|row| Stream {
                subgraph: part.subgraph,
                engine: row.engine,
                bytes: row.member.and_then(|name| bodies.get(name)).map_or(&[], |body| &**body),
                queues: &row.queues,
            })
            .collect();
        if streams.is_empty() {
            continue;
        }
        let program = Program { arch, streams: &streams };
        if in_json {
            program.write_json(out, first)?;
        } else {
            if !first {
                out.write_all(b"\n")?;
            }
            program.write_text(out)?;
        }
        first = false;
    }
    if in_json {
        out.write_all(b"]}\n")?;
    }
    out.flush()?;
    for warning in &not_shown {
        let line = printable(&format!("{}: damage: {warning}", args.input.name()));
        writeln!(std::io::stderr(), "{line}")?;
    }
    let exit = args.input.warn(&report);
    Ok(if not_shown.is_empty() { exit } else { Exit::Partial })
}

/// The generation whose records the streams of a file have.
pub(super) fn generation(model: &Model) -> Arch {
    match model.target() {
        Some(Target::V1 | Target::V2) => Arch::V2,
        Some(Target::V4) => Arch::V4,
        // a program for any hardware reads as one for Trn2 (our choice)
        Some(Target::V3 | Target::Any | Target::Simulator) | None => Arch::V3,
    }
}

/// Bytes of all streams of one subgraph, which are in memory together; 4 Mi
/// instructions, far more than real programs have. As many may be listed again:
/// real files name a stream once, and a short file that names a long one a
/// thousand times would give a listing without end.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// Stream members that were named before, and the bytes listed again.
#[derive(Default)]
struct Mentioned<'m> {
    members: HashSet<&'m str>,
    again: u64,
}

/// The streams of one subgraph, bodies left where they are.
struct Part<'m> {
    subgraph: &'m str,
    rows: Vec<Row<'m>>,
}

struct Row<'m> {
    engine: Engine,
    member: Option<&'m str>,
    queues: Vec<(String, u8)>,
}

impl<'m> Part<'m> {
    fn find(
        neff: &Neff<'_>,
        subgraph: &'m Subgraph,
        mentioned: &mut Mentioned<'m>,
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut rows = Vec::new();
        let mut counted = HashSet::new();
        let mut bytes = 0_u64;
        for program in &subgraph.programs {
            let engine = program.engine;
            let mut warn = |text: String| {
                warnings.push(format!("{} {engine}: {text}", subgraph.name));
            };
            let mut member = program.stream_member.as_deref();
            let size = member.and_then(|name| neff.member(name)).map_or(0, Member::size);
            if member.is_some_and(|name| counted.insert(name)) {
                bytes = bytes.saturating_add(size);
            }
            if member.is_some_and(|name| !mentioned.members.insert(name)) {
                mentioned.again = mentioned.again.saturating_add(size);
            }
            if bytes > MOST_BYTES {
                warn(format!(
                    "the streams up to it have {bytes} bytes, the limit is {MOST_BYTES}; not shown"
                ));
                member = None;
            } else if mentioned.again > MOST_BYTES {
                let again = mentioned.again;
                warn(format!(
                    "streams named before it would have {again} bytes again, the limit is \
                     {MOST_BYTES}; not shown"
                ));
                member = None;
            } else if size % 64 != 0 {
                let (rest, slots) = (size % 64, size / 64);
                warn(format!(
                    "{rest} bytes after slot {slots} are no whole record of 64 bytes; not shown"
                ));
            }
            rows.push(Row { engine, member, queues: queues(program) });
        }
        Self { subgraph: &subgraph.name, rows }
    }
}

/// Queue and completion semaphore of each DMA block, each pair once.
fn queues(program: &neuron_core::neff::Program) -> Vec<(String, u8)> {
    let blocks = program.json.iter().filter_map(|json| json.dma.as_ref()).flatten();
    let mut seen = HashSet::new();
    blocks
        .filter_map(|block| {
            let (queue, semaphore) =
                (block.queue.as_deref()?, u8::try_from(block.semaphore?).ok()?);
            seen.insert((queue, semaphore)).then(|| (printable(queue), semaphore))
        })
        .collect()
}

/// The findings of the file as other commands have them, then those of streams
/// in the same form.
fn all_findings(report: &Report, streams: &[String]) -> Value {
    let mut all = findings(report);
    if let Some(list) = all.get_mut("list").and_then(Value::as_array_mut) {
        list.extend(streams.iter().map(|text| {
            json!({ "severity": "damage", "rule": "not-shown", "place": null, "message": text })
        }));
    }
    if !streams.is_empty() {
        all["damaged"] = true.into();
    }
    all
}
