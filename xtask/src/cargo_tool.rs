//! Cargo's own extensions, installed under `target/tools` when a command needs
//! one: nothing else of the machine is touched.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::run::{Run, root};

/// The tool at exactly this version, installed when it is missing or another.
/// `asks` is how it tells its version.
pub(crate) fn installed(name: &str, version: &str, asks: &[&str]) -> Result<PathBuf> {
    let home = root().join("target/tools");
    let tool = home.join("bin").join(name);
    let told = Command::new(&tool).args(asks).output();
    let found = told.is_ok_and(|out| {
        String::from_utf8_lossy(&out.stdout).split_whitespace().any(|word| word == version)
    });
    if !found {
        Run::cargo("install")
            .args([name, "--locked", "--force", "--version", version, "--root"])
            .arg(&home)
            .arg("--target-dir")
            .arg(home.join("build"))
            .run()?;
        // Only the program is needed again.
        let _ = std::fs::remove_dir_all(home.join("build"));
    }
    Ok(tool)
}
