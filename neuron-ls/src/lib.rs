//! Lists Neuron devices, how they are connected and who uses them.
//!
//! `reading` turns a source into an inventory; [`table`], [`json`] and
//! [`csv`] turn an inventory into text and know no source. What this crate
//! leaves out: figures that change while a model runs (neuron-top and
//! neuron-monitor show those).

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};

use neuron_core::Error;
use neuron_core::cli::{self, Exit, Output};
use neuron_core::model::Inventory;

mod args;
pub mod csv;
mod facts;
mod follow;
mod grid;
pub mod json;
mod layout;
mod reading;
mod sim;
pub mod table;
mod topology;
mod watch;

pub use args::{Arguments, Command, Document, command};
pub use sim::SimCommand;

use json::Content;
use reading::Reading;
use table::Look;

/// Name in front of every message.
const PROGRAM: &str = "neuron-ls";

/// Runs the program; `args` starts with its name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Arguments = match cli::parse(command(), args, Exit::Error) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let mut out = Output::stdout();
    if let Some(Command::Sim(command)) = &args.command {
        return sim::run(command, &mut out);
    }
    let thorough = matches!(args.document(), Document::Json | Document::Csv);
    let reading = match Reading::open(args.common.source(), thorough) {
        Ok(reading) => reading,
        Err(error) => return failed(&error, &args),
    };
    if args.watch {
        let gone = || cli::reader_gone(&std::io::stdout());
        follow::follow(reading, &args, &mut out, &gone)
    } else {
        once(reading, &args, &mut out)
    }
}

fn once(mut reading: Reading, args: &Arguments, out: &mut impl Write) -> Exit {
    let inventory = match read(&mut reading) {
        Ok(inventory) => inventory,
        Err(error) => return failed(&error, args),
    };
    let text = match text(&inventory, args) {
        Ok(text) => text,
        Err(error) => return unprintable(&error),
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => partial(&problems(&inventory)),
        Err(error) => unprintable(&error),
    }
}

/// Reads; an inventory without devices is an error, never an empty document.
fn read(reading: &mut Reading) -> Result<Inventory, Error> {
    let inventory = reading.inventory()?;
    if inventory.devices.is_empty() {
        return Err(reading.empty());
    }
    Ok(inventory)
}

/// The document that was asked for.
fn text(inventory: &Inventory, args: &Arguments) -> std::io::Result<String> {
    let all_processes = args.show_all_procs;
    let extended = args.document() == Document::Json;
    match args.document() {
        Document::Table => {
            let stdout = std::io::stdout();
            let look = Look {
                wide: args.wide,
                all_processes,
                topology: args.topology,
                width: cli::width_of(&stdout),
                color: args.common.color.decide(stdout.is_terminal()),
            };
            Ok(table::render(inventory, &look))
        }
        Document::OriginalJson | Document::Json => {
            Ok(json::render(inventory, Content { all_processes, extended })?)
        }
        Document::Csv => Ok(csv::render(inventory, all_processes)),
    }
}

/// One line for each thing that could not be read.
fn problems(inventory: &Inventory) -> Vec<String> {
    inventory.problems.iter().map(|problem| problem.text.clone()).collect()
}

fn partial(problems: &[String]) -> Exit {
    for problem in problems {
        cli::complain(PROGRAM, problem);
    }
    if problems.is_empty() { Exit::Done } else { Exit::Partial }
}

fn failed(error: &Error, args: &Arguments) -> Exit {
    match error {
        Error::NoDevices(reason) => cli::no_devices(PROGRAM, reason, args.common.color),
        error => cli::complain(PROGRAM, &error.to_string()),
    }
    Exit::Error
}

fn unprintable(error: &std::io::Error) -> Exit {
    cli::complain(PROGRAM, &format!("cannot write to stdout: {error}"));
    Exit::Error
}
