//! `ntff verify`: every rule of the format over the whole file.

use std::io::Write;

use anyhow::Result;
use neuron_core::ntff::orphans::Orphans;
use neuron_core::ntff::{Summary, record};
use serde_json::json;

use super::input::{self, Input};
use crate::output::{self, Exit, Format};

pub(super) fn run(input: Input, format: Format, out: &mut dyn Write) -> Result<Exit> {
    let (name, mut reader) = input.reader()?;
    let sections = reader.sections().to_vec();
    let blobs_start = reader.header().blobs_start();
    let mut summary = Summary::new(reader.info(), &sections, blobs_start);
    let mut orphans: Vec<Orphans> = sections.iter().map(|_| Orphans::default()).collect();
    input::stream(&name, &mut reader, |index, bytes| {
        summary.count(index, bytes);
        if let (Some(decoder), Some(orphans)) = (summary.decoder(index), orphans.get_mut(index)) {
            record::records(bytes).for_each(|record| orphans.see(decoder.decode(record)));
        }
        Ok(())
    })?;
    let mut findings = reader.findings().clone();
    summary.report(reader.info(), &mut findings);
    for (section, orphans) in sections.iter().zip(&orphans) {
        orphans.report(section, blobs_start, &mut findings);
    }
    let records: u64 = (0..sections.len()).map(|index| summary.records(index)).sum();
    let open: usize = orphans.iter().map(Orphans::open).sum();
    match format {
        Format::Text => {
            input::findings_text(out, &findings)?;
            let verdict = if findings.damaged() { "damaged" } else { "ok" };
            writeln!(
                out,
                "{name}: {verdict}: {} bytes, {} sections, {records} records, \
                 {open} instructions without an end",
                reader.position(),
                sections.len(),
            )?;
        }
        Format::Json => output::json(
            out,
            &json!({
                "file": name,
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
