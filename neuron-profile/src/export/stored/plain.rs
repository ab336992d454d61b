//! Tables as they are: Parquet, CSV, JSON.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;
use profile_store::Profile;
use profile_store::read::objects;
use serde_json::Value;

use super::into;

/// The tables that were asked for, else all.
pub(super) fn wanted(profile: &Profile, names: &[String]) -> anyhow::Result<Vec<String>> {
    for name in names {
        profile.table(name)?;
    }
    let all = || profile.manifest().tables.keys().cloned().collect();
    Ok(if names.is_empty() { all() } else { names.to_vec() })
}

fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(neuron_core::Error::io("create", folder))
        .map_err(Into::into)
}

/// Copies the files.
pub(super) fn copy(profile: &Profile, tables: &[String], folder: &Path) -> anyhow::Result<()> {
    make(folder)?;
    for table in tables {
        let from = profile.table(table)?;
        let mut file = std::fs::File::open(&from).map_err(neuron_core::Error::io("open", &from))?;
        into(&folder.join(format!("{table}.parquet")), |out| {
            io::copy(&mut file, out)?;
            Ok(())
        })?;
    }
    Ok(())
}

/// A CSV file for each table.
pub(super) fn directory(profile: &Profile, tables: &[String], folder: &Path) -> anyhow::Result<()> {
    make(folder)?;
    for table in tables {
        into(&folder.join(format!("{table}.csv")), |out| csv(profile, table, out))?;
    }
    Ok(())
}

/// A table in the form of RFC 4180, but for lines that end with a newline
/// alone; null is an empty field.
pub(super) fn csv(profile: &Profile, table: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let batches = profile.batches(table)?;
    let schema = batches_schema(&batches);
    writeln!(out, "{}", schema.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","))?;
    for batch in batches {
        let batch = batch.with_context(|| table.to_owned())?;
        for row in objects(&batch) {
            for (at, name) in schema.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                match row.get(name) {
                    None | Some(Value::Null) => write!(out, "{comma}")?,
                    Some(Value::String(text)) => write!(out, "{comma}{}", quoted(text))?,
                    Some(value) => write!(out, "{comma}{value}")?,
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn batches_schema(batches: &profile_store::read::Batches) -> Vec<String> {
    use profile_store::read::RecordBatchReader as _;
    batches.schema().fields().iter().map(|field| field.name().clone()).collect()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// One object of tables, each a list of rows without nulls.
pub(super) fn json(
    profile: &Profile,
    tables: &[String],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    out.write_all(b"{")?;
    for (at, table) in tables.iter().enumerate() {
        write!(out, "{}\n\"{table}\":[", if at > 0 { "," } else { "" })?;
        let mut comma = "";
        for batch in profile.batches(table)? {
            let batch = batch.with_context(|| table.clone())?;
            for row in objects(&batch) {
                writeln!(out, "{comma}")?;
                serde_json::to_writer(&mut *out, &row).map_err(io::Error::from)?;
                comma = ",";
            }
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"\n}\n")?;
    Ok(())
}
