//! The command line of neuron-cli.

use std::path::PathBuf;

use clap::{CommandFactory as _, Parser, Subcommand};
use neuron_core::cli::{Exit, VersionFlag};

use crate::DEFAULT_ADDRESS;

/// Lists, loads and runs models on a Neuron runtime daemon.
#[derive(Debug, Clone, Parser)]
#[command(name = "neuron-cli", version, disable_version_flag = true)]
pub struct Args {
    /// Address of the daemon: unix:PATH or HOST:PORT
    #[arg(
        short = 'a',
        long,
        value_name = "ADDRESS",
        env = "NEURON_RTD_ADDRESS",
        default_value = DEFAULT_ADDRESS,
        global = true
    )]
    pub(super) address: String,

    #[command(subcommand)]
    pub(super) command: Command,

    #[command(flatten)]
    version: VersionFlag,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// List the loaded models
    ListModel,
    /// List the NeuronCore groups
    ListNcg,
    /// Make a NeuronCore group and print its id
    CreateNcg {
        /// NeuronCores; the longest free run without it
        #[arg(value_name = "COUNT")]
        count: Option<u32>,
    },
    /// Destroy a NeuronCore group that holds no model
    DestroyNcg {
        /// Id of the group
        #[arg(value_name = "NCG_ID")]
        id: u32,
    },
    /// Load a NEFF and print the id of the model
    Load(Load),
    /// Start a model
    Start {
        /// Id of the model
        #[arg(value_name = "MODEL_ID")]
        id: u32,
    },
    /// Stop a model
    Stop {
        /// Id of the model
        #[arg(value_name = "MODEL_ID")]
        id: u32,
    },
    /// Unload a model
    Unload {
        /// Id of the model
        #[arg(value_name = "MODEL_ID")]
        id: u32,
    },
    /// Run one inference
    Infer(Infer),
    /// Print the counters of the daemon
    Stat,
    /// Unload every model and destroy every group, of all clients
    Reset,
}

#[derive(Debug, Clone, clap::Args)]
pub(super) struct Load {
    /// The NEFF
    #[arg(value_name = "NEFF")]
    pub(super) file: PathBuf,
    /// -1: the runtime makes a group and starts the model; 0: a group is made for it here;
    /// 1 and up: an existing group
    #[arg(long, value_name = "ID", default_value_t = -1, allow_hyphen_values = true)]
    pub(super) ncg_id: i64,
    /// NeuronCores of the group with --ncg-id 0; the longest free run without it
    #[arg(long, value_name = "COUNT")]
    pub(super) nc_count: Option<u32>,
    /// Seconds that an inference may take
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<u32>,
    /// Inferences in flight
    #[arg(long, value_name = "COUNT")]
    pub(super) ninfer: Option<u32>,
    /// Let the daemon read the file itself, where its configuration allows that
    #[arg(long)]
    pub(super) enable_direct_file_load: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub(super) struct Infer {
    /// Id of the model
    #[arg(value_name = "MODEL_ID")]
    pub(super) id: u32,
    /// An input: NAME=FILE, where FILE.npy is an array and any other file its bytes
    #[arg(short, long = "input", value_name = "NAME=FILE")]
    pub(super) inputs: Vec<String>,
    /// Where an output goes: NAME=FILE; sizes are printed for all others
    #[arg(short, long = "output", value_name = "NAME=FILE")]
    pub(super) outputs: Vec<String>,
}

/// The command, for the parser and for man page and completions.
pub fn command() -> clap::Command {
    Args::command().after_help(Exit::help(&[Exit::Done, Exit::Error, Exit::Usage]))
}
