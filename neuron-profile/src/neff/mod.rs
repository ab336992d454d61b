//! `neuron-profile neff`: look into a NEFF, take it apart, put it together.

mod cat;
pub mod disasm;
mod info;
mod info_json;
mod listing;
mod ls;
mod nodes;
pub(crate) mod open;
mod pack;
mod records;
pub(crate) mod run;
mod unpack;
mod verify;

use crate::output::{Exit, codes};
use clap::Subcommand;
use std::io::Write;

/// Look into a NEFF, take it apart, put it together
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(after_help = codes())]
    Info(info::Args),
    #[command(after_help = codes())]
    Ls(ls::Args),
    #[command(after_help = codes())]
    Cat(cat::Args),
    #[command(after_help = codes())]
    Disasm(listing::Args),
    #[command(after_help = codes())]
    Unpack(unpack::Args),
    #[command(after_help = codes())]
    Pack(pack::Args),
    #[command(after_help = codes())]
    Verify(verify::Args),
    #[command(after_help = codes())]
    Run(run::Args),
}

/// Runs a command; results go to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Info(args) => info::run(args, out),
        Command::Ls(args) => ls::run(args, out),
        Command::Cat(args) => cat::run(args, out),
        Command::Disasm(args) => listing::run(args, out),
        Command::Unpack(args) => unpack::run(args, out),
        Command::Pack(args) => pack::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Run(args) => run::run(args, out),
    }
}
