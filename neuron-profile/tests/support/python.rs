//! A Python with packages of pinned versions, in a folder of its own below
//! `target/`, run by the system's `python3`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The folder of packages for `PYTHONPATH`; `None` when it cannot be had here,
/// with a line that says which test was skipped.
pub(crate) fn packages(list: &[&str], imports: &str) -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name(list));
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&part);
        install.args(list).stdout(Stdio::null()).stderr(Stdio::null());
        let done = install.status().is_ok_and(|status| status.success());
        // Another test program may have been faster; then its copy is as good.
        if !done || std::fs::rename(&part, &folder).is_err() {
            let _ = std::fs::remove_dir_all(&part);
        }
    }
    let mut works = Command::new("python3");
    works.env("PYTHONPATH", &folder).args(["-c", imports]).stderr(Stdio::null());
    if works.status().is_ok_and(|status| status.success()) {
        return Some(folder);
    }
    skipped(&list.join(", "));
    None
}

/// A name of a folder, of a length that file systems have.
fn name(list: &[&str]) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let whole = list.join("-").replace("==", "-");
    if whole.len() <= 100 {
        return whole;
    }
    let mut hash = DefaultHasher::new();
    whole.hash(&mut hash);
    format!("{}-{:016x}", list[0].replace("==", "-"), hash.finish())
}

/// Says which test was skipped, and what it needs.
pub(crate) fn skipped(needs: &str) {
    let thread = std::thread::current();
    let line = format!("{}: needs {needs}", thread.name().unwrap_or("a test"));
    // Straight to stderr: the test runner hides what macros print.
    let _ = writeln!(std::io::stderr(), "skipped: {line}");
    if let Some(path) = std::env::var_os("NEURON_TESTS_SKIP_LOG") {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
    }
}
