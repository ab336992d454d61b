//! InfluxDB 2.x, when it is asked for: a stored profile into a bucket of its
//! own, and back from there.
//!
//! The store stays what profiles are made in and shown from; the database has
//! the same tables as points, for dashboards and for other machines. A bucket
//! holds one profile and has its id as its name (`n_` and 40 hex digits,
//! profiler.md §1.3), unless it is named otherwise.
//!
//! # Points
//!
//! * A measurement for each table, with the names of the public schema
//!   (profiler.md §2.2). Times of a device profile are nanoseconds from the start
//!   of the execution, which the database shows as 1970; those of a system
//!   profile are those of the clock on the wall. Rows without a time have their
//!   number in its place.
//! * Tags are the columns by which people group ([`points::TAGS`]), and two of
//!   ours: `part`, the row group in the store, and `seq`, which tells rows apart
//!   that have all tags and the time in common.
//! * Fields are the other columns, and `row`, the place in the part. Null is no
//!   field; the suffixes `~1`, `~empty` and `~real` carry what a field cannot
//!   hold (see [`points`]).
//! * The measurement `NeuronProfile` comes last and has what rows do not say
//!   ([`profile_store::Carried`]): a bucket without it was not finished.

mod bucket;
mod client;
mod fetch;
mod flux;
mod line;
mod patience;
mod points;
mod receive;
mod tls;
mod token;
mod upload;

use anyhow::Context as _;
use neuron_core::model::printable;
use profile_store::Store;

pub(crate) use bucket::Bucket;
pub(crate) use client::Client;
pub(crate) use fetch::{fetch, metrics};
pub(crate) use upload::upload;

/// Where the originals look for it.
const ENDPOINT: &str = "http://localhost:8086";

/// The measurement that says a bucket is whole.
const MARK: &str = "NeuronProfile";

/// The database, when one is used. The token is that of `INFLUX_TOKEN`, else
/// what `influx auth list` gives.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "InfluxDB 2.x")]
pub struct Database {
    /// Its URL [default: $INFLUX_HOST, else http://localhost:8086]; the token is
    /// $INFLUX_TOKEN, else that of the influx client
    #[arg(long, value_name = "URL")]
    db_endpoint: Option<String>,

    /// Its organisation [default: $INFLUX_ORG, else the only one]
    #[arg(long, value_name = "NAME")]
    db_org: Option<String>,

    /// The bucket of the profile; its id if left out
    #[arg(long, value_name = "NAME")]
    db_bucket: Option<String>,
}

/// A variable of the environment, if it says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

impl Database {
    /// Whether any flag asks for it.
    pub(crate) fn is_asked(&self) -> bool {
        self.db_endpoint.is_some() || self.db_org.is_some() || self.db_bucket.is_some()
    }

    /// The bucket that is named.
    pub(crate) fn bucket(&self) -> Option<&str> {
        self.db_bucket.as_deref()
    }

    /// Opens it: token, organisation.
    ///
    /// # Errors
    ///
    /// No token, nobody who answers, a token that is refused, no such
    /// organisation; with the way out.
    pub(crate) fn open(&self) -> anyhow::Result<Client> {
        let endpoint = self.db_endpoint.clone().or_else(|| variable("INFLUX_HOST"));
        let endpoint = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
        let token = token::find(&|name| variable(name))?;
        let org = self.db_org.clone().or_else(|| variable("INFLUX_ORG"));
        Ok(Client::open(&endpoint, token, org.as_deref())?)
    }

    /// Stores a copy of a profile in the database.
    ///
    /// # Errors
    ///
    /// What the database says; a bucket that is not of a profile.
    pub(crate) fn copy(&self, store: &Store, id: &str, force: bool) -> anyhow::Result<()> {
        let client = self.open()?;
        let profile = store.open(id)?;
        let name = self.bucket().unwrap_or(id);
        let line = upload(&client, &profile, name, force)
            .with_context(|| format!("InfluxDB at {}", client.endpoint()))?;
        crate::output::tell(name, [line]);
        Ok(())
    }

    /// The profiles of the database that a store lacks, as lines for people.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(crate) fn others(&self, store: &Store) -> anyhow::Result<Vec<String>> {
        let client = self.open()?;
        let (known, _) = store.list()?;
        let all = client.buckets()?;
        let fresh = all.iter().filter(|bucket| bucket.is_ours());
        let fresh = fresh.filter(|bucket| !known.iter().any(|e| e.manifest.id == bucket.name));
        let line = |bucket: &Bucket| {
            let name = printable(&bucket.name);
            format!("note: {name} is in the database alone; --db-bucket {name} fetches it")
        };
        Ok(fresh.map(line).collect())
    }
}
