//! Feeds a trace of any size to `neuron-profile ntff COMMAND -` through a pipe
//! and measures time and peak memory. Nothing is written to disk: real records
//! are repeated as they are written.

#![allow(dead_code, unreachable_pub, reason = "a test and a bench use a part of it each")]

use std::io::{BufWriter, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use neuron_core::ntff::messages::{NotificationTraceType as TraceType, TraceInfo};
use neuron_core::ntff::{Options, Reader, Section, Writer};

/// How it went.
#[derive(Debug)]
pub struct Run {
    /// Exit code.
    pub status: Option<i32>,
    /// Size of the stream.
    pub bytes: u64,
    /// From the first byte to the end of the process.
    pub time: Duration,
    /// Processor time that it took, user and system.
    pub cpu: Duration,
    /// Largest resident size of the process.
    pub peak_bytes: u64,
    /// Its stdout.
    pub output: String,
}

/// Runs it on about `size` bytes.
pub fn run(tool: &Path, command: &str, size: u64) -> Run {
    let mut child = Command::new(tool)
        .args(["ntff", command, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let stdin = child.stdin.take().unwrap();
    let (bytes, stdin) = generate(BufWriter::with_capacity(1 << 20, stdin), size);
    // All is written and nearly all is read; the end of the stream comes only
    // after the memory was looked up.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let after_name = stat.rsplit(") ").next().unwrap();
    let field = |at: usize| -> u64 { after_name.split(' ').nth(at).unwrap().parse().unwrap() };
    // proc(5): utime and stime, fields 14 and 15, in ticks of 10 ms.
    let cpu = Duration::from_millis((field(11) + field(12)) * 10);
    drop(stdin);
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    let status = child.wait().unwrap().code();
    Run { status, bytes, time: begin.elapsed(), cpu, peak_bytes: peak_kib << 10, output }
}

/// Writes a trace with the records of a real one repeated.
fn generate<W: std::io::Write>(out: W, size: u64) -> (u64, W) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles/moe-dge.ntff");
    let data = std::fs::read(path).unwrap();
    let mut reader = Reader::new(data.as_slice(), Options::default()).unwrap();
    let mut info = reader.info().clone();
    // One trace of each kind that has records, each a third of the size.
    let kinds = [TraceType::Instruction, TraceType::Event, TraceType::Dma];
    let sections = reader.sections().to_vec();
    let mut blobs = vec![Vec::new(); kinds.len()];
    while let Some(chunk) = reader.next_chunk().unwrap() {
        let of = |section: &Section| section.core == 4 && section.trace_type().is_some();
        if let Some(kind) =
            sections.get(chunk.index).filter(|s| of(s)).and_then(Section::trace_type)
            && let Some(at) = kinds.iter().position(|k| *k == kind)
        {
            blobs[at].extend_from_slice(chunk.bytes);
        }
    }
    if let Some(neuron_core::ntff::messages::neff_node_info::Node::NdNode(node)) =
        &mut info.neff_nodes[0].node
    {
        node.graphs.iter_mut().for_each(|graph| graph.instruction_info.clear());
    }
    let repeat: Vec<u64> = blobs.iter().map(|blob| size / 3 / blob.len() as u64 + 1).collect();
    info.session_notifications = kinds
        .iter()
        .zip(blobs.iter().zip(&repeat))
        .map(|(kind, (blob, repeat))| {
            let size = blob.len() as u64 * repeat;
            TraceInfo { trace_type: (*kind).into(), size, nc_idx: 4, ..TraceInfo::default() }
        })
        .collect();
    let mut writer = Writer::new(out, 6, info).unwrap();
    let mut bytes = 0;
    for (blob, repeat) in blobs.iter().zip(repeat) {
        for _ in 0..repeat {
            writer.bytes(blob).unwrap();
            bytes += blob.len() as u64;
        }
    }
    let mut out = writer.finish().unwrap();
    out.flush().unwrap();
    (bytes, out)
}
