//! `cargo xtask fuzz TARGET --for 10m`: runs a fuzz target of neuron-core or of
//! the software NeuronCore.
//!
//! cargo-fuzz builds the program, on the toolchain of the workspace: only
//! coverage counters are wanted, and the libraries have no unsafe code for a
//! sanitizer to watch. The tool is installed under `target/` when it is not
//! there. New inputs go to `target/fuzz/corpus`, findings to
//! `target/fuzz/artifacts`; the committed seeds are only read.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo_tool;

/// The version that is known to work with the pinned toolchain.
const CARGO_FUZZ: &str = "0.13.2";

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Target to run, `all` for each in turn, `list` for their names
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    target: Option<String>,

    /// Each target in turn
    #[arg(long)]
    all: bool,

    /// How long each target runs: 90s, 10m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = time, default_value = "10m")]
    time: Duration,

    /// Processes per target
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u32,
}

/// A number of seconds, minutes or hours.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: write 90s, 10m or 2h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = text.trim_end_matches(unit).parse().map_err(|_| wrong())?;
    match number.checked_mul(seconds) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(wrong()),
    }
}

/// Builds and runs.
///
/// # Errors
///
/// A target that does not exist, a build that fails, and a finding.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")?;
    let program = build(root)?;
    let known = Command::new(&program).env("FUZZ_TARGET", "list").output()?;
    let known = String::from_utf8(known.stdout)?;
    let target = options.target.as_deref().unwrap_or("all");
    if target == "list" {
        use std::io::Write as _;
        std::io::stdout().write_all(known.as_bytes())?;
        return Ok(());
    }
    let wanted: Vec<&str> =
        known.lines().filter(|name| target == "all" || target == *name).collect();
    ensure!(
        !wanted.is_empty(),
        "no fuzz target {:?}; there are: {}",
        target,
        known.lines().collect::<Vec<_>>().join(", ")
    );
    for name in wanted {
        fuzz(root, &program, name, options)?;
    }
    Ok(())
}

/// The program with all targets.
fn build(root: &Path) -> Result<PathBuf> {
    let target = root.join("target/fuzz");
    let mut build =
        Command::new(cargo_tool::installed("cargo-fuzz", CARGO_FUZZ, &["fuzz", "--version"])?);
    build
        .current_dir(root.join("neuron-core/fuzz"))
        // Coverage needs flags that a stable compiler refuses otherwise.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["build", "--fuzz-dir", ".", "--sanitizer", "none", "--target-dir"])
        .arg(&target)
        .arg("any");
    succeed(&mut build)?;
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output()?;
    let host = String::from_utf8(host.stdout)?;
    let program = target.join(host.trim()).join("release/any");
    ensure!(program.exists(), "cargo-fuzz left no program at {}", program.display());
    Ok(program)
}

fn fuzz(root: &Path, program: &Path, name: &str, options: &Options) -> Result<()> {
    let corpus = root.join("target/fuzz/corpus").join(name);
    let artifacts = root.join("target/fuzz/artifacts").join(name);
    let seeds = root.join("neuron-core/fuzz/seeds").join(name);
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&artifacts)?;
    let mut run = Command::new(program);
    run.env("FUZZ_TARGET", name).current_dir(root.join("target/fuzz")).arg(&corpus);
    if seeds.is_dir() {
        run.arg(&seeds);
    }
    run.arg(format!("-max_total_time={}", options.time.as_secs()))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-print_final_stats=1", "-rss_limit_mb=2048", "-max_len=65536", "-timeout=20"]);
    if options.jobs > 1 {
        run.arg(format!("-fork={}", options.jobs));
    }
    succeed(&mut run).with_context(|| format!("target {name}; input in {}", artifacts.display()))
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "m", "10", "0s", "1d", "-1s", "99999999999999999999h", "1ms"] {
            assert!(time(bad).is_err(), "{bad:?}");
        }
    }
}
