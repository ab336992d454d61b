//! `neuron-profile ntff`: look into an NTFF, or into a file of an inspect run.
//!
//! Every command streams: a file of any size, from a path or from a pipe,
//! takes the same memory. A damaged file is shown as far as it is whole.

mod dump;
mod gzip;
mod info;
mod input;
mod inspect;
mod line;
mod message;
pub mod session;
mod verify;

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Subcommand;

use crate::output::{Exit, Format, codes};
use input::{Input, Kind};

/// Look into NTFF traces and the files of inspect runs
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What was captured: versions, programs, records per core, times
    #[command(after_help = codes())]
    Info(File),
    /// The message by field name, and every record
    #[command(after_help = codes())]
    Dump {
        #[command(flatten)]
        file: File,
        /// Leave the records out
        #[arg(long)]
        no_records: bool,
    },
    /// Check every rule of the format; exit code 3 when one is broken
    #[command(after_help = codes())]
    Verify(File),
}

#[derive(Debug, clap::Args)]
struct File {
    /// An .ntff or .pb file; - reads stdin
    file: PathBuf,
    /// Form of the result
    #[arg(short, long, value_enum, default_value = "text")]
    output: Format,
}

/// Runs the command.
///
/// # Errors
///
/// A file that cannot be opened or read, one that holds nothing, and a failing
/// output.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let (Command::Info(file) | Command::Dump { file, .. } | Command::Verify(file)) = &args.command;
    let out = &mut BufWriter::with_capacity(256 << 10, out);
    let input = Input::open(&file.file)?;
    let exit = match (input.kind, &args.command) {
        (Kind::Ntff, Command::Info(_)) => info::run(input, file.output, out),
        (Kind::Ntff, Command::Dump { no_records, .. }) => {
            dump::run(input, file.output, !no_records, out)
        }
        (Kind::Ntff, Command::Verify(_)) => verify::run(input, file.output, out),
        (Kind::Inspect(kind), Command::Info(_)) => inspect::info(input, kind, file.output, out),
        (Kind::Inspect(kind), Command::Dump { .. }) => inspect::dump(input, kind, file.output, out),
        (Kind::Inspect(kind), Command::Verify(_)) => inspect::verify(input, kind, file.output, out),
    }?;
    out.flush()?;
    Ok(exit)
}
