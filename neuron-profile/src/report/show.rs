//! A report as tables, CSV or JSON.

use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use neuron_core::cli::width_of;
use neuron_core::model::printable;
use profile_query::arrow::array::RecordBatch;
use profile_query::arrow::csv;
use profile_query::arrow::json::writer::{JsonArray, WriterBuilder};
use profile_query::{Dataset, Judged};
use serde_json::{Value, json};

use super::bottlenecks;
use crate::query::grid;
use crate::view::replace;

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Style {
    /// For people
    #[default]
    Table,
    /// A table after the other, each under a line with # and its name
    Csv,
    /// One document
    Json,
}

/// A table of a report.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) batches: Vec<RecordBatch>,
}

/// What is said about a profile, or about two.
#[derive(Debug)]
pub(super) struct Page {
    profiles: Vec<(String, String)>,
    pub(super) simulated: bool,
    pub(super) findings: Option<Vec<Judged>>,
    pub(super) parts: Vec<Part>,
}

impl Page {
    pub(super) fn of(profiles: &[&Dataset]) -> Self {
        let names = profiles.iter().map(|p| (p.id().to_owned(), p.labels.display_name.clone()));
        let simulated = profiles.iter().any(|profile| profile.manifest.simulated);
        Self { profiles: names.collect(), simulated, findings: None, parts: Vec::new() }
    }

    fn title(&self) -> String {
        let names = self.profiles.iter().map(|(id, name)| format!("{} ({id})", printable(name)));
        let simulated = if self.simulated { ", simulated" } else { "" };
        format!("{}{simulated}", names.collect::<Vec<_>>().join(" and "))
    }
}

/// A report that was made.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) report: String,
    pub(super) pages: Vec<Page>,
}

impl Shown {
    /// Writes it to a file, or to stdout.
    pub(super) fn write(
        &self,
        style: Style,
        path: Option<&Path>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let terminal = path.is_none().then(|| width_of(&io::stdout())).flatten();
        let mut bytes = Vec::new();
        match style {
            Style::Table => self.tables(&mut bytes, terminal)?,
            Style::Csv => self.csv(&mut bytes)?,
            Style::Json => {
                serde_json::to_writer_pretty(&mut bytes, &self.json()?)?;
                bytes.push(b'\n');
            }
        }
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                replace(path, |file| file.write_all(&bytes))?;
                writeln!(out, "{}", path.display())?;
            }
            None => out.write_all(&bytes)?,
        }
        out.flush()?;
        Ok(())
    }

    fn tables(&self, out: &mut Vec<u8>, width: Option<usize>) -> anyhow::Result<()> {
        for (at, page) in self.pages.iter().enumerate() {
            let between = if at > 0 { "\n" } else { "" };
            writeln!(out, "{between}{}: {}", self.report, page.title())?;
            if let Some(findings) = &page.findings {
                bottlenecks::text(out, findings, width)?;
            }
            for part in &page.parts {
                writeln!(out, "\n{}", part.title)?;
                if let Some(first) = part.batches.first() {
                    grid::write(out, &first.schema(), &part.batches, width)?;
                }
            }
        }
        Ok(())
    }

    fn csv(&self, out: &mut Vec<u8>) -> anyhow::Result<()> {
        let many = self.pages.len() > 1 || self.pages.iter().any(|page| page.parts.len() > 1);
        let mut first = true;
        for page in &self.pages {
            if let Some(findings) = &page.findings {
                bottlenecks::csv(out, &page.title(), findings, many)?;
            }
            for part in &page.parts {
                if many {
                    let between = if first { "" } else { "\n" };
                    writeln!(out, "{between}# {}: {}", part.name, page.title())?;
                }
                first = false;
                let mut writer = csv::Writer::new(&mut *out);
                for batch in &part.batches {
                    writer.write(batch)?;
                }
            }
        }
        Ok(())
    }

    fn json(&self) -> anyhow::Result<Value> {
        let pages = self.pages.iter().map(|page| {
            let profiles: Vec<Value> = page
                .profiles
                .iter()
                .map(|(id, name)| json!({ "id": id, "display_name": name }))
                .collect();
            let mut value = json!({ "profiles": profiles, "simulated": page.simulated });
            if let Some(findings) = &page.findings {
                value["findings"] = serde_json::to_value(findings)?;
            }
            for part in &page.parts {
                value[part.name] = rows(&part.batches)?;
            }
            Ok(value)
        });
        let pages = pages.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(json!({ "report": self.report, "pages": pages }))
    }
}

/// Rows as objects.
pub(super) fn rows(batches: &[RecordBatch]) -> anyhow::Result<Value> {
    let mut writer =
        WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(serde_json::from_slice(&writer.into_inner())?)
}
