//! InfluxDB: profiles written to it and read back, and what happens when it is
//! not as it should be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(unreachable_pub, reason = "modules of a test")]

mod front;
mod http;
mod influx1;
mod lines;
mod real;
mod secured;
#[path = "../support/stored.rs"]
mod stored;
mod troubles;
mod victoria;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use front::{Front, Keeper, ORG, TOKEN};
use profile_store::{Profile, Store};
use stored::{fixture, text, tool};

pub(crate) const CAPTURE: &str = "attn-fused-fp32-512";

/// Where a database is.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) org: String,
    pub(crate) token: String,
}

impl Place {
    pub(crate) fn of(front: &Front) -> Self {
        Self { url: front.url(), org: ORG.to_owned(), token: TOKEN.to_owned() }
    }

    /// The tool with this database.
    pub(crate) fn tool(&self, data: &Path, args: &[&str]) -> Command {
        let mut command = tool(data, args);
        command.env("INFLUX_TOKEN", &self.token).env_remove("INFLUX_ORG").env_remove("INFLUX_HOST");
        command.args(["--db-endpoint", &self.url, "--db-org", &self.org]);
        command
    }

    pub(crate) fn run(&self, data: &Path, args: &[&str]) -> (Option<i32>, String, String) {
        ended(&self.tool(data, args).output().unwrap())
    }
}

pub(crate) fn ended(output: &Output) -> (Option<i32>, String, String) {
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn pair() -> [String; 4] {
    let file = |end: &str| fixture(&format!("{CAPTURE}.{end}")).display().to_string();
    ["-n".into(), file("neff"), "-s".into(), file("ntff")]
}

/// Stores a capture and its copy; gives the id.
pub(crate) fn upload(place: &Place, data: &Path, more: &[&str]) -> String {
    let pair = pair();
    let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
    let (code, out, err) = place.run(data, &[&["view", "--ingest-only"], &pair[..], more].concat());
    assert_eq!(code, Some(0), "{err}");
    out.trim()
        .strip_prefix("Profile \"")
        .unwrap()
        .strip_suffix("\" is ready to view")
        .unwrap()
        .into()
}

fn opened(data: &Path, id: &str) -> Profile {
    Store::new(data).open(id).unwrap()
}

/// Every row of every table, every column of every viewport, every series.
pub(crate) fn same(one: &Profile, other: &Profile) {
    let (own, its) = (one.manifest(), other.manifest());
    let rows = |manifest: &profile_store::Manifest| -> Vec<(String, u64)> {
        manifest.tables.iter().map(|(name, table)| (name.clone(), table.rows)).collect()
    };
    assert_eq!(rows(own), rows(its));
    assert_eq!((&own.notes, &own.absent, own.total_ns), (&its.notes, &its.absent, its.total_ns));
    assert_eq!(one.labels(), other.labels());
    for name in own.tables.keys() {
        let all = |profile: &Profile| -> Vec<_> {
            let batches = profile.batches(name).unwrap();
            batches
                .flat_map(|batch| profile_store::read::objects(&batch.unwrap()).collect::<Vec<_>>())
                .collect()
        };
        let (left, right): (Vec<_>, Vec<_>) = (all(one), all(other));
        for (at, (left, right)) in left.iter().zip(&right).enumerate() {
            assert_eq!(left, right, "{name} {at}");
        }
        assert_eq!(left.len(), right.len(), "{name}");
        use profile_store::read::RecordBatchReader as _;
        assert_eq!(one.batches(name).unwrap().schema(), other.batches(name).unwrap().schema());
    }
    assert_eq!(one.names(), other.names());
    assert_eq!(one.kinds(), other.kinds());
    assert_eq!(one.lanes().len(), other.lanes().len());
    let total = own.total_ns.max(1);
    for (from, to) in [(0, total), (total / 3, total / 2)] {
        let view = |profile: &Profile| {
            let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
            format!("{:?}", profile.viewport(from, to, 200, &lanes).unwrap())
        };
        assert_eq!(view(one), view(other));
    }
    let series = |profile: &Profile| serde_json::to_value(profile.series()).unwrap();
    assert_eq!(series(one), series(other));
}

/// Writes, lists, reads back into another store, reads metrics, deletes.
pub(crate) fn round_trip(place: &Place) {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = upload(place, data.path(), &["--tag", "a b", "--force"]);
    let (code, out, err) = place.run(data.path(), &["list", "--db-bucket", &id]);
    assert_eq!((code, out.trim(), err.as_str()), (Some(0), id.as_str(), ""));
    // there already
    let pair = pair();
    let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
    let (code, _, err) = place.run(data.path(), &[&["view", "--ingest-only"], &pair[..]].concat());
    assert_eq!(code, Some(0));
    assert!(err.contains("in the database already"), "{err}");

    let args = ["view", "--ingest-only", "--db-bucket", &id];
    let (code, out, err) = place.run(other.path(), &args);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, format!("Profile \"{id}\" is ready to view\n"));
    same(&opened(data.path(), &id), &opened(other.path(), &id));

    // metrics without a store are those of the files
    for format in ["summary-json", "summary-text"] {
        let nowhere = Path::new("/nonexistent");
        let args = ["view", "--db-bucket", &id, "--output-format", format];
        let (code, of_database, err) = place.run(nowhere, &args);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let args = [&["view"], &pair[..], &["--output-format", format]].concat();
        let of_files = text(&tool(nowhere, &args).output().unwrap().stdout);
        if format == "summary-json" {
            let parsed = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
            let mut kept = parsed(&of_database);
            // the store counts the rows that it has
            kept[&id].as_object_mut().unwrap().remove("total_row_count");
            let mut read = parsed(&of_files);
            read[&id].as_object_mut().unwrap().remove("total_row_count");
            assert_eq!(kept, read);
        } else {
            let lines = |text: &str| -> Vec<Vec<String>> {
                let all = text.lines().filter(|line| !line.starts_with("total_row_count"));
                all.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
            };
            assert_eq!(lines(&of_database), lines(&of_files));
        }
    }
    let (code, out, _) = place.run(data.path(), &["delete", &id]);
    assert_eq!((code, out), (Some(0), format!("Bucket \"{id}\" is deleted\n")));
    let (code, _, err) = place.run(data.path(), &["delete", &id]);
    assert_eq!(code, Some(1));
    assert!(err.contains("there is no bucket"), "{err}");
    // the store keeps its own
    assert_eq!(opened(data.path(), &id).manifest().id, id);
}

