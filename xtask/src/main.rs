//! The task runner: `cargo xtask <command>`.

fn main() {}
