//! Runs the library and maps its end to the exit code.

use neuron_core::cli::Exit;

fn main() -> Exit {
    neuron_top::run(std::env::args_os())
}
