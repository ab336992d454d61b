//! Checks of the files that are not about Rust code: the top level, paths of
//! a machine, registries, manifests, tools that tests ask for.

use std::collections::BTreeSet;

use super::{File, Finding};
use crate::packages::PACKAGES;

/// The top level, apart from names that start with a dot.
const TOP_LEVEL: &[&str] = &[
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "neuron-core/",
    "neuron-ls/",
    "neuron-monitor/",
    "neuron-profile/",
    "neuron-rtd/",
    "neuron-top/",
    "tests/",
    "xtask/",
];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM: &str = "https://registry.npmjs.org/";

pub(super) fn top_level_is_as_agreed(files: &[File]) -> Vec<Finding> {
    let found: BTreeSet<String> = files
        .iter()
        .map(|file| match file.path.split_once('/') {
            Some((dir, _)) => format!("{dir}/"),
            None => file.path.clone(),
        })
        .filter(|name| !name.starts_with('.'))
        .collect();
    let extra = found.iter().filter(|name| !TOP_LEVEL.contains(&name.as_str()));
    let missing = TOP_LEVEL.iter().filter(|name| !found.contains(**name));
    extra
        .map(|name| Finding::new(name, "does not belong at the top level"))
        .chain(missing.map(|name| Finding::new(*name, "is missing at the top level")))
        .collect()
}

pub(super) fn no_path_of_a_machine(files: &[File]) -> Vec<Finding> {
    // Put together here, so that this file does not find itself.
    let homes = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat()];
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text.lines()) {
            let found = homes.iter().find(|home| {
                // `a/work/` is a path inside something.
                line.match_indices(home.as_str()).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}".contains(c))
                })
            });
            if let Some(home) = found {
                findings.push(Finding::on_line(file, number, format!("a path below {home}")));
            }
        }
    }
    findings
}

pub(super) fn registries_are_the_public_ones(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let bad = |line: &str| match name {
            "Cargo.lock" => line.starts_with("source = ") && !line.contains(CRATES_IO),
            "package-lock.json" => line.contains("\"resolved\": \"http") && !line.contains(NPM),
            "config.toml" if file.path.starts_with(".cargo/") => {
                ["[source", "[registr", "[http"].iter().any(|table| line.starts_with(table))
            }
            ".npmrc" | "pip.conf" => true,
            _ => false,
        };
        for (number, line) in (1..).zip(file.text.lines()) {
            if bad(line) {
                findings.push(Finding::on_line(file, number, "not the public registry"));
            }
        }
    }
    findings
}

pub(super) fn crates_take_the_workspace_lints(files: &[File]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && file.path != "tests/Cargo.toml")
        .filter(|file| {
            let lines: Vec<_> = file.text.lines().map(str::trim).collect();
            // A package that is a workspace of its own has none to take from.
            !lines.contains(&"[workspace]")
                && !lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"])
        })
        .map(|file| Finding::new(&file.path, "has no [lints] workspace = true"))
        .collect()
}

pub(super) fn required_tools_are_in_the_table(files: &[File]) -> Vec<Finding> {
    let known: Vec<_> =
        PACKAGES.iter().filter(|p| p.wanted_by == "tests").map(|p| p.tool()).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("tests/tests/")) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let calls = line.split("require(\"").skip(1);
            for tool in calls.filter_map(|rest| rest.split('"').next()) {
                if !known.contains(&tool) {
                    let what = format!("{tool} is not in xtask/src/packages.rs");
                    findings.push(Finding::on_line(file, number, what));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{file, found};
    use super::*;

    #[test]
    fn the_top_level_is_exact() {
        let mut files: Vec<_> = TOP_LEVEL
            .iter()
            .map(|name| if name.ends_with('/') { format!("{name}a") } else { (*name).to_owned() })
            .map(|path| file(&path, ""))
            .collect();
        files.push(file(".gitignore", ""));
        assert_eq!(top_level_is_as_agreed(&files), []);
        files.push(file("Makefile", ""));
        files.push(file("scripts/run", ""));
        files.retain(|file| file.path != "LICENSE");
        let found: Vec<_> = top_level_is_as_agreed(&files).into_iter().map(|f| f.at).collect();
        assert_eq!(found, ["Makefile", "scripts/", "LICENSE"]);
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let check = no_path_of_a_machine;
        let home = ["/ro", "ot/"].concat();
        assert_eq!(found(check, "a.md", &format!("x\nsee `{home}x`")), ["a.md:2"]);
        assert_eq!(found(check, "a.md", &format!("{home}x")), ["a.md:1"]);
        assert!(found(check, "a.md", &format!("sys{home}x")).is_empty());
    }

    #[test]
    fn other_registries_are_found() {
        let check = registries_are_the_public_ones;
        let lock = |source: &str| format!("name = \"a\"\nsource = \"{source}\"\n");
        assert!(found(check, "Cargo.lock", &lock(CRATES_IO)).is_empty());
        let other = lock("registry+https://example.org/index");
        assert_eq!(found(check, "Cargo.lock", &other), ["Cargo.lock:2"]);
        let npm = "  \"resolved\": \"https://example.org/a.tgz\"";
        assert_eq!(found(check, "web/package-lock.json", npm).len(), 1);
        let config = "[source.crates-io]\nreplace-with = \"x\"";
        assert_eq!(found(check, ".cargo/config.toml", config), [".cargo/config.toml:1"]);
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        let check = crates_take_the_workspace_lints;
        assert_eq!(found(check, "a/Cargo.toml", "[package]\n"), ["a/Cargo.toml"]);
        assert!(found(check, "a/Cargo.toml", "[lints]\nworkspace = true\n").is_empty());
        assert!(found(check, "tests/Cargo.toml", "[package]\n").is_empty());
    }

    #[test]
    fn a_tool_outside_the_table_is_found() {
        let check = required_tools_are_in_the_table;
        let source = |tool: &str| format!("if !require(\"{tool}\") {{ return; }}");
        assert_eq!(found(check, "tests/tests/a.rs", &source("emacs")), ["tests/tests/a.rs:1"]);
        assert!(found(check, "tests/tests/a.rs", &source("tar")).is_empty());
    }
}
