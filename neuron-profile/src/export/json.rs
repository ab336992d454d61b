//! A device profile as one JSON object of tables, in the names and units of the
//! vendor's export (profiler.md §2.9): times in whole nanoseconds from the start
//! of the execution, rows as flat objects.
//!
//! Ids of rows are ours: numbers from 1. The vendor's are hashes.
//!
//! Left out: `terminology`, which is the vendor's prose; and in `metadata` the
//! number of points of its database.

use std::io::{self, Write};

use profile_engine::ReadAt;

use super::tables::{self, Row};
use super::{Names, Profile};

/// Writes the object, table after table.
///
/// # Errors
///
/// Those of the writer.
pub fn write<S: ReadAt + ?Sized>(
    out: &mut dyn Write,
    profile: &Profile<'_, S>,
    names: &Names,
    pretty: bool,
) -> io::Result<()> {
    let (line, step, space) = if pretty { ("\n", "  ", " ") } else { ("", "", "") };
    out.write_all(b"{")?;
    for (index, (name, rows)) in tables::all(profile, names).into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(out, "{comma}{line}{step}\"{name}\":{space}[")?;
        let mut comma = "";
        for row in rows {
            write!(out, "{comma}{line}{step}{step}")?;
            serde_json::to_writer(&mut *out, &row)?;
            comma = ",";
        }
        let end = if comma.is_empty() { "" } else { line };
        let indent = if comma.is_empty() { "" } else { step };
        write!(out, "{end}{indent}]")?;
    }
    writeln!(out, "{line}}}")
}

/// The tables by name, for a caller that wants values.
pub fn tables<'p, S: ReadAt + ?Sized>(
    profile: &'p Profile<'_, S>,
    names: &'p Names,
) -> impl Iterator<Item = (&'static str, Vec<Row>)> {
    tables::all(profile, names).into_iter().map(|(name, rows)| (name, rows.collect()))
}
