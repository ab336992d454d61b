//! A stored profile into a bucket.
//!
//! One thread makes lines of rows; others pack and send them. A batch waits for
//! a sender, so a slow database slows the reading and no memory fills.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::ProgressBar;
use profile_store::Profile;

use super::MARK;
use super::client::{Client, Trouble};
use super::fetch::mark;
use super::line::{self, Field};
use super::patience::Patience;
use super::points::{Points, pieces};
use crate::output;

/// Lines of a batch: what the database's documentation advises.
const LINES: usize = 5000;

/// Bytes of a batch before it is packed, unless one line has more.
const BYTES: usize = 4 << 20;

/// Batches that are sent at the same time.
const SENDERS: usize = 2;

/// Lines on their way.
#[derive(Debug)]
struct Batch {
    lines: String,
    rows: u64,
}

/// Writes all tables of a profile into a bucket, made for it. Gives a line for
/// people.
///
/// # Errors
///
/// A bucket that is not ours; what the database says, where trying again does
/// not help.
pub(crate) fn upload(
    client: &Client,
    profile: &Profile,
    name: &str,
    force: bool,
) -> anyhow::Result<String> {
    if let Some(bucket) = client.bucket(name)? {
        if !bucket.is_ours() {
            bail!("bucket {name:?} was not made by neuron-profile; name another with --db-bucket");
        }
        if !force && mark(client, name)?.is_some_and(|of| of.manifest.id == profile.manifest().id) {
            return Ok("note: in the database already; --force writes it again".to_owned());
        }
        client.delete(&bucket)?;
    }
    client.make(name)?;
    let carried = profile.carried()?;
    let rows: u64 = carried.tables.iter().flat_map(|table| &table.parts).sum();
    let bar = output::progress("to the database", rows, false);
    let base = base(profile)?;
    let sent = send(client, name, &bar, |out| {
        for table in &carried.tables {
            let table = table.table.name.as_str();
            parts(profile, table, base, out).with_context(|| table.to_owned())?;
        }
        Ok(())
    });
    bar.finish_and_clear();
    let (written, batches) = sent?;
    // what makes it whole comes when all else is there
    let text = serde_json::to_string(&carried)?;
    let all = pieces(&text).count();
    for (at, piece) in pieces(&text).enumerate() {
        let mut lines = format!("{MARK} ");
        let mut first = true;
        line::field(&mut lines, &mut first, "of", Field::Long(i64::try_from(all)?));
        line::field(&mut lines, &mut first, "text", Field::Text(piece));
        lines.push_str(&format!(" {at}\n"));
        deliver(client, name, &packed(&lines)?)?;
    }
    Ok(format!("note: {written} rows are in the database, in {batches} batches"))
}

/// Nanoseconds since 1970 of the time 0 of a profile: those of a device have
/// none.
fn base(profile: &Profile) -> anyhow::Result<i64> {
    if !profile.manifest().system {
        return Ok(0);
    }
    let row = profile.row("SystemProfileMetadata", 0)?;
    let text = row.get("first_ts_ns").and_then(|value| value.as_str());
    let base = text.and_then(|text| text.parse().ok());
    base.context("SystemProfileMetadata does not say when the run began")
}

/// Where lines go.
struct Out<'s> {
    lines: String,
    rows: u64,
    send: &'s SyncSender<Batch>,
}

impl Out<'_> {
    fn flush(&mut self, lines: &mut String) -> anyhow::Result<()> {
        let batch = Batch { lines: std::mem::take(lines), rows: std::mem::take(&mut self.rows) };
        if batch.lines.is_empty() {
            return Ok(());
        }
        self.send.send(batch).map_err(|_| Stopped.into())
    }
}

/// Nobody takes lines any more, for a reason that is told elsewhere.
#[derive(Debug, thiserror::Error)]
#[error("sending has ended")]
struct Stopped;

/// The rows of a table, row group by row group.
fn parts(profile: &Profile, table: &str, base: i64, out: &mut Out<'_>) -> anyhow::Result<()> {
    let groups = profile.reader(table)?.metadata().num_row_groups();
    let mut lines = std::mem::take(&mut out.lines);
    for part in 0..groups {
        let reader = profile.reader(table)?.with_row_groups(vec![part]).with_batch_size(4096);
        let mut points = Points::new(table, part, base);
        for batch in reader.build()? {
            points.batch(&batch?, &mut lines, |lines| {
                out.rows += 1;
                let full = out.rows >= u64::try_from(LINES)? || lines.len() >= BYTES;
                if full { out.flush(lines) } else { Ok(()) }
            })?;
        }
    }
    out.lines = lines;
    Ok(())
}

/// Sends what `make` makes. Gives rows and batches.
fn send(
    client: &Client,
    bucket: &str,
    bar: &ProgressBar,
    make: impl FnOnce(&mut Out<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<(u64, u64)> {
    let (send, batches) = sync_channel::<Batch>(SENDERS);
    let batches = Mutex::new(Some(batches));
    std::thread::scope(|scope| {
        let sender = || {
            let done = work(client, bucket, bar, &batches);
            if done.is_err() {
                // the maker must not wait for room that nobody makes
                take(&batches, |batches| drop(batches.take()));
            }
            done
        };
        let senders: Vec<_> = (0..SENDERS).map(|_| scope.spawn(sender)).collect();
        let mut out = Out { lines: String::new(), rows: 0, send: &send };
        let made = make(&mut out).and_then(|()| {
            let mut lines = std::mem::take(&mut out.lines);
            out.flush(&mut lines)
        });
        drop(send);
        let mut sum = (0, 0);
        let mut failed = None;
        for sender in senders {
            match sender.join() {
                Ok(Ok((rows, batches))) => sum = (sum.0 + rows, sum.1 + batches),
                Ok(Err(error)) => failed = failed.or(Some(error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        match (failed, made) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(sum),
        }
    })
}

fn take<T>(
    batches: &Mutex<Option<Receiver<Batch>>>,
    with: impl FnOnce(&mut Option<Receiver<Batch>>) -> T,
) -> T {
    with(&mut batches.lock().unwrap_or_else(PoisonError::into_inner))
}

fn work(
    client: &Client,
    bucket: &str,
    bar: &ProgressBar,
    batches: &Mutex<Option<Receiver<Batch>>>,
) -> anyhow::Result<(u64, u64)> {
    let mut sum = (0, 0);
    while let Some(batch) =
        take(batches, |batches| batches.as_ref().and_then(|batches| batches.recv().ok()))
    {
        deliver(client, bucket, &packed(&batch.lines)?)?;
        bar.inc(batch.rows);
        sum = (sum.0 + batch.rows, sum.1 + 1);
    }
    Ok(sum)
}

fn packed(lines: &str) -> anyhow::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(lines.as_bytes())?;
    Ok(out.finish()?)
}

/// Sends a batch until it is taken, or trying again does not help.
fn deliver(client: &Client, bucket: &str, batch: &[u8]) -> Result<(), Trouble> {
    let mut patience = Patience::default();
    loop {
        let Err(trouble) = client.write(bucket, batch) else { return Ok(()) };
        match patience.after(&trouble) {
            Some(wait) => std::thread::sleep(wait),
            None => return Err(trouble),
        }
    }
}
