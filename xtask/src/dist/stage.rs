//! Lays a package out as it will lie on the system, below `target/dist/root`.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::contents::{Entry, HOME, Package};
use crate::run::{Run, root};

/// A package as it was laid out.
#[derive(Debug)]
pub(super) struct Staged {
    /// The folder that stands for `/`.
    pub(super) root: PathBuf,
    /// Every file and link, by path below `/` (without it), in order.
    pub(super) items: Vec<Item>,
}

/// A file or a link of a package.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) path: String,
    /// What a link points to.
    pub(super) link: Option<String>,
    /// Permissions of a file.
    pub(super) mode: u32,
    /// Whether users edit it.
    pub(super) config: bool,
}

/// Where the parts of a package come from.
#[derive(Debug)]
pub(super) struct Parts {
    /// What cargo built.
    pub(super) programs: PathBuf,
    /// What was made for the packages.
    pub(super) made: PathBuf,
    /// Take debug information off the programs.
    pub(super) strip: bool,
}

/// Lays out `package` in the fresh folder `to`.
pub(super) fn stage(package: &Package, parts: &Parts, to: &Path) -> Result<Staged> {
    let mut stage = Stage { root: to.to_owned(), items: Vec::new(), strip: parts.strip };
    for entry in package.entries {
        stage.add(entry, parts).with_context(|| format!("{}: {entry:?}", package.name))?;
    }
    stage.items.sort();
    let twice = stage.items.windows(2).find(|pair| pair[0].path == pair[1].path);
    ensure!(twice.is_none(), "{}: twice in the list: {twice:?}", package.name);
    Ok(Staged { root: stage.root, items: stage.items })
}

struct Stage {
    root: PathBuf,
    items: Vec<Item>,
    strip: bool,
}

impl Stage {
    fn add(&mut self, entry: &Entry, parts: &Parts) -> Result<()> {
        match *entry {
            Entry::Program(name) => {
                let path = format!("{HOME}/bin/{name}");
                self.binary(&parts.programs.join(name), &path, 0o755)?;
                self.link(&format!("usr/bin/{name}"), &format!("/{path}"))
            }
            Entry::Library(name) => {
                let folder = format!("{HOME}/lib/neuron-sim");
                let built = parts.programs.join(format!("{name}.so"));
                self.binary(&built, &format!("{folder}/{name}.so.1"), 0o644)?;
                self.link(&format!("{folder}/{name}.so"), &format!("{name}.so.1"))
            }
            Entry::Files(from, to) => self.copies(root(), from, to, false),
            Entry::Made(from, to) => self.copies(&parts.made, from, to, false),
            Entry::Config(from, to) => self.copies(root(), from, to, true),
            Entry::Link(path, target) => self.link(path, target),
            Entry::Packed(from, to) => {
                self.write(to, &gzip(&std::fs::read(root().join(from))?)?, 0o644, false)
            }
            Entry::Pages(pattern) => {
                for page in matching(root(), pattern)? {
                    let name = name_of(&page)?;
                    let text = std::fs::read(&page)?;
                    let path = format!("usr/share/man/man1/{name}.gz");
                    self.write(&path, &gzip(&text)?, 0o644, false)?;
                }
                Ok(())
            }
        }
    }

    fn copies(&mut self, base: &Path, from: &str, to: &str, config: bool) -> Result<()> {
        let files = matching(base, from)?;
        for file in &files {
            let bytes =
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            let path = match to.strip_suffix('/') {
                Some(folder) => format!("{folder}/{}", name_of(file)?),
                None => to.to_owned(),
            };
            self.write(&path, &bytes, 0o644, config)?;
        }
        ensure!(!files.is_empty(), "there is no {from} in {}", base.display());
        Ok(())
    }

    fn binary(&mut self, from: &Path, path: &str, mode: u32) -> Result<()> {
        let bytes =
            std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        self.write(path, &bytes, mode, false)?;
        if self.strip {
            Run::new("strip").arg("--strip-unneeded").arg(self.root.join(path)).run()?;
        }
        Ok(())
    }

