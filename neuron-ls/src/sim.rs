//! `neuron-ls sim`: make, look at, spoil and remove simulated instances.
//!
//! Beside `reading` the only file that knows about a source: it works on the
//! instances themselves, not on what they show.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use comfy_table::{Table, presets};
use neuron_core::Result;
use neuron_core::cli::Exit;
use neuron_core::sim::{Fault, Places, Sim, SimSpec, View, export};

use crate::{PROGRAM, unprintable};

/// Work on simulated instances.
#[derive(Debug, Clone, Subcommand)]
pub enum SimCommand {
    /// List the simulated instances of this machine
    List,
    /// Make an instance without reading it
    Create {
        /// INSTANCE[,name=NAME], for instance trn1.32xlarge,name=lab
        #[arg(value_name = "INSTANCE", value_parser = SimSpec::parse)]
        spec: SimSpec,
    },
    /// Write an instance out as plain files: a root for --source kernel:DIR
    Export {
        /// Name of the instance
        name: String,
        /// A directory that is empty or does not exist
        dir: PathBuf,
    },
    /// Inject a fault into a device, or repair it
    Fault {
        /// Name of the instance
        name: String,
        /// Index of the device
        device: u32,
        /// gone, reset, invalid, ready, sram-ecc=N, mem-ecc=N or mem-ecc-repairable=N
        fault: Fault,
    },
    /// Remove an instance that no process uses
    Remove {
        /// Name of the instance
        name: String,
    },
}

/// Does the work.
pub(crate) fn run(command: &SimCommand, out: &mut impl Write) -> Exit {
    let text = match text(command) {
        Ok(text) => text,
        Err(error) => {
            neuron_core::cli::complain(PROGRAM, &error.to_string());
            return Exit::Error;
        }
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Exit::Done,
        Err(error) => unprintable(&error),
    }
}

fn text(command: &SimCommand) -> Result<String> {
    let places = Places::from_env();
    match command {
        SimCommand::List => Ok(list(&places)),
        SimCommand::Create { spec } => {
            let sim = Sim::open_or_create(&places, &spec.name, spec.kind)?;
            Ok(format!("{}\n", sim.dir().display()))
        }
        SimCommand::Export { name, dir } => {
            export(&View::now(&Sim::open(&places, name)?)?, dir)?;
            Ok(String::new())
        }
        SimCommand::Fault { name, device, fault } => {
            Sim::open(&places, name)?.inject(*device, *fault)?;
            Ok(String::new())
        }
        SimCommand::Remove { name } => {
            Sim::remove(&places, name)?;
            Ok(String::new())
        }
    }
}

/// One line for each instance, with the processes attached to it. A damaged
/// one is listed as such; `sim remove` removes it.
fn list(places: &Places) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NAME", "INSTANCE TYPE", "DEVICES", "PROCESSES", "DIRECTORY"]);
    for sim in Sim::list(places) {
        let Ok(state) = sim.snapshot() else {
            let dir = sim.dir().display().to_string();
            table.add_row([sim.name(), "damaged", "-", "-", &dir]);
            continue;
        };
        let mut pids: Vec<u32> =
            state.devices.iter().flat_map(|d| &d.processes).map(|p| p.id.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        table.add_row([
            sim.name().to_owned(),
            state.instance_type.clone(),
            state.devices.iter().filter(|d| !d.gone).count().to_string(),
            pids.len().to_string(),
            sim.dir().display().to_string(),
        ]);
    }
    // Without borders every line begins and ends with padding.
    let lines = table.lines().map(|line| format!("{}\n", line.trim()));
    lines.collect()
}
