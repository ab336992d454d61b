//! Finds the files that instructions name below directories of this machine:
//! programs are built elsewhere, so names have other beginnings.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use profile_store::Profile;

use super::{BYTES, Error, Sources};

/// Frames that are looked through at most (our choice).
const FRAMES: u64 = 100_000;

/// What became of the files that a profile names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attached {
    /// Files that are kept now.
    pub kept: usize,
    /// Files that were not found.
    pub missing: Vec<String>,
    /// Files that could not be kept, with the reason.
    pub refused: Vec<String>,
}

/// The files that the instructions of a profile name.
fn named(profile: &Profile) -> BTreeSet<&str> {
    let all = profile.kinds();
    let sources = all.kinds.iter().filter_map(|kind| all.text(kind.source));
    sources.filter_map(|source| Some(source.rsplit_once(':')?.0)).collect()
}

/// The files of call stacks. Those of libraries are among them, so nobody is told
/// of one that is not there; nor of a table that cannot be read, which is told to
/// whoever asks for it.
fn of_call_stacks(profile: &Profile) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (table, column) in [("KernelStackFrames", "file_path"), ("StackFrameFileName", "name")] {
        let rows = profile.manifest().tables.get(table).map_or(0, |table| table.rows);
        let rows: Vec<u64> = (0..rows.min(FRAMES)).collect();
        if rows.is_empty() {
            continue;
        }
        let found = profile.rows(table, &rows).unwrap_or_default();
        let names = found.iter().filter_map(|row| row.get(column)?.as_str());
        out.extend(names.map(str::to_owned));
    }
    out
}

/// The file of a name below a directory: with as much of its path as there is.
fn below(root: &Path, name: &str) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = Path::new(name)
        .components()
        .filter(|part| !matches!(part, Component::RootDir | Component::Prefix(_)))
        .collect();
    // One that leads out of the directory is none of it.
    if parts.iter().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return None;
    }
    (0..parts.len()).find_map(|from| {
        let path = root.join(parts.get(from..)?.iter().collect::<PathBuf>());
        path.is_file().then_some(path)
    })
}

/// Keeps the files of a profile that are found below one of `roots`.
///
/// # Errors
///
/// A disk that cannot be written. A file that cannot be kept is told in the
/// result.
pub fn attach(profile: &Profile, kept: &Sources, roots: &[PathBuf]) -> Result<Attached, Error> {
    let mut out = Attached::default();
    let named = named(profile);
    let called = of_call_stacks(profile);
    let called = called.iter().map(String::as_str).filter(|name| !named.contains(name));
    let all = named.iter().map(|name| (*name, true)).chain(called.map(|name| (name, false)));
    for (name, told) in all {
        let Some(path) = roots.iter().find_map(|root| below(root, name)) else {
            if told {
                out.missing.push(name.to_owned());
            }
            continue;
        };
        let size = path.metadata().map_or(u64::MAX, |meta| meta.len());
        let done = if size > BYTES as u64 {
            Err(Error::Large)
        } else {
            let read = std::fs::read(&path).map_err(Error::io("read", &path));
            read.and_then(|text| kept.write(name, &text))
        };
        match done {
            Ok(()) => out.kept += 1,
            Err(error @ Error::Io { operation: "write" | "write in" | "make" | "replace", .. }) => {
                return Err(error);
            }
            Err(error) => out.refused.push(format!("{}: {error}", path.display())),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_ends() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("b")).unwrap();
        for file in ["root/b/c.py", "root/c.py", "outside.py"] {
            std::fs::write(dir.path().join(file), file).unwrap();
        }
        let found = |name| below(&root, name).map(|path| std::fs::read_to_string(path).unwrap());
        assert_eq!(found("/build/a/b/c.py").as_deref(), Some("root/b/c.py"));
        assert_eq!(found("b/c.py").as_deref(), Some("root/b/c.py"));
        assert_eq!(found("./x/c.py").as_deref(), Some("root/c.py"));
        for none in ["", "/", "d.py", "../outside.py", "b/../../outside.py", "b"] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
