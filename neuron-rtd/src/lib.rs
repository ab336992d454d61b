//! neuron-rtd, the runtime daemon: gRPC over a Unix socket, wire-compatible
//! with the daemon of Neuron runtime 1.x, on the software NeuronCore.
//!
//! The work is done by [`rtd_runtime`]; here are its command line, its log, its
//! configuration, the transport and the gRPC methods. Numbers of sections are
//! those of the daemon's sheet, neuron-rtd.md.

#![forbid(unsafe_code)]

mod args;
mod config;
mod daemon;
mod devices;
mod log;
mod service;
mod transport;

pub mod client;

use std::ffi::OsString;

use neuron_core::cli::{self, Exit, complain};

pub use args::{Args, command};
pub use config::{Config, Kind, PARAMETERS, Parameter};
pub use transport::Endpoint;

/// Default address of daemon and clients.
pub const DEFAULT_ADDRESS: &str = transport::DEFAULT;

/// Runs the daemon.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Args = match cli::parse(command(), arguments, Exit::Usage) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    match daemon::Plan::new(&args).and_then(daemon::Plan::run) {
        Ok(()) => Exit::Done,
        Err(reason) => {
            complain("neuron-rtd", &reason);
            Exit::Error
        }
    }
}
