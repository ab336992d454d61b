//! `cargo xtask check`: format, lints, invariants, docs, generated files.

use anyhow::Result;

use crate::run::{EVERYTHING, Run, say};
use crate::stages::Stages;
use crate::{generated, tidy};

/// The features of neuron-core, each of which must build alone.
const FEATURES: &[&str] = &["", "sources", "imds", "cli", "neff", "ntff", "isa"];

/// Runs every stage and fails if one of them failed.
pub(crate) fn run() -> Result<()> {
    let mut stages = Stages::default();
    add_stages(&mut stages);
    say(&stages.table());
    stages.finish()
}

/// The stages, also the first ones of `cargo xtask test`.
pub(crate) fn add_stages(stages: &mut Stages) {
    stages.run("format", || Run::cargo("fmt").args(["--all", "--check"]).run());
    stages.run("clippy", || {
        Run::cargo("clippy").args(EVERYTHING).args(["--all-targets", "--", "-D", "warnings"]).run()
    });
    stages.run("features alone", || {
        FEATURES.iter().try_for_each(|feature| {
            Run::cargo("check")
                .args(["--quiet", "-p", "neuron-core", "--no-default-features", "--features"])
                .arg(*feature)
                .run()
        })?;
        Run::cargo("check").args(["--quiet", "-p", "neuron-monitor"]).run()
    });
    stages.run("tidy", tidy::run);
    // The docs are read with their private items, so links to those are right. Examples are
    // asked for, since cargo then takes dependencies as clippy did, with what tests ask of them,
    // and checks nothing large anew; the two programs are those without a library.
    stages.run("docs", || {
        Run::cargo("doc")
            .args(EVERYTHING)
            .args(["--no-deps", "--document-private-items"])
            .args(["--lib", "--examples", "--bin", "xtask", "--bin", "package-rpm"])
            .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")
            .run()
    });
    stages.run("generated files", generated::compare);
    stages.run("generated code", generated::compare_code);
}
