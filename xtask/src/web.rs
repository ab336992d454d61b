//! `cargo xtask web`: the Device Viewer (neuron-profile/web) from its lock file
//! to the files that the program carries; and its tests in a browser.
//!
//! Node.js and npm are the only tools that are asked for. The next build of
//! neuron-profile takes what is in `dist/site`.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::run::{Run, root, say, target_dir};

/// Where the viewer is.
const WEB: &str = "neuron-profile/web";

/// Bytes that all files together may have, compressed.
const MOST: u64 = 1_500_000;

/// Flags of `cargo xtask web`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also drive the built viewer in Debian's chromium, on real captures; in Firefox and WebKit where they are installed.
    #[arg(long)]
    test: bool,
    /// Build only: no type check and no unit tests.
    #[arg(long, conflicts_with = "test")]
    fast: bool,
}

/// Builds the viewer, and tests it if asked to.
pub(crate) fn run(options: &Options) -> Result<()> {
    build(!options.fast)?;
    if options.test {
        Run::cargo("build").args(["-p", "neuron-profile"]).run()?;
        test_in_browser()?;
    }
    Ok(())
}

/// A script of package.json.
pub(crate) fn npm(args: &[&str]) -> Run {
    Run::new("npm").args(["--prefix", WEB]).args(args.iter().copied())
}

/// Whether npm is there.
pub(crate) fn can_build() -> bool {
    Run::new("npm").arg("--version").succeeds()
}

/// `npm ci`, where what is installed is not what the lock file asks for.
pub(crate) fn install() -> Result<()> {
    ensure!(can_build(), "npm is missing: install Node.js 20.19 or later with npm");
    if !is_installed() {
        npm(&["ci", "--no-audit", "--no-fund"]).run()?;
    }
    Ok(())
}

/// `npm ci`, type check, unit tests, build.
pub(crate) fn build(checked: bool) -> Result<()> {
    install()?;
    if checked {
        npm(&["run", "types"]).run()?;
        npm(&["test"]).run()?;
    }
    npm(&["run", "build"]).run()?;
    let site = root().join(WEB).join("dist/site");
    is_small(&site)
}

/// Whether what is installed is what the lock file asks for: npm keeps a copy
/// of the lock of what it installed, newer than the lock file then.
fn is_installed() -> bool {
    let changed = |path: &str| {
        std::fs::metadata(root().join(WEB).join(path)).and_then(|file| file.modified()).ok()
    };
    let (lock, done) = (changed("package-lock.json"), changed("node_modules/.package-lock.json"));
    lock.zip(done).is_some_and(|(lock, done)| done > lock)
}

/// Says what the viewer weighs and fails where that is too much.
fn is_small(site: &Path) -> Result<()> {
    let mut bytes = 0;
    let mut dirs = vec![site.to_owned()];
    while let Some(dir) = dirs.pop() {
        let entries = std::fs::read_dir(&dir).with_context(|| format!("cannot read {dir:?}"))?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                dirs.push(entry.path());
            } else if entry.path().extension().is_some_and(|kind| kind == "br") {
                bytes += entry.metadata()?.len();
            }
        }
    }
    say(&format!("viewer: {bytes} bytes compressed, {MOST} allowed"));
    if bytes == 0 || bytes > MOST {
        bail!("the viewer has {bytes} bytes compressed, and 1 to {MOST} are allowed");
    }
    Ok(())
}

/// Runs the tests in a browser, with the program that was built. One of them
/// captures the sample transformer.
pub(crate) fn test_in_browser() -> Result<()> {
    let target = target_dir()?;
    let models = target.join("xtask/models");
    crate::models::write_one(&models, "transformer")?;
    npm(&["run", "e2e"])
        .env("NEURON_BIN_DIR", target.join("debug"))
        .env("NEURON_MODELS", models)
        .run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_is_that_of_compressed_files() {
        let dir = std::env::temp_dir().join(format!("neuron-web-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("assets")).unwrap();
        assert!(is_small(&dir).is_err());
        std::fs::write(dir.join("assets/a.js"), vec![0; 2_000_000]).unwrap();
        std::fs::write(dir.join("assets/a.js.br"), [0; 100]).unwrap();
        assert!(is_small(&dir).is_ok());
        std::fs::write(dir.join("assets/b.js.br"), vec![0; 1_500_000]).unwrap();
        assert!(is_small(&dir).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
