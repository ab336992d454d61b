//! What others' tools say about the files that were made.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};

use super::super::Made;
use crate::python;
use crate::run::{Run, root, say};

/// lintian, which knows Debian's policy. What it may find is in the overrides
/// that the packages carry, each with its reason.
pub(super) fn lintian(debs: &[PathBuf]) -> Result<()> {
    let run = Run::new("lintian")
        .args(["--allow-root", "--no-tag-display-limit", "--fail-on", "error,warning"])
        .args(debs.iter());
    let said = run.command().output().context("cannot start lintian")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if !said.status.success() || !text.trim().is_empty() {
        bail!("lintian finds:\n{text}{}", String::from_utf8_lossy(&said.stderr));
    }
    say("ok: lintian finds nothing but what the overrides explain");
    Ok(())
}

/// rpmlint, with the exceptions of `xtask/dist/rpm/rpmlint.toml`, each with its
/// reason.
pub(super) fn rpmlint(rpms: &[PathBuf]) -> Result<()> {
    let run = Run::new("rpmlint")
        .arg("--config")
        .arg(root().join("xtask/dist/rpm/rpmlint.toml"))
        .args(rpms.iter());
    let said = run.command().output().context("cannot start rpmlint")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let findings: Vec<_> =
        text.lines().filter(|line| line.contains(": E: ") || line.contains(": W: ")).collect();
    if !findings.is_empty() || !said.status.success() {
        bail!("rpmlint finds:\n{}{}", text, String::from_utf8_lossy(&said.stderr));
    }
    say("ok: rpmlint finds nothing but what the configuration explains");
    Ok(())
}

/// Packages of Python that carry the schemas.
const SCHEMAS: &[&str] = &[
    "cyclonedx-python-lib[json-validation]==11.12.0",
    "kubernetes-validate==1.37.0",
    "dockerfile-parse==2.0.1",
];

/// The schemas speak: exit status 0 if all documents follow theirs.
const CHECK: &str = include_str!("../../../dist/verify/documents.py");

/// The bill of materials by the schema of CycloneDX, the manifests by those of
/// Kubernetes, the Dockerfiles by their grammar.
pub(super) fn documents(made: &Made) -> Result<()> {
    let imports = "import cyclonedx.validation.json, kubernetes_validate, dockerfile_parse";
    let python = python::with("dist/python", SCHEMAS, imports)?;
    let python = python.context("the schemas cannot be had")?;
    let container = root().join("xtask/dist/container");
    let said = Run::new(python)
        .args(["-c", CHECK])
        .arg(&made.sbom)
        .arg(container.join("daemonset.yaml"))
        .arg(container.join("Dockerfile.monitor"))
        .arg(container.join("Dockerfile.rtd"))
        .output()?;
    say(said.trim_end());
    ensure!(said.lines().count() >= 4, "too little was checked");
    Ok(())
}
