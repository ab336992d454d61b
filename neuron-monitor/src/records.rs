//! The records of another monitor, read from stdin.

use std::io::{BufRead as _, Read as _};

use neuron_core::error::io_reason;

use crate::wire::Record;

/// Longest line on stdin.
const LONGEST_LINE: u64 = 64 << 20;

/// Takes records from stdin until it ends. A line that is no record is told as
/// the original does, and passed over.
///
/// # Errors
///
/// When stdin cannot be read.
pub(crate) fn from_stdin(mut take: impl FnMut(Result<Record, String>)) -> Result<(), String> {
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = input.by_ref().take(LONGEST_LINE);
        let got = limited
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("cannot read stdin: {}", io_reason(&error)))?;
        if got == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        take(
            serde_json::from_slice(&line)
                .map_err(|error| format!("Unable to decode JSON: {error}")),
        );
    }
}
