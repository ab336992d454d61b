//! Real captures beside runs of the same NEFFs: durations of instructions,
//! of transfers on each DMA engine, and of whole runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use neuron_core::isa::{Engine, Opcode};
use neuron_core::ntff::notification::{DmaStep, Engine as Source};
use neuron_core::ntff::pairs::Pairs;
use neuron_core::ntff::program::{self, PatchMap};
use neuron_core::ntff::{Notification, Options, Reader, SectionKind, Summary, layout, record};
use npu::time::{Executed, Packet, Sink, Timing};
use npu::{Program, Tensors};

/// A pair of a NEFF and a trace, and whether constants were fitted on it.
pub(crate) const CAPTURES: [(&str, &str, bool); 7] = [
    ("attn-fused-fp32-512", "attn-fused-fp32-512", true),
    ("attn-fused-bf16-512", "attn-fused-bf16-512", true),
    ("attn-tkg", "attn-tkg", true),
    ("inspect/neff_171450338541704", "inspect/profile_exec_2", true),
    ("attn-base-bf16-512", "attn-base-bf16-512", false),
    ("attn-fused-fp32-1024", "attn-fused-fp32-1024", false),
    ("moe-dge", "moe-dge", false),
];

/// A number of bytes that only the write of a semaphore has.
const SEMAPHORE: u32 = 4;

/// One instruction of the NEFF, and how often it ran before.
type Key = (usize, Engine, usize, usize);
/// Core, DMA engine, ring, and how many transfers there were before.
type TransferKey = (usize, u8, String, usize);

/// Times in picoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// What one run did.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) total: u64,
    pub(crate) instructions: BTreeMap<Key, Span>,
    /// From the first packet of data to the end of the last.
    pub(crate) transfers: BTreeMap<TransferKey, Span>,
    pub(crate) bytes: u64,
}

/// Groups packets into transfers.
#[derive(Default)]
struct Grouper {
    open: BTreeMap<(usize, u8, String), Span>,
    counts: BTreeMap<(usize, u8, String), usize>,
}

impl Grouper {
    fn packet(&mut self, run: &mut Run, at: (usize, u8, String), span: Span, bytes: u32) {
        if bytes == SEMAPHORE {
            let count = self.counts.entry(at.clone()).or_default();
            if let Some(span) = self.open.remove(&at) {
                run.transfers.insert((at.0, at.1, at.2, *count), span);
            }
            *count += 1;
            return;
        }
        run.bytes += u64::from(bytes);
        let open = self.open.entry(at).or_insert(span);
        open.end = open.end.max(span.end);
    }
}

pub(crate) fn file(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join("../../tests/fixtures/profiles").join(name)).unwrap()
}

