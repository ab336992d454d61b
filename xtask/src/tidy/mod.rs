//! `cargo xtask tidy`: the invariants that a program can check and the
//! compiler does not hold.
//!
//! Each check is a function of the files of the repository (or of what cargo
//! says about the dependencies) and returns what it found, so that a test can
//! give it a made-up file which it must not let pass.

mod code;
mod dependencies;
mod files;
mod source;

use anyhow::{Context as _, Result, bail};

use crate::run::{Run, root, say};

/// One file of the repository.
#[derive(Debug)]
struct File {
    /// From the root, with `/` between the parts.
    path: String,
    /// Its content; empty if it is not text.
    text: String,
}

/// What a check found.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// `path` or `path:line`.
    at: String,
    what: String,
}

impl Finding {
    fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }

    fn on_line(file: &File, line: usize, what: impl Into<String>) -> Self {
        Self::new(format!("{}:{line}", file.path), what)
    }
}

/// A check of the files.
type Check = fn(&[File]) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    source::unsafe_stays_in_its_place,
    source::pure_modules_touch_no_system,
    source::views_import_models_only,
    source::modules_say_what_they_are,
    source::files_are_short,
    source::nothing_is_left_unfinished,
    files::top_level_is_as_agreed,
    files::no_path_of_a_machine,
    files::registries_are_the_public_ones,
    files::crates_take_the_workspace_lints,
    files::required_tools_are_in_the_table,
];

/// Runs all checks, prints what they found, and fails if that is anything.
pub(crate) fn run() -> Result<()> {
    let files = tracked()?;
    let mut findings: Vec<_> = CHECKS.iter().flat_map(|check| check(&files)).collect();
    findings.extend(dependencies::check()?);
    for note in source::long_files(&files) {
        say(&format!("note: {}: {}", note.at, note.what));
    }
    for finding in &findings {
        say(&format!("{}: {}", finding.at, finding.what));
    }
    if !findings.is_empty() {
        bail!("{} findings in {} files", findings.len(), files.len());
    }
    say(&format!("{} files, {} checks, no findings", files.len(), CHECKS.len() + 2));
    Ok(())
}

/// What git tracks or would track if it were added.
fn tracked() -> Result<Vec<File>> {
    let list = Run::new("git")
        // The clone may belong to another user, as in a container.
        .args(["-c", "safe.directory=*", "ls-files"])
        .args(["-z", "--cached", "--others", "--exclude-standard"])
        .output()?;
    let mut files = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        let full = root().join(path);
        // A file may be deleted and not yet committed; a link is not followed.
        if full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            let text = String::from_utf8(bytes).unwrap_or_default();
            files.push(File { path: path.to_owned(), text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

/// Where a check found something in one made-up file.
#[cfg(test)]
fn found(check: Check, path: &str, text: &str) -> Vec<String> {
    check(&[file(path, text)]).into_iter().map(|finding| finding.at).collect()
}