    fn write(&mut self, path: &str, bytes: &[u8], mode: u32, config: bool) -> Result<()> {
        let full = self.parent(path)?;
        std::fs::write(&full, bytes)
            .and_then(|()| std::fs::set_permissions(&full, PermissionsExt::from_mode(mode)))
            .with_context(|| format!("cannot write {}", full.display()))?;
        self.items.push(Item { path: path.to_owned(), link: None, mode, config });
        Ok(())
    }

    fn link(&mut self, path: &str, target: &str) -> Result<()> {
        let full = self.parent(path)?;
        std::os::unix::fs::symlink(target, &full)
            .with_context(|| format!("cannot link {}", full.display()))?;
        let link = Some(target.to_owned());
        self.items.push(Item { path: path.to_owned(), link, mode: 0o777, config: false });
        Ok(())
    }

    fn parent(&self, path: &str) -> Result<PathBuf> {
        let full = self.root.join(path);
        let folder = full.parent().context("a path without folder")?;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(full)
    }
}

fn name_of(path: &Path) -> Result<&str> {
    path.file_name().and_then(|name| name.to_str()).context("a file without name")
}

/// Files below `base` that a pattern names, sorted; `*` stands for any
/// characters of the last part of the path.
fn matching(base: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let path = base.join(pattern);
    let (folder, name) = (path.parent().context("no folder")?, name_of(&path)?);
    let Some((head, tail)) = name.split_once('*') else { return Ok(vec![path]) };
    let mut found = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = name_of(&path)?;
        let long = name.len() >= head.len() + tail.len();
        if long && name.starts_with(head) && name.ends_with(tail) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Compressed as well as can be, without name and time.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let best = flate2::Compression::best();
    let mut out = flate2::GzBuilder::new().mtime(0).write(Vec::new(), best);
    out.write_all(bytes)?;
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests {
    use super::super::contents::PACKAGES;
    use super::*;

    fn fresh(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("xtask-stage-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// Every entry of the list leads to a file of the workspace; programs and
    /// made files are stood in for.
    #[test]
    fn the_list_can_be_laid_out() {
        let dir = fresh("list");
        let parts = Parts { programs: dir.join("bin"), made: dir.join("made"), strip: false };
        for folder in ["bin", "made/models"] {
            std::fs::create_dir_all(dir.join(folder)).unwrap();
        }
        for package in PACKAGES {
            for entry in package.entries {
                let path = match *entry {
                    Entry::Program(name) => dir.join("bin").join(name),
                    Entry::Library(name) => dir.join(format!("bin/{name}.so")),
                    Entry::Made(from, _) => dir.join("made").join(from.replace('*', "x")),
                    _ => continue,
                };
                std::fs::write(path, "x").unwrap();
            }
            let staged = stage(package, &parts, &dir.join("root").join(package.name)).unwrap();
            for item in &staged.items {
                let found = staged.root.join(&item.path).symlink_metadata().unwrap();
                assert_eq!(found.is_symlink(), item.link.is_some(), "{item:?}");
                let top = item.path.split('/').next();
                assert!(["etc", "opt", "usr"].map(Some).contains(&top), "{item:?}");
            }
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_pattern_names_files_of_one_folder() {
        let dir = fresh("pattern");
        for name in ["b.1", "a.1", "a.2", ".1x"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        std::fs::create_dir(dir.join("c.1")).unwrap();
        let found = matching(&dir, "*.1").unwrap();
        assert_eq!(found, [dir.join("a.1"), dir.join("b.1")]);
        assert!(matching(&dir, "x*").unwrap().is_empty());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn compression_depends_on_the_bytes_alone() {
        let packed = gzip(b"page").unwrap();
        assert_eq!(packed, gzip(b"page").unwrap());
        assert_eq!(packed[4..8], [0; 4], "no time");
        assert_eq!(packed[8], 2, "the best compression");
    }
}
