//! Looks into NEFF and NTFF files.

pub mod neff;
pub mod ntff;
pub mod output;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::Exit;

/// Captures, stores, queries and shows profiles of NEFFs
#[derive(Debug, Parser)]
#[command(name = "neuron-profile", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ntff(ntff::Args),
}

/// Runs the tool with these arguments, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = match Cli::try_parse_from(args) {
        Ok(Cli { command: Command::Ntff(args) }) => ntff::run(&args, &mut std::io::stdout().lock()),
        Err(error) if error.use_stderr() => {
            let _ = write!(std::io::stderr(), "{}", error.render());
            return Exit::Error.into();
        }
        Err(help) => {
            let _ = write!(std::io::stdout(), "{}", help.render());
            return Exit::Done.into();
        }
    };
    output::finish(done).into()
}
