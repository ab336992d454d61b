//! `cargo xtask bench tensorboard`: from the start of TensorBoard to the first
//! operator table, on a run of so many million events, beside xprof's plug-in on
//! an XSpace with as many.
//!
//! Ours is measured twice: on a run as `capture` and `export` write it, and on a
//! NEFF and an NTFF that were only copied there, which are ingested first. Caches
//! of the programs are cold; those of the file system are warm on both sides. A
//! goal that is missed is said, not failed: the machine may be busy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use super::bar::{Good, judge};
use super::profile::{CAPTURE, tool};
use crate::run::{Run, root, say, target_dir};
use crate::{packages, wheel};

const STEPS: &str = include_str!("tensorboard.py");
const PEER: &[&str] = &["tensorboard", "xprof==2.24.2"];

/// How many times faster, from the first request for data.
const GOAL: f64 = 5.0;

/// Flags of `cargo xtask bench tensorboard`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Millions of events.
    #[arg(long, value_name = "MILLIONS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    size: u64,
    /// A neuron-profile that is built already, instead of the release build.
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let missing = packages::missing("bench tensorboard", false);
    ensure!(missing.is_empty(), "python3 with venv and pip is missing");
    let work = target_dir()?.join("bench-tensorboard");
    if work.exists() {
        std::fs::remove_dir_all(&work)?;
    }
    std::fs::create_dir_all(&work)?;
    let done = measure(options, &work);
    std::fs::remove_dir_all(&work)?;
    done
}

fn measure(options: &Options, work: &Path) -> Result<()> {
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            Run::cargo("build").args(["--release", "-p", "neuron-profile"]).run()?;
            target_dir()?.join("release/neuron-profile")
        }
    };
    let script = work.join("steps.py");
    std::fs::write(&script, STEPS)?;
    let own = wheel::environment(&work.join("own"))?;
    let made = wheel::build(Some(&binary), &work.join("wheel"))?;
    wheel::install(&own, &["tensorboard", &made.to_string_lossy()])?;
    let peer = wheel::environment(&work.join("peer"))?;
    wheel::install(&peer, PEER)?;

    let events = (options.size * 1_000_000).to_string();
    let capture = root().join(CAPTURE);
    let (raw, stored, space) = (work.join("raw"), work.join("stored"), work.join("space"));
    std::fs::create_dir_all(raw.join("run"))?;
    std::fs::copy(capture.with_extension("neff"), raw.join("run/a.neff"))?;
    let steps = tool()?;
    let trace = raw.join("run/a.ntff");
    let make = [OsStr::new("make"), capture.as_os_str(), events.as_ref(), trace.as_os_str()];
    Run::new(steps).args(make).output()?;
    let neff = raw.join("run/a.neff");
    let data = work.join("data");
    let view = Run::new(&binary).args(["view", "--ingest-only", "--display-name", "bench", "-n"]);
    view.arg(&neff).arg("-s").arg(&trace).arg("--data-path").arg(&data).output()?;
    let export = Run::new(&binary).args(["export", "bench", "--format", "tensorboard", "-o"]);
    export.arg(&stored).arg("--data-path").arg(&data).output()?;
    let python = own.join("python");
    Run::new(&python).arg(&script).args(["make", &events]).arg(&space).output()?;

    say(&format!("\n{} million events, time to the first operator table, s", options.size));
    say("  run                        from start  from first request  rows");
    let one = |name: &str, bin: &Path, plugin: &str, logdir: &Path| -> Result<f64> {
        let text = Run::new(&python)
            .arg(&script)
            .arg(plugin)
            .arg(bin.join("tensorboard"))
            .arg(logdir)
            .env("NEURON_PROFILE_CACHE", work.join("cache"))
            .output()?;
        let answer: Value = serde_json::from_str(text.trim())
            .with_context(|| format!("the driver of {name} said {text:?}"))?;
        let of = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
        let (start, request, rows) = (of("from_start_s"), of("from_request_s"), of("rows"));
        say(&format!("  {name:26} {start:10.2}  {request:18.3}  {rows}"));
        ensure!(rows > 0.0, "{name} has an empty table");
        Ok(request)
    };
    let kept = one("neuron, stored run", &own, "neuronx", &stored)?;
    let read = one("neuron, NEFF and NTFF", &own, "neuronx", &raw)?;
    let other = one("xprof, XSpace", &peer, "xprof", &space)?;
    for (name, own) in [("stored run", kept), ("NEFF and NTFF", read)] {
        let what = format!("{name}, times as fast as xprof from the first request");
        judge(&what, other / own, Good::AtLeast, GOAL);
    }
    Ok(())
}
