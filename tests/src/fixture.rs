//! Files that tests read: the fixtures, and recorded trees unpacked.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// A file below `tests/fixtures`.
///
/// # Panics
///
/// If it does not exist: a test that reads nothing would prove nothing.
#[must_use]
pub fn fixture(path: impl AsRef<Path>) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
    assert!(path.exists(), "no fixture {}", path.display());
    path
}

/// The recorded tree `name` (`trn2-16`), unpacked, for reading only.
///
/// All test processes share one copy beside the test programs. It appears
/// whole or not at all, and a changed archive gets a new one. A test that
/// writes takes [`unpack_tree_into`].
///
/// # Panics
///
/// If there is no such tree or it cannot be unpacked.
#[must_use]
pub fn unpack_tree(name: &str) -> PathBuf {
    shared_copy(name).unwrap_or_else(|error| panic!("cannot unpack the tree {name}: {error}"))
}

fn shared_copy(name: &str) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(archive(name))?);
    hasher.write(&fs::read(overlay(name).join("ioctl.json"))?);
    // target/debug/deps/<test>: the copy goes to target/debug/trees.
    let program = std::env::current_exe()?;
    let dir = program.ancestors().nth(2).unwrap_or(Path::new("/tmp")).join("trees");
    let tree = dir.join(format!("{name}-{:016x}", hasher.finish()));
    if !tree.exists() {
        fs::create_dir_all(&dir)?;
        let ours = tempfile::Builder::new().prefix(name).tempdir_in(&dir)?;
        unpack_tree_into(name, &ours.path().join("tree"))?;
        // Another process may have been faster: then its copy is as good.
        let moved = fs::rename(ours.path().join("tree"), &tree);
        if !tree.exists() {
            moved?;
        }
    }
    Ok(tree)
}

/// Unpacks the recorded tree `name` into the new directory `dir`, with the
/// modes and links of the recording, and lays over it what a tree of files
/// cannot hold (`overlays/README.md`).
///
/// # Errors
///
/// If the archive cannot be read or `dir` cannot be written.
pub fn unpack_tree_into(name: &str, dir: &Path) -> io::Result<()> {
    let mut tree = tar::Archive::new(flate2::read::GzDecoder::new(File::open(archive(name))?));
    tree.set_preserve_permissions(true);
    fs::create_dir_all(dir)?;
    tree.unpack(dir)?;
    copy_all(&overlay(name), dir)
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            copy_all(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn overlay(name: &str) -> PathBuf {
    fixture(format!("real-driver/overlays/{name}"))
}

fn archive(name: &str) -> PathBuf {
    fixture(format!("real-driver/trees/{name}.tar.gz"))
}
