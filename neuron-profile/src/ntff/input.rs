//! Opens a file or stdin, unwraps gzip, and tells what it is.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use anyhow::{Context as _, Result};
use neuron_core::model::printable;
use neuron_core::neff;
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::InspectFile;
use neuron_core::ntff::{Finding, Options, Reader, Severity, header};
use serde_json::{Value, json};

use super::gzip::{Gunzip, MEMBER, Trouble};
use crate::output::{self, Exit};

/// Bytes that are looked at to tell what a file is.
const PEEK: u64 = 64 << 10;

/// Most bytes that a compressed file may give (ntff.md §1.2 asks for a cap; the
/// number is ours).
const UNWRAPPED: u64 = 1 << 40;

/// A file to look into.
pub(super) struct Input {
    /// Its name for messages.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: Kind,
    /// All of its bytes.
    pub(super) bytes: Box<dyn Read>,
    /// What its gzip wrapper has, once `bytes` were read.
    pub(super) trouble: Trouble,
}

/// What a file is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A device trace. Also what is nothing we know: its reader says why.
    Ntff,
    /// A file of an inspect run.
    Inspect(InspectFile),
}

/// Name, trace, and what its wrapper has.
pub(super) type Opened = (String, Reader<Box<dyn Read>>, Trouble);

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let name = if path.as_os_str() == "-" {
            String::from("stdin")
        } else {
            path.display().to_string()
        };
        let mut bytes: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin().lock())
        } else {
            Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
        };
        let trouble = Trouble::default();
        let mut peek = read_some(&mut bytes, PEEK).with_context(|| cannot_read(&name))?;
        if peek.starts_with(&MEMBER) {
            let packed = Cursor::new(peek).chain(bytes);
            let gunzip = Gunzip::new(BufReader::new(packed), trouble.clone());
            bytes = Box::new(gunzip.take(UNWRAPPED));
            peek = read_some(&mut bytes, PEEK).with_context(|| cannot_read(&name))?;
            if let (true, Some(finding)) = (peek.is_empty(), trouble.finding()) {
                anyhow::bail!("{}: {finding}", name);
            }
        }
        if neff::Header::sniff(&peek) {
            anyhow::bail!("{name}: it is no NTFF but a NEFF, 'neuron-profile neff' reads it");
        }
        let whole = u64::try_from(peek.len()).is_ok_and(|length| length < PEEK);
        let kind = if header::sniff(&peek) {
            Kind::Ntff
        } else {
            InspectFile::sniff(&peek, whole).map_or(Kind::Ntff, Kind::Inspect)
        };
        Ok(Self { name, kind, bytes: Box::new(Cursor::new(peek).chain(bytes)), trouble })
    }

    /// Begins to read it as a trace.
    pub(super) fn reader(self) -> Result<Opened> {
        let reader = Reader::new(self.bytes, Options::default()).with_context(|| self.name.clone());
        Ok((self.name, reader?, self.trouble))
    }
}

fn cannot_read(name: &str) -> String {
    format!("cannot read {name}")
}

fn read_some(from: &mut dyn Read, count: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a trace to its end with a progress bar, handing out each chunk.
pub(super) fn stream<R: Read>(
    name: &str,
    reader: &mut Reader<R>,
    mut each: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    // A bar for what takes longer than a blink.
    let bar = (reader.expected_size() > 64 << 20)
        .then(|| output::progress("reading", reader.expected_size(), true));
    while let Some(chunk) = reader.next_chunk().with_context(|| name.to_owned())? {
        each(chunk.index, chunk.bytes)?;
        if let Some(bar) = &bar {
            bar.set_position(reader.position());
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(())
}

/// The exit of a reading.
pub(super) fn exit(findings: &Findings) -> Exit {
    if findings.damaged() { Exit::Partial } else { Exit::Done }
}

/// Findings as JSON.
pub(super) fn findings_json(findings: &Findings) -> Value {
    let (kept, dropped) = findings.list();
    let list: Vec<Value> = kept
        .iter()
        .map(|finding| {
            json!({
                "offset": finding.offset,
                "severity": severity(finding),
                "rule": finding.rule.id(),
                "message": finding.rule.to_string(),
            })
        })
        .collect();
    json!({ "damaged": findings.damaged(), "list": list, "not_listed": dropped })
}

/// Findings as lines.
pub(super) fn findings_text(out: &mut dyn std::io::Write, findings: &Findings) -> Result<()> {
    let (kept, dropped) = findings.list();
    for finding in kept {
        writeln!(out, "{}: {}", severity(finding), printable(&finding.to_string()))?;
    }
    if dropped > 0 {
        writeln!(out, "note: {dropped} more findings are not listed")?;
    }
    Ok(())
}

fn severity(finding: &Finding) -> &'static str {
    if finding.rule.severity() >= Severity::Damage { "damage" } else { "note" }
}
