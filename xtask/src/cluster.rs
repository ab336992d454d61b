//! Queries on a Ballista cluster: builds the stock scheduler and executor of the
//! version that neuron-profile speaks to, and runs the tests that need them.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::run::{Run, metadata, target_dir};

/// The programs, each a crate of that name.
const PROGRAMS: [&str; 2] = ["ballista-scheduler", "ballista-executor"];

/// Builds what is not there yet, then tests; and what no other stage builds: the
/// tool with all features, and with none.
pub(crate) fn run() -> Result<()> {
    let packages = ["-p", "profile-query", "-p", "neuron-profile"];
    let strict = ["--all-targets", "--all-features", "--", "-D", "warnings"];
    Run::cargo("clippy").args(packages).args(strict).run()?;
    Run::cargo("test").args(["-p", "neuron-profile", "--test", "ranks"]).run()?;
    let root = target_dir()?.join("ballista");
    let version = version()?;
    install(&root, &version)?;
    let test = ["-p", "neuron-profile", "--all-features", "--test", "cluster"];
    Run::cargo("test").args(test).env("NEURON_TESTS_BALLISTA", root.join("bin")).run()
}

/// The version in the lock file.
fn version() -> Result<String> {
    let metadata = metadata(&["--all-features"])?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let core = packages.iter().find(|package| package["name"] == "ballista-core");
    let version = core.and_then(|package| package["version"].as_str());
    version.map(str::to_owned).context("ballista-core is not in Cargo.lock")
}

fn install(root: &Path, version: &str) -> Result<()> {
    let build = root.join("build");
    let programs = PROGRAMS.map(|program| format!("{program}@{version}"));
    Run::cargo("install")
        .args(["--debug", "--locked", "--no-default-features", "--features", "build-binary"])
        .arg("--root")
        .arg(root)
        .arg("--target-dir")
        .arg(&build)
        .args(programs)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .run()?;
    // What is installed is enough, and the rest is large.
    if build.exists() {
        std::fs::remove_dir_all(&build).with_context(|| format!("cannot remove {build:?}"))?;
    }
    Ok(())
}
