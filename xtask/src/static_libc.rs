//! `cargo xtask static`: neuron-ls with a static libc, proved to need nothing.
//! Also what the ordinary release binary may weigh and need.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::elf;
use crate::run::{Run, root, say, target_dir};

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// What neuron-ls may weigh, stripped: 4 MiB.
const MAX_BYTES: u64 = 4 << 20;

/// Parts of libc: a thread-local variable makes a program name its loader.
const LIBC: &[&str] = &["libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];

/// Builds, checks, runs.
pub(crate) fn run() -> Result<()> {
    let dir = target_dir()?.join("static");
    Run::cargo("build")
        .args(["--release", "-p", "neuron-ls", "--target", TRIPLE, "--target-dir"])
        .arg(&dir)
        .arg("--config")
        .arg(format!("target.{TRIPLE}.rustflags=['-C', 'target-feature=+crt-static']"))
        .run()?;
    let binary = dir.join(TRIPLE).join("release/neuron-ls");
    needs_nothing(&binary)?;
    Run::new(&binary).arg("--version").run()
}

/// Builds neuron-ls for release and returns where it is.
pub(crate) fn release_binary() -> Result<PathBuf> {
    Run::cargo("build").args(["--release", "-p", "neuron-ls"]).run()?;
    Ok(target_dir()?.join("release/neuron-ls"))
}

fn needs_nothing(binary: &Path) -> Result<()> {
    let needs = elf::needs(binary)?;
    if needs.loader.is_some() || !needs.libraries.is_empty() {
        bail!("{} is not static: it needs {needs:?}", binary.display());
    }
    say(&format!("{}: no loader, no shared library", short(binary)));
    Ok(())
}

/// Prints size and libraries of a release binary and fails if it is too large
/// or needs more than libc. The release profile strips.
pub(crate) fn is_small(binary: &Path) -> Result<()> {
    let bytes = std::fs::metadata(binary)?.len();
    let needs = elf::needs(binary)?;
    say(&format!("{}: {bytes} bytes, needs {}", short(binary), needs.libraries.join(" ")));
    judge(bytes, &needs.libraries)
}

/// The path from the root of the workspace.
fn short(binary: &Path) -> String {
    binary.strip_prefix(root()).unwrap_or(binary).display().to_string()
}

fn judge(bytes: u64, libraries: &[String]) -> Result<()> {
    if bytes >= MAX_BYTES {
        bail!("neuron-ls has {bytes} bytes, and less than {MAX_BYTES} are allowed");
    }
    if let Some(other) = libraries.iter().find(|name| !LIBC.contains(&name.as_str())) {
        bail!("neuron-ls needs {other}, and only libc is allowed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_libraries_are_bounded() {
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert!(judge(MAX_BYTES - 1, &names(&["libc.so.6"])).is_ok());
        assert!(judge(MAX_BYTES, &names(&["libc.so.6"])).is_err());
        let error = judge(1, &names(&["libgcc_s.so.1", "libc.so.6"])).unwrap_err();
        assert!(error.to_string().contains("libgcc_s.so.1"));
    }

    #[test]
    fn a_dynamic_program_is_not_static() {
        assert!(needs_nothing(&std::env::current_exe().unwrap()).is_err());
    }
}
