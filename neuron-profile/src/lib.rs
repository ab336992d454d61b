//! Looks into NEFF and NTFF files, and makes profiles of them.

pub mod analysis;
pub mod capture;
pub mod export;
pub mod influx;
pub mod inspect;
pub mod neff;
pub mod ntff;
pub mod output;
pub mod profiles;
pub mod query;
pub mod recommend;
pub mod report;
pub mod serve;
pub mod sources;
mod temporary;
pub mod tensorboard;
pub mod view;
mod whole;

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser, Subcommand};
use neuron_core::cli::{self, Exit};
use output::Results;

/// Captures, stores, queries and shows profiles of NEFFs
#[derive(Debug, Parser)]
#[command(name = "neuron-profile", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Capture(capture::Args),
    Inspect(inspect::Args),
    Neff(neff::Args),
    Ntff(ntff::Args),
    View(Box<view::Args>),
    List(profiles::ListArgs),
    Delete(profiles::DeleteArgs),
    Tag(profiles::TagArgs),
    Export(export::stored::Args),
    Query(query::Args),
    Report(report::Args),
    Recommend(recommend::Args),
    ShowSession(ntff::session::Args),
    Tensorboard(tensorboard::command::Args),
}

/// The command line, for man pages and completions.
pub fn command() -> clap::Command {
    Cli::command().after_help(output::codes())
}

/// Runs the tool with these arguments, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let cli: Cli = match cli::parse(command(), args, Exit::Error) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut out = Results::new(std::io::stdout().lock());
    let done = match cli.command {
        Command::Capture(args) => capture::run(&args, &mut out),
        Command::Inspect(args) => inspect::run(&args, &mut out),
        Command::Neff(args) => neff::run(&args, &mut out),
        Command::Ntff(args) => ntff::run(&args, &mut out),
        Command::View(args) => view::run_view(&args, &mut out),
        Command::List(args) => profiles::run_list(&args, &mut out),
        Command::Delete(args) => profiles::run_delete(&args, &mut out),
        Command::Tag(args) => profiles::run_tag(&args, &mut out),
        Command::Export(args) => export::stored::run(&args, &mut out),
        Command::Query(args) => query::run(&args, &mut out),
        Command::Report(args) => report::run(&args, &mut out),
        Command::Recommend(args) => recommend::run(&args, &mut out),
        Command::ShowSession(args) => ntff::session::run(&args, &mut out),
        Command::Tensorboard(args) => tensorboard::command::run(&args, &mut out),
    };
    out.finish(done)
}
