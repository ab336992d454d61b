//! `cargo xtask bench npu`: the software NeuronCore against NumPy and
//! onnxruntime, and what it does by itself.
//!
//! Both sides are processes that stay, each with the same number of threads;
//! they run in turn, the other one stopped, so that a busy moment of the machine
//! hits both and neither takes time from the other. Judging
//! the numbers is left to the reader.

mod server;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;

use self::server::Server;
use super::bar::{Good::AtMost, judge};
use super::stats::{bootstrap_95, median, percentile};
use crate::python;
use crate::run::{Run, say, target_dir};

/// Flags of `cargo xtask bench npu`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many pairs are measured per row.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pairs: u32,
    /// Thread counts to measure with.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
}

/// What the peers are run with.
const PACKAGES: &[&str] = &["numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.31.1"];

const PEER: &str = include_str!("peer.py");

/// Operations of the product of the case `gemm`.
const GEMM_FLOPS: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0;

/// The numbers of our answer: nanoseconds of the whole run and of what is
/// inside records of PE, instructions.
const WHOLE: usize = 0;
const IN_PE: usize = 1;
const INSTRUCTIONS: usize = 3;

/// A case of the peer, our case, which number of ours, what it says, and the
/// most of the peer's time that it should take.
const ROWS: &[Row] = &[
    ("gemm", "gemm", IN_PE, "fp32 1024^3, LDWEIGHTS and MATMUL", Some(1.0)),
    ("gemm", "gemm", WHOLE, "fp32 1024^3, from input to output", None),
    ("mlp", "mlp.neff", WHOLE, "MLP 784-512-512-10, 64 rows", Some(3.0)),
    ("transformer", "transformer.neff", WHOLE, "BERT-tiny block, 128 rows", Some(3.0)),
];

type Row = (&'static str, &'static str, usize, &'static str, Option<f64>);

/// Real programs that have no peer; after `time:` in simulated time, without
/// arithmetic.
const ALONE: &[&str] = &[
    "attn-fused-fp32-1024",
    "attn-fused-bf16-512",
    "moe-dge",
    "xla-cache-b",
    "attn-tkg",
    "time:gemm",
    "time:moe-dge",
    "time:xla-cache-b",
];

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let worker = worker()?;
    let worker = Run::new(worker).arg("--serve");
    let imports = "import numpy, onnx, onnxruntime";
    let python = python::with("bench-npu", PACKAGES, imports)?;
    let models = target_dir()?.join("bench-npu").join("models");
    crate::models::write_all(&models)?;
    for threads in &options.threads {
        let mut ours = Server::start(&worker, *threads)?;
        let mut peer = python
            .as_ref()
            .map(|python| Server::start(&Run::new(python).args(["-c", PEER]), *threads))
            .transpose()?;
        say(&format!("\n{threads} threads, {} pairs per row, milliseconds", options.pairs));
        say(&format!("{:46} {:>9} {:>9} {:>9} {:>9}", "", "median", "p10", "p90", "least"));
        for row in ROWS {
            compare(row, *threads, &models, &mut ours, peer.as_mut(), options.pairs)?;
        }
        alone(&mut ours, options.pairs)?;
    }
    Ok(())
}

/// Builds the worker and returns where it is.
fn worker() -> Result<PathBuf> {
    let build = ["-p", "npu", "--bench", "npu", "--no-run", "--message-format", "json"];
    let text = Run::cargo("bench").args(build).output()?;
    executable(&text).context("cargo named no executable of the bench npu")
}

/// The executable of the bench in what cargo wrote.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut messages = messages.filter(|message: &serde_json::Value| {
        let target = &message["target"];
        target["name"] == "npu" && target["kind"][0] == "bench"
    });
    messages.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// One row: both in turn, every second pair the other way round.
