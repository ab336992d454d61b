//! Where simulated instances live.
//!
//! In order: `$NEURON_SIM_DIR/NAME`; `/run/neuron-sim/NAME`, which every user
//! can read; `$XDG_RUNTIME_DIR/neuron-sim/NAME`. Without `NEURON_SIM_DIR` an
//! instance of one name in both of the latter is an error, because two tools
//! might otherwise look at two machines.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Directory that all users share.
const SHARED: &str = "/run/neuron-sim";

/// The directories that may hold simulated instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `$NEURON_SIM_DIR`: when set, the only place.
    chosen: Option<PathBuf>,
    /// Otherwise these, the preferred first.
    usual: Vec<PathBuf>,
}

impl Places {
    /// As the environment says.
    pub fn from_env() -> Self {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let private = variable("XDG_RUNTIME_DIR").map(|dir| dir.join("neuron-sim"));
        Self {
            chosen: variable("NEURON_SIM_DIR"),
            usual: std::iter::once(PathBuf::from(SHARED)).chain(private).collect(),
        }
    }

    /// Only this directory.
    pub fn only(dir: impl Into<PathBuf>) -> Self {
        Self { chosen: Some(dir.into()), usual: Vec::new() }
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let usual = if self.chosen.is_some() { &[] } else { self.usual.as_slice() };
        self.chosen.iter().chain(usual).map(PathBuf::as_path)
    }

    /// The directory of an existing instance.
    ///
    /// # Errors
    ///
    /// When two places hold one of this name, both are named; when a place may
    /// not be looked into, since the instance might be there.
    pub fn find(&self, name: &str) -> Result<Option<PathBuf>> {
        let mut found: Option<PathBuf> = None;
        for dir in self.all().map(|place| place.join(name)) {
            if !holds_instance(&dir)? {
                continue;
            }
            if let Some(other) = found {
                let (a, b) = (other.display(), dir.display());
                let reason =
                    format!("exists twice, in {a} and {b}; remove one or set NEURON_SIM_DIR");
                return Err(Error::sim(name, reason));
            }
            found = Some(dir);
        }
        Ok(found)
    }

    /// A directory of this name, whatever it holds: for removing a damaged one.
    pub(super) fn find_dir(&self, name: &str) -> Option<PathBuf> {
        self.all().map(|place| place.join(name)).find(|dir| dir.is_dir())
    }

    /// A directory in which a new instance can be made; created if need be.
    ///
    /// # Errors
    ///
    /// When no place can be written, with the reason of the last one tried.
    pub fn for_new(&self, name: &str) -> Result<PathBuf> {
        let mut reason = String::from("no place is known");
        for place in self.all() {
            match make_place(place).and_then(|()| writable(place)) {
                Ok(()) => return Ok(place.to_owned()),
                Err(error) => reason = format!("cannot write {}: {error}", place.display()),
            }
        }
        Err(Error::sim(name, format!("{reason}; set NEURON_SIM_DIR to a directory you can write")))
    }

    /// Directories of all instances, by name.
    pub fn list(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self
            .all()
            .filter_map(|place| std::fs::read_dir(place).ok())
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|dir| holds_instance(dir).unwrap_or(false))
            .collect();
        all.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
        all
    }
}

/// Whether a directory holds an instance.
fn holds_instance(dir: &Path) -> Result<bool> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let state = dir.join("state.json");
    match std::fs::symlink_metadata(&state) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(false),
        Err(error) => Err(Error::io("look at", state)(error)),
    }
}

/// Makes a place with its parents. A place that is new is made readable by
/// all whatever the umask, so that other users' tools see the instances.
fn make_place(place: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if place.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(place)?;
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755))
}

fn writable(dir: &Path) -> std::io::Result<()> {
    use rustix::fs::{Access, access};
    Ok(access(dir, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Checks a name: letters, digits, `.`, `_` and `-`, not starting with a dot.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(good) {
        return Err(format!(
            "{name:?} cannot be a name: 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_directory() {
        for good in ["trn1.32xlarge", "lab", "a_b-1"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_name_in_two_places_is_an_error_that_names_both() {
        let dir = tempfile::tempdir().unwrap();
        let usual: Vec<PathBuf> = ["shared", "own"].map(|d| dir.path().join(d)).into();
        let places = Places { chosen: None, usual: usual.clone() };
        assert_eq!(places.find("lab").unwrap(), None);
        for place in &usual {
            std::fs::create_dir_all(place.join("lab")).unwrap();
            std::fs::write(place.join("lab/state.json"), "").unwrap();
        }
        let text = places.find("lab").unwrap_err().to_string();
        assert!(text.contains("shared/lab") && text.contains("own/lab"), "{text}");
        std::fs::remove_dir_all(usual[0].join("lab")).unwrap();
        assert_eq!(places.find("lab").unwrap(), Some(usual[1].join("lab")));
    }

    #[test]
    fn a_place_that_cannot_be_made_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let text = Places::only(file.join("sub")).for_new("lab").unwrap_err().to_string();
        assert!(text.contains("NEURON_SIM_DIR"), "{text}");
        assert!(!text.contains('\n'));
    }
}
