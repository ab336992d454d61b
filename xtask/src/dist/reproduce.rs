//! `cargo xtask dist --reproduce PROGRAM`: two builds from two paths must give
//! the same bytes.
//!
//! The second one is built in a copy of what git tracks, elsewhere, from
//! nothing. A program whose parts hold a path or a time of the build is named
//! by the first byte that differs.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::crates::SHIPPED;
use super::programs::Build;
use crate::run::{Run, root, say, target_dir};

/// Builds `program` here and in a copy, and compares.
pub(super) fn run(program: &str, build: &Build) -> Result<()> {
    ensure!(SHIPPED.contains(&program), "no program {program:?}; there are {SHIPPED:?}");
    ensure!(build.profile == "release", "only release builds have no paths in them");
    let home = target_dir()?.join("dist/reproduce");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    // Of another length, so that a path inside moves everything behind it.
    let copy = home.join("another-place-with-a-longer-name");
    std::fs::create_dir_all(&copy)?;
    copy_tracked(&copy)?;
    let first = build_at(root(), &home.join("first"), program, build)?;
    let second = build_at(&copy, &copy.join("target"), program, build)?;
    let at = first.iter().zip(&second).position(|(a, b)| a != b);
    if let Some(at) = at {
        bail!("{program}: the two builds differ from byte {at} on");
    }
    ensure!(first.len() == second.len(), "{program}: the two builds differ in length");
    let told = root().display().to_string();
    let found = first.windows(told.len()).any(|window| window == told.as_bytes());
    ensure!(!found, "{program} has the path of the workspace in it");
    say(&format!("{program}: {} bytes, the same from two paths", first.len()));
    std::fs::remove_dir_all(&home)?;
    Ok(())
}

fn copy_tracked(to: &Path) -> Result<()> {
    let list = Run::new("git").args(["-c", "safe.directory=*", "ls-files", "-z"]).output()?;
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        let (from, to) = (root().join(path), to.join(path));
        if from.is_file() {
            std::fs::create_dir_all(to.parent().unwrap_or(&to))?;
            std::fs::copy(&from, &to).with_context(|| format!("cannot copy {path}"))?;
        }
    }
    Ok(())
}

/// The bytes of the program, built in the workspace at `place`.
fn build_at(place: &Path, target: &Path, program: &str, build: &Build) -> Result<Vec<u8>> {
    let run = Run::cargo("build")
        .args(["--locked", "--release", "-p", program, "--bin", program, "--manifest-path"])
        .arg(place.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target);
    let run = build.without_paths_of(run, place)?;
    let mut command = run.command();
    // Cargo reads the settings of the folder that it runs in.
    let status = command.current_dir(place).status()?;
    ensure!(status.success(), "`{}` failed: {status}", run.line());
    let path = target.join("release").join(program);
    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
}
