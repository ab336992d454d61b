//! The binary `neuron-rtd`.

use neuron_core::cli::Exit;

/// The system's allocator gives the pages of large buffers back to the kernel
/// as soon as they are free, and the next inference pays for each of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Exit {
    neuron_rtd::run(std::env::args_os())
}