/// An inspect run with its device trace.
pub(crate) fn system_round_trip(place: &Place) {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder: PathBuf = fixture("inspect");
    let args = ["view", "--ingest-only", "--force", "-d", folder.to_str().unwrap()];
    let (code, out, err) = place.run(data.path(), &args);
    assert!(code == Some(0) || code == Some(3), "{err}");
    let ids: Vec<&str> = out
        .lines()
        .map(|line| line.strip_prefix("Profile \"").unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(ids.len(), 2);
    for id in ids {
        let args = ["view", "--ingest-only", "--db-bucket", id];
        let (code, _, err) = place.run(other.path(), &args);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        same(&opened(data.path(), id), &opened(other.path(), id));
        assert_eq!(place.run(data.path(), &["delete", id]).0, Some(0));
    }
}

#[test]
fn a_profile_comes_back_as_it_was() {
    round_trip(&Place::of(&Front::start(Keeper::Memory)));
}

#[test]
fn a_run_comes_back_as_it_was() {
    system_round_trip(&Place::of(&Front::start(Keeper::Memory)));
}

/// A real engine under the lines: its types, its escapes, its rule that a point
/// which comes twice is one.
#[test]
fn an_influxdb_keeps_every_row() {
    if !neuron_tests::require("influxd") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = influx1::server(dir.path());
    let front = Front::start(Keeper::Influx1(server.port));
    round_trip(&Place::of(&front));
    system_round_trip(&Place::of(&front));
    // all that was written twice is there once
    front.state().troubles.extend([front::Trouble::Dropped, front::Trouble::Dropped]);
    round_trip(&Place::of(&front));
}
