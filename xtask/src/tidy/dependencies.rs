//! Checks of the dependencies: licences, and who may not depend on what.

use anyhow::Result;

use super::Finding;
use crate::run::{Run, metadata};

/// Licences that may be linked into an Apache-2.0 program. One choice of an
/// `OR` must be among them, and every part of an `AND`.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "MIT-0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "bzip2-1.0.6",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// What a program without a server pays nothing for.
const SERVER: &[&str] =
    &["tokio", "tonic", "prost", "axum", "arrow", "parquet", "datafusion", "rustls"];

/// The crate, flags of `cargo tree`, and crates that must not be in its tree.
/// `arrow` also stands for `arrow-array` and the like.
const DIRECTION: &[(&str, &[&str], &[&str])] = &[
    ("neuron-ls", &[], SERVER),
    ("neuron-top", &[], SERVER),
    ("neuron-monitor", &[], SERVER),
    ("neuron-profile", &[], &["ballista", "datafusion-proto", "reqwest"]),
    ("neuron-core", &["--all-features"], &["tokio", "tonic", "axum", "arrow", "datafusion"]),
];

/// Both checks.
pub(super) fn check() -> Result<Vec<Finding>> {
    let metadata = metadata(&[])?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let name = package["name"].as_str().unwrap_or_default();
        findings.extend(licence(name, package["license"].as_str()));
    }
    for (root, flags, banned) in DIRECTION {
        let tree = Run::cargo("tree")
            .args(["-p", root, "-e", "normal", "--prefix", "none", "--format", "{p}"])
            .args(flags.iter().copied())
            .output()?;
        findings.extend(direction(root, &tree, banned));
    }
    Ok(findings)
}

fn licence(name: &str, expression: Option<&str>) -> Option<Finding> {
    let at = format!("dependency {name}");
    match expression {
        None => Some(Finding::new(at, "states no licence")),
        Some(text) if allowed(text) => None,
        Some(text) => Some(Finding::new(at, format!("licence {text} is not in the set"))),
    }
}

/// Whether an SPDX expression can be met. `/` is an old form of `OR`.
fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words);
    met && words.peek().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>) -> bool {
    let mut met = every(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= every(words);
    }
    met
}

fn every(words: &mut Words<'_>) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: &mut Words<'_>) -> bool {
    match words.next() {
        Some("(") => any(words) & (words.next() == Some(")")),
        Some(id) => match words.next_if_eq(&"WITH").and_then(|_| words.next()) {
            Some(exception) => LICENCES.contains(&format!("{id} WITH {exception}").as_str()),
            None => LICENCES.contains(&id),
        },
        None => false,
    }
}

/// `tree` has one package a line, its name first.
fn direction(root: &str, tree: &str, banned: &[&str]) -> Vec<Finding> {
    let family = |name: &str| {
        banned
            .iter()
            .find(|b| name.strip_prefix(**b).is_some_and(|r| r.is_empty() || r.starts_with('-')))
    };
    let mut names: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter(|name| family(name).is_some())
        .map(|name| {
            Finding::new(root, format!("depends on {name}; see cargo tree -p {root} -i {name}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_understood() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT AND GPL-3.0)", "", "MIT GPL-3.0", "(MIT"] {
            assert!(!allowed(bad), "{bad}");
        }
        assert!(!allowed("GPL-2.0 WITH Classpath-exception-2.0"));
        assert!(licence("a", None).is_some());
        assert!(licence("a", Some("GPL-3.0")).is_some());
        assert!(licence("a", Some("MIT")).is_none());
    }

    #[test]
    fn a_banned_crate_in_the_tree_is_found() {
        let tree =
            "neuron-ls v0.1.0\nclap v4.6.7\narrow-array v59.3.0\ntokio v1.5 (*)\ntokio v1.5\n";
        let found = direction("neuron-ls", tree, SERVER);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].what.contains("tokio"));
        assert_eq!(direction("neuron-ls", "tokyo v1\nprosty v1\n", SERVER), []);
    }
}