/// What the device did.
pub(crate) fn measured(name: &str) -> Run {
    let data = file(&format!("{name}.ntff"));
    let mut reader = Reader::new(data.as_slice(), Options::default()).unwrap();
    let sections = reader.sections().to_vec();
    let mut summary = Summary::new(reader.info(), &sections, reader.header().blobs_start());
    let mut blobs = vec![Vec::new(); sections.len()];
    while let Some(chunk) = reader.next_chunk().unwrap() {
        summary.count(chunk.index, chunk.bytes);
        blobs[chunk.index].extend_from_slice(chunk.bytes);
    }
    let info = reader.info();
    let window = &info.execution_timeline[0];
    let cores: Vec<u32> = layout::subgraphs(info).map(|graph| graph.nc_idx).collect();
    let place = |core: u32| cores.iter().position(|known| *known == core).unwrap();
    let (mut programs, mut patches) = (BTreeMap::new(), BTreeMap::new());
    for section in &sections {
        if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind {
            programs.insert((section.core, engine), (start_address, section.size / 64));
        }
    }
    let mut names = BTreeMap::new();
    for graph in layout::subgraphs(info) {
        for patch in &graph.patch_info {
            let engine = Source::from_number(patch.engine).unwrap();
            patches.insert((graph.nc_idx, engine), PatchMap::new(patch).unwrap());
        }
        for queue in &graph.dma_queue_usage {
            let (engine, ring) = (queue.engine_index, queue.queue_index as u8);
            names.insert((graph.nc_idx, engine, ring), queue.name.clone());
        }
    }
    let mut run = Run { total: window.end - window.start, ..Run::default() };
    let (mut starts, mut packets) = (Pairs::new(1 << 20), Pairs::new(1 << 20));
    let (mut spans, mut moved) = (Vec::new(), Vec::new());
    for (index, section) in sections.iter().enumerate() {
        let Some(decoder) = summary.decoder(index) else { continue };
        for record in record::records(&blobs[index]) {
            let notification = decoder.decode(record);
            let time = decoder.time(record, notification).ps();
            match notification {
                Notification::Start(start) => {
                    starts.begin((section.core, start.engine, start.pc), time).unwrap();
                }
                Notification::End(end) => {
                    let start = starts.end(&(section.core, end.engine, end.pc)).unwrap();
                    spans.push((section.core, end.engine, end.pc, Span { start, end: time }));
                }
                Notification::Dma(dma) => match dma.step {
                    DmaStep::Start { queue, .. } => {
                        packets.begin((section.core, dma.engine, queue), time).unwrap();
                    }
                    DmaStep::End { queue, bytes, .. } => {
                        let start = packets.end(&(section.core, dma.engine, queue)).unwrap();
                        let engine = dma.device_engine(section.core);
                        let name = names.get(&(section.core, engine, queue)).cloned();
                        let span = Span { start, end: time };
                        moved.push((section.core, dma.engine, name, span, bytes));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
    let inside = |span: &Span| span.start >= window.start && span.end <= window.end;
    spans.sort_by_key(|(.., span)| span.start);
    let mut counts: BTreeMap<(usize, Engine, usize), usize> = BTreeMap::new();
    for (core, source, pc, span) in spans.into_iter().filter(|(.., span)| inside(span)) {
        let (address, slots) = programs[&(core, source)];
        let Some(slot) = program::slot(pc, address, slots) else { continue };
        let Some(neff) = patches[&(core, source)].neff_slot(slot) else { continue };
        let engine = Engine::from_number(source.index() as u8).unwrap();
        let count = counts.entry((place(core), engine, neff as usize)).or_default();
        run.instructions.insert((place(core), engine, neff as usize, *count), span);
        *count += 1;
    }
    moved.sort_by_key(|(.., span, _)| span.start);
    let mut grouper = Grouper::default();
    for (core, engine, name, span, bytes) in moved {
        if let Some(name) = name.filter(|_| inside(&span)) {
            grouper.packet(&mut run, (place(core), engine % 16, name), span, bytes);
        }
    }
    run
}

/// Collects what a timed run does.
#[derive(Default)]
struct Collector {
    run: Run,
    counts: BTreeMap<(usize, Engine, usize), usize>,
    packets: Vec<Packet>,
}

impl Sink for Collector {
    fn instruction(&mut self, executed: &Executed) {
        let at = executed.at;
        let count = self.counts.entry((at.core, at.engine, at.slot)).or_default();
        let span = Span { start: executed.start, end: executed.end };
        self.run.instructions.insert((at.core, at.engine, at.slot, *count), span);
        *count += 1;
    }
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(*packet);
    }
}

/// What the clock says. Inputs are zero: no program here looks at more of them
/// than the numbers of experts.
pub(crate) fn simulated(program: &Program) -> Run {
    let mut collector = Collector::default();
    let timed = program.run_timed(&Tensors::new(), &Timing::only(program), &mut collector).unwrap();
    let Collector { mut run, packets, .. } = collector;
    run.total = timed.summary.total;
    let mut grouper = Grouper::default();
    for packet in packets {
        let name = match timed.rings[packet.core][packet.ring].as_str() {
            "pool dynamic" => "qPoolDynamic",
            "act dynamic" => "qActDynamicHW",
            "sp dynamic" => "qSPDynamicHW",
            other => other,
        };
        let span = Span { start: packet.start, end: packet.end };
        grouper.packet(&mut run, (packet.core, packet.engine, name.to_owned()), span, packet.bytes);
    }
    run
}

/// Simulated durations by measured ones.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ratios(Vec<f64>);

impl Ratios {
    fn add(&mut self, simulated: Span, measured: Span) {
        let length = |span: Span| (span.end - span.start).max(1) as f64;
        self.0.push(length(simulated) / length(measured));
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The ratio below which this share of all lies.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() - 1) as f64 * share).round() as usize]
    }
}

/// A capture and its simulation.
pub(crate) struct Comparison {
    pub(crate) name: &'static str,
    pub(crate) fitted: bool,
    pub(crate) measured: Run,
    pub(crate) simulated: Run,
    pub(crate) program: Program,
}

impl Comparison {
    pub(crate) fn all() -> Vec<Self> {
        let captures = CAPTURES.iter();
        captures
            .map(|(neff, ntff, fitted)| {
                let program = Program::from_neff(&file(&format!("{neff}.neff"))).unwrap();
                let (measured, simulated) = (measured(ntff), simulated(&program));
                let name = neff.split('/').next().unwrap();
                Self { name, fitted: *fitted, measured, simulated, program }
            })
            .collect()
    }

    pub(crate) fn whole(&self) -> f64 {
        self.simulated.total as f64 / self.measured.total as f64
    }

    /// Ratios by opcode and engine and elements of a partition.
    pub(crate) fn by_opcode(&self) -> BTreeMap<(u8, Engine, u64), Ratios> {
        let mut all: BTreeMap<_, Ratios> = BTreeMap::new();
        for (key, measured) in &self.measured.instructions {
            let (core, engine, slot, _) = *key;
            let record = &self.program.cores()[core].stream(engine)[slot];
            let Some(simulated) = self.simulated.instructions.get(key) else { continue };
            let size = elements(&record.encode());
            all.entry((record.opcode().0, engine, size)).or_default().add(*simulated, *measured);
        }
        all
    }

    pub(crate) fn transfers(&self) -> Ratios {
        let mut all = Ratios::default();
        for (key, measured) in &self.measured.transfers {
            if let Some(simulated) = self.simulated.transfers.get(key) {
                all.add(*simulated, *measured);
            }
        }
        all
    }
}

/// Elements of a partition of the source; of a transfer, its bytes.
fn elements(record: &[u8; 64]) -> u64 {
    let count = |at: usize, dimensions: usize| -> u64 {
        let counts = record[at..at + 2 * dimensions].as_chunks::<2>().0;
        counts.iter().map(|bytes| u64::from(u16::from_le_bytes(*bytes))).product()
    };
    match record[0] {
        0x01 | 0x02 | 0x21 | 0x43 | 0x41 => count(26, 3),
        0x42 | 0x46..=0x48 => count(24, 4),
        0x49 => count(56, 4),
        0x92 => count(28, 4),
        0xd4 => count(32, 3),
        _ => 0,
    }
}

/// Rows of captures: of instructions by opcode, engine and size, and of all
/// transfers.
pub(crate) fn rows(all: &[Comparison], fitted: bool) -> Vec<(String, Ratios)> {
    let mut merged: BTreeMap<_, Ratios> = BTreeMap::new();
    let mut transfers = Ratios::default();
    for one in all.iter().filter(|one| one.fitted == fitted) {
        for (key, ratios) in one.by_opcode() {
            merged.entry(key).or_default().0.extend(ratios.0);
        }
        transfers.0.extend(one.transfers().0);
    }
    let instructions = merged.into_iter().map(|((opcode, engine, size), ratios)| {
        let size = if size == 0 { String::new() } else { size.to_string() };
        (format!("{} | {} | {size}", Opcode(opcode), engine.key().to_uppercase()), ratios)
    });
    let transfers = ("transfers, on each DMA engine | | ".to_owned(), transfers);
    instructions.chain([transfers]).collect()
}

/// Names of the rows of which one of these shares is outside 20 %.
pub(crate) fn outside(rows: &[(String, Ratios)], shares: &[f64]) -> Vec<String> {
    let off = |ratios: &Ratios| shares.iter().any(|at| !(0.8..=1.2).contains(&ratios.at(*at)));
    let rows = rows.iter().filter(|(_, ratios)| off(ratios));
    rows.map(|(what, _)| what.replace(" |", "").trim_end().to_owned()).collect()
}

/// The page of the docs.
pub(crate) fn page(all: &[Comparison]) -> String {
    let mut page = String::new();
    let write = |page: &mut String, line: std::fmt::Arguments<'_>| {
        page.write_fmt(line).unwrap();
        page.push('\n');
    };
    write(&mut page, format_args!("| capture | fitted on it | measured | simulated | ratio |"));
    write(&mut page, format_args!("|---|---|---|---|---|"));
    for one in all {
        let us = |ps: u64| ps as f64 / 1e6;
        write(
            &mut page,
            format_args!(
                "| {} | {} | {:.2} us | {:.2} us | {:.3} |",
                one.name,
                if one.fitted { "yes" } else { "no" },
                us(one.measured.total),
                us(one.simulated.total),
                one.whole()
            ),
        );
    }
    for fitted in [false, true] {
        let title =
            if fitted { "Captures that constants were fitted on" } else { "Other captures" };
        write(&mut page, format_args!("\n{title}, simulated by measured:\n"));
        write(&mut page, format_args!("| opcode | engine | size | count | median | p10 | p90 |"));
        write(&mut page, format_args!("|---|---|---|---|---|---|---|"));
        let rows = rows(all, fitted);
        for (what, ratios) in &rows {
            line(&mut page, what, ratios);
        }
        let list = |names: Vec<String>| {
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let (medians, ends) = (outside(&rows, &[0.5]), outside(&rows, &[0.1, 0.9]));
        write(&mut page, format_args!("\nMedians outside 20 %: {}.", list(medians)));
        write(&mut page, format_args!("10th or 90th percentiles outside 20 %: {}.", list(ends)));
    }
    page
}

fn line(page: &mut String, what: &str, ratios: &Ratios) {
    let (median, p10, p90) = (ratios.at(0.5), ratios.at(0.1), ratios.at(0.9));
    let count = ratios.count();
    writeln!(page, "| {what} | {count} | {median:.2} | {p10:.2} | {p90:.2} |").unwrap();
}
