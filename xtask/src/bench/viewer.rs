//! `cargo xtask bench viewer`: the Device Viewer in a browser without a graphics
//! card, on a stored profile of so many million events.
//!
//! The profile is made as for `bench profile`. The browser is driven by
//! `neuron-profile/web/e2e/bench/timeline.mjs`, which prints one object. A goal
//! that is missed is said, not failed: the machine may be busy; processor time
//! of a frame tells more then.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;

use super::bar::{Good, judge};
use super::profile::{CAPTURE, tool};
use crate::run::{Run, root, say, target_dir};
use crate::web;

/// Flags of `cargo xtask bench viewer`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Millions of events.
    #[arg(long, value_name = "MILLIONS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100))]
    size: u64,
    /// Seconds of each movement.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=60))]
    seconds: u32,
    /// A neuron-profile that is built already, instead of the release build.
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// A figure of the answer: where it is, its name, the goal, and whether more is
/// better.
const GOALS: &[(&str, &str, f64, bool)] = &[
    ("/first_paint_ms", "first paint, ms", 1500.0, false),
    ("/pan/fps", "pan, frames a second", 50.0, true),
    ("/pan/rects_p50", "rectangles while it pans", 3000.0, true),
    ("/pan/cpu_ms_per_frame/renderer", "CPU of a frame, ms", 20.0, false),
    ("/zoom/fps", "zoom, frames a second", 50.0, true),
    ("/hover/frames", "frames until a hover is shown", 1.0, false),
    ("/fetches/p95_ms", "tile p95 until its answer is there, ms", 30.0, false),
    ("/tiles/p95_ms", "tile p95 until the page has it, ms", 30.0, false),
    ("/memory/renderer_bytes", "memory of the tab, bytes", 500e6, false),
    ("/weight/brotli_bytes", "page, bytes compressed", 1.5e6, false),
];

/// A child that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    web::build(false)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            Run::cargo("build").args(["--release", "-p", "neuron-profile"]).run()?;
            target_dir()?.join("release/neuron-profile")
        }
    };
    let steps = tool()?;
    let folder = target_dir()?.join("bench-viewer");
    std::fs::create_dir_all(&folder)?;
    let capture = root().join(CAPTURE);
    let (trace, data) = (folder.join("trace.ntff"), folder.join("data"));
    let events = (options.size * 1_000_000).to_string();
    let made = [Path::new("make"), &capture, Path::new(&events), &trace];
    Run::new(&steps).args(made.map(Path::as_os_str)).output()?;
    let neff = capture.with_extension("neff");
    let stored = [Path::new("ingest"), &neff, &trace, &data];
    Run::new(&steps).args(stored.map(Path::as_os_str)).output()?;
    std::fs::remove_file(&trace)?;
    let answer = measure(options, &binary, &data);
    std::fs::remove_dir_all(&folder)?;
    let answer = answer?;
    say(&format!("\n{} million events, 1600 x 900, {}", options.size, answer["renderer"]));
    for (place, name, goal, more) in GOALS {
        let Some(value) = answer.pointer(place).and_then(Value::as_f64) else {
            say(&format!("  {name:32} not told"));
            continue;
        };
        let name = format!("{} million events, {name}", options.size);
        judge(&name, value, if *more { Good::AtLeast } else { Good::AtMost }, *goal);
    }
    Ok(())
}

/// Serves what is stored and drives the browser.
fn measure(options: &Options, binary: &Path, data: &Path) -> Result<Value> {
    let site = root().join("neuron-profile/web/dist/site");
    let mut server = Command::new(binary);
    server.args(["view", "--port", "0", "--data-path"]).arg(data);
    server.env("NEURON_PROFILE_WEB", site).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut server =
        server.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
    let out = server.stdout.take().context("no pipe")?;
    let _server = Ended(server);
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let Some(url) = line.split_whitespace().find(|word| word.starts_with("http")) else {
        bail!("the server says {line:?}");
    };
    let url = url.trim_end_matches('/');
    let profile = format!("n_{:040}", 1);
    let seconds = options.seconds.to_string();
    let script = root().join("neuron-profile/web/e2e/bench/timeline.mjs");
    let text = Run::new("node")
        .arg(script)
        .args(["--url", url, "--profile", &profile, "--seconds", &seconds])
        .output()?;
    serde_json::from_str(text.trim()).with_context(|| format!("the browser's driver said {text:?}"))
}
