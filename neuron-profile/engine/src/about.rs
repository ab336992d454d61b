//! What is said about a profile beside its rows: what makes it incomplete, and
//! the viewer's words for classes of memory.

use crate::capture::Capture;
use crate::cores::{Core, QueueKind};
use crate::source::ReadAt;
use crate::totals::Totals;

/// A sentence about what makes numbers incomplete, with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Kind, in the words of the vendor's tool where it has one.
    pub category: &'static str,
    /// The sentence.
    pub message: String,
}

/// What makes numbers of the profile incomplete, as the vendor's tool tells it.
pub fn warnings<S: ReadAt + ?Sized>(capture: &Capture<'_, S>, totals: &Totals) -> Vec<Warning> {
    const MISSING: &str = "Missing Data";
    let dynamic = [QueueKind::SoftwareDynamic, QueueKind::HardwareDynamic];
    let dynamic = dynamic.iter().any(|kind| totals.packets_by_kind.contains_key(kind));
    let unmatched = &totals.unmatched;
    let read = &unmatched.read;
    let given = [
        (
            dynamic && totals.descriptor_notices == 0,
            MISSING,
            String::from(
                "The trace has no notifications of descriptor generation, so transfers of \
                 dynamic DMA are not known; capture with --enable-dge-notifs to have them",
            ),
        ),
        (
            !capture.has_compiler_metrics,
            MISSING,
            String::from("The NEFF has no metrics of its compiler; a newer compiler writes them"),
        ),
        (
            capture.hlo_macs.is_none(),
            MISSING,
            String::from(
                "The NEFF has no HLO statistics: model_flops and mfu_hlo_estimated_percent are \
                 0; hardware_flops - transpose_flops and mfu_inst_estimated_percent stand",
            ),
        ),
        (
            read.missing_bytes > 0 || read.late > 0 || unmatched.overflow > 0,
            "Damaged Trace",
            format!(
                "{} bytes of records are missing, {} records came too late to be put in order, \
                 {} starts were given up",
                read.missing_bytes, read.late, unmatched.overflow
            ),
        ),
        (
            unmatched.instruction_ends > 0 || unmatched.packet_ends > 0,
            "Unmatched Records",
            format!(
                "{} ends of instructions and {} ends of packets have no start",
                unmatched.instruction_ends, unmatched.packet_ends
            ),
        ),
    ];
    let holding = given.into_iter().filter(|(holds, ..)| *holds);
    let left_out = capture.kernels.left_out.iter().map(|what| Warning {
        category: MISSING,
        message: format!("Call stacks are left out: {what}"),
    });
    holding.map(|(_, category, message)| Warning { category, message }).chain(left_out).collect()
}

/// The viewer's words for the memory classes of a trace.
const MEMORY: [(&str, &str); 22] = [
    ("generic", "Generic"),
    ("pe", "Tensor Instructions"),
    ("act", "Scalar Instructions"),
    ("pool", "GpSimd Instructions"),
    ("dve", "Vector Instructions"),
    ("sp", "Sync Instructions"),
    ("io", "IO"),
    ("spill", "DRAM Spill"),
    ("weight", "Weights"),
    ("profiler buffers", "Profiler Buffers"),
    ("act table", "Scalar Table"),
    ("shared scratchpad", "Shared Scratchpad"),
    ("tensor", "Tensors"),
    ("ucode", "Ucode lib"),
    ("pool stdio", "GpSimd STDIO"),
    ("collectives", "Collectives"),
    ("scratchpad", "Scratchpad"),
    ("xt cc", "XT CC (unused)"),
    ("dma rings runtime", "DMA Rings Runtime"),
    ("dma rings spill", "DMA Rings Spill"),
    ("dma rings io", "DMA Rings IO"),
    ("dma rings collectives", "DMA Rings Collectives"),
];

/// Each class of memory of a core with its bytes, then the sum; nothing where
/// the trace has none.
pub fn memory(core: &Core) -> Vec<(&str, u64)> {
    let mut out: Vec<(&str, u64)> = core
        .memory
        .iter()
        .map(|(class, bytes)| {
            let word = MEMORY.iter().find(|(known, _)| known == class).map(|(_, word)| *word);
            (word.unwrap_or(class), *bytes)
        })
        .collect();
    if !out.is_empty() {
        out.push(("Total", out.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))));
    }
    out
}

/// Nanoseconds after 1970 in the form of RFC 3339, without zeros at the end.
pub fn moment(ns: u64) -> String {
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let fraction = format!(".{rest:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let (day, hours) = (hours / 24 + 1, hours % 24);
    format!("1970-01-{day:02}T{hours:02}:{minutes:02}:{:02}{fraction}Z", seconds % 60)
}
