//! Reads a plan as JSON from stdin and writes the rpm that it describes.
//!
//! `cargo xtask dist` lays the files out and makes the plan; this program is
//! apart from xtask so that only those who make packages build what it needs.
//! Leaves out signatures.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use rpm::{BuildConfig, CompressionType, Dependency, FileOptions, PackageBuilder};
use serde::Deserialize;

/// Who makes it.
const PACKAGER: &str = "The neuron-tools authors";

/// Characters of a line of the description at most.
const WIDTH: usize = 79;

/// What the rpm holds and says.
#[derive(Debug, Deserialize)]
struct Plan {
    name: String,
    version: String,
    arch: String,
    license: String,
    summary: String,
    description: String,
    /// Seconds since 1970, the time of everything in the file.
    time: u32,
    /// Names of libraries and the like, as rpm writes them.
    requires: Vec<String>,
    conflicts: Vec<String>,
    scripts: Option<Scripts>,
    /// The folder that stands for `/`.
    root: PathBuf,
    items: Vec<Item>,
    out: PathBuf,
}

/// What runs on the system.
#[derive(Debug, Deserialize)]
struct Scripts {
    post_install: String,
    pre_uninstall: String,
    post_uninstall: String,
}

/// A file or a link.
#[derive(Debug, Deserialize)]
struct Item {
    /// Below `/`, without it.
    path: String,
    /// The same in the folder that was laid out.
    from: String,
    link: Option<String>,
    mode: u16,
    config: bool,
}

fn main() -> Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the plan")?;
    let plan: Plan = serde_json::from_str(&text).context("the plan is not as it should be")?;
    write(&plan).with_context(|| format!("cannot write {}", plan.out.display()))
}

fn write(plan: &Plan) -> Result<()> {
    let config = BuildConfig::v4().compression(CompressionType::Gzip).source_date(plan.time);
    let mut rpm =
        PackageBuilder::new(&plan.name, &plan.version, &plan.license, &plan.arch, &plan.summary);
    rpm.using_config(config)
        .description(wrapped(&plan.description))
        .group("System Environment/Base")
        .packager(PACKAGER)
        .add_changelog_entry(
            format!("{PACKAGER} - {}-1", plan.version),
            format!("- Version {}; what changed is in CHANGELOG.md", plan.version),
            plan.time,
        )
        .build_host("localhost");
    for name in &plan.requires {
        rpm.requires(Dependency::any(name));
    }
    for name in &plan.conflicts {
        rpm.conflicts(Dependency::any(name));
    }
    for folder in own_folders(&plan.items) {
        rpm.with_dir_entry(FileOptions::dir(format!("/{folder}")).permissions(0o755))?;
    }
    for item in &plan.items {
        let path = format!("/{}", item.path);
        if let Some(target) = &item.link {
            rpm.with_symlink(FileOptions::symlink(path, target))?;
            continue;
        }
        let mut options = FileOptions::new(path).permissions(item.mode);
        if item.config {
            options = options.config().noreplace();
        } else if item.path.starts_with("usr/share/doc/") || item.path.starts_with("usr/share/man/")
        {
            options = options.doc();
        }
        let bytes = std::fs::read(plan.root.join(&item.from))
            .with_context(|| format!("cannot read {}", item.from))?;
        rpm.with_file_contents(bytes, options)?;
    }
    if let Some(scripts) = &plan.scripts {
        rpm.requires(Dependency::script_post("/bin/sh"))
            .post_install_script(scripts.post_install.as_str())
            .pre_uninstall_script(scripts.pre_uninstall.as_str())
            .post_uninstall_script(scripts.post_uninstall.as_str());
    }
    rpm.build()?.write_file(&plan.out)?;
    Ok(())
}

/// The same words on lines of at most [`WIDTH`] characters, as far as they allow.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Folders that go with the last package that has them: those below `opt`, and
/// that of the documents. All others belong to the system.
fn own_folders(items: &[Item]) -> BTreeSet<&str> {
    let mut folders = BTreeSet::new();
    for item in items {
        for (at, _) in item.path.match_indices('/') {
            let folder = &item.path[..at];
            if folder.starts_with("opt/") || folder.starts_with("usr/share/doc/") {
                folders.insert(folder);
            }
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn plan(dir: &std::path::Path, out: &str) -> Plan {
        let item = |path: &str, link: Option<&str>, config| Item {
            path: path.to_owned(),
            from: path.to_owned(),
            link: link.map(str::to_owned),
            mode: 0o755,
            config,
        };
        for file in ["opt/aws/neuron/bin/tool", "etc/default/tool"] {
            std::fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
            std::fs::write(dir.join(file), file).unwrap();
        }
        Plan {
            name: "tool".to_owned(),
            version: "1.2.3".to_owned(),
            arch: "x86_64".to_owned(),
            license: "Apache-2.0".to_owned(),
            summary: "A tool".to_owned(),
            description: "A tool for a test".to_owned(),
            time: 1_700_000_000,
            requires: vec!["libc.so.6()(64bit)".to_owned()],
            conflicts: vec!["other-tool".to_owned()],
            scripts: None,
            root: dir.to_owned(),
            items: vec![
                item("etc/default/tool", None, true),
                item("opt/aws/neuron/bin/tool", None, false),
                item("usr/bin/tool", Some("/opt/aws/neuron/bin/tool"), false),
            ],
            out: dir.join(out),
        }
    }

    #[test]
    fn an_rpm_says_what_the_plan_says() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(dir.path(), "a.rpm");
        write(&plan).unwrap();
        let read = rpm::Package::open(&plan.out).unwrap();
        let data = &read.metadata;
        assert_eq!((data.get_name().unwrap(), data.get_version().unwrap()), ("tool", "1.2.3"));
        assert_eq!(data.get_build_host().unwrap(), "localhost");
        assert_eq!(data.get_changelog_entries().unwrap().len(), 1);
        let files = data.get_file_entries().unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        for path in ["/opt/aws/neuron/bin", "/etc/default/tool", "/usr/bin/tool"] {
            assert!(paths.contains(&path.to_owned()), "{path} in {paths:?}");
        }
        // the system's folders are not the package's
        assert!(!paths.iter().any(|path| path == "/opt" || path == "/usr/bin"));
        let conflicts = data.get_conflicts().unwrap();
        assert!(conflicts.iter().any(|other| other.name == "other-tool"));
    }

    #[test]
    fn lines_are_short() {
        let text = "Lists devices, ".repeat(20);
        let lines = wrapped(&text);
        assert!(lines.lines().count() > 1 && lines.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(lines.split_whitespace().count(), 40);
    }

    #[test]
    fn the_same_plan_gives_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (plan(dir.path(), "a.rpm"), plan(dir.path(), "b.rpm"));
        write(&a).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        write(&b).unwrap();
        assert!(std::fs::read(&a.out).unwrap() == std::fs::read(&b.out).unwrap());
    }
}
