//! `cargo xtask wheel`: the plug-in of TensorBoard as a wheel, with
//! `neuron-profile` in it.
//!
//! maturin builds it. For tests it is made around a program that is built
//! already: a `cargo` of our own stands before the real one, and tells maturin of
//! that program where it asks for a build.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use crate::run::{Run, metadata, root, say, target_dir};
use crate::web;

/// Where the package is.
const PACKAGE: &str = "neuron-profile/tensorboard";

/// What builds it.
const MATURIN: &str = "maturin>=1.16,<2";

/// Stands before cargo: says what was built, and hands all else over.
const SHIM: &str = r#"#!/bin/sh
for word in "$@"; do
  if [ "$word" = rustc ]; then exec cat "$NEURON_WHEEL_MESSAGES"; fi
done
exec "$NEURON_WHEEL_CARGO" "$@"
"#;

/// Flags of `cargo xtask wheel`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A neuron-profile that is built already, instead of the release build.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Where the wheel goes; `wheel` in cargo's target directory if absent.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Builds the wheel and says where it is.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.binary.is_none() {
        web::build(false)?;
    }
    let out = match &options.out {
        Some(out) => std::path::absolute(out)?,
        None => target_dir()?.join("wheel"),
    };
    let wheel = build(options.binary.as_deref(), &out)?;
    say(&wheel.display().to_string());
    Ok(())
}

/// A virtual environment of Python, made anew.
pub(crate) fn environment(dir: &Path) -> Result<PathBuf> {
    Run::new("python3").args(["-m", "venv", "--clear"]).arg(dir).run()?;
    Ok(dir.join("bin"))
}

/// Installs packages into an environment.
pub(crate) fn install(bin: &Path, packages: &[&str]) -> Result<()> {
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Run::new(bin.join("python")).args(quiet).args(packages.iter().copied()).run()
}

/// Builds the wheel into a directory that has no other; gives its path.
pub(crate) fn build(binary: Option<&Path>, out: &Path) -> Result<PathBuf> {
    let work = target_dir()?.join("xtask/wheel");
    std::fs::create_dir_all(&work)?;
    let bin = work.join("venv/bin");
    if !Run::new(bin.join("maturin")).arg("--version").succeeds() {
        environment(&work.join("venv"))?;
        install(&bin, &[MATURIN])?;
    }
    if out.exists() {
        std::fs::remove_dir_all(out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    // maturin takes the package of the directory that it runs in.
    let package = root().join(PACKAGE);
    let mut run = Run::new("env").arg("-C").arg(package).arg(bin.join("maturin"));
    run = run.arg("build").arg("--out").arg(out);
    run = match binary {
        None => run.arg("--release"),
        Some(binary) => around(run, binary, &work)?,
    };
    run.run()?;
    let mut wheels = std::fs::read_dir(out)
        .with_context(|| format!("cannot read {}", out.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "whl"));
    wheels.next().context("maturin made no wheel")
}

/// Lets maturin take a program that is built already.
fn around(run: Run, binary: &Path, work: &Path) -> Result<Run> {
    let plain = work.join("neuron-profile");
    // What debuggers need of it is most of its size.
    Run::new("strip").arg("-o").arg(&plain).arg(binary).run()?;
    let shim = work.join("shim");
    std::fs::create_dir_all(&shim)?;
    let path = shim.join("cargo");
    std::fs::write(&path, SHIM)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode)?;
    let messages = work.join("messages");
    std::fs::write(&messages, told(&metadata(&["--no-deps"])?, &plain)?)?;
    let mut paths = vec![shim];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Ok(run
        .args(["--strip", "false", "--compression-method", "stored"])
        .env("NEURON_WHEEL_MESSAGES", messages)
        .env("NEURON_WHEEL_CARGO", cargo)
        // What maturin calls first, where a cargo above it has set it.
        .env("CARGO", path)
        .env("PATH", std::env::join_paths(paths)?))
}

/// What cargo says of a program that it has built.
fn told(metadata: &Value, binary: &Path) -> Result<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let package = packages.iter().find(|one| one["name"] == "neuron-profile");
    let package = package.context("cargo metadata has no neuron-profile")?;
    let target = list(&package["targets"]).into_iter().find(|one| one["kind"] == json!(["bin"]));
    let built = json!({
        "reason": "compiler-artifact",
        "package_id": package["id"],
        "manifest_path": package["manifest_path"],
        "target": target.context("neuron-profile has no program")?,
        "profile": {
            "opt_level": "0", "debuginfo": 0, "debug_assertions": true,
            "overflow_checks": true, "test": false,
        },
        "features": [],
        "filenames": [binary],
        "executable": binary,
        "fresh": true,
    });
    let end = json!({ "reason": "build-finished", "success": true });
    Ok(format!("{built}\n{end}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tells_of_the_program() {
        let metadata = json!({ "packages": [{
            "name": "neuron-profile", "id": "id", "manifest_path": "/m",
            "targets": [{ "kind": ["lib"] }, { "kind": ["bin"], "name": "neuron-profile" }],
        }] });
        let text = told(&metadata, Path::new("/b")).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (&lines[0]["executable"], &lines[0]["target"]["name"]),
            (&json!("/b"), &json!("neuron-profile"))
        );
        assert!(told(&json!({}), Path::new("/b")).is_err());
    }
}
