//! Parses, dispatches and maps the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::FAILURE
}
