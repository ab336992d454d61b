//! `cargo xtask bench`: the tools against their peers, and what they weigh.

mod bar;
mod formats;
mod ls;
mod monitor;
mod npu;
mod profile;
mod rtd;
mod stats;
mod table;
mod tensorboard;
mod top;
mod viewer;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Flags of `cargo xtask bench`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Benches {
    /// Keep the tables in xtask/RESULTS.md.
    #[arg(long)]
    write: bool,
    /// These benches alone, in one run; the page keeps the others as they were.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// A neuron-profile that is built already, for the benches that run the program.
    #[arg(long, value_name = "FILE")]
    profile_binary: Option<PathBuf>,
    #[command(subcommand)]
    one: Option<Bench>,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// neuron-ls against lsblk and lspci, as whole processes.
    Ls(ls::Options),
    /// neuron-monitor against prometheus-node-exporter: cost of a scrape, of a series, of the stream.
    Monitor(monitor::Options),
    /// The formats: NEFF, NTFF and the instruction set, throughput per core and whole process.
    Formats,
    /// The software NeuronCore against NumPy and onnxruntime.
    Npu(npu::Options),
    /// The profile store on generated traces, against polars and DuckDB.
    Profile(profile::Options),
    /// The plug-in of TensorBoard against xprof: time to the first operator table.
    Tensorboard(tensorboard::Options),
    /// neuron-top against htop and bottom: processor time, memory, answers to keys.
    Top(top::Options),
    /// The Device Viewer in a browser: paint, frames, tiles, memory.
    Viewer(viewer::Options),
    /// The runtime daemon against a bare tonic server and a Python one.
    Rtd(rtd::Options),
}

/// Flags of `cargo xtask soak`.
#[derive(Debug, Args)]
pub(crate) struct Soaks {
    #[command(subcommand)]
    one: Option<Soak>,
}

/// What is run for long; all of it if nothing is named.
#[derive(Debug, Subcommand)]
pub(crate) enum Soak {
    /// The runtime daemon: nothing is lost and memory stays.
    Rtd(rtd::SoakOptions),
    /// A day of neuron-monitor in simulated time: memory and descriptors stay.
    Monitor,
}

/// Runs one bench, or all of them and prints their table.
pub(crate) fn run(benches: &Benches) -> Result<()> {
    let Some(bench) = &benches.one else { return table::run(benches) };
    match bench {
        Bench::Ls(options) => ls::run(options),
        Bench::Monitor(options) => monitor::run(options),
        Bench::Npu(options) => npu::run(options),
        Bench::Profile(options) => profile::run(options),
        Bench::Rtd(options) => rtd::run(options),
        Bench::Tensorboard(options) => tensorboard::run(options),
        Bench::Top(options) => top::run(options),
        Bench::Viewer(options) => viewer::run(options),
        Bench::Formats => formats::run(),
    }
}

/// Runs one soak, or all of them.
pub(crate) fn soak(soaks: &Soaks) -> Result<()> {
    match &soaks.one {
        Some(Soak::Rtd(options)) => rtd::soak(options),
        Some(Soak::Monitor) => monitor::soak(),
        None => {
            let rtd = rtd::soak(&rtd::SoakOptions::default());
            monitor::soak()?;
            rtd
        }
    }
}
