//! The task runner: `cargo xtask <command>`.

mod fuzz;

use std::io::Write as _;
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
    /// Run a fuzz target of neuron-core.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let Command::Fuzz(options) = Args::parse().command;
    match fuzz::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
