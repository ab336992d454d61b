//! A profile out of its bucket: into the store, or its metrics alone.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use profile_engine::Value;
use profile_store::{Carried, Error, Restore, Store};

use super::client::Client;
use super::receive::Part;
use super::{MARK, flux};
use crate::output;

/// The fields of a piece of the mark.
fn piece(row: &flux::Row<'_>) -> Option<(usize, usize, String)> {
    let of = |name: &str| row.values().find(|(column, _)| column.name == name);
    let all = of("of")?.1.parse().ok()?;
    // the time of a piece is its number
    Some((all, nanos(of("_time")?.1)?, of("text")?.1.to_owned()))
}

/// Nanoseconds of a moment in the first second of 1970.
fn nanos(date: &str) -> Option<usize> {
    let rest = date.strip_prefix("1970-01-01T00:00:00")?.strip_suffix('Z')?;
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    format!("{digits:0<9}").parse().ok()
}

/// What a bucket says of its profile; `None` when writing it was not finished.
pub(super) fn mark(client: &Client, bucket: &str) -> anyhow::Result<Option<Carried>> {
    let mut pieces: BTreeMap<usize, String> = BTreeMap::new();
    let mut wanted = None;
    flux::rows(client.query(&flux::question(bucket, MARK, None))?, |row| {
        let (all, at, text) = piece(row).with_context(|| format!("{MARK} is damaged"))?;
        wanted = Some(all);
        pieces.insert(at, text);
        Ok(())
    })?;
    if wanted != Some(pieces.len()) {
        return Ok(None);
    }
    let text: String = pieces.into_values().collect();
    serde_json::from_str(&text).map(Some).with_context(|| format!("{MARK} is damaged"))
}

fn whole(client: &Client, bucket: &str) -> anyhow::Result<Carried> {
    let known = client.bucket(bucket)?;
    ensure!(known.is_some(), "there is no bucket {bucket:?}; name one with --db-bucket");
    let again = "it was not written to its end, or is not of neuron-profile; write it again with \
                 --force";
    mark(client, bucket)?.with_context(|| format!("bucket {bucket:?}: {again}"))
}

/// Fetches a profile into the store; gives its id.
///
/// # Errors
///
/// No such bucket, one that is not whole; what the database says; a disk that
/// cannot be written.
pub(crate) fn fetch(
    client: &Client,
    store: &Store,
    bucket: &str,
    force: bool,
) -> anyhow::Result<String> {
    let carried = whole(client, bucket)?;
    let id = carried.manifest.id.clone();
    let draft = match store.begin(&id, force) {
        Ok(draft) => draft,
        Err(Error::Exists(_)) => {
            let note = String::from("note: stored already; --force fetches it again");
            output::tell(bucket, [note]);
            return Ok(id);
        }
        Err(error) => return Err(error.into()),
    };
    let rows: u64 = carried.tables.iter().flat_map(|table| &table.parts).sum();
    let bar = output::progress("from the database", rows, false);
    let mut restore = Restore::new(draft, carried.clone())?;
    for table in &carried.tables {
        for (at, rows) in table.parts.iter().enumerate() {
            let mut part = Part::new(&table.table, usize::try_from(*rows)?);
            let question = flux::question(bucket, &table.table.name, Some(at));
            let columns = flux::rows(client.query(&question)?, |row| part.row(row))
                .and_then(|()| part.finish())
                .with_context(|| format!("bucket {bucket:?}, {}", table.table.name))?;
            restore.part(&table.table.name, &columns)?;
            bar.inc(*rows);
        }
    }
    bar.finish_and_clear();
    restore.finish()?;
    Ok(id)
}

/// Id and metrics of a profile, in the order of its table.
///
/// # Errors
///
/// As [`fetch`]; a system profile, which has none.
pub(crate) fn metrics(
    client: &Client,
    bucket: &str,
) -> anyhow::Result<(String, Vec<(String, Value)>)> {
    use profile_store::encode::Cells;
    let carried = whole(client, bucket)?;
    let Some(of) = carried.tables.iter().find(|table| table.table.name == "Summary") else {
        bail!("bucket {bucket:?}: a system profile has no metrics");
    };
    let mut part = Part::new(&of.table, 1);
    let question = flux::question(bucket, "Summary", Some(0));
    flux::rows(client.query(&question)?, |row| part.row(row))?;
    let columns = part.finish().with_context(|| format!("bucket {bucket:?}, Summary"))?;
    let mut all = Vec::new();
    for (column, cells) in of.table.columns.iter().zip(columns) {
        let value = match cells {
            Cells::Longs(list) => {
                let count = list.first().copied().flatten();
                count.and_then(|count| u64::try_from(count).ok()).map(Value::Count)
            }
            Cells::Reals(list) => list.first().copied().flatten().map(Value::Real),
            Cells::Texts(list) => list.into_iter().next().flatten().map(Value::Text),
            Cells::Flags(_) => None,
        };
        if let Some(value) = value {
            all.push((column.name.clone(), value));
        }
    }
    Ok((carried.manifest.id, all))
}

#[cfg(test)]
mod tests {
    use super::nanos;

    #[test]
    fn numbers_of_pieces() {
        assert_eq!(nanos("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(nanos("1970-01-01T00:00:00.000000012Z"), Some(12));
        assert_eq!(nanos("1970-01-01T00:00:00.00001Z"), Some(10_000));
        assert_eq!(nanos("1971-01-01T00:00:00Z"), None);
    }
}
