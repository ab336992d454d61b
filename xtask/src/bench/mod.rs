//! `cargo xtask bench`: the tools against their peers, and what they weigh.

mod ls;
mod stats;

use anyhow::Result;
use clap::Subcommand;

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// neuron-ls against lsblk and lspci, as whole processes.
    Ls(ls::Options),
}

/// Runs one bench.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Ls(options) => ls::run(options),
    }
}
