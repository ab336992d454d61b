//! Writes a run for TensorBoard: stored profiles, and the original's files made
//! of them. It appears as a whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use neuron_core::Error;
use neuron_core::cli::rfc3339;
use neuron_core::units::Timestamp;
use profile_store::{Profile, Timeline};

use super::ops::{Of, Ops};
use super::{host, operators, runs, trace};

/// The directory of a log directory in which runs are.
const RUNS: [&str; 2] = ["plugins", "neuron"];

/// `2022_10_14_19_22_51_016_<id>`: year to millisecond as the documents of the
/// original say, and what tells runs of one moment apart.
fn name(profile: &Profile) -> String {
    let manifest = profile.manifest();
    let time = rfc3339(Timestamp::from_unix_nanos(manifest.written_at_ns));
    let time: String = time
        .trim_end_matches('Z')
        .chars()
        .map(|letter| if letter.is_ascii_digit() { letter } else { '_' })
        .collect();
    let ms = manifest.written_at_ns / 1_000_000 % 1000;
    let id: String = manifest.id.chars().skip(2).take(16).collect();
    format!("{time}_{ms:03}_{id}")
}

/// Writes a run of profiles, with what was seen of the host if anything; gives
/// its directory. One of the same name is replaced.
///
/// # Errors
///
/// No profile, one that cannot be read, a disk that cannot be written.
pub fn write(
    logdir: &Path,
    profiles: &[Profile],
    seen: Option<&Timeline>,
) -> anyhow::Result<PathBuf> {
    let first = profiles.first().ok_or_else(|| anyhow::anyhow!("no profile to write"))?;
    let parent = RUNS.iter().fold(logdir.to_owned(), |path, part| path.join(part));
    fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
    let draft = tempfile::Builder::new().prefix(".new-").tempdir_in(&parent);
    let draft = draft.map_err(Error::io("create", &parent))?;
    fill(draft.path(), profiles, seen)?;
    // Others may read a log directory; a temporary directory is only for its owner.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(draft.path(), mode).map_err(Error::io("create", draft.path()))?;
    let run = parent.join(name(first));
    let told = || Error::io("create", &run);
    if run.exists() {
        let old = tempfile::Builder::new().prefix(".old-").tempdir_in(&parent).map_err(told())?;
        fs::rename(&run, old.path().join("run")).map_err(told())?;
    }
    fs::rename(draft.path(), &run).map_err(told())?;
    // It has its name now, and stays.
    let _ = draft.keep();
    sync(&parent)?;
    Ok(run)
}

fn sync(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io("write", dir))
}

fn fill(dir: &Path, profiles: &[Profile], seen: Option<&Timeline>) -> anyhow::Result<()> {
    let devices: Vec<&Profile> =
        profiles.iter().filter(|profile| !profile.manifest().system).collect();
    for profile in &devices {
        copy(profile, &dir.join("profiles").join(&profile.manifest().id))?;
    }
    let named = |file| runs::FILES.iter().find(|(known, _)| *known == file).map_or("", |(_, n)| n);
    if !devices.is_empty() {
        for (of, known) in [(Of::Framework, runs::File::Framework), (Of::Hlo, runs::File::Hlo)] {
            let tables = devices.iter().map(|profile| Ops::of(profile, of));
            let table = Ops::joined(tables.collect::<Result<Vec<_>, _>>()?);
            file(dir, named(known), |out| {
                serde_json::to_writer_pretty(&mut *out, &table)?;
                out.write_all(b"\n")
            })?;
        }
        let all = devices.iter().map(|profile| Ok((*profile, operators::timeline(profile)?)));
        let joined = joined(all.collect::<Result<Vec<_>, profile_store::Error>>()?);
        file(dir, named(runs::File::Operators), |out| trace::write(&joined, out))?;
    }
    let of_host = match (seen, profiles.iter().find(|profile| profile.manifest().system)) {
        (Some(seen), _) => Some(seen.clone()),
        (None, Some(profile)) => Some(host::timeline(profile)?),
        (None, None) => None,
    };
    if let Some(timeline) = of_host {
        file(dir, named(runs::File::Trace), |out| trace::write(&timeline, out))?;
    }
    Ok(sync(dir)?)
}

/// Timelines under each other; where there are several, their processes are
/// told apart by the names of the profiles.
fn joined(mut all: Vec<(&Profile, Timeline)>) -> Timeline {
    if let [(_, only)] = all.as_mut_slice() {
        return std::mem::take(only);
    }
    let mut out = Timeline::default();
    for (profile, timeline) in all {
        let base = u32::try_from(out.names.len()).unwrap_or(u32::MAX);
        out.names.extend(timeline.names);
        out.lanes.extend(timeline.lanes.into_iter().map(|mut lane| {
            lane.group = format!("{} {}", lane.group, profile.labels().display_name);
            for row in &mut lane.rows {
                row.name = row.name.saturating_add(base);
            }
            lane
        }));
    }
    out
}

fn file(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let path = dir.join(name);
    let made = File::create(&path).map_err(Error::io("create", &path))?;
    let mut out = BufWriter::new(made);
    let done = write(&mut out).and_then(|()| out.flush()).and_then(|()| out.get_ref().sync_all());
    done.map_err(Error::io("write", &path))
}

/// Copies the files of a profile: a store that is not ours may change them.
fn copy(profile: &Profile, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::io("create", to))?;
    let from = profile.dir();
    for entry in fs::read_dir(from).map_err(Error::io("read", from))? {
        let entry = entry.map_err(Error::io("read", from))?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = to.join(entry.file_name());
            fs::copy(entry.path(), &path)
                .and_then(|_| File::open(&path)?.sync_all())
                .map_err(Error::io("write", &path))?;
        }
    }
    sync(to)
}
