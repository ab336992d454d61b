//! Long traces: what is counted grows with the length, memory does not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

#[path = "support/repeat.rs"]
mod repeat;

use std::time::Instant;

use neuron_core::engine::Engine;
use neuron_core::neff::{self, Neff, Report};
use profile_engine::{Capture, Nothing, Options, Parts, Totals, run};
use repeat::{Repeated, fixture};

const CAPTURE: &str = "attn-base-bf16-512";

fn totals(times: u64) -> (Totals, [u64; 2]) {
    let trace = Repeated::new(CAPTURE, times);
    let neff = fixture(&format!("{CAPTURE}.neff"));
    let neff = Neff::open(&neff, &neff::Options::strict()).unwrap();
    let mut report = Report::new(neff::Mode::Strict);
    let capture = Capture::open(&neff, &trace, Options::default(), &mut report).unwrap();
    let outcome = run(&capture, Parts { usage: false }, &mut Nothing).unwrap();
    (outcome.totals, trace.rows)
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn everything_grows_but_memory() {
    let (once, rows) = totals(1);
    let before = resident();
    // More for a measurement: SCALE_ROWS=10000000.
    let wanted: u64 = std::env::var("SCALE_ROWS").map_or(300_000, |rows| rows.parse().unwrap());
    let times = wanted / (rows[0] + rows[1]);
    let begin = Instant::now();
    let (many, _) = totals(times);
    let took = begin.elapsed();
    let grown = resident().saturating_sub(before);
    let count = (rows[0] + rows[1]) * times;
    println!("{count} rows in {took:?}, {} KiB of memory more", grown >> 10);
    for engine in Engine::ALL {
        assert_eq!(many.count(engine), once.count(engine) * times, "{engine}");
        assert_eq!(many.time(engine), once.time(engine) * times, "{engine}");
        assert_eq!(many.active(engine), once.active(engine) * times, "{engine}");
    }
    let instructions: u64 = many.cores.iter().flat_map(|core| core.instructions).sum();
    assert_eq!([instructions, many.packets.count], rows.map(|rows| rows * times));
    assert_eq!(many.packets.active(), once.packets.active() * times);
    assert_eq!(many.packets.bytes, once.packets.bytes * times);
    assert_eq!(many.all_active(), once.all_active() * times);
    assert_eq!(many.traffic.elements, once.traffic.elements * times);
    let unmatched = many.unmatched;
    assert_eq!(unmatched.read.late + unmatched.overflow + unmatched.instruction_ends, 0);
    // Windows, unions of 65,536 intervals for each engine, core and layer.
    assert!(grown < 96 << 20, "{} KiB for {count} rows", grown >> 10);
}
