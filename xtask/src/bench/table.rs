//! `cargo xtask bench`: every bench in turn, and tables of all figures that have
//! a bar.
//!
//! Each runs as a process of its own, so that one that fails leaves the others
//! their turn. With `--write` the tables go into `xtask/RESULTS.md`, each with its
//! date, commit and machine.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use super::Benches;
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

/// Runs all of them, or those that are named.
///
/// # Errors
///
/// A bench that failed, after all others had their turn. A missed bar is none.
pub(super) fn run(benches: &Benches) -> Result<()> {
    let Benches { only, write, profile_binary, .. } = benches;
    if let Some(other) = only.iter().find(|name| BENCHES.iter().all(|(known, _)| known != name)) {
        let known: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        bail!("no bench {other:?}; there are {}", known.join(", "));
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let mut all = Vec::new();
    for &(name, peers) in BENCHES.iter().filter(|(name, _)| wanted(name)) {
        say(&format!("\n== bench {name}"));
        let mut judged = Vec::new();
        let mut run = Run::new(std::env::current_exe()?).args(["bench", name]);
        if let (Some(binary), "tensorboard" | "viewer") = (profile_binary, name) {
            run = run.arg("--binary").arg(std::path::absolute(binary)?);
        }
        let outcome = run.each_line(Stream::Out, |line| judged.extend(bar::read(line)));
        if let Err(error) = &outcome {
            say(&format!("bench {name}: {error:#}"));
        }
        all.push(Ran { name, peers, judged, failed: outcome.is_err() });
    }
    let circumstances = circumstances()?;
    let sections: Vec<_> = all.iter().map(|ran| (ran.name, section(ran, &circumstances))).collect();
    for (name, text) in &sections {
        say(&format!("\n## {name}\n\n{text}"));
    }
    if *write {
        let path = root().join(PAGE);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, page(&before, &sections))
            .with_context(|| format!("cannot write {PAGE}"))?;
        say(&format!("wrote {PAGE}"));
    }
    let failed: Vec<_> = all.iter().filter(|ran| ran.failed).map(|ran| ran.name).collect();
    if !failed.is_empty() {
        bail!("benches failed: {}", failed.join(", "));
    }
    Ok(())
}

/// What a bench said, and when and where.
fn section(ran: &Ran, circumstances: &str) -> String {
    let mut text = format!("{circumstances}. Beside it: {}.\n", ran.peers);
    if ran.failed {
        text += "\nIt failed; what it told before:\n";
    }
    if ran.judged.is_empty() {
        return text + "\nNo figure with a bar.\n";
    }
    text += "\n| figure | measured | bar | |\n| --- | --- | --- | --- |\n";
    for Judged { what, value, bar, verdict } in &ran.judged {
        let what = what.replace('|', "\\|");
        let _ = writeln!(text, "| {what} | {value} | {bar} | {verdict} |");
    }
    text
}

/// The page: sections of benches that ran now, of others as they were.
fn page(before: &str, sections: &[(&str, String)]) -> String {
    let old = |name: &str| {
        let rest = before.split_once(&format!("\n## {name}\n\n"))?.1;
        let end = rest.find("\n## ").unwrap_or(rest.len());
        rest.get(..end).map(str::to_owned)
    };
    let mut text = String::from(
        "# Results\n\n<!-- Written by cargo xtask bench --write; do not edit. -->\n\n\
         The last run of each bench of `cargo xtask bench`.\n",
    );
    for (name, _) in BENCHES {
        let now = sections.iter().find(|(ran, _)| ran == name).map(|(_, text)| text.clone());
        match now.or_else(|| old(name)) {
            Some(section) => {
                let _ = write!(text, "\n## {name}\n\n{}\n", section.trim_end());
            }
            None => {
                let _ = write!(text, "\n## {name}\n\nNo run is kept yet.\n");
            }
        }
    }
    text
}

/// When, of which commit and where.
fn circumstances() -> Result<String> {
    let date = Run::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let commit = Run::new("git")
        .args(["-c", "safe.directory=*", "log", "-1", "--format=%h"])
        .output()
        .unwrap_or_else(|_| "unknown".to_owned());
    Ok(format!("{}, commit {}, {}", date.trim(), commit.trim(), machine()))
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
    fn a_section_has_what_a_bench_judged() {
        let judged = bar::read("  x: 1.00, bar <= 2.00: met").into_iter().collect();
        let ran = Ran { name: "ls", peers: "b", judged, failed: false };
        let text = section(&ran, "today");
        assert!(text.starts_with("today. Beside it: b.\n"), "{text}");
        assert!(text.ends_with("| x | 1.00 | <= 2.00 | met |\n"), "{text}");
        let failed = Ran { failed: true, judged: Vec::new(), ..ran };
        assert!(section(&failed, "today").contains("It failed"));
    }

    #[test]
    fn a_page_keeps_what_did_not_run_now() {
        let first = page("", &[("ls", "of ls\n".to_owned()), ("top", "of top\n".to_owned())]);
        let second = page(&first, &[("top", "of top, again\n".to_owned())]);
        assert!(
            second.contains("\n## ls\n\nof ls\n\n## monitor\n\nNo run is kept yet.\n"),
            "{second}"
        );
        assert!(second.contains("\n## top\n\nof top, again\n\n"), "{second}");
        assert!(!second.contains("of top\n"), "{second}");
        assert_eq!(page(&second, &[]), second);
    }

    #[test]
    fn an_unknown_bench_is_told() {
        let only = vec!["none".to_owned()];
        let benches = Benches { write: false, only, profile_binary: None, one: None };
        let error = run(&benches).unwrap_err().to_string();
        assert!(error.contains("\"none\"") && error.contains("tensorboard"), "{error}");
    }
}
