//! Records of real executables: how many decode, encode, print and assemble
//! in a second.

#[path = "../tests/isa_support/mod.rs"]
mod isa_support;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use neuron_core::instance::Arch;
use neuron_core::isa::asm::{assemble, disassemble};
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::{Record, decode_stream};

fn records(c: &mut Criterion) {
    let streams = isa_support::all_streams();
    let programs: Vec<(Arch, Vec<Record>)> = streams
        .iter()
        .map(|(arch, bytes)| (*arch, decode_stream(*arch, bytes).unwrap_or_default()))
        .collect();
    let count: usize = programs.iter().map(|(_, records)| records.len()).sum();
    let names = SemaphoreNames::none();
    let texts: Vec<(Arch, String)> = programs
        .iter()
        .map(|(arch, records)| {
            let lines: Vec<_> = records.iter().map(|r| disassemble(r, &names)).collect();
            (*arch, lines.join("\n"))
        })
        .collect();

    let mut group = c.benchmark_group("isa");
    group.throughput(Throughput::Elements(u64::try_from(count).unwrap_or(u64::MAX)));
    group.bench_function("decode records", |b| {
        b.iter(|| {
            for (arch, bytes) in &streams {
                for record in bytes.as_chunks::<64>().0 {
                    black_box(Record::decode(*arch, black_box(record)));
                }
            }
        });
    });
    group.bench_function("encode records", |b| {
        b.iter(|| {
            for record in programs.iter().flat_map(|(_, records)| records) {
                black_box(black_box(record).encode());
            }
        });
    });
    group.bench_function("disassemble lines", |b| {
        b.iter(|| {
            for record in programs.iter().flat_map(|(_, records)| records) {
                black_box(disassemble(black_box(record), &names));
            }
        });
    });
    group.bench_function("assemble lines", |b| {
        b.iter(|| {
            for (arch, text) in &texts {
                let _ = black_box(assemble(*arch, black_box(text)));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, records);
criterion_main!(benches);
