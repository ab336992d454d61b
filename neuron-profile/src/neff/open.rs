//! Opens the file of a command and tells its warnings.

use crate::output::{self, Exit, Format, progress};
use anyhow::{Context, bail};
use neuron_core::neff::{Header, Mode, Neff, Options, Problem, Report, Severity, digest};
use neuron_core::ntff;
use neuron_core::sys::file_map::FileBytes;
use serde_json::{Value, json};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The file, and how it is read.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The NEFF; - reads stdin. A large file is mapped: nobody must cut it meanwhile
    pub(super) file: PathBuf,

    /// Refuse a file that breaks a rule, instead of showing what can be read
    #[arg(long)]
    strict: bool,

    /// Form of the result
    #[arg(short, long, value_enum, default_value_t)]
    pub(super) output: Format,
}

impl Input {
    /// The bytes of the file.
    pub(super) fn bytes(&self) -> anyhow::Result<FileBytes> {
        bytes(&self.file)
    }

    /// Opens the file, without its digest.
    pub(super) fn open<'a>(&self, bytes: &'a [u8]) -> anyhow::Result<Neff<'a>> {
        is_neff(bytes, &self.name())?;
        let mode = if self.strict { Mode::Strict } else { Mode::Lenient };
        let neff =
            Neff::open(bytes, &Options::new(mode).without_digest()).with_context(|| self.name())?;
        if neff.members().is_empty() && !matches!(neff.header.packager, 1 | 2) {
            let packager = neff.header.packager;
            bail!("{}: it is no NEFF: packager version {packager}, no member", self.name());
        }
        Ok(neff)
    }

    /// Opens the file and compares its digest, with a progress bar.
    pub(super) fn open_checked<'a>(&self, bytes: &'a [u8]) -> anyhow::Result<Neff<'a>> {
        let mut neff = self.open(bytes)?;
        let payload = neff.payload();
        let bar = progress("digest", u64::try_from(payload.len())?, true);
        let found = digest::compute(&neff.header, payload, |done| bar.set_position(done));
        bar.finish_and_clear();
        digest::note(&neff.header, &found, &mut neff.report).with_context(|| self.name())?;
        neff.digest = Some(found);
        Ok(neff)
    }

    /// The path, for messages.
    pub(super) fn name(&self) -> String {
        name(&self.file)
    }

    /// Tells the warnings on stderr and gives the exit that they ask for.
    pub(super) fn warn(&self, report: &Report) -> Exit {
        tell(&self.name(), report)
    }
}

/// The bytes of a file, `-` for stdin.
pub(super) fn bytes(file: &Path) -> anyhow::Result<FileBytes> {
    if file.as_os_str() == "-" {
        let stdin = io::stdin().as_fd().try_clone_to_owned().context("cannot open stdin")?;
        return Ok(FileBytes::of(stdin.into(), Path::new("stdin"))?);
    }
    Ok(FileBytes::open(file)?)
}

/// Refuses a trace with a word on who reads it.
pub(crate) fn is_neff(bytes: &[u8], name: &str) -> anyhow::Result<()> {
    if ntff::header::sniff(bytes) && !Header::sniff(bytes) {
        bail!("{name}: it is no NEFF but an NTFF, 'neuron-profile ntff' reads it");
    }
    Ok(())
}

/// A path, for messages.
pub(super) fn name(file: &Path) -> String {
    match file.as_os_str() == "-" {
        true => String::from("stdin"),
        false => file.display().to_string(),
    }
}

/// Tells the warnings about the file `name` on stderr and gives the exit that
/// they ask for.
pub(super) fn tell(name: &str, report: &Report) -> Exit {
    let dropped = report.dropped();
    let told = |problem: &Problem| format!("{}: {problem}", severity(problem));
    let lines = report.warnings().iter().map(told);
    output::tell(name, lines.chain((dropped > 0).then(|| format!("{dropped} more findings"))));
    exit(report)
}

/// Partial if a rule was broken for which a strict reader refuses the file.
pub(super) fn exit(report: &Report) -> Exit {
    let severe = |problem: &Problem| problem.rule.severity() != Severity::Warn;
    if report.dropped() > 0 || report.warnings().iter().any(severe) {
        Exit::Partial
    } else {
        Exit::Done
    }
}

/// The warnings as JSON, in the form that `ntff` has too: `damage` is what a
/// strict reader refuses.
pub(super) fn findings(report: &Report) -> Value {
    let list = report.warnings().iter().map(|problem| {
        json!({
            "severity": severity(problem),
            "rule": problem.rule.id(),
            "place": problem.place.to_string(),
            "message": format!("{}: {}", problem.value, problem.rule.text()),
        })
    });
    json!({
        "damaged": exit(report) == Exit::Partial,
        "list": list.collect::<Vec<_>>(),
        "not_listed": report.dropped(),
    })
}

/// `damage` or `note`.
pub(super) fn severity(problem: &Problem) -> &'static str {
    if problem.rule.severity() == Severity::Warn { "note" } else { "damage" }
}
