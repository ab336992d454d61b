//! `cargo xtask bench ls`: how long neuron-ls takes from start to exit,
//! against tools that list the same kind of thing.
//!
//! Both run in turn, so that a busy moment of the machine hits both, and every
//! second pair the other way round. Judging the time is left to the reader;
//! only size and libraries of the binary can fail.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::bar::{Good::AtMost, judge};
use super::stats::{bootstrap_95, median, percentile};
use crate::packages;
use crate::run::{Run, say, target_dir};
use crate::static_libc;

/// Flags of `cargo xtask bench ls`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many pairs are measured per row.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pairs: u32,
}

const WARM_UP: u32 = 10;

/// How often the creation of a simulated instance is measured.
const CREATIONS: u32 = 30;

/// Instance type against the peer's command line.
const ROWS: &[(&str, &[&str])] = &[
    ("trn2.48xlarge", &["lsblk", "-J", "-O"]),
    ("trn2.48xlarge", &["lspci", "-n"]),
    ("trn1.2xlarge", &["lsblk"]),
];

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = static_libc::release_binary()?;
    let dir = target_dir()?.join("bench-ls");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    let missing: Vec<_> = packages::missing("bench ls", false).iter().map(|p| p.tool()).collect();

    say(&format!("\n{} pairs per row, milliseconds of wall time", options.pairs));
    say(&format!("{:28} {:>8} {:>8} {:>8}", "command", "median", "p10", "p90"));
    for &(instance, peer) in ROWS {
        let peer_run = Run::new(peer[0]).args(peer[1..].iter().copied());
        if missing.contains(&peer[0]) {
            say(&format!("{:28} skipped: {} is missing", peer_run.line(), peer[0]));
            continue;
        }
        let sim_dir = dir.join("sim").join(instance);
        std::fs::create_dir_all(&sim_dir)?;
        let ours = neuron_ls(&binary, instance, &sim_dir);
        let (a, b) = pairs(&ours, &peer_run, options.pairs)?;
        report(&format!("neuron-ls sim:{instance}"), &peer_run.line(), &a, &b);
    }
    creation(&binary, &dir)?;
    static_libc::is_small(&binary)
}

fn neuron_ls(binary: &Path, instance: &str, sim_dir: &Path) -> Run {
    Run::new(binary)
        .args(["--source", &format!("sim:{instance}")])
        .env("NEURON_SIM_DIR", sim_dir.as_os_str())
}

/// The first run on an instance, which makes it, apart from the others.
fn creation(binary: &Path, dir: &Path) -> Result<()> {
    let took = (0..CREATIONS)
        .map(|i| {
            let sim_dir = dir.join(format!("fresh-{i}"));
            std::fs::create_dir_all(&sim_dir)?;
            once(&neuron_ls(binary, "trn2.48xlarge", &sim_dir))
        })
        .collect::<Result<Vec<_>>>()?;
    say(&format!("{} (made first, {CREATIONS} times)", line("neuron-ls sim:trn2.48xlarge", &took)));
    Ok(())
}

/// Milliseconds of both commands, run in turn.
fn pairs(ours: &Run, peer: &Run, count: u32) -> Result<(Vec<f64>, Vec<f64>)> {
    for _ in 0..WARM_UP {
        once(ours)?;
        once(peer)?;
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..count {
        if i % 2 == 0 {
            a.push(once(ours)?);
            b.push(once(peer)?);
        } else {
            b.push(once(peer)?);
            a.push(once(ours)?);
        }
    }
    Ok((a, b))
}

/// Milliseconds from start to exit of one run, which must succeed.
fn once(run: &Run) -> Result<f64> {
    let mut command = run.command();
    command.env_remove("NEURON_SOURCE").stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed();
    let status = status.with_context(|| format!("cannot start `{}`", run.line()))?;
    ensure!(status.success(), "`{}` failed: {status}", run.line());
    Ok(took.as_secs_f64() * 1e3)
}

fn line(name: &str, ms: &[f64]) -> String {
    let (p10, p90) = (percentile(ms, 0.1), percentile(ms, 0.9));
    format!("{name:28} {:8.3} {p10:8.3} {p90:8.3}", median(ms))
}

fn report(our_name: &str, peer_name: &str, ours: &[f64], peer: &[f64]) {
    let ratios: Vec<_> = ours.iter().zip(peer).map(|(a, b)| a / b).collect();
    let (low, high) = bootstrap_95(&ratios);
    say(&line(our_name, ours));
    say(&line(peer_name, peer));
    say(&format!("  ratio {:.3} (95 % interval {low:.3} to {high:.3})", median(&ratios)));
    judge(&format!("{our_name} to {peer_name}, wall time"), median(&ratios), AtMost, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_measured_in_full() {
        let (a, b) = pairs(&Run::new("true"), &Run::new("sleep").arg("0.02"), 6).unwrap();
        assert_eq!((a.len(), b.len()), (6, 6));
        assert!(b.iter().all(|&ms| ms >= 20.0), "{b:?}");
        assert!(median(&a) < median(&b));
    }

    #[test]
    fn a_command_that_fails_is_not_measured() {
        let error = pairs(&Run::new("false"), &Run::new("true"), 6).unwrap_err();
        assert!(error.to_string().starts_with("`false` failed"));
    }
}
