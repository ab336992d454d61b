//! Throughput of the NTFF reader: `cargo bench -p neuron-core --features ntff
//! --bench ntff`. Bytes are bytes of the file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench fails by panicking"
)]
#![allow(missing_docs, reason = "criterion's macros write undocumented items")]

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::notification::{Decoder, DmaStep};
use neuron_core::ntff::{Notification, Options, Reader, Summary, Writer, record};

/// The records of a real trace, repeated to `size` bytes or a little more.
fn records(trace: TraceType, size: usize) -> Vec<u8> {
    let data = file("moe-dge.ntff");
    let mut reader = Reader::new(data.as_slice(), Options::default()).unwrap();
    let index = reader.sections().iter().position(|s| s.trace_type() == Some(trace)).unwrap();
    let mut bytes = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        if chunk.index == index {
            bytes.extend_from_slice(chunk.bytes);
        }
    }
    bytes.repeat(size / bytes.len() + 1)
}

fn file(name: &str) -> Vec<u8> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles");
    std::fs::read(home.join(name)).unwrap()
}

/// Uses each field that a later stage would, so that none is left undecoded.
fn digest(notification: Notification) -> u64 {
    match notification {
        Notification::Start(s) => {
            u64::from(s.pc) ^ u64::from(s.wait_cycles) ^ u64::from(s.hint) ^ s.engine.index() as u64
        }
        Notification::End(e) => {
            u64::from(e.pc) ^ u64::from(e.crc_in) ^ u64::from(e.crc_out) ^ e.engine.index() as u64
        }
        Notification::Explicit(e) => u64::from(e.packets().unwrap_or(0)),
        Notification::Update(u) => u64::from(u.id) ^ u64::from(u.value) ^ u64::from(u.mode),
        Notification::Dma(dma) => match dma.step {
            DmaStep::Start { queue, .. } | DmaStep::Completion { queue, .. } => queue.into(),
            DmaStep::End { bytes, crc, queue, .. } => {
                u64::from(bytes) ^ u64::from(crc) ^ u64::from(queue)
            }
            _ => 0,
        },
        _ => 1,
    }
}

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for (name, trace) in [
        ("instruction", TraceType::Instruction),
        ("event", TraceType::Event),
        ("dma", TraceType::Dma),
    ] {
        let bytes = records(trace, 8 << 20);
        let decoder = Decoder::new(trace, 2);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut sum = 0_u64;
                for record in record::records(black_box(&bytes)) {
                    sum = sum.wrapping_add(digest(decoder.decode(record)) ^ record.time.0);
                }
                sum
            });
        });
    }
    group.finish();
}

/// The reader with the counts of `info`, over a file of 64 MB in memory.
fn stream(criterion: &mut Criterion) {
    let data = file("moe-dge.ntff");
    let mut info = Reader::new(data.as_slice(), Options::default()).unwrap().info().clone();
    let mut blobs = Vec::new();
    info.session_notifications.retain_mut(|trace| {
        let kind = trace.trace_type();
        if trace.nc_idx != 4 || trace.size == 0 {
            return false;
        }
        let bytes = records(kind, 20 << 20);
        trace.size = bytes.len() as u64;
        blobs.push(bytes);
        true
    });
    if let Some(neuron_core::ntff::messages::neff_node_info::Node::NdNode(node)) =
        &mut info.neff_nodes[0].node
    {
        node.graphs.iter_mut().for_each(|graph| graph.instruction_info.clear());
    }
    let mut writer = Writer::new(Vec::new(), 6, info).unwrap();
    blobs.iter().for_each(|blob| writer.bytes(blob).unwrap());
    let file = writer.finish().unwrap();
    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Bytes(file.len() as u64));
    group.bench_function("read", |bench| {
        bench.iter(|| {
            let mut reader = Reader::new(file.as_slice(), Options::default()).unwrap();
            let mut sum = 0;
            while let Some(chunk) = reader.next_chunk().unwrap() {
                sum += chunk.bytes.len();
            }
            sum
        });
    });
    group.bench_function("summary", |bench| {
        bench.iter(|| {
            let mut reader = Reader::new(file.as_slice(), Options::default()).unwrap();
            let sections = reader.sections().to_vec();
            let mut summary = Summary::new(reader.info(), &sections, 0);
            while let Some(chunk) = reader.next_chunk().unwrap() {
                summary.count(chunk.index, chunk.bytes);
            }
            summary.cores()[&4].dma_bytes
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    targets = decode, stream
}
criterion_main!(benches);
