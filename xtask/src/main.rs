//! The task runner: `cargo xtask <command>`, one file per command.
//!
//! Leaves out everything a command can get from cargo or git. A fresh clone
//! builds this before anything else, so it has few and small dependencies.

#![forbid(unsafe_code)]

mod bench;
mod cargo_tool;
mod check;
mod cluster;
mod demo;
mod dist;
mod elf;
mod fuzz;
mod generated;
mod metric_page;
mod models;
mod packages;
mod python;
mod run;
mod stages;
mod static_libc;
mod tensorboard;
mod test;
mod tidy;
mod web;
mod wheel;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks, tests, demo and benches of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Format, lints, invariants, docs, generated files.
    Check,
    /// Everything `check` does, then all tests.
    Test(test::Options),
    /// The invariants that the compiler does not hold.
    Tidy,
    /// Write the generated files: man pages, completions, docs made from data.
    Gen,
    /// Build neuron-ls with a static libc and prove that it needs nothing.
    Static,
    /// Show the whole system at work on a simulated instance.
    Demo(demo::Options),
    /// Build the Device Viewer, which the next build of neuron-profile takes in.
    Web(web::Options),
    /// Build the wheel of the plug-in of TensorBoard.
    Wheel(wheel::Options),
    /// Write the sample models, with their weights.
    Models(models::Options),
    /// Make the packages: .deb, .rpm, checksums, bill of materials.
    Dist(dist::Options),
    /// Measure the tools against their peers; all of them if none is named.
    Bench(bench::Benches),
    /// Run a tool for long and watch what it needs; all of them if none is named.
    Soak(bench::Soaks),
    /// Run a fuzz target of neuron-core.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Check => check::run(),
        Command::Test(options) => match test::run(&options) {
            Ok(false) => return ExitCode::FAILURE,
            other => other.map(|_| ()),
        },
        Command::Tidy => tidy::run(),
        Command::Gen => generated::write(),
        Command::Static => static_libc::run(),
        Command::Demo(options) => demo::run(&options),
        Command::Web(options) => web::run(&options),
        Command::Wheel(options) => wheel::run(&options),
        Command::Models(options) => models::run(&options),
        Command::Dist(options) => dist::run(&options),
        Command::Bench(bench) => bench::run(&bench),
        Command::Soak(soak) => bench::soak(&soak),
        Command::Fuzz(options) => fuzz::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::complain(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
