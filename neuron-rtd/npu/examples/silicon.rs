//! Prints the table of simulated against measured times that is in the docs.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "a tool of developers"
)]

use std::io::Write as _;

#[path = "../tests/support/silicon.rs"]
mod silicon;

fn main() -> std::io::Result<()> {
    let all = silicon::Comparison::all();
    std::io::stdout().write_all(silicon::page(&all).as_bytes())
}
