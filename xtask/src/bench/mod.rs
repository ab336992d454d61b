//! `cargo xtask bench`: the tools against their peers, and what they weigh.

mod ls;
mod monitor;
mod npu;
mod profile;
mod python;
mod rtd;
mod stats;
mod tensorboard;
mod top;
mod viewer;

use anyhow::Result;
use clap::Subcommand;

use crate::run::Run;

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

/// What is run for long.
#[derive(Debug, Subcommand)]
pub(crate) enum Soak {
    /// The runtime daemon: nothing is lost and memory stays.
    Rtd(rtd::SoakOptions),
}

/// Runs one bench.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Ls(options) => ls::run(options),
        Bench::Monitor(options) => monitor::run(options),
        Bench::Npu(options) => npu::run(options),
        Bench::Profile(options) => profile::run(options),
        Bench::Rtd(options) => rtd::run(options),
        Bench::Tensorboard(options) => tensorboard::run(options),
        Bench::Top(options) => top::run(options),
        Bench::Viewer(options) => viewer::run(options),
        Bench::Formats => {
            let core = ["-p", "neuron-core", "--features", "neff,ntff,isa,sources", "--benches"];
            Run::cargo("bench").args(core).run()?;
            Run::cargo("bench").args(["-p", "neuron-profile", "--benches"]).run()
        }
    }
}

/// Runs one soak.
pub(crate) fn soak(soak: &Soak) -> Result<()> {
    match soak {
        Soak::Rtd(options) => rtd::soak(options),
    }
}
