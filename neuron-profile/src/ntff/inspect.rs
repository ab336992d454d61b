//! The same three commands for the files of an inspect run.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context as _, Result};
use neuron_core::model::printable;
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::{FrameReader, InspectFile};
use neuron_core::ntff::messages::{CpuUtil, HostMemUsage, NtraceEvent, NtraceInfo};
use neuron_core::ntff::wire::Walker;
use neuron_core::ntff::{Limits, Options, event, root, schema};
use serde_json::{Value, json};

use super::input::{self, Input};
use super::message;
use crate::output::{self, Exit, Format};

/// What was counted over the frames of a file.
#[derive(Default)]
struct Counts {
    frames: u64,
    first: Option<u64>,
    last: Option<u64>,
    /// Per event type.
    types: BTreeMap<u32, u64>,
    /// Bytes read, and those up to the end of the last whole frame.
    bytes: u64,
    whole: u64,
}

impl Counts {
    fn frame(&mut self, timestamp: u64) {
        self.frames += 1;
        self.first = Some(self.first.map_or(timestamp, |first| first.min(timestamp)));
        self.last = self.last.max(Some(timestamp));
    }
}

fn name(kind: InspectFile) -> &'static str {
    match kind {
        InspectFile::Events => "system trace events",
        InspectFile::Cpu => "cpu samples",
        InspectFile::Memory => "host memory samples",
        InspectFile::Run => "description of an inspect run",
    }
}

/// Reads the file to its end.
fn count(input: Input, kind: InspectFile) -> Result<(String, Counts, Findings)> {
    let mut reader = FrameReader::new(input.bytes, Options::default());
    let mut counts = Counts::default();
    let (name, trouble) = (input.name, input.trouble);
    loop {
        let more = match kind {
            InspectFile::Events => reader.next_message().map(|event: Option<NtraceEvent>| {
                event.map(|event| {
                    *counts.types.entry(event.event_type).or_default() += 1;
                    event.timestamp
                })
            }),
            InspectFile::Cpu => {
                reader.next_message().map(|cpu: Option<CpuUtil>| cpu.map(|cpu| cpu.timestamp))
            }
            InspectFile::Memory | InspectFile::Run => reader
                .next_message()
                .map(|memory: Option<HostMemUsage>| memory.map(|memory| memory.timestamp)),
        };
        match more.with_context(|| name.clone())? {
            Some(timestamp) => counts.frame(timestamp),
            None => break,
        }
    }
    (counts.bytes, counts.whole) = (reader.taken(), reader.position());
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    Ok((name, counts, findings))
}

/// The bare message, checked field by field.
fn bare(mut input: Input) -> Result<(String, Vec<u8>, Findings)> {
    let limits = Limits::default();
    let bytes = input::read_some(&mut input.bytes, limits.message, &input.name)?;
    let mut findings = Findings::new(limits.findings);
    let root = &schema::NTRACE_INFO;
    let read = root::decode_fields::<NtraceInfo>(&bytes, 0, root, &limits, true, &mut findings);
    if let Err(finding) = read {
        findings.push(finding.offset, finding.rule);
    }
    input.trouble.report(&mut findings);
    Ok((input.name, bytes, findings))
}

