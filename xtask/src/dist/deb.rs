//! Debian packages, by cargo-deb: a manifest that lists every file as it was
//! laid out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::contents::Package;
use super::programs::Build;
use super::stage::Staged;
use crate::cargo_tool;
use crate::run::{Run, root};

/// The version that is known to work with the pinned toolchain.
const CARGO_DEB: &str = "3.8.0";

/// Nobody reads mail for a package that everybody builds for themselves.
pub(super) const MAINTAINER: &str = "neuron-tools maintainers <maintainers@neuron-tools.invalid>";

/// Writes the package; returns its path.
pub(super) fn write(
    package: &Package,
    staged: &Staged,
    version: &str,
    build: &Build,
    work: &Path,
    out: &Path,
) -> Result<PathBuf> {
    let tool = cargo_tool::installed("cargo-deb", CARGO_DEB, &["--version"])?;
    let folder = work.join(package.name);
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    let changelog = folder.join("changelog");
    std::fs::write(&changelog, changes(package.name, version, build.time)?)?;
    let libc = libc_version(package, staged)?;
    let text = manifest(package, staged, version, &libc);
    let path = folder.join("Cargo.toml");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let architecture = match build.machine() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let deb = out.join(format!("{}_{version}-1_{architecture}.deb", package.name));
    let mut run = Run::new(tool)
        .args(["--quiet", "--no-build", "--no-strip", "--manifest-path"])
        .arg(&path)
        .arg("--output")
        .arg(&deb)
        .env("SOURCE_DATE_EPOCH", build.time.to_string());
    if build.profile != "release" {
        // These are for tries, where time counts more than size.
        run = run.arg("--fast");
    }
    if !build.native {
        run = run.args(["--target", &build.triple]);
    }
    run.run()?;
    Ok(deb)
}

/// The manifest that cargo-deb reads. Text is quoted as in JSON, which is also
/// right in TOML.
fn manifest(package: &Package, staged: &Staged, version: &str, libc: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = String::from("[workspace]\n\n[package]\n");
    let _ = write!(
        text,
        "name = {}\nversion = {}\nedition = \"2024\"\nlicense = \"Apache-2.0\"\n\
         description = {}\n\n[package.metadata.deb]\nmaintainer = {}\n\
         extended-description = {}\nrevision = \"1\"\nsection = \"utils\"\n\
         depends = {}\nchangelog = \"changelog\"\n",
        quoted(package.name),
        quoted(version),
        quoted(package.summary),
        quoted(MAINTAINER),
        quoted(package.description),
        quoted(libc),
    );
    if !package.conflicts.is_empty() {
        let _ = writeln!(text, "conflicts = {}", quoted(&package.conflicts.join(", ")));
    }
    if package.scripts {
        let scripts = root().join("xtask/dist/deb").display().to_string();
        let _ = writeln!(text, "maintainer-scripts = {}", quoted(&scripts));
    }
    let config = staged.items.iter().filter(|item| item.config);
    let config: Vec<String> = config.map(|item| quoted(&format!("/{}", item.path))).collect();
    let _ = writeln!(text, "conf-files = [{}]", config.join(", "));
    text += "assets = [\n";
    for item in &staged.items {
        let dest = quoted(&item.path);
        let _ = match &item.link {
            Some(target) => {
                writeln!(text, "  {{ dest = {dest}, link_name = {} }},", quoted(target))
            }
            None => {
                let source = staged.root.join(&item.path).display().to_string();
                let mode = format!("{:o}", item.mode);
                writeln!(text, "  [{}, {dest}, {}],", quoted(&source), quoted(&mode))
            }
        };
    }
    text + "]\n"
}

/// A changelog in Debian's form.
fn changes(name: &str, version: &str, time: u64) -> Result<String> {
    let date = Run::new("date").args(["-u", "-R", "-d", &format!("@{time}")]).output()?;
    Ok(format!(
        "{name} ({version}-1) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n \
         -- {MAINTAINER}  {}\n",
        date.trim()
    ))
}

/// The oldest libc that has all symbols of the programs, as a dependency.
fn libc_version(package: &Package, staged: &Staged) -> Result<String> {
    let mut newest = (0, 0);
    let binaries = staged.items.iter().filter(|item| {
        item.link.is_none() && (item.path.contains("/bin/") || item.path.ends_with(".so.1"))
    });
    for item in binaries {
        let bytes = std::fs::read(staged.root.join(&item.path))?;
        newest = newest.max(glibc_of(&bytes).unwrap_or_default());
    }
    anyhow::ensure!(newest > (0, 0), "{}: no program needs libc", package.name);
    Ok(format!("libc6 (>= {}.{})", newest.0, newest.1))
}

/// The newest version `GLIBC_x.y` that the bytes name.
fn glibc_of(bytes: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"\0GLIBC_";
    let mut newest = None;
    let mut rest = bytes;
    while let Some(at) = rest.windows(NAME.len()).position(|window| window == NAME) {
        rest = rest.get(at + NAME.len()..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(0);
        let text = rest.get(..end).map(String::from_utf8_lossy).unwrap_or_default();
        let mut numbers = text.split('.').map(str::parse::<u32>);
        if let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) {
            newest = newest.max(Some((major, minor)));
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::super::stage::Item;
    use super::*;

    #[test]
    fn the_manifest_lists_files_links_and_settings() {
        let package = Package {
            name: "tool",
            summary: "A \"tool\"",
            description: "It does things.",
            conflicts: &["other"],
            entries: &[],
            scripts: false,
        };
        let item = |path: &str, link: Option<&str>, config| Item {
            path: path.to_owned(),
            link: link.map(str::to_owned),
            mode: 0o644,
            config,
        };
        let items =
            vec![item("etc/tool", None, true), item("usr/bin/tool", Some("/opt/tool"), false)];
        let staged = Staged { root: "/stage".into(), items };
        let text = manifest(&package, &staged, "1.0.0", "libc6 (>= 2.34)");
        for line in [
            r#"description = "A \"tool\"""#,
            r#"version = "1.0.0""#,
            r#"conflicts = "other""#,
            r#"conf-files = ["/etc/tool"]"#,
            r#"  ["/stage/etc/tool", "etc/tool", "644"],"#,
            r#"  { dest = "usr/bin/tool", link_name = "/opt/tool" },"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn the_newest_symbol_counts() {
        let bytes = b"x\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        assert_eq!(glibc_of(bytes), Some((2, 34)));
        assert_eq!(glibc_of(b"nothing"), None);
    }
}
