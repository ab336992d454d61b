//! `ntff verify`: every rule of the format over the whole file.

use std::io::Write;

use anyhow::Result;
use neuron_core::model::printable;
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::orphans::Orphans;
use neuron_core::ntff::{Limits, Section, Summary, record};
use serde_json::json;

use super::input::{self, Input};
use crate::output::{self, Exit, Format};

pub(super) fn run(input: Input, format: Format, out: &mut dyn Write) -> Result<Exit> {
    let (name, mut reader, trouble) = input.reader()?;
    let sections = reader.sections().to_vec();
    let blobs_start = reader.header().blobs_start();
    let mut summary = Summary::new(reader.info(), &sections, blobs_start);
    let mut pairing = Findings::new(Limits::default().findings);
    let mut open = 0;
    // Sections come one after the other; only in a damaged file do two that
    // overlap alternate, and the pairs of those are not worth more memory.
    let mut current: Option<(usize, Orphans)> = None;
    let mut close = |current: Option<(usize, Orphans)>| {
        if let Some((index, orphans)) = current
            && let Some(section) = sections.get(index)
        {
            orphans.report(section, blobs_start, &mut pairing);
            open += orphans.open();
        }
    };
    input::stream(&name, &mut reader, |index, bytes| {
        summary.count(index, bytes);
        if current.as_ref().is_none_or(|(last, _)| *last != index) {
            close(current.replace((index, Orphans::default())));
        }
        // Only these traces have beginnings and ends.
        let paired = sections.get(index).and_then(Section::trace_type).is_some_and(|trace| {
            matches!(trace, TraceType::Instruction | TraceType::Explicit | TraceType::Dma)
        });
        if let (true, Some(decoder), Some((_, orphans))) =
            (paired, summary.decoder(index), &mut current)
        {
            record::records(bytes).for_each(|record| orphans.see(decoder.decode(record)));
        }
        Ok(())
    })?;
    close(current);
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    summary.report(reader.info(), &mut findings);
    let (found, _) = pairing.list();
    found.iter().for_each(|finding| findings.push(finding.offset, finding.rule.clone()));
    let records: u64 = (0..sections.len()).map(|index| summary.records(index)).sum();
    match format {
        Format::Text => {
            for line in input::lines(&findings, false) {
                writeln!(out, "{}", printable(&line))?;
            }
            let verdict = if findings.damaged() { "damaged" } else { "ok" };
            writeln!(
                out,
                "{}: {verdict}: {} bytes, {} sections, {records} records, \
                 {open} instructions without an end",
                printable(&name),
                reader.position(),
                sections.len(),
            )?;
        }
        Format::Json => output::json(
            out,
            &json!({
                "file": name,
                "kind": "ntff",
                "bytes": reader.position(),
                "expected_bytes": reader.expected_size(),
                "sections": sections.len(),
                "records": records,
                "open_instructions": open,
                "findings": input::findings_json(&findings),
            }),
        )?,
    }
    Ok(input::exit(&findings))
}
