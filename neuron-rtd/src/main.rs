//! `neuron-rtd` is not part of this version yet; the binary says so and fails.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let _ = writeln!(
        std::io::stderr(),
        "neuron-rtd: not part of version {} yet; the README lists the tools that are",
        env!("CARGO_PKG_VERSION")
    );
    ExitCode::FAILURE
}
