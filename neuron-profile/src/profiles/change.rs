//! `neuron-profile delete` and `neuron-profile tag`.

use std::io::Write;

use anyhow::bail;

use super::Place;
use crate::influx::Database;
use crate::output::{self, Exit};
use crate::sources::Sources;

/// Delete stored profiles
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct DeleteArgs {
    /// Id, the begin of one, or a display name; of InfluxDB, the bucket
    #[arg(required_unless_present = "db_bucket", value_name = "PROFILE")]
    profiles: Vec<String>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    database: Database,
}

/// Name and tag a stored profile
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct TagArgs {
    /// Id, the begin of one, or a display name
    #[arg(value_name = "PROFILE")]
    profile: String,

    /// Tags to add
    #[arg(value_name = "TAG")]
    add: Vec<String>,

    /// Tag to take away; may be given more than once
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,

    /// New display name
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,

    #[command(flatten)]
    place: Place,
}

/// Deletes buckets of the database; the store keeps what it has.
fn buckets(args: &DeleteArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let client = args.database.open()?;
    let named = args.database.bucket().map(str::to_owned);
    for name in args.profiles.iter().cloned().chain(named) {
        let Some(bucket) = client.bucket(&name)? else {
            bail!("there is no bucket {name:?} at {}", client.endpoint());
        };
        if !bucket.is_ours() {
            bail!("bucket {name:?} was not made by neuron-profile; it stays");
        }
        client.delete(&bucket)?;
        writeln!(out, "Bucket {name:?} is deleted")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Runs `delete`: all that are named, also when one of them fails.
///
/// # Errors
///
/// The last failure.
pub fn run_delete(args: &DeleteArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.database.is_asked() {
        return buckets(args, out);
    }
    let store = args.place.store()?;
    let mut failed = None;
    for profile in &args.profiles {
        match store.delete(profile) {
            Ok(id) => {
                // They name files of the profile alone.
                Sources::of(store.root(), &id).forget()?;
                writeln!(out, "Profile \"{id}\" is deleted")?;
            }
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    output::tell("delete", [before.to_string()]);
                }
            }
        }
    }
    out.flush()?;
    failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

/// Runs `tag`: without a change, it tells name and tags.
///
/// # Errors
///
/// No such profile, or a store that cannot be written.
pub fn run_tag(args: &TagArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = args.place.store()?;
    let changes = !args.add.is_empty() || !args.remove.is_empty() || args.display_name.is_some();
    let entry = if changes {
        store.label(&args.profile, |labels| {
            labels.tags.extend(args.add.iter().cloned());
            labels.tags.retain(|tag| !args.remove.contains(tag));
            if let Some(name) = &args.display_name {
                labels.display_name.clone_from(name);
            }
        })?
    } else {
        store.entry(&store.find(&args.profile)?)?
    };
    let (id, labels) = (&entry.manifest.id, &entry.labels);
    writeln!(out, "{id}  {}  {}", labels.display_name, labels.tags.join(", "))?;
    out.flush()?;
    Ok(Exit::Done)
}
