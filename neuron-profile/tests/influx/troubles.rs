//! A database that is slow, full, away or somebody else's.

use std::path::Path;
use std::process::Command;

use crate::front::{Front, Keeper, Trouble};
use crate::stored::tool;
use crate::{CAPTURE, Place, ended, opened, pair, same, upload};

fn view(data: &Path, more: &[&str]) -> Command {
    let pair = pair();
    let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
    tool(data, &[&["view", "--ingest-only"], &pair[..], more].concat())
}

/// One line on stderr, nothing on stdout, exit 1.
fn told(command: &mut Command) -> String {
    let (code, out, err) = ended(&command.output().unwrap());
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    err
}

#[test]
fn it_is_tried_again_until_it_goes() {
    let front = Front::start(Keeper::Memory);
    let place = Place::of(&front);
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    front.state().troubles.extend([
        Trouble::Refused(429, Some(0), "too many requests", "org 1 has exceeded limited_write"),
        Trouble::Dropped,
        Trouble::Refused(503, Some(0), "unavailable", "service unavailable"),
        Trouble::Cut,
        Trouble::Refused(500, None, "internal error", "engine is closed"),
    ]);
    let id = upload(&place, data.path(), &[]);
    let (writes, left) = {
        let state = front.state();
        (state.writes.clone(), state.troubles.len())
    };
    assert_eq!(left, 0);
    assert!(writes.iter().all(|lines| *lines <= 5000), "{writes:?}");
    let rows: u64 =
        opened(data.path(), &id).manifest().tables.values().map(|table| table.rows).sum();
    // one batch came twice, and the mark is one line or more
    let sent: usize = writes.iter().sum();
    assert!(u64::try_from(sent).unwrap() > rows, "{sent} {rows}");
    let (code, _, err) = place.run(other.path(), &["view", "--ingest-only", "--db-bucket", &id]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    same(&opened(data.path(), &id), &opened(other.path(), &id));
}

#[test]
fn what_will_not_go_is_told_with_the_way_out() {
    let data = tempfile::tempdir().unwrap();
    for (trouble, words) in [
        (
            Trouble::Refused(500, None, "internal error", "open /x/MANIFEST: too many open files"),
            ["MANIFEST: too many open files", "1048576", "fs.file-max", "vm.max_map_count"],
        ),
        (
            Trouble::Refused(400, None, "invalid", "partial write: field type conflict dropped=3"),
            ["write: 400", "partial write", "dropped=3", "InfluxDB at http"],
        ),
        (
            Trouble::Refused(404, None, "not found", "bucket \"x\" not found"),
            ["write: 404", "bucket", "not found", "InfluxDB at http"],
        ),
        (
            Trouble::Refused(401, None, "unauthorized", "unauthorized access"),
            ["influxdb token not setup correctly", "401", "INFLUX_TOKEN", "influx auth create"],
        ),
    ] {
        let front = Front::start(Keeper::Memory);
        let place = Place::of(&front);
        front.state().troubles.push_back(trouble);
        let pair = pair();
        let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
        let (code, out, err) =
            place.run(data.path(), &[&["view", "--ingest-only"], &pair[..]].concat());
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        let last = err.lines().last().unwrap();
        assert!(words.iter().all(|word| last.contains(word)), "{last}");
        // what is there is not taken for a whole profile
        let id = profile_store::Store::new(data.path()).list().unwrap().0[0].manifest.id.clone();
        let (code, _, err) = place.run(data.path(), &["view", "--ingest-only", "--db-bucket", &id]);
        assert_eq!(code, Some(1));
        assert!(err.contains("not written to its end"), "{err}");
        // and the next try writes it anew
        assert_eq!(upload(&place, data.path(), &[]), id);
        assert_eq!(
            place.run(data.path(), &["view", "--ingest-only", "--db-bucket", &id]).0,
            Some(0)
        );
    }
}

#[test]
fn a_token_is_looked_for_where_the_originals_do() {
    let front = Front::start(Keeper::Memory);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let url = front.url();
    let with_path = |path: &Path| {
        let mut command = view(&data, &["--db-endpoint", &url]);
        command.env("PATH", path).env_remove("INFLUX_TOKEN").env_remove("INFLUX_ORG");
        command
    };
    // stored once, so that only the database is left to fail
    assert!(view(&data, &[]).status().unwrap().success());
    let last = |command: &mut Command| {
        let (code, _, err) = ended(&command.output().unwrap());
        assert_eq!(code, Some(1), "{err}");
        err.lines().last().unwrap().to_owned()
    };
    let text = last(&mut with_path(&bin));
    let wanted =
        "influxdb not setup correctly: exec: \"influx\": executable file not found in $PATH";
    assert!(text.contains(wanted), "{text}");
    assert!(text.contains("https://portal.influxdata.com/downloads/"), "{text}");

    let script = |body: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = bin.join("influx");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("exit 1");
    let text = last(&mut with_path(&bin));
    assert!(text.contains("influxdb token not setup correctly: exit status 1"), "{text}");
    assert!(text.contains("\"systemctl start influxdb\" and \"influx setup\""), "{text}");

    script("echo '[{\"token\":\"my-token==\",\"status\":\"active\"}]'");
    let (code, _, err) = ended(&with_path(&bin).output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(front.state().buckets.len(), 1);

    let text = last(with_path(&bin).env("INFLUX_TOKEN", "wrong"));
    assert!(text.contains("influxdb token not setup correctly: 401 unauthorized access"), "{text}");
}

#[test]
fn organisations_and_addresses() {
    let front = Front::start(Keeper::Memory);
    let data = tempfile::tempdir().unwrap();
    let url = front.url();
    let list = |args: &[&str]| {
        let mut command = tool(data.path(), &[&["list"], args].concat());
        command
            .env("INFLUX_TOKEN", crate::TOKEN)
            .env_remove("INFLUX_ORG")
            .env_remove("INFLUX_HOST");
        command
    };
    // the only one is taken
    assert!(list(&["--db-endpoint", &url]).status().unwrap().success());
    let text = told(&mut list(&["--db-endpoint", &url, "--db-org", "none"]));
    assert!(text.contains("organisation \"none\" is not in the database"), "{text}");
    front.state().orgs.push("another".to_owned());
    let text = told(&mut list(&["--db-endpoint", &url]));
    assert!(text.contains("my org, another; name one with --db-org"), "{text}");
    assert!(
        list(&["--db-endpoint", &url]).env("INFLUX_ORG", "another").status().unwrap().success()
    );
    front.state().orgs.clear();
    let text = told(&mut list(&["--db-endpoint", &url]));
    assert!(text.contains("sees no organisation"), "{text}");

    let text = told(&mut list(&["--db-endpoint", "ftp://localhost:8086"]));
    assert!(text.contains("give http://HOST:PORT or https://HOST:PORT"), "{text}");
    let nobody = format!("http://127.0.0.1:{}", crate::http::free_port());
    let text = told(&mut list(&["--db-endpoint", &nobody]));
    assert!(
        text.contains(&format!("cannot reach InfluxDB at {nobody}: connection refused")),
        "{text}"
    );
    assert!(text.contains("systemctl start influxdb"), "{text}");
}

#[test]
fn buckets_of_others_stay() {
    let front = Front::start(Keeper::Memory);
    let place = Place::of(&front);
    let data = tempfile::tempdir().unwrap();
    let own = serde_json::json!({ "id": "1", "name": "mine", "description": "my data" });
    front.state().buckets.insert("mine".to_owned(), own.clone());
    let pair = pair();
    let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
    let args = [&["view", "--ingest-only", "--force", "--db-bucket", "mine"], &pair[..]].concat();
    let (code, _, err) = place.run(data.path(), &args);
    assert_eq!(code, Some(1));
    assert!(err.contains("was not made by neuron-profile"), "{err}");
    let (code, _, err) = place.run(data.path(), &["delete", "mine"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("it stays"), "{err}");
    assert_eq!(front.state().buckets["mine"], own);
    assert_eq!(place.run(data.path(), &["list"]).1, "");
    // a name of one's own is as good as the id
    let args = [&["view", "--ingest-only", "--db-bucket", "shared one"], &pair[..]].concat();
    let (code, out, err) = place.run(data.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(place.run(data.path(), &["list"]).1, "shared one\n");
    let other = tempfile::tempdir().unwrap();
    let args = ["view", "--ingest-only", "--db-bucket", "shared one"];
    assert_eq!(place.run(other.path(), &args).1, out);
    assert_eq!(opened(other.path(), CAPTURE).labels().display_name, CAPTURE);
}

#[test]
fn what_is_asked_must_be_there() {
    let front = Front::start(Keeper::Memory);
    let place = Place::of(&front);
    let data = tempfile::tempdir().unwrap();
    let (code, _, err) = place.run(data.path(), &["view", "--ingest-only", "--db-bucket", "none"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("there is no bucket \"none\""), "{err}");
    let (code, _, err) = place.run(data.path(), &["view", "--ingest-only"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("--db-bucket NAME"), "{err}");
}
