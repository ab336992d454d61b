//! Numbers of the array and of its ramp.

use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::Nop;
use neuron_core::isa::code::{Dtype, Fp32Mode};
use neuron_core::isa::{Engine, Opcode};

use super::{PE, Row, TRN1, TRN2, back_to_back, cycles, row};
use crate::support::lab::{
    At, V2, V3, activate, interval, length, load, matmul, on, pattern, products, program, run,
};
use crate::support::neff::{Small, after, plain, raising};

pub(super) fn array() -> Vec<Row> {
    let (bf16, fp32) = (Dtype::BFLOAT16, Dtype::FP32);
    let none = Fp32Mode::NONE;
    let mut rows = Vec::new();
    for n in [512u16, 128, 64, 32, 1] {
        let what = format!("MATMUL 128x128x{n} bf16, interval max(N, 64), v2");
        let simulated = back_to_back(PE, matmul(bf16, none, n));
        rows.push(row(what, TRN1, "cycles", f64::from(n.max(64)), simulated));
    }
    let stream = interval(&on(V2, Engine::Pe, vec![matmul(bf16, none, 512); 6]));
    rows.push(row("the same, 128x128x512", TRN1, "ns", 512.0 / 2.8, stream / 1000.0));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / stream;
    let mut most = row("most bf16 FLOPs, v2", TRN1, "TFLOP/s", 92.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let one = on(V2, Engine::Pe, vec![matmul(bf16, none, 512)]);
    let latency = cycles(length(&one), 2.8) - 512.0;
    rows.push(row("MATMUL, from its stream to its end, v2", TRN1, "cycles", 64.0, latency));
    // LOW and HIGH, each with both parts of the moving data
    let both = [
        load(fp32, Fp32Mode::LOW, 128),
        matmul(fp32, Fp32Mode::LOW_HIGH, 512),
        load(fp32, Fp32Mode::HIGH, 128),
        matmul(fp32, Fp32Mode::LOW_HIGH, 512),
    ];
    let pairs = on(V2, Engine::Pe, both.iter().cycle().take(16).copied().collect());
    let period = (pairs[13].start - pairs[9].start) as f64;
    rows.push(row("fp32 takes 4 times as long as bf16, v2", TRN1, "times", 4.0, period / stream));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / period;
    let mut most = row("most fp32 FLOPs, v2", TRN1, "TFLOP/s", 23.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let time = |columns| length(&on(V2, Engine::Pe, vec![load(bf16, none, columns)]));
    let simulated = cycles(time(128) - time(64), 2.8) * 2.0;
    rows.push(row("LDWEIGHTS of 128 columns, M / 4, v2", TRN1, "cycles", 32.0, simulated));
    let hidden = on(V2, Engine::Pe, products(6, 512));
    let period = cycles((hidden[9].start - hidden[7].start) as f64, 2.8);
    rows.push(row("LDWEIGHTS behind a MATMUL of 512, v2", TRN1, "cycles", 512.0, period));
    rows.push(row(
        "tiles of an MLP, 4 products of 512 and a function each, v2",
        TRN1,
        "ns",
        4.0 * 512.0 / 2.8,
        tiles() / 1000.0,
    ));
    // warm: the burst has lasted for more than two windows
    let warm = on(V3, Engine::Pe, vec![matmul(bf16, none, 512); 60]);
    let what = "MATMUL 128x128x512 bf16, v3";
    rows.push(row(what, TRN2, "ns", 512.0 / 2.4, interval(&warm) / 1000.0));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / interval(&warm);
    let mut most = row("most bf16 FLOPs, v3", TRN2, "TFLOP/s", 79.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let start = &warm[..4];
    let what = "the same in the first 3 us of a burst: half the rate";
    rows.push(row(what, "glossary", "ns", 1024.0 / 2.4, interval(start) / 1000.0));
    // published as about 3 us; windows do not begin with a burst, so that it
    // depends on where a burst begins: captures have up to a window more
    let (first, _) = ramp(0);
    let ramps = (0..).step_by(8).map(ramp).take_while(|(begin, _)| begin - first < WINDOW);
    let least = ramps.map(|(_, length)| length).fold(f64::INFINITY, f64::min);
    let mut length = row("length of that ramp, at least, v3", "glossary", "us", 3.0, least);
    length.tolerance = 0.15;
    rows.push(length);
    rows
}

/// Picoseconds from tile to tile of a layer: PE makes the products of one in a
/// bank of PSUM while ACT takes those of the one before from another.
fn tiles() -> f64 {
    const TILES: u32 = 12;
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    for tile in 0..TILES {
        let mut work = products(4, 512);
        for one in &mut work {
            if let Body::MatMul(body) = &mut one.body {
                body.dst = pattern(At::Psum(tile % 2), 512);
            }
        }
        if tile >= 2 {
            work[0] = after(work[0], 6, tile - 1);
        }
        work[7] = raising(work[7], 5);
        small.on(Engine::Pe).extend(work);
        let function = activate(At::Psum(tile % 2), At::Sbuf(2), 512);
        small.on(Engine::Act).push(raising(after(function, 5, tile + 1), 6));
    }
    let (_, seen) = run(&program(V2, &small));
    let (pe, act) = (seen.of(Engine::Pe), seen.of(Engine::Act));
    // the function of a tile runs beside the products of the next
    assert!(act[6].start > pe[8 * 7].start && act[6].end < pe[8 * 8].start);
    (pe[8 * 10].start - pe[8 * 6].start) as f64 / 4.0
}

/// Microseconds of a window of activity (neuroncore.md §5.5).
const WINDOW: f64 = 4096.0 / 1200.0;

/// Begin and length of the slow part of a burst behind so many NOPs, in
/// microseconds.
fn ramp(nops: usize) -> (f64, f64) {
    let mut work = vec![plain(Opcode::NOP, Nop::default()); nops];
    work.extend([matmul(Dtype::BFLOAT16, Fp32Mode::NONE, 512); 40]);
    let burst = on(V3, Engine::Pe, work).split_off(nops);
    let fast = burst.windows(2).find(|pair| pair[1].start - pair[0].start < 300_000).unwrap();
    let us = |ps: u64| ps as f64 / 1e6;
    (us(burst[0].start), us(fast[0].start - burst[0].start))
}
