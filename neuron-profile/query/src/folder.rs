//! Profiles below a directory, whoever stored them: one store, or the stores of
//! many ranks on a shared file system.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use profile_store::disk::{entry_in, is_id};

use crate::dataset::Dataset;
use crate::error::Error;
use crate::place::Place;

/// Directories within each other that are looked through, and entries that are
/// looked at (our choice: a store for each of some ten thousand ranks).
pub(crate) const DEPTH: usize = 4;
pub(crate) const MOST: usize = 1_000_000;

/// All profiles below a directory, by display name.
///
/// # Errors
///
/// A directory that cannot be read, a damaged profile, and none at all.
pub(crate) fn profiles(folder: &Path) -> Result<Vec<Dataset>, Error> {
    let (mut found, mut left) = (Vec::new(), MOST);
    walk(folder, DEPTH, &mut left, &mut found)?;
    if found.is_empty() {
        return Err(none(&folder.display()));
    }
    let read = found.into_iter().map(|dir| {
        let entry = entry_in(&dir)?;
        let place = Place::Directory(dir);
        Ok(Dataset { place, manifest: entry.manifest, labels: entry.labels })
    });
    let mut all = read.collect::<Result<Vec<_>, Error>>()?;
    sort(&mut all);
    Ok(all)
}

/// Which is told where there is none.
pub(crate) fn none(place: &dyn std::fmt::Display) -> Error {
    Error::Read(format!("{place}: no profile is stored below it"))
}

/// By what people call them.
pub(crate) fn sort(all: &mut [Dataset]) {
    all.sort_by(|a, b| {
        (&a.labels.display_name, &a.manifest.id).cmp(&(&b.labels.display_name, &b.manifest.id))
    });
}

fn walk(
    folder: &Path,
    depth: usize,
    left: &mut usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    if is_profile(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let told = || profile_store::Error::io("read", folder);
    let mut below = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        // What another process finished or removed meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound && depth < DEPTH => return Ok(()),
        entries => entries.map_err(told())?,
    };
    for entry in entries {
        let entry = entry.map_err(told())?;
        *left = left.checked_sub(1).ok_or_else(|| {
            Error::Read(format!("{}: more than {MOST} files below it", folder.display()))
        })?;
        // What is being written is hidden. A link may lead anywhere, and back here.
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|below| walk(below, depth - 1, left, found))
}

/// A directory with the name of an id, and what is in it is whole.
fn is_profile(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(is_id) && folder.join("manifest.json").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_written_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let id = format!("n_{}", "0".repeat(40));
        for name in [format!("profiles/.new-{id}"), format!(".hidden/{id}")] {
            let folder = dir.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("manifest.json"), "half").unwrap();
        }
        let error = profiles(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with(": no profile is stored below it"), "{error}");
    }

    #[test]
    fn a_directory_without_profiles_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        let error = profiles(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with(": no profile is stored below it"), "{error}");
        assert!(profiles(&dir.path().join("none")).is_err());
    }
}