fn compare(
    (theirs, case, number, title, bar): &Row,
    threads: usize,
    models: &Path,
    ours: &mut Server,
    peer: Option<&mut Server>,
    pairs: u32,
) -> Result<()> {
    let path = models.join(case);
    let case = if path.exists() { path.to_string_lossy().into_owned() } else { (*case).to_owned() };
    let mut ask_ours = |case: &str| -> Result<f64> {
        let numbers = ours.turn(case)?.map_err(anyhow::Error::msg)?;
        Ok(numbers.get(*number).context("too few numbers")? / 1e6)
    };
    let mut peer = peer;
    let mut ask_peer = || -> Result<Option<f64>> {
        let Some(peer) = peer.as_mut() else { return Ok(None) };
        match peer.turn(theirs)? {
            Ok(numbers) => Ok(numbers.first().map(|ns| ns / 1e6)),
            Err(reason) => {
                say(&format!("{theirs} is skipped: {reason}"));
                Ok(None)
            }
        }
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let missing = ask_peer()?.is_none();
    ask_ours(&case)?;
    for pair in 0..pairs {
        for turn in 0..2 {
            if turn == pair % 2 {
                a.push(ask_ours(&case)?);
            } else if !missing {
                b.extend(ask_peer()?);
            }
        }
    }
    let flops = if *theirs == "gemm" { Some(GEMM_FLOPS) } else { None };
    say(&line(title, &a, flops));
    if !missing {
        let name = if *theirs == "gemm" { "  NumPy" } else { "  onnxruntime" };
        say(&line(name, &b, flops));
    }
    if !missing {
        let ratios: Vec<_> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
        let (low, high) = bootstrap_95(&ratios);
        let ratio = median(&ratios);
        // a busy machine lengthens most runs and spares some
        let least = percentile(&a, 0.0) / percentile(&b, 0.0);
        let interval = format!("95 % interval {low:.3} to {high:.3}");
        say(&format!("  ratio {ratio:.3} ({interval}), of the least times {least:.3}"));
        if let Some(bar) = bar {
            judge(&format!("{title}, {threads} threads, time to the peer's"), ratio, AtMost, *bar);
        }
    }
    Ok(())
}

fn line(name: &str, ms: &[f64], flops: Option<f64>) -> String {
    let [least, p10, middle, p90] = [0.0, 0.1, 0.5, 0.9].map(|p| percentile(ms, p));
    let rate = |ms: f64| flops.map(|flops| format!("{:.1}", flops / ms / 1e6));
    let rates = rate(middle).zip(rate(least));
    let rates = rates.map(|(middle, best)| format!("   {middle} GFLOP/s, at most {best}"));
    let rates = rates.unwrap_or_default();
    format!("{name:46} {middle:9.3} {p10:9.3} {p90:9.3} {least:9.3}{rates}")
}

/// Instructions in a second, of real programs.
fn alone(ours: &mut Server, runs: u32) -> Result<()> {
    for case in ALONE {
        let mut samples = Vec::new();
        for _ in 0..runs.div_ceil(3) {
            samples.push(ours.turn(case)?.map_err(anyhow::Error::msg)?);
        }
        let ms: Vec<f64> = samples.iter().filter_map(|s| s.get(WHOLE)).map(|ns| ns / 1e6).collect();
        let count =
            samples.iter().find_map(|sample| sample.get(INSTRUCTIONS)).copied().unwrap_or_default();
        let rate = count / median(&ms) / 1e3;
        say(&format!("{}   {count} instructions, {rate:.4} million/s", line(case, &ms, None)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_that_of_the_bench() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"npu"},"executable":null}
not json
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"npu"},"executable":"/t/npu-1"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some(PathBuf::from("/t/npu-1")));
        assert_eq!(executable("{}"), None);
    }

    #[test]
    fn a_line_has_a_rate_when_operations_are_known() {
        let text = line("x", &[2.0, 4.0, 1.0], Some(4e9));
        assert!(text.ends_with("1.000   2000.0 GFLOP/s, at most 4000.0"), "{text}");
        assert!(line("x", &[2.0], None).ends_with("2.000     2.000"));
    }
}
