//! `cargo xtask demo`: neuron-ls on simulated instances and on a recorded tree.
//!
//! Everything it makes is under `target/demo`; no instance of the host is
//! touched.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::run::{Run, say, target_dir};
use crate::static_libc;

/// The recorded tree that is shown last.
const TREE: &str = "trn2-16";

/// The simulated instances, each in a directory of its own.
const INSTANCES: &[&str] = &["trn2.48xlarge", "inf1.6xlarge"];

/// The views of each.
const VIEWS: &[&[&str]] = &[&[], &["--topology"], &["-j"]];

/// Runs every view of every source and fails if one of them fails.
pub(crate) fn run() -> Result<()> {
    let binary = static_libc::release_binary()?;
    let dir = target_dir()?.join("demo");
    fresh(&dir)?;
    let tree = dir.join(TREE);
    neuron_tests::unpack_tree_into(TREE, &tree)
        .with_context(|| format!("cannot unpack the recorded tree to {}", tree.display()))?;

    for instance in INSTANCES {
        let sim_dir = dir.join("sim").join(instance);
        std::fs::create_dir_all(&sim_dir)?;
        show(&binary, &format!("sim:{instance}"), &sim_dir)?;
    }
    show(&binary, &format!("kernel:{}", tree.display()), &dir.join("sim"))
}

/// Every view of one source, each under a line with its command.
fn show(binary: &Path, source: &str, sim_dir: &Path) -> Result<()> {
    for view in VIEWS {
        let run = Run::new(binary).args(["--source", source]).args(view.iter().copied());
        say(&format!("\n=== {}\n", run.line()));
        let mut command = run.command();
        command.env("NEURON_SIM_DIR", sim_dir).env_remove("NEURON_SOURCE");
        let status = command.status().with_context(|| format!("cannot start `{}`", run.line()))?;
        ensure!(status.success(), "`{}` failed: {status}", run.line());
    }
    Ok(())
}

/// An empty directory. The recorded tree holds directories and files only, all
/// of them writable by their owner or in a directory that is.
fn fresh(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}
