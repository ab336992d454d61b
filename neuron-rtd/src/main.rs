//! The binary `neuron-rtd`.

use neuron_core::cli::Exit;

fn main() -> Exit {
    neuron_rtd::run(std::env::args_os())
}
