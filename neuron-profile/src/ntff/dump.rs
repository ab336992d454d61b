//! `ntff dump`: header, message and records as they lie in the file.

use std::io::Write;

use anyhow::Result;
use neuron_core::ntff::{SectionKind, Summary, record, schema};
use neuron_core::text::hex;
use serde_json::{Value, json};

use super::input::{self, Input};
use super::line::Line;
use super::message;
use crate::output::{Exit, Format};

pub(super) fn run(
    input: Input,
    format: Format,
    records: bool,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (name, mut reader, trouble) = input.reader()?;
    let header = reader.header();
    let stray = hex(reader.header_bytes().get(9..).unwrap_or_default());
    let sections = reader.sections().to_vec();
    let mut summary = Summary::new(reader.info(), &sections, header.blobs_start());
    let mut writer = Records { format, last: None, out };
    match format {
        Format::Text => {
            writeln!(writer.out, "form {}", header.form)?;
            writeln!(writer.out, "message {} bytes", header.message_size)?;
            writeln!(writer.out, "header bytes without meaning {stray}")?;
            message::text(writer.out, reader.message_bytes(), &schema::NTFF_INFO, 2)?;
        }
        Format::Json => {
            let start = json!({
                "form": header.form,
                "message_size": header.message_size,
                "header_stray": stray,
                "message": message::json(reader.message_bytes(), &schema::NTFF_INFO)?,
            });
            let text = start.to_string();
            // Left open for the sections.
            writer.out.write_all(text.strip_suffix('}').unwrap_or(&text).as_bytes())?;
            writer.out.write_all(b",\"sections\":[")?;
        }
    }
    input::stream(&name, &mut reader, |index, bytes| {
        summary.count(index, bytes);
        let Some(section) = sections.get(index) else { return Ok(()) };
        if !records {
            return Ok(());
        }
        writer.begin(index, &section.to_string())?;
        match (section.kind, summary.decoder(index)) {
            (SectionKind::Trace { .. }, Some(decoder)) => {
                for record in record::records(bytes) {
                    let notification = decoder.decode(record);
                    let time = decoder.time(record, notification);
                    writer.record(&Line { time, record, notification, core: section.core })?;
                }
            }
            // Programs and traces of unknown type: raw, one entry a line.
            _ => {
                let unit = usize::try_from(section.unit())?;
                for entry in bytes.chunks(unit) {
                    writer.raw(&hex(entry))?;
                }
            }
        }
        Ok(())
    })?;
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    summary.report(reader.info(), &mut findings);
    writer.end()?;
    match format {
        Format::Text => input::findings_text(writer.out, &findings)?,
        Format::Json => {
            writeln!(writer.out, "],\"findings\":{}}}", input::findings_json(&findings))?;
        }
    }
    Ok(input::exit(&findings))
}

/// Writes entries section by section.
struct Records<'o> {
    format: Format,
    /// The open section, and whether it has an entry.
    last: Option<(usize, bool)>,
    out: &'o mut dyn Write,
}

impl Records<'_> {
    /// Opens a section unless it is the open one.
    fn begin(&mut self, index: usize, name: &str) -> Result<()> {
        if self.last.is_some_and(|(last, _)| last == index) {
            return Ok(());
        }
        match self.format {
            Format::Text => writeln!(self.out, "{name}:")?,
            Format::Json => {
                let first = self.last.is_none();
                self.end()?;
                let comma = if first { "" } else { "," };
                let name = Value::from(name);
                write!(self.out, "{comma}\n{{\"section\":{name},\"index\":{index},\"entries\":[")?;
            }
        }
        self.last = Some((index, false));
        Ok(())
    }

    /// Closes the open section.
    fn end(&mut self) -> Result<()> {
        if self.last.is_some() && self.format == Format::Json {
            self.out.write_all(b"]}")?;
        }
        Ok(())
    }

    fn entry(&mut self, text: std::fmt::Arguments<'_>) -> Result<()> {
        match self.format {
            Format::Text => writeln!(self.out, "  {text}")?,
            Format::Json => {
                let comma = if self.last.is_some_and(|(_, some)| some) { ",\n" } else { "\n" };
                write!(self.out, "{comma}{text}")?;
            }
        }
        if let Some((_, some)) = &mut self.last {
            *some = true;
        }
        Ok(())
    }

    fn raw(&mut self, hex: &str) -> Result<()> {
        match self.format {
            Format::Text => self.entry(format_args!("{hex}")),
            Format::Json => self.entry(format_args!("\"{hex}\"")),
        }
    }

    fn record(&mut self, line: &Line) -> Result<()> {
        if self.format == Format::Text {
            return self.entry(format_args!("{line}"));
        }
        let mut value = serde_json::to_value(line.notification)?;
        if let Value::Object(object) = &mut value {
            object.insert("time_ps".into(), line.time.ps().into());
            object.insert("ticks".into(), line.record.time.0.into());
            if line.record.software_loss() {
                object.insert("software_loss".into(), true.into());
            }
            if line.record.hardware_loss() {
                object.insert("hardware_loss".into(), true.into());
            }
        }
        self.entry(format_args!("{value}"))
    }
}
