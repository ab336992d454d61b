//! Parses, dispatches and maps the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    neuron_profile::run(std::env::args_os())
}
