//! `cargo xtask dist`: packages for Debian and for rpm, checksums and a bill of
//! materials, in `target/dist/out`.
//!
//! `contents` lists what goes in, `stage` lays it out, `deb` and `rpm` write it.
//! `--verify` installs what was made in a fresh Debian; `--reproduce` builds
//! twice, from two places, and compares.

mod contents;
mod crates;
mod deb;
mod licences;
mod made;
mod programs;
mod reproduce;
mod rpm;
mod sbom;
mod stage;
mod verify;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use sha2::{Digest as _, Sha256};

use crate::run::{Run, say, target_dir};
use crate::web;
use contents::PACKAGES;
use programs::Build;
use stage::Parts;

pub(crate) use verify::{man_pages_are_clean, units_are_sound};

/// Flags of `cargo xtask dist`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Cargo's profile; with dev the programs of the tests are taken, stripped.
    #[arg(long, default_value = "release", value_parser = ["release", "dev"])]
    profile: String,
    /// Another target than this machine, such as aarch64-unknown-linux-gnu.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Also install, upgrade and purge them in a fresh Debian (as root).
    #[arg(long)]
    verify: bool,
    /// Only build this program twice, from two places, and compare the bytes.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "verify")]
    reproduce: Option<String>,
}

/// Makes the packages.
pub(crate) fn run(options: &Options) -> Result<()> {
    let build = Build::new(&options.profile, options.target.as_deref())?;
    if let Some(program) = &options.reproduce {
        return reproduce::run(program, &build);
    }
    let made = make(&build)?;
    if options.verify {
        verify::run(&made)?;
    }
    Ok(())
}

/// What `--verify` is given, and `cargo xtask test --full` makes.
pub(crate) fn verify_quickly() -> Result<()> {
    let made = make(&Build::new("dev", None)?)?;
    verify::run(&made)
}

/// Packages that were made.
#[derive(Debug)]
struct Made {
    /// By the order of [`PACKAGES`].
    debs: Vec<PathBuf>,
    rpms: Vec<PathBuf>,
    /// A package of an older version, with other configuration, to upgrade from.
    previous: PathBuf,
    sbom: PathBuf,
    /// Where they were laid out.
    work: PathBuf,
}

fn make(build: &Build) -> Result<Made> {
    let version = env!("CARGO_PKG_VERSION");
    let home = target_dir()?.join("dist");
    let (work, out) = (home.join("work"), home.join("out"));
    for folder in [&work, &out] {
        if folder.exists() {
            std::fs::remove_dir_all(folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        std::fs::create_dir_all(folder)?;
    }
    // The licences of what the viewer carries lie in what npm installs.
    match build.profile.as_str() {
        "release" => web::build(false)?,
        _ => web::install()?,
    }
    let (parts, direct) = crates::parts(&build.triple)?;
    made::write(&work.join("made"), &parts)?;
    let programs = build.run()?;
    let from = Parts { programs, made: work.join("made"), strip: build.profile != "release" };

    let (mut debs, mut rpms) = (Vec::new(), Vec::new());
    for package in PACKAGES {
        let staged = stage::stage(package, &from, &work.join("root").join(package.name))?;
        debs.push(deb::write(package, &staged, version, build, &work.join("deb"), &out)?);
        rpms.push(rpm::write(package, &staged, version, build, &out)?);
    }
    let previous = previous(&from, build, &work)?;

    let time = Run::new("date")
        .args(["-u", "-d", &format!("@{}", build.time), "+%Y-%m-%dT%H:%M:%SZ"])
        .output()?;
    let document = sbom::document(version, time.trim(), &build.compiler()?, &parts, &direct);
    let sbom = out.join(format!("neuron-tools-{version}.cdx.json"));
    std::fs::write(&sbom, serde_json::to_string_pretty(&document)? + "\n")?;
    checksums(&out)?;
    Ok(Made { debs, rpms, previous, sbom, work })
}

/// The first package once more, as an older version that had other settings.
fn previous(from: &Parts, build: &Build, work: &Path) -> Result<PathBuf> {
    let package = PACKAGES.first().context("there is no package")?;
    let staged = stage::stage(package, from, &work.join("previous/root"))?;
    let config = staged.root.join("opt/aws/neuron/config/neuron-rtd.config");
    let text = std::fs::read_to_string(&config)?;
    let other = text.replace("\"drain_sec\": 30", "\"drain_sec\": 29");
    ensure!(text != other, "neuron-rtd.config has no drain_sec of 30");
    std::fs::write(&config, other)?;
    deb::write(package, &staged, "0.0.0", build, &work.join("previous/deb"), &work.join("previous"))
}

/// Writes SHA256SUMS as sha256sum does, and says what there is.
fn checksums(out: &Path) -> Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(out)? {
        files.push(entry?.path());
    }
    files.sort();
    let mut sums = String::new();
    for file in files {
        let bytes = std::fs::read(&file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digest: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        say(&format!("{name}: {} bytes", bytes.len()));
        sums += &format!("{digest}  {name}\n");
    }
    std::fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let dir = std::env::temp_dir().join(format!("xtask-sums-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("a"), "abc").unwrap();
        checksums(&dir).unwrap();
        let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sums, format!("{abc}  a\n"));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
