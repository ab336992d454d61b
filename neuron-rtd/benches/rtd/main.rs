//! How fast the daemon answers, beside what it can be measured by.
//!
//! `cargo xtask bench rtd` and `cargo xtask soak rtd` run it. As processes of
//! their own beside this client: the daemon on a simulated instance, a bare
//! tonic server whose only method gives back what it got, and, with
//! `--python`, a Python server and clients of the same call. All of them are
//! asked in turn, so that a busy moment of the machine hits each.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench, as helpers of tests"
)]

mod calls;
mod daemon;
mod echo;
mod latency;
mod models;
mod numbers;
mod pipeline;
mod python;
mod soak;
mod transfer;

use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Options {
    /// Rounds of every measurement.
    pub(crate) rounds: usize,
    /// A Python with grpcio.
    pub(crate) python: Option<PathBuf>,
    /// Inferences of a soak; none for the bench.
    pub(crate) inferences: Option<u64>,
    /// Most seconds of a soak.
    pub(crate) seconds: u64,
    /// What is measured; everything if empty.
    pub(crate) only: Vec<String>,
}

fn options(mut args: impl Iterator<Item = String>) -> Options {
    let mut options =
        Options { rounds: 20, python: None, inferences: None, seconds: 1200, only: Vec::new() };
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
        match arg.as_str() {
            "--rounds" => options.rounds = value().parse().unwrap(),
            "--python" => options.python = Some(value().into()),
            "--inferences" => options.inferences = Some(value().parse().unwrap()),
            "--seconds" => options.seconds = value().parse().unwrap(),
            "--only" => options.only = value().split(',').map(str::to_owned).collect(),
            // what `cargo bench` adds
            "--bench" => {}
            other => panic!("nobody knows {other}"),
        }
    }
    options
}

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().is_some_and(|arg| arg == "--echo") {
        return echo::serve(&args.nth(1).unwrap());
    }
    let options = options(args);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        if let Some(inferences) = options.inferences {
            return soak::run(inferences, options.seconds).await;
        }
        let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|o| o == name);
        if wanted("latency") {
            latency::run(&options).await;
        }
        if wanted("transfer") {
            transfer::run(&options).await;
        }
        if wanted("pipeline") {
            pipeline::run(&options).await;
        }
    });
}
