//! `--processing-status-file`: how it ended, for pipelines that do not read
//! messages.

use std::path::Path;

use serde_json::json;

use super::files::replace;
use crate::output::{Exit, one_line};

/// Writes the file; a profile that is named was processed.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write(
    path: &Path,
    ids: &[String],
    done: &anyhow::Result<Exit>,
) -> anyhow::Result<()> {
    let code = match done {
        Ok(Exit::Done) => 0,
        Ok(exit) => exit.code(),
        Err(_) => Exit::Error.code(),
    };
    let mut profiles: Vec<_> =
        ids.iter().map(|id| json!({ "profile": id, "status": "success" })).collect();
    if let Err(error) = done {
        profiles.push(json!({ "status": "error", "message": one_line(error) }));
    }
    let text = json!({ "status_code": code, "profiles": profiles }).to_string();
    replace(path, |out| writeln!(out, "{text}"))
}
