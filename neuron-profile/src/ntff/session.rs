//! `neuron-profile show-session`: what a trace has, in the words of the vendor's
//! debug printer (profiler.md §1.5).
//!
//! Which records its columns TRACE and EVENTS count is not public; here they
//! are all records of a core, and its updates of semaphores and events (our
//! choice). `ntff info` and `ntff dump` say more.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::bail;
use neuron_core::ntff::messages::{
    BlockTimestampInfo, NcTimestampInfo, NotificationTraceType as TraceType, NtffInfo,
    SubgraphInfo, neff_node_info::Node,
};
use neuron_core::ntff::notification::Engine;
use neuron_core::ntff::summary::Core;
use neuron_core::ntff::{SectionKind, Summary, record};
use neuron_core::text::hex;
use serde_json::{Map, Value, json};

use super::input::{self, Input, Kind};
use super::line::Line;
use crate::output::{self, Exit, Format, codes};

/// Show what a trace has: programs, cores, queues, records
#[derive(Debug, clap::Args)]
#[command(after_help = codes())]
pub struct Args {
    /// The trace; - reads stdin
    #[arg(short, long, value_name = "FILE")]
    session_file: PathBuf,

    /// The NEFF that was running, which must be the one of the trace
    #[arg(short, long, value_name = "FILE", alias = "neff")]
    neff_path: Option<PathBuf>,

    /// One JSON document
    #[arg(short, long)]
    json: bool,

    /// Print records of instructions, semaphores and events
    #[arg(long)]
    show_trace: bool,

    /// Print records of DMA
    #[arg(long)]
    show_dma: bool,

    /// Print errors
    #[arg(short = 'e', long)]
    show_errors: bool,

    /// Print the captured programs, a slot a line in hex; `neff disasm` reads them
    #[arg(short = 'i', long)]
    instructions: bool,
}

impl Args {
    /// Whether records of a kind are printed.
    fn shows(&self, kind: &SectionKind) -> bool {
        match kind {
            SectionKind::Program { .. } => self.instructions,
            SectionKind::Trace { trace_type: Ok(TraceType::Dma), .. } => self.show_dma,
            SectionKind::Trace { trace_type: Ok(TraceType::Error), .. } => self.show_errors,
            SectionKind::Trace { .. } => self.show_trace,
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// A file that cannot be read, or is no trace, and a NEFF that is another one.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let out = &mut BufWriter::with_capacity(256 << 10, out);
    let input = Input::open(&args.session_file)?;
    if let Kind::Inspect(_) = input.kind {
        bail!("{}: of an inspect run; `neuron-profile ntff info` shows it", input.name);
    }
    let (name, mut reader, trouble) = input.reader()?;
    let sections = reader.sections().to_vec();
    let info = reader.info().clone();
    if let Some(neff) = &args.neff_path {
        belongs(&info, neff)?;
    }
    let mut summary = Summary::new(&info, &sections, reader.header().blobs_start());
    let mut last = None;
    input::stream(&name, &mut reader, |index, bytes| {
        summary.count(index, bytes);
        let Some(section) = sections.get(index).filter(|s| !args.json && args.shows(&s.kind))
        else {
            return Ok(());
        };
        if last.replace(index) != Some(index) {
            writeln!(out, "{section}:")?;
        }
        match summary.decoder(index) {
            Some(decoder) => {
                for record in record::records(bytes) {
                    let notification = decoder.decode(record);
                    let time = decoder.time(record, notification);
                    let line = Line { time, record, notification, core: section.core };
                    writeln!(out, "  {line}")?;
                }
            }
            None => {
                for entry in bytes.chunks(usize::try_from(section.unit())?) {
                    writeln!(out, "  {}", hex(entry))?;
                }
            }
        }
        Ok(())
    })?;
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    summary.report(&info, &mut findings);
    let format = if args.json { Format::Json } else { Format::Text };
    if args.json {
        output::json(out, &document(&info, reader.header().form, &summary))?;
    } else {
        if last.is_some() {
            writeln!(out)?;
        }
        table(out, &info, reader.header().form, &summary)?;
    }
    input::tell(&name, format, &findings, out)
}

/// The NEFF is the one of the trace.
fn belongs(info: &NtffInfo, path: &std::path::Path) -> anyhow::Result<()> {
    let bytes = neuron_core::sys::file_map::FileBytes::open(path)?;
    let options = neuron_core::neff::Options::new(neuron_core::neff::Mode::Lenient);
    let neff = neuron_core::neff::Neff::open(&bytes, &options.without_digest())
        .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let (ours, theirs) = (neff.header.uuid_hex(), uuid(info));
    if !theirs.contains(&ours) {
        bail!("{}: it has the UUID {ours}, the trace was made of {theirs}", path.display());
    }
    Ok(())
}

/// UUID of the program: whole in form 6, cut or with stray bytes before.
fn uuid(info: &NtffInfo) -> String {
    let whole = info.neff_nodes.iter().map(|node| &node.uid).find(|uid| !uid.is_empty());
    hex(whole.unwrap_or(&info.neff_uuid_text))
}

/// Sub-graphs with the number of their node.
fn graphs(info: &NtffInfo) -> impl Iterator<Item = (usize, &SubgraphInfo)> {
    info.neff_nodes.iter().enumerate().flat_map(|(at, node)| {
        let graphs = match &node.node {
            Some(Node::NdNode(node)) => node.graphs.as_slice(),
            _ => &[],
        };
        graphs.iter().map(move |graph| (at, graph))
    })
}

/// All records of a core.
fn records(core: &Core) -> u64 {
    let engines = [&core.starts, &core.ends, &core.explicits];
    engines.into_iter().flatten().sum::<u64>()
        + core.updates
        + core.dma_starts
        + core.dma_ends
        + core.dma_completions
        + core.dma_others
        + core.throttles
        + core.faults
        + core.errors
        + core.unknown
}

/// Instructions that began on an engine.
fn began(core: &Core, engine: Engine) -> u64 {
    core.starts.get(engine.index()).copied().unwrap_or(0)
}

fn core_of<'s>(summary: &'s Summary, graph: &SubgraphInfo) -> Option<&'s Core> {
    summary.cores().get(&graph.nc_idx)
}

