//! `neuron-profile ntff` as a process on a 10 GB stream: throughput, and peak
//! memory under 64 MiB. `cargo bench -p neuron-profile --bench ntff`;
//! `-- SIZE_IN_GB` for another size.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench fails by panicking"
)]

#[path = "../tests/support/stream.rs"]
mod stream;

use std::path::Path;

fn main() {
    let size = std::env::args().skip(1).find_map(|arg| arg.parse::<u64>().ok()).unwrap_or(10);
    for command in ["info", "verify"] {
        let tool = Path::new(env!("CARGO_BIN_EXE_neuron-profile"));
        let run = stream::run(tool, command, size * 1_000_000_000);
        assert_eq!(run.status, Some(0), "{}", run.output);
        let rate = run.bytes as f64 / run.time.as_secs_f64() / 1e9;
        let per_core = run.bytes as f64 / run.cpu.as_secs_f64() / 1e9;
        println!(
            "ntff {command}: {} bytes in {:.2} s, {rate:.2} GB/s, {per_core:.2} GB per second of \
             processor time, peak {:.1} MiB",
            run.bytes,
            run.time.as_secs_f64(),
            run.peak_bytes as f64 / f64::from(1 << 20),
        );
        assert!(run.peak_bytes < 64 << 20, "peak memory is {} bytes", run.peak_bytes);
    }
}
