//! Where a built binary is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The binary `name` of the package of the same name, or of the package that
/// has it beside its own.
///
/// In `$NEURON_BIN_DIR` if that is set, as `cargo xtask test` does after it
/// has built all of them. Otherwise the package is built, once per process: a
/// binary that merely lies there may be older than its source.
///
/// # Panics
///
/// If there is no such binary or it cannot be built, because a test cannot go on.
#[must_use]
pub fn bin(name: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<String, PathBuf>>> = OnceLock::new();
    if let Some(dir) = std::env::var_os("NEURON_BIN_DIR") {
        let path = Path::new(&dir).join(name);
        assert!(path.is_file(), "NEURON_BIN_DIR holds no {name}: {}", path.display());
        return path;
    }
    let mut built =
        BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name.to_owned()).or_insert_with(|| build(name)).clone()
}

/// The package of a binary.
fn package(name: &str) -> &str {
    match name {
        "neuron-cli" => "neuron-rtd",
        name => name,
    }
}

/// Builds as cargo does by default and returns the path that cargo names.
fn build(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--message-format=json", "-p", package(name), "--bin", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("cannot start cargo to build {name}: {error}"));
    assert!(output.status.success(), "cargo build -p {name} failed: {}", output.status);
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .unwrap_or_else(|| panic!("cargo build -p {name} names no executable"))
}
