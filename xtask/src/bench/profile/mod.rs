//! `cargo xtask bench profile`: the profile store on traces of 1 and 10 million
//! events, with `--full` of 100 million too, beside polars and DuckDB over the
//! same rows and xprof's streaming trace viewer over an XSpace of them.
//!
//! A trace is the execution of a real one many times over, each stretched by
//! another factor and with other data (`neuron-profile/store/benches`). Each
//! step is a process of its own. A target that is missed is said, not failed:
//! the machine may be busy; processor time tells more then.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use super::bar::{Good, judge};
use crate::python;
use crate::run::{Run, root, say, target_dir};

const PEER: &str = include_str!("peer.py");
const PACKAGES: &[&str] = &["polars==2.1.0", "duckdb==2.0.0", "pyarrow==26.0.1"];
const XPROF: &str = include_str!("xprof_peer.py");
const XPROF_PACKAGES: &[&str] = &["xprof==2.24.2", "pyarrow==26.0.1"];

/// The capture that is repeated: a real kernel with 4,000 instructions and
/// 9,000 packets.
pub(super) const CAPTURE: &str = "tests/fixtures/profiles/moe-dge";

/// Millions of events up to which the peers take part: more does not fit their memory.
const PEERS_MOST: u64 = 10;

/// Flags of `cargo xtask bench profile`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also 100 million events: 5 GB of trace.
    #[arg(long)]
    full: bool,
    /// Millions of events, instead of the usual sizes.
    #[arg(long, value_name = "MILLIONS", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// Viewports for each zoom, and selections.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    count: u32,
    /// Leave the peers out.
    #[arg(long)]
    no_peers: bool,
}

/// A figure that a step prints, and what it should be.
struct Goal {
    key: &'static str,
    name: &'static str,
    /// The target by millions of events; more than the last one has no target.
    most: &'static [(u64, f64)],
    /// More is better.
    floor: bool,
}

const INGEST: [Goal; 7] = [
    Goal { key: "events_per_second", name: "events/s", most: &[(1000, 3e6)], floor: true },
    Goal { key: "events_per_cpu_second", name: "events/s of CPU", most: &[], floor: true },
    Goal { key: "rows", name: "rows of all tables", most: &[], floor: true },
    Goal { key: "peak_mib", name: "peak RSS, MiB", most: &[(100, 1024.0)], floor: false },
    Goal { key: "bytes_per_event", name: "bytes/event, all", most: &[(1000, 12.0)], floor: false },
    Goal {
        key: "event_tables_bytes_per_event",
        name: "bytes/event, event tables",
        most: &[],
        floor: false,
    },
    Goal { key: "zoom_bytes_per_event", name: "bytes/event, zoom", most: &[], floor: false },
];

const READ: [Goal; 6] = [
    Goal { key: "open_ms", name: "cold open, ms", most: &[(100, 300.0)], floor: false },
    Goal { key: "viewport_p50_ms", name: "viewport p50, ms", most: &[], floor: false },
    Goal {
        key: "viewport_p99_ms",
        name: "viewport p99, ms",
        most: &[(10, 5.0), (100, 10.0)],
        floor: false,
    },
    Goal { key: "viewport_cpu_p99_ms", name: "the same, CPU time", most: &[], floor: false },
    Goal {
        key: "selection_p99_ms",
        name: "selection p99, ms",
        most: &[(100, 100.0)],
        floor: false,
    },
    Goal { key: "row_p99_ms", name: "event details p99, ms", most: &[], floor: false },
];

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let tool = tool()?;
    let folder = target_dir()?.join("bench-profile");
    std::fs::create_dir_all(&folder)?;
    let capture = root().join(CAPTURE);
    let neff = capture.with_extension("neff");
    let mut peers = Vec::new();
    if !options.no_peers {
        let imports = "import polars, duckdb, pyarrow";
        peers.push((python::with("bench-profile", PACKAGES, imports)?, PEER));
        let imports = "import xprof.convert.raw_to_tool_data, pyarrow";
        peers.push((python::with("bench-xprof", XPROF_PACKAGES, imports)?, XPROF));
    }
    let mut sizes = if options.sizes.is_empty() { vec![1, 10] } else { options.sizes.clone() };
    if options.full && !sizes.contains(&100) {
        sizes.push(100);
    }
    for millions in sizes {
        say(&format!("\n{millions} million events"));
        let trace = folder.join(format!("{millions}m.ntff"));
        let data = folder.join(format!("{millions}m"));
        let step = |args: &[&Path]| -> Result<Value> {
            let text = Run::new(&tool).args(args.iter().map(|arg| arg.as_os_str())).output()?;
            serde_json::from_str(text.trim()).with_context(|| format!("the step said {text:?}"))
        };
        let events = (millions * 1_000_000).to_string();
        let made = step(&[Path::new("make"), &capture, Path::new(&events), &trace])?;
        say(&format!("  trace: {} events, {} bytes", made["events"], made["bytes"]));
        let rows = step(&[Path::new("rows"), &neff, &trace])?;
        figure("engine alone, events/s of CPU", &rows["events_per_cpu_second"]);
        let stored = step(&[Path::new("ingest"), &neff, &trace, &data])?;
        goals(&INGEST, &stored, millions);
        std::fs::remove_file(&trace)?;
        for table in stored["tables"].as_array().into_iter().flatten() {
            if table[1].as_u64().unwrap_or(0) > 10_000 {
                say(&format!("    {}: {} rows, {} bytes", table[0], table[1], table[2]));
            }
        }
        let count = options.count.to_string();
        let read = step(&[Path::new("read"), &data, Path::new(&count)])?;
        goals(&READ, &read, millions);
        for (python, script) in &peers {
            let (Some(python), true) = (python, millions <= PEERS_MOST) else { continue };
            let profile = data.join("profiles").join(format!("n_{:040}", 1));
            let peer = Run::new(python).args(["-c", script]).args([&profile, &folder]);
            for line in peer.output()?.lines() {
                say(&format!("  {line}"));
            }
        }
        std::fs::remove_dir_all(&data)?;
    }
    Ok(())
}

fn goals(list: &[Goal], of: &Value, millions: u64) {
    for goal in list {
        let value = of[goal.key].as_f64().unwrap_or(0.0);
        match goal.most.iter().find(|(size, _)| millions <= *size) {
            Some((_, bar)) => {
                let good = if goal.floor { Good::AtLeast } else { Good::AtMost };
                judge(&format!("{millions} million events, {}", goal.name), value, good, *bar);
            }
            None => figure(goal.name, &of[goal.key]),
        }
    }
}

fn figure(name: &str, value: &Value) {
    let value = value.as_f64().unwrap_or(0.0);
    let digits = if value >= 1000.0 { 0 } else { 2 };
    say(&format!("  {name:32} {value:14.digits$}"));
}

/// Builds the steps and returns where they are.
pub(super) fn tool() -> Result<PathBuf> {
    let build = ["-p", "profile-store", "--bench", "store", "--no-run", "--message-format", "json"];
    let text = Run::cargo("bench").args(build).output()?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut benches = messages.filter(|message| message["target"]["kind"][0] == "bench");
    benches
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo named no executable of the bench store")
}