fn table(out: &mut dyn Write, info: &NtffInfo, form: u8, summary: &Summary) -> anyhow::Result<()> {
    writeln!(out, "Model Name: {}", neuron_core::model::printable(&info.neff_name))?;
    writeln!(out, "UUID: {}", uuid(info))?;
    writeln!(out, "Model ID: {}", info.id)?;
    writeln!(out, "NTFF Version: {form}\n")?;
    let heads = [
        "NODE ID",
        "EXEC TIME (NS)",
        "EXECUTOR",
        "NAME",
        "TRACE",
        "CYCLES",
        "EVENTS",
        "ERRORS",
        "TENSOR",
        "SCALAR",
        "GPSIMD",
        "DMA QUEUES",
        "SYNC",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let none = Core::default();
    for (node, graph) in graphs(info) {
        let core = core_of(summary, graph).unwrap_or(&none);
        rows.push(vec![
            node.to_string(),
            (graph.exec_duration / 1000).to_string(),
            format!("ND {} NC {}", graph.nd_idx, graph.nc_idx),
            neuron_core::model::printable(&graph.name),
            records(core).to_string(),
            graph.exec_duration.to_string(),
            core.updates.to_string(),
            (core.faults + core.errors).to_string(),
            began(core, Engine::Pe).to_string(),
            began(core, Engine::Act).to_string(),
            began(core, Engine::Pool).to_string(),
            graph.dma_queue_usage.len().to_string(),
            began(core, Engine::Sp).to_string(),
        ]);
    }
    output::table(out, "", &[2, 3], &rows)?;
    Ok(())
}

fn document(info: &NtffInfo, form: u8, summary: &Summary) -> Value {
    let mut nodes: Vec<Value> = info
        .neff_nodes
        .iter()
        .enumerate()
        .map(|(at, node)| json!({ "ID": at, "UUID": hex(&node.uid), "NodeInfo": { "Graphs": [] } }))
        .collect();
    for (at, graph) in graphs(info) {
        let value = one(graph, core_of(summary, graph).unwrap_or(&Core::default()));
        if let Some(list) =
            nodes.get_mut(at).and_then(|node| node["NodeInfo"]["Graphs"].as_array_mut())
        {
            list.push(value);
        }
    }
    json!({
        "ModelName": info.neff_name,
        "UUID": uuid(info),
        "ModelID": info.id,
        "NTFFVersion": form,
        "NeffNodes": nodes,
    })
}

fn one(graph: &SubgraphInfo, core: &Core) -> Value {
    let queues = graph.dma_queue_usage.iter().map(|queue| {
        json!({
            "Name": queue.name,
            "QueueType": queue.queue_type,
            "QueueIndex": queue.queue_index,
            "EngineIndex": queue.engine_index,
            "AXIPort": queue.axi_port,
            "DRAMChannel": queue.dram_channel,
        })
    });
    let patches = graph.patch_info.iter().map(|patch| {
        let places = patch.locations.iter();
        let places = places.map(|place| json!({ "Offset": place.offset, "Count": place.count }));
        json!({ "Engine": patch.engine, "Locations": places.collect::<Vec<_>>() })
    });
    let starts: Map<String, Value> = graph
        .instruction_info
        .iter()
        .map(|program| {
            let engine = Engine::from_number(program.nc_engine_type);
            let name = engine.map_or_else(|| program.nc_engine_type.to_string(), |e| e.to_string());
            (name, program.start_address.into())
        })
        .collect();
    let memory = graph.memory_usage_breakdown.iter().map(|usage| {
        let named = !usage.usage_name.is_empty();
        let name = if named { usage.usage_name.clone() } else { usage.usage_type.to_string() };
        json!({ "Usage": name, "BytesUsed": usage.bytes })
    });
    json!({
        "Name": graph.name,
        "ND": graph.nd_idx,
        "NC": graph.nc_idx,
        "CycleCount": graph.exec_duration,
        "TraceCount": records(core),
        "EventsCount": core.updates,
        "ErrorCount": core.faults + core.errors,
        "DMAQueues": queues.collect::<Vec<_>>(),
        "InstructionPatches": patches.collect::<Vec<_>>(),
        "InstructionStartPC": starts,
        "NCMemoryUsageBreakdown": memory.collect::<Vec<_>>(),
        "TimestampInfo": graph.timestamp_info.as_ref().map(clocks),
    })
}

fn clocks(info: &NcTimestampInfo) -> Value {
    let clock = |of: &BlockTimestampInfo| {
        json!({
            "InitTimestamp": of.init_timestamp,
            "TimestampInc": of.actual_timestamp_inc,
            "ExpectedTimestampInc": of.expected_timestamp_inc,
        })
    };
    let blocks = [
        ("PE", &info.pe),
        ("ACT", &info.act),
        ("DVE", &info.dve),
        ("POOL", &info.pool),
        ("SP", &info.sp),
        ("Throttle", &info.throttle),
        ("TopSP", &info.topsp),
    ];
    let mut all: Map<String, Value> = blocks
        .into_iter()
        .filter_map(|(name, of)| Some((name.to_owned(), clock(of.as_ref()?))))
        .collect();
    all.insert("DMA".into(), info.dma.iter().map(clock).collect());
    Value::Object(all)
}
