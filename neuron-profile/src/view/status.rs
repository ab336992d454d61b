//! `--processing-status-file`: how it ended, for pipelines that do not read
//! messages.

use std::path::Path;

use serde_json::json;

use super::Processed;
use super::files::replace;
use crate::output::{Exit, one_line};

/// Writes the file; a profile that is named was processed.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write(
    path: &Path,
    processed: &Processed,
    done: &anyhow::Result<Exit>,
) -> anyhow::Result<()> {
    let code = match done {
        Ok(Exit::Done) => 0,
        Ok(exit) => exit.code(),
        Err(_) => Exit::Error.code(),
    };
    let ids = processed.ids.iter();
    let mut profiles: Vec<_> =
        ids.map(|id| json!({ "profile": id, "status": "success" })).collect();
    let last = done.as_ref().err().map(one_line);
    for message in processed.failures.iter().chain(&last) {
        profiles.push(json!({ "status": "error", "message": message }));
    }
    let text = json!({ "status_code": code, "profiles": profiles }).to_string();
    replace(path, |out| writeln!(out, "{text}"))
}
