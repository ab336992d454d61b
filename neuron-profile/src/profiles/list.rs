//! `neuron-profile list`.

use std::io::Write;

use neuron_core::model::printable;
use serde_json::json;

use super::Place;
use crate::influx::{Bucket, Database};
use crate::output::{self, Exit, Format};

/// List the stored profiles, latest first
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct ListArgs {
    #[command(flatten)]
    place: Place,

    /// Only those with this tag; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    database: Database,
}

/// The buckets of profiles in the database.
fn buckets(args: &ListArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let client = args.database.open()?;
    let mut names: Vec<String> =
        client.buckets()?.into_iter().filter(Bucket::is_ours).map(|b| b.name).collect();
    names.retain(|name| args.database.bucket().is_none_or(|wanted| wanted == name));
    names.sort();
    match args.format {
        Format::Json => {
            let rows: Vec<_> = names.iter().map(|name| json!({ "bucket": name })).collect();
            output::json(out, &rows.into())?;
        }
        Format::Text => {
            for name in names {
                writeln!(out, "{}", printable(&name))?;
            }
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// Runs the command.
///
/// # Errors
///
/// A directory that cannot be read; with a flag of InfluxDB, what that says.
pub fn run_list(args: &ListArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.database.is_asked() {
        return buckets(args, out);
    }
    let store = args.place.store()?;
    let (mut list, bad) = store.list()?;
    list.retain(|entry| args.tags.iter().all(|tag| entry.labels.tags.contains(tag)));
    match args.format {
        Format::Json => {
            let rows: Vec<_> = list
                .iter()
                .map(|entry| {
                    json!({
                        "id": entry.manifest.id,
                        "display_name": entry.labels.display_name,
                        "tags": entry.labels.tags,
                        "events": entry.manifest.events,
                        "bytes": entry.manifest.bytes,
                        "total_time_ns": entry.manifest.total_ns,
                        "written_at_ns": entry.manifest.written_at_ns,
                        "neff": entry.manifest.neff,
                        "trace": entry.manifest.trace,
                        "simulated": entry.manifest.simulated,
                    })
                })
                .collect();
            output::json(out, &rows.into())?;
        }
        Format::Text => {
            let heads = ["ID", "NAME", "EVENTS", "TIME", "SIZE", "TAGS"].map(str::to_owned);
            let mut cells = vec![heads.to_vec()];
            cells.extend(list.iter().map(|entry| {
                let manifest = &entry.manifest;
                let simulated = if manifest.simulated { " (simulated)" } else { "" };
                vec![
                    manifest.id.clone(),
                    printable(&format!("{}{simulated}", entry.labels.display_name)),
                    manifest.events.to_string(),
                    format!("{:.3} ms", manifest.total_ns as f64 / 1e6),
                    format!("{:.1} MB", manifest.bytes as f64 / 1e6),
                    printable(&entry.labels.tags.join(", ")),
                ]
            }));
            output::table(out, "", &[0, 1, 5], &cells)?;
            out.flush()?;
        }
    }
    output::tell("profiles", bad.iter().map(ToString::to_string));
    Ok(if bad.is_empty() { Exit::Done } else { Exit::Partial })
}
