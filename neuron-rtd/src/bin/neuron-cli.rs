//! The binary `neuron-cli`.

use neuron_core::cli::Exit;

fn main() -> Exit {
    neuron_rtd::client::run(std::env::args_os())
}
