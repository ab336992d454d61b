//! Tools of the system that a test may need.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Whether the test that asks may use `tool`. If not, the test returns early,
/// and a line says that it was skipped and why:
///
/// ```no_run
/// if !neuron_tests::require("tar") {
///     return;
/// }
/// ```
///
/// `$NEURON_TESTS_SKIP` (names with blanks between) lists what `cargo xtask
/// test` found missing; the table is in `xtask/src/packages.rs`. Without that
/// variable the tool is looked for here. The line also goes to the file
/// `$NEURON_TESTS_SKIP_LOG`, so that the closing count is right although the
/// test runner sees a test that passed.
#[must_use]
pub fn require(tool: &str) -> bool {
    let there = match std::env::var("NEURON_TESTS_SKIP") {
        Ok(skip) => !skip.split_whitespace().any(|missing| missing == tool),
        Err(_) => starts(tool),
    };
    if !there {
        let thread = std::thread::current();
        skipped(thread.name().unwrap_or("a test"), &format!("needs {tool}"));
    }
    there
}

fn starts(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Says that `test` was skipped and why, for what only shows on the way, as a
/// download that is not available.
pub fn skipped(test: &str, why: &str) {
    let line = format!("{test}: {why}");
    // Straight to stderr: the test runner hides what macros print.
    let _ = writeln!(std::io::stderr(), "skipped: {line}");
    if let Some(path) = std::env::var_os("NEURON_TESTS_SKIP_LOG") {
        let log = OpenOptions::new().append(true).create(true).open(path);
        // One write per line, so that processes do not mix theirs.
        let _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
    }
}
