//! Looks into NEFF and NTFF files.

pub mod neff;
pub mod ntff;
pub mod output;

use clap::{CommandFactory, Parser, Subcommand};
use output::Exit;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Captures, stores, queries and shows profiles of NEFFs
#[derive(Debug, Parser)]
#[command(name = "neuron-profile", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Neff(neff::Args),
}

/// The command line, for man pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the tool with these arguments, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let done = match cli.command {
        Command::Neff(args) => neff::run(&args, &mut std::io::stdout().lock()),
    };
    output::finish(done).into()
}

/// Help and version go to stdout; a usage error to stderr, with exit code 1.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if error.use_stderr() {
        let _ = write!(std::io::stderr(), "{text}");
        Exit::Error.into()
    } else {
        let _ = write!(std::io::stdout(), "{text}");
        Exit::Done.into()
    }
}
