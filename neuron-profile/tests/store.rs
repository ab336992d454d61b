//! The stored profiles as a user meets them: ingest, list, tag, delete, and
//! what a kill, a second ingest and a full disk leave.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/python.rs"]
mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use profile_store::Store;
use serde_json::Value;

const CAPTURES: [&str; 4] =
    ["attn-base-bf16-512", "attn-fused-bf16-512", "attn-fused-fp32-512", "attn-fused-fp32-1024"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn tool(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(args).env("NEURON_PROFILE_DATA", data).stdin(Stdio::null());
    command
}

fn view(data: &Path, capture: &str, more: &[&str]) -> Command {
    let mut command = tool(data, &["view", "--ingest-only"]);
    command.arg("-n").arg(fixture(&format!("{capture}.neff")));
    command.arg("-s").arg(fixture(&format!("{capture}.ntff"))).args(more);
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Stores a capture; its id.
fn ingest(data: &Path, capture: &str, more: &[&str]) -> String {
    let output = view(data, capture, more).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    id(&output)
}

/// The id in the exact words of the vendor's tool.
fn id(output: &Output) -> String {
    let line = text(&output.stdout);
    let id = line.strip_prefix("Profile \"").and_then(|l| l.strip_suffix("\" is ready to view\n"));
    let id = id.unwrap_or_else(|| panic!("{line:?}"));
    assert!(profile_store::disk::is_id(id), "{id}");
    id.to_owned()
}

fn list(data: &Path) -> Vec<Value> {
    let output = tool(data, &["list", "--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Each table of each profile can be read whole, and has as many rows as its
/// manifest says.
fn whole(data: &Path) -> usize {
    let store = Store::new(data);
    let (list, bad) = store.list().unwrap();
    assert!(bad.is_empty(), "{bad:?}");
    for entry in &list {
        let profile = store.open(&entry.manifest.id).unwrap();
        for (name, table) in &profile.manifest().tables {
            let batches = profile.batches(name).unwrap();
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows as u64, table.rows, "{name}");
        }
        let lanes: u64 = profile.lanes().iter().map(|lane| lane.rows).sum();
        assert_eq!(lanes, profile.manifest().events);
    }
    list.len()
}

#[test]
fn listed_tagged_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    assert_eq!(list(data), Vec::<Value>::new());
    let one = ingest(data, CAPTURES[0], &["--display-name", "first", "--tag", "b", "--tag", "a"]);
    let two = ingest(data, CAPTURES[2], &[]);
    assert_ne!(one, two);
    // The same files are the same profile, which is not made again.
    let before = std::fs::metadata(data.join("profiles").join(&two).join("tiles")).unwrap();
    assert_eq!(ingest(data, CAPTURES[2], &[]), two);
    let after = std::fs::metadata(data.join("profiles").join(&two).join("tiles")).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(ingest(data, CAPTURES[2], &["--force"]), two);
    let forced = std::fs::metadata(data.join("profiles").join(&two).join("tiles")).unwrap();
    assert_ne!(before.modified().unwrap(), forced.modified().unwrap());
    let all = list(data);
    assert_eq!(all.iter().map(|row| row["id"].as_str().unwrap()).collect::<Vec<_>>(), [&two, &one]);
    assert_eq!((&all[1]["display_name"], &all[1]["tags"]), (&"first".into(), &["a", "b"].into()));
    assert_eq!(all[0]["display_name"], CAPTURES[2]);

    let tagged = tool(data, &["tag", "first", "c", "--remove", "a", "--display-name", "last"]);
    assert!({ tagged }.status().unwrap().success());
    let output = tool(data, &["list", "--tag", "c", "--tag", "b"]).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("last") && shown.contains("b, c") && !shown.contains(&two), "{shown}");

    let gone = tool(data, &["delete", "last"]).output().unwrap();
    assert_eq!(text(&gone.stdout), format!("Profile \"{one}\" is deleted\n"));
    assert_eq!(list(data).len(), 1);
    let again = tool(data, &["delete", "last"]).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("no profile \"last\""), "{}", text(&again.stderr));
}

/// The four captures with an export: Parquet read by pyarrow and by DuckDB is
/// what `--output-format json` says, which the test `oracle` holds against the
/// vendor's own export.
#[test]
fn tables_equal_the_export() {
    let packages = ["pyarrow==26.0.1", "duckdb==2.0.0"];
    let Some(folder) = python::packages(&packages, "import pyarrow, duckdb") else { return };
    let dir = tempfile::tempdir().unwrap();
    for capture in CAPTURES {
        let id = ingest(dir.path(), capture, &[]);
        let json = dir.path().join("export.json");
        let mut export = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
        export.args(["view", "--output-format", "json", "--output-file"]).arg(&json);
        export.arg("-n").arg(fixture(&format!("{capture}.neff")));
        export.arg("-s").arg(fixture(&format!("{capture}.ntff")));
        assert!(export.output().unwrap().status.success());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/parquet_equal.py");
        let mut compare = Command::new("python3");
        compare.env("PYTHONPATH", &folder).arg(script);
        compare.arg(dir.path().join("profiles").join(&id)).arg(&json);
        let output = compare.output().unwrap();
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        // Thirteen tables, two orders, and the schema.
        assert!(text(&output.stdout).lines().count() >= 16, "{}", text(&output.stdout));
    }
}

/// However an ingest is killed: nothing half is visible, what was stored stays,
/// and a rerun completes and clears what was left.
#[test]
fn killed_at_any_moment() {
    const CAPTURE: &str = "moe-dge";
    let kills: u32 = std::env::var("NEURON_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let other = ingest(data, CAPTURES[2], &[]);
    let begin = Instant::now();
    let id = ingest(data, CAPTURE, &[]);
    let took = begin.elapsed();
    let (mut killed, mut left, mut seed) = (0, 0, 12_345_u64);
    for round in 0..kills {
        // Half of them into an empty place, half replace what is there.
        let replace = round % 2 == 1;
        if !replace && list(data).len() == 2 {
            assert!(tool(data, &["delete", &id]).status().unwrap().success());
        }
        let present = list(data).len() == 2;
        let mut child = view(data, CAPTURE, &["--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = f64::from(u32::try_from(seed >> 33).unwrap()) / f64::from(1_u32 << 31);
        std::thread::sleep(Duration::from_secs_f64(took.as_secs_f64() * share));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += u32::from(!ended);
        left += u32::from(data.join("profiles").join(format!(".new-{id}")).exists());
        let now = list(data);
        assert!(now.iter().any(|row| row["id"] == other.as_str()), "the other one is lost");
        assert!(!present || now.len() == 2, "a replacement lost what was there");
        assert_eq!(whole(data), now.len());
    }
    assert!(killed * 2 >= kills, "only {killed} of {kills} were killed in time");
    assert_eq!(ingest(data, CAPTURE, &["--force"]), id);
    assert_eq!(whole(data), 2);
    let names: Vec<_> = std::fs::read_dir(data.join("profiles"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    assert!(left > 0, "no kill hit an ingest that was writing");
}

/// What a killed ingest of another profile left is cleared too, but not what
/// one that is alive is writing.
#[test]
fn leftovers_are_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path());
    let (dead, alive) = (format!("n_{:040x}", 1), format!("n_{:040x}", 2));
    let profiles = dir.path().join("profiles");
    std::fs::create_dir_all(profiles.join(format!(".new-{dead}"))).unwrap();
    std::fs::write(profiles.join(format!(".new-{dead}/tiles")), b"half").unwrap();
    let draft = store.begin(&alive, false).unwrap();
    let writing = draft.dir().to_owned();
    assert!(!profiles.join(format!(".new-{dead}")).exists());
    let id = ingest(dir.path(), CAPTURES[2], &[]);
    assert!(writing.exists(), "a live ingest was cleared");
    drop(draft);
    assert!(!writing.exists());
    assert_eq!(list(dir.path()).len(), 1);
    // Killed between the two renames where names cannot be exchanged.
    std::fs::rename(profiles.join(&id), profiles.join(format!(".old-{id}"))).unwrap();
    assert_eq!(list(dir.path()).len(), 0);
    ingest(dir.path(), CAPTURES[1], &[]);
    assert_eq!(whole(dir.path()), 2);
}

#[test]
fn two_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--force"]] {
        let spawn = || {
            let mut child = view(dir.path(), CAPTURES[0], more);
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let (one, two, three) = (spawn(), spawn(), spawn());
        let ids: Vec<String> = [one, two, three]
            .into_iter()
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{}", text(&output.stderr));
                id(&output)
            })
            .collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(whole(dir.path()), 1);
    }
}

/// A file system that takes no more: one line, nothing visible, nothing left.
#[test]
fn a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let other = ingest(data, CAPTURES[2], &[]);
    for limit in [0, 3_000, 20_000, 60_000] {
        // A limit on the size of files, with its signal off, fails writes as a
        // full disk does.
        let tool = view(data, CAPTURES[0], &[]);
        let mut limited = Command::new("sh");
        let script = format!("trap '' XFSZ; exec prlimit --fsize={limit} -- \"$@\"");
        limited.args(["-c", &script, "sh"]).arg(tool.get_program()).args(tool.get_args());
        let output = limited.env("NEURON_PROFILE_DATA", data).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{limit}: {told}");
        assert_eq!(told.lines().count(), 1, "{limit}: {told}");
        assert!(told.contains("file too large; free some space"), "{limit}: {told}");
        let names: Vec<_> = std::fs::read_dir(data.join("profiles"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, [other.as_str()], "{limit}");
        assert_eq!(whole(data), 1);
    }
    ingest(data, CAPTURES[0], &[]);
    assert_eq!(whole(data), 2);
}
