//! `neff disasm`: finds the instruction streams for `disasm.rs`.

use super::disasm::{Program, Stream};
use super::open::Input;
use crate::output::{Exit, Format};
use anyhow::Context;
use neuron_core::instance::Arch;
use neuron_core::isa::Engine;
use neuron_core::neff::Model;
use neuron_core::neff::doc::Target;
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
    let arch = match model.target() {
        Some(Target::V1 | Target::V2) => Arch::V2,
        Some(Target::V4) => Arch::V4,
        // a program for any hardware reads as one for Trn2 (our choice)
        Some(Target::V3 | Target::Any | Target::Simulator) | None => Arch::V3,
    };
    let mut parts = Vec::new();
    for subgraph in &model.subgraphs {
        for program in &subgraph.programs {
            let Some(engine) = Engine::ALL.into_iter().find(|e| e.key() == program.engine.key())
            else {
                continue;
            };
            let body = match &program.stream_member {
                Some(name) => neff.body(name).transpose().with_context(|| args.input.name())?,
                None => None,
            };
            let blocks = program.json.iter().filter_map(|json| json.dma.as_ref()).flatten();
            let queues: Vec<(String, u8)> = blocks
                .filter_map(|block| {
                    Some((block.queue.clone()?, u8::try_from(block.semaphore?).ok()?))
                })
                .collect();
            parts.push((subgraph.name.as_str(), engine, body.unwrap_or_default(), queues));
        }
    }
    let streams: Vec<Stream<'_>> = parts
        .iter()
        .map(|(subgraph, engine, bytes, queues)| Stream {
            subgraph,
            engine: *engine,
            bytes,
            queues,
        })
        .collect();
    let program = Program { arch, streams: &streams };
    match args.input.output {
        Format::Text => program.write_text(out)?,
        Format::Json => program.write_json(out)?,
    }
    for warning in program.warnings() {
        writeln!(std::io::stderr(), "{}: warning: {warning}", args.input.name())?;
    }
    let exit = args.input.warn(&report);
    Ok(if program.warnings().is_empty() { exit } else { Exit::Partial })
}
