//! rpm packages, by the program of `xtask/rpm`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::contents::Package;
use super::programs::Build;
use super::stage::{Item, Staged};
use crate::elf;
use crate::run::{Run, root, target_dir};

/// Writes the package; returns its path.
pub(super) fn write(
    package: &Package,
    staged: &Staged,
    version: &str,
    build: &Build,
    out: &Path,
) -> Result<PathBuf> {
    let rpm = out.join(format!("{}-{version}-1.{}.rpm", package.name, build.machine()));
    let plan = json!({
        "name": package.name,
        "version": version,
        "arch": build.machine(),
        "license": "Apache-2.0",
        "summary": package.summary,
        "description": package.description,
        "time": build.time,
        "requires": requires(staged)?,
        "conflicts": package.conflicts,
        "scripts": scripts(package)?,
        "root": staged.root,
        "items": staged.items.iter().map(item).collect::<Vec<_>>(),
        "out": rpm,
    });
    // Optimised, since it hashes and packs hundreds of megabytes.
    let run = Run::cargo("run")
        .args(["--quiet", "--locked", "--release", "-p", "package-rpm", "--target-dir"])
        .arg(target_dir()?.join("dist/build"));
    let mut child = run
        .command()
        .stdin(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", run.line()))?;
    let text = plan.to_string();
    child.stdin.take().context("no pipe")?.write_all(text.as_bytes())?;
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed: {status}", run.line());
    }
    Ok(rpm)
}

/// Where Debian has completions of zsh that come with packages, and where the
/// others have them.
const ZSH: [&str; 2] = ["usr/share/zsh/vendor-completions/", "usr/share/zsh/site-functions/"];

fn item(item: &Item) -> Value {
    let path = item.path.replacen(ZSH[0], ZSH[1], 1);
    let (from, link, mode) = (&item.path, &item.link, item.mode);
    json!({"path": path, "from": from, "link": link, "mode": mode, "config": item.config})
}

/// Libraries that the programs need, as rpm writes them for 64 bits.
fn requires(staged: &Staged) -> Result<Vec<String>> {
    let mut all = std::collections::BTreeSet::new();
    for item in staged.items.iter().filter(|item| item.link.is_none()) {
        if item.path.contains("/bin/") || item.path.ends_with(".so.1") {
            let needs = elf::needs(&staged.root.join(&item.path))?;
            all.extend(needs.libraries.iter().map(|name| format!("{name}()(64bit)")));
        }
    }
    Ok(all.into_iter().collect())
}

fn scripts(package: &Package) -> Result<Value> {
    if !package.scripts {
        return Ok(Value::Null);
    }
    let text = |name: &str| {
        let path = root().join("xtask/dist/rpm").join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(json!({
        "post_install": text("post")?,
        "pre_uninstall": text("preun")?,
        "post_uninstall": text("postun")?,
    }))
}
