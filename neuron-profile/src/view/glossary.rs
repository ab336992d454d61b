//! What the words of a profile mean: its metrics, its tables and their columns.

use std::io::{BufWriter, Write};

use profile_store::schema;

use crate::output::Exit;

/// A line: what it is, its unit or type, and what it says.
fn line(out: &mut dyn Write, width: usize, name: &str, of: &str, says: &str) -> anyhow::Result<()> {
    writeln!(out, "{name:width$}  {of:10}  {says}")?;
    Ok(())
}

/// Writes the metrics, the tables, or both.
pub(super) fn write(metrics: bool, tables: bool, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(out);
    if metrics {
        let all = schema::metrics();
        let width = all.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
        for metric in all {
            let unit = if metric.unit.is_empty() { "-" } else { metric.unit };
            line(&mut out, width, metric.name, unit, metric.description)?;
        }
    }
    if tables {
        let all = schema::tables();
        let names = all.iter().flat_map(|table| {
            table.columns.iter().map(|column| table.name.len() + 1 + column.name.len())
        });
        let width = names.max().unwrap_or(0);
        for table in all {
            line(&mut out, width, &table.name, "table", &table.description)?;
            for column in &table.columns {
                let name = format!("{}.{}", table.name, column.name);
                let says = match column.unit.as_str() {
                    "" => column.description.clone(),
                    unit => format!("{}, {unit}", column.description),
                };
                line(&mut out, width, &name, column.kind.name(), &says)?;
            }
        }
        for (name, why) in schema::ABSENT {
            line(&mut out, width, name, "absent", why)?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
