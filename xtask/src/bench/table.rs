//! `cargo xtask bench`: every bench in turn, and one table of all figures that
//! have a bar.
//!
//! Each runs as a process of its own, so that one that fails leaves the others
//! their turn. With `--write` the table becomes `xtask/RESULTS.md`.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use super::bar::{self, Judged};
use crate::run::{Run, Stream, root, say};

/// The benches by their names, and the peers that they are held against.
const BENCHES: &[(&str, &str)] = &[
    ("ls", "lsblk, lspci"),
    ("monitor", "prometheus-node-exporter"),
    ("top", "htop, bottom"),
    ("formats", "none"),
    ("npu", "NumPy, onnxruntime"),
    ("rtd", "bare tonic, Python grpcio"),
    ("profile", "polars, DuckDB, xprof"),
    ("tensorboard", "xprof"),
    ("viewer", "none"),
];

/// The page that keeps the last run.
const PAGE: &str = "xtask/RESULTS.md";

/// What a bench said.
#[derive(Debug)]
struct Ran {
    name: &'static str,
    peers: &'static str,
    judged: Vec<Judged>,
    failed: bool,
}

/// Runs all of them.
///
/// # Errors
///
/// A bench that failed, after all others had their turn. A missed bar is none.
pub(super) fn run(write: bool) -> Result<()> {
    let mut all = Vec::new();
    for &(name, peers) in BENCHES {
        say(&format!("\n== bench {name}"));
        let mut judged = Vec::new();
        let run = Run::new(std::env::current_exe()?).args(["bench", name]);
        let outcome = run.each_line(Stream::Out, |line| judged.extend(bar::read(line)));
        if let Err(error) = &outcome {
            say(&format!("bench {name}: {error:#}"));
        }
        all.push(Ran { name, peers, judged, failed: outcome.is_err() });
    }
    let table = table(&all);
    say(&format!("\n{table}"));
    if write {
        let page = page(&table)?;
        let path = root().join(PAGE);
        std::fs::write(&path, page).with_context(|| format!("cannot write {PAGE}"))?;
        say(&format!("wrote {PAGE}"));
    }
    let failed: Vec<_> = all.iter().filter(|ran| ran.failed).map(|ran| ran.name).collect();
    if !failed.is_empty() {
        bail!("benches failed: {}", failed.join(", "));
    }
    Ok(())
}

fn table(all: &[Ran]) -> String {
    let mut text = String::from(
        "| bench | beside | figure | measured | bar | |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for ran in all {
        for judged in &ran.judged {
            let Judged { what, value, bar, verdict } = judged;
            let what = what.replace('|', "\\|");
            let _ = writeln!(
                text,
                "| {} | {} | {what} | {value} | {bar} | {verdict} |",
                ran.name, ran.peers
            );
        }
        if ran.failed {
            let _ = writeln!(text, "| {} | {} | | | | FAILED |", ran.name, ran.peers);
        }
    }
    text
}

/// The page: when, where, what.
fn page(table: &str) -> Result<String> {
    let date = Run::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let commit = Run::new("git")
        .args(["-c", "safe.directory=*", "log", "-1", "--format=%h"])
        .output()
        .unwrap_or_else(|_| "unknown".to_owned());
    Ok(format!(
        "# Results\n\n<!-- Written by cargo xtask bench --write; do not edit. -->\n\n\
         The last run of `cargo xtask bench`: {}, commit {}, on {}.\n\n{table}",
        date.trim(),
        commit.trim(),
        machine()
    ))
}

/// Processor, memory and system of this machine.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str, between: char| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(between)?.1.trim().trim_matches('"').to_owned())
    };
    let processor = value(&read("/proc/cpuinfo"), "model name", ':');
    let memory = value(&read("/proc/meminfo"), "MemTotal", ':')
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let system = value(&read("/etc/os-release"), "PRETTY_NAME", '=');
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{}, {cores} cores, {} GiB, {}, Linux {}",
        processor.unwrap_or_else(|| "an unknown processor".to_owned()),
        memory.unwrap_or(0).div_ceil(1 << 20),
        system.unwrap_or_else(|| "an unknown system".to_owned()),
        kernel.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_is_in_the_table_and_can_be_run_alone() {
        use clap::CommandFactory as _;
        let command = crate::Args::command();
        let bench = command.find_subcommand("bench").unwrap();
        let known: Vec<_> = bench.get_subcommands().map(clap::Command::get_name).collect();
        let mut listed: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        let mut sorted = known.clone();
        sorted.sort_unstable();
        assert_eq!(listed, sorted);
    }

    #[test]
    fn rows_are_those_of_the_judged_lines() {
        let judged = bar::read("  x: 1.00, bar <= 2.00: met").into_iter().collect();
        let all = [
            Ran { name: "a", peers: "b", judged, failed: false },
            Ran { name: "c", peers: "d", judged: Vec::new(), failed: true },
        ];
        let text = table(&all);
        assert!(text.contains("| a | b | x | 1.00 | <= 2.00 | met |\n"), "{text}");
        assert!(text.ends_with("| c | d | | | | FAILED |\n"), "{text}");
    }
}
