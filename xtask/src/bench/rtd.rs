//! `cargo xtask bench rtd` and `cargo xtask soak rtd`: the daemon beside a bare
//! tonic server and a Python one. The work is done by the bench `rtd` of
//! neuron-rtd; here it is built and given its peers.

use anyhow::Result;
use clap::Args;

use crate::python;
use crate::run::Run;

/// Flags of `cargo xtask bench rtd`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds of each measurement, in which all peers have their turn.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(3..=1000))]
    rounds: u32,
    /// What is measured; all of it if absent.
    #[arg(long, value_delimiter = ',', value_parser = ["latency", "transfer", "pipeline"])]
    only: Vec<String>,
}

/// Flags of `cargo xtask soak rtd`.
#[derive(Debug, Args)]
pub(crate) struct SoakOptions {
    /// Inferences, one in ten of the model `mlp`, the others of `null`.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100..))]
    inferences: u64,
    /// Most seconds; what was reached by then is told.
    #[arg(long, default_value_t = 1200, value_parser = clap::value_parser!(u64).range(1..=1200))]
    seconds: u64,
}

impl Default for SoakOptions {
    fn default() -> Self {
        Self { inferences: 1_000_000, seconds: 1200 }
    }
}

/// What the Python peer needs.
const PACKAGES: &[&str] = &["grpcio==1.71.0"];

fn bench() -> Run {
    Run::cargo("bench").args(["-p", "neuron-rtd", "--bench", "rtd", "--"])
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut run = bench().arg("--rounds").arg(options.rounds.to_string());
    if !options.only.is_empty() {
        run = run.arg("--only").arg(options.only.join(","));
    }
    if let Some(python) = python::with("bench-rtd", PACKAGES, "import grpc")? {
        run = run.arg("--python").arg(python);
    }
    run.run()
}

/// Runs inferences without end.
pub(crate) fn soak(options: &SoakOptions) -> Result<()> {
    let inferences = options.inferences.to_string();
    let seconds = options.seconds.to_string();
    bench().args(["--inferences", &inferences, "--seconds", &seconds]).run()
}
