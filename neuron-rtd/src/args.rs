//! The command line of the daemon (neuron-rtd.md §2.1).

use clap::{ArgAction, CommandFactory as _, Parser};
use neuron_core::cli::{Exit, VersionFlag};

/// Flags, as the original has them, and `--source`.
#[derive(Debug, Clone, Parser)]
#[command(name = "neuron-rtd", version, disable_version_flag = true)]
#[command(about = "The Neuron runtime daemon: loads NEFFs and runs inferences for many clients")]
#[command(override_usage = "neuron-rtd -t <neuron PCI BDF> [ -t <neuron PCI BDF> ..] \
    [-g <server:port>] [-c configuration_file] [-l log-level] [-x] [-v] [-h]")]
pub struct Args {
    /// Serve exactly these devices, by PCI address, and ignore infa-map.json
    #[arg(short = 't', value_name = "BDF", action = ArgAction::Append)]
    pub bdfs: Vec<String>,

    /// Where to listen: unix:PATH or HOST:PORT [default: unix:/run/neuron.sock]
    #[arg(short = 'g', value_name = "ADDRESS")]
    pub address: Option<String>,

    /// Configuration file [default: /opt/aws/neuron/config/neuron-rtd.config]
    #[arg(short = 'c', value_name = "FILE")]
    pub config: Option<std::path::PathBuf>,

    /// Named instance: address and devices are those of NAME.json
    #[arg(short = 'i', value_name = "NAME", conflicts_with = "bdfs")]
    pub instance: Option<String>,

    /// Log level: 3 error, 4 warning, 5 info, 6 debug, 7 trace
    #[arg(short = 'l', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=7))]
    pub level: Option<u8>,

    /// Log to the console as well as to syslog
    #[arg(short = 'x', long)]
    pub log_console: bool,

    /// What to run on: sim:INSTANCE[,name=NAME], or kernel
    #[arg(long, value_name = "SOURCE", env = "NEURON_SOURCE", default_value = "kernel")]
    pub source: String,

    /// The libnrt that --source kernel uses [default: /opt/aws/neuron/lib/libnrt.so.1]
    #[arg(long, value_name = "FILE", env = "NEURON_RTD_LIBNRT")]
    pub libnrt: Option<std::path::PathBuf>,

    #[command(flatten)]
    version: VersionFlag,
}

/// Exit codes of the daemon.
pub(crate) const EXITS: &[Exit] = &[Exit::Done, Exit::Error, Exit::Usage];

/// The command, for the parser and for man page and completions.
pub fn command() -> clap::Command {
    Args::command().after_help(Exit::help(EXITS))
}