pub(super) fn info(
    input: Input,
    kind: InspectFile,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit> {
    if kind == InspectFile::Run {
        return run(input, format, out);
    }
    let (file, counts, findings) = count(input, kind)?;
    let names: BTreeMap<u32, String> =
        counts.types.keys().map(|number| (*number, event::name(*number))).collect();
    match format {
        Format::Text => {
            writeln!(out, "{}: {}, {} frames", printable(&file), name(kind), counts.frames)?;
            if let (Some(first), Some(last)) = (counts.first, counts.last) {
                writeln!(out, "from {first} to {last} ns since 1970")?;
            }
            for (number, count) in &counts.types {
                let name = names.get(number).map_or("", String::as_str);
                writeln!(out, "event type {number:<3} {name:<36} {count:>8}")?;
            }
        }
        Format::Json => output::json(
            out,
            &json!({
                "file": file,
                "kind": name(kind),
                "bytes": counts.bytes,
                "whole_frame_bytes": counts.whole,
                "frames": counts.frames,
                "first_ns": counts.first,
                "last_ns": counts.last,
                "event_types": counts.types,
                "event_names": names,
                "findings": input::findings_json(&findings),
            }),
        )?,
    }
    input::tell(&file, format, &findings, out)
}

/// A run description is small: it is shown whole.
fn run(input: Input, format: Format, out: &mut dyn Write) -> Result<Exit> {
    let (file, bytes, findings) = bare(input)?;
    match format {
        Format::Text => {
            writeln!(out, "{}: {}", printable(&file), name(InspectFile::Run))?;
            message::text(out, &bytes, &schema::NTRACE_INFO, 2)?;
        }
        Format::Json => output::json(
            out,
            &json!({
                "file": file,
                "kind": name(InspectFile::Run),
                "bytes": bytes.len(),
                "message": message::json(&bytes, &schema::NTRACE_INFO)?,
                "findings": input::findings_json(&findings),
            }),
        )?,
    }
    input::tell(&file, format, &findings, out)
}

pub(super) fn dump(
    input: Input,
    kind: InspectFile,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit> {
    if kind == InspectFile::Run {
        return run(input, format, out);
    }
    let (file, trouble) = (input.name, input.trouble);
    let limits = Limits::default();
    let mut reader = FrameReader::new(input.bytes, Options::default());
    let mut broken = Vec::new();
    let mut first = true;
    if format == Format::Json {
        let (file, kind) = (Value::from(file.as_str()), Value::from(name(kind)));
        write!(out, "{{\"file\":{file},\"kind\":{kind},\"frames\":[")?;
    }
    while let Some(frame) = reader.next_frame().with_context(|| file.clone())? {
        let checked =
            Walker::new(&mut (), &limits).message(frame.bytes, frame.offset, kind.message());
        if let Err(finding) = checked
            && broken.len() < limits.findings
        {
            broken.push(finding);
        }
        match format {
            Format::Text => {
                writeln!(out, "{}:", kind.message().name)?;
                message::text(out, frame.bytes, kind.message(), 2)?;
            }
            Format::Json => {
                let comma = if first { "\n" } else { ",\n" };
                write!(out, "{comma}{}", message::json(frame.bytes, kind.message())?)?;
            }
        }
        first = false;
    }
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    broken.into_iter().for_each(|finding| findings.push(finding.offset, finding.rule));
    if format == Format::Json {
        let (bytes, whole) = (reader.taken(), reader.position());
        let found = input::findings_json(&findings);
        write!(out, "],\"bytes\":{bytes},\"whole_frame_bytes\":{whole}")?;
        writeln!(out, ",\"findings\":{found}}}")?;
    }
    input::tell(&file, format, &findings, out)
}

pub(super) fn verify(
    input: Input,
    kind: InspectFile,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (file, bytes, frames, findings) = if kind == InspectFile::Run {
        let (file, bytes, findings) = bare(input)?;
        (file, u64::try_from(bytes.len())?, 0, findings)
    } else {
        let (file, counts, findings) = count(input, kind)?;
        (file, counts.bytes, counts.frames, findings)
    };
    match format {
        Format::Text => {
            for line in input::lines(&findings, false) {
                writeln!(out, "{}", printable(&line))?;
            }
            let verdict = if findings.damaged() { "damaged" } else { "ok" };
            let file = printable(&file);
            writeln!(out, "{file}: {verdict}: {}, {bytes} bytes, {frames} frames", name(kind))?;
        }
        Format::Json => output::json(
            out,
            &json!({
                "file": file,
                "kind": name(kind),
                "bytes": bytes,
                "frames": frames,
                "findings": input::findings_json(&findings),
            }),
        )?,
    }
    Ok(input::exit(&findings))
}
