//! Instructions a second of processor time, without arithmetic: long programs
//! of all engines with semaphores between them, of one engine, and a loop; the
//! same with records; and a real program, which is mostly packets of DMA.
//! Processor time, so that a busy host does not show.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, dead_code, reason = "a bench")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use neuron_core::isa::code::Dtype;
use neuron_core::isa::{Engine, Opcode};
use npu::time::{Timing, Trace};
use npu::{Program, Tensors};
use support::lab::{self, At, V3, activate, products, unary};
use support::neff::{Small, after, raising};

/// Rounds of the long program.
const ROUNDS: u32 = 60_000;

/// Each round: a product on PE, its function on ACT, a copy on DVE, which PE
/// waits for two rounds later.
fn long() -> Program {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    for round in 1..=ROUNDS {
        let [load, product] = products(1, 512).try_into().unwrap();
        let load = if round > 2 { after(load, 6, round - 2) } else { load };
        small.on(Engine::Pe).extend([load, raising(product, 5)]);
        let function = activate(At::Psum(0), At::Sbuf(1), 512);
        small.on(Engine::Act).push(raising(after(function, 5, round), 4));
        let copy = unary(Opcode::COPY, Dtype::FP32, At::Sbuf(1), At::Sbuf(2), 512);
        small.on(Engine::Dve).push(raising(after(copy, 4, round), 6));
    }
    lab::program(V3, &small)
}

/// One engine without waits.
fn plain() -> Program {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    let copy = unary(Opcode::COPY, Dtype::FP32, At::Sbuf(0), At::Sbuf(2), 512);
    *small.on(Engine::Dve) = vec![copy; 200_000];
    lab::program(V3, &small)
}

fn instructions(program: &Program) -> u64 {
    let timed = program.run_timed(&Tensors::new(), &Timing::only(program), &mut ()).unwrap();
    timed.summary.cores.iter().flat_map(|core| core.instructions).sum()
}

/// Processor time of this thread, on which a timed run does all of its work.
fn processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// Processor time of so many runs.
fn spent(count: u64, mut run: impl FnMut()) -> Duration {
    let before = processor();
    (0..count).for_each(|_| run());
    processor() - before
}

fn time(c: &mut Criterion) {
    let moe = neuron_tests::fixture("profiles/moe-dge.neff");
    let moe = Program::from_neff(&std::fs::read(moe).unwrap()).unwrap();
    let mut group = c.benchmark_group("time");
    group.sample_size(20);
    for (name, program) in [("long program", long()), ("one engine", plain()), ("moe-dge", moe)] {
        let timing = Timing::only(&program);
        group.throughput(Throughput::Elements(instructions(&program)));
        group.bench_function(name, |b| {
            b.iter_custom(|count| {
                spent(count, || {
                    black_box(program.run_timed(&Tensors::new(), &timing, &mut ()).unwrap());
                })
            });
        });
        group.bench_function(format!("{name}, with records"), |b| {
            b.iter_custom(|count| {
                spent(count, || {
                    let mut trace = Trace::new();
                    black_box(program.run_timed(&Tensors::new(), &timing, &mut trace).unwrap());
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, time);
criterion_main!(benches);
