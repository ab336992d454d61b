//! The licences of everything that is linked in, as one text: a table of the
//! parts, then each text once, with the parts that carry it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::crates::Part;
use crate::run::root;

/// A part without a file of its own gets the text of the first of these that
/// its expression names and another part carries under that name alone.
const STANDARD: &[&str] = &["Apache-2.0", "MIT", "BSD-3-Clause"];

const HEAD: &str = "\
neuron-tools is under the Apache License, version 2.0 (the last text below). It is
linked with the parts below, each under its own licence.
";

/// The text.
///
/// # Errors
///
/// A part without any text, whose conditions we could not keep.
pub(super) fn text(parts: &[Part]) -> Result<String> {
    let ours = std::fs::read_to_string(root().join("LICENSE")).context("cannot read LICENSE")?;
    let mut out = String::from(HEAD);
    let width = parts.iter().map(|part| part.name.len() + part.version.len() + 1).max();
    let width = width.unwrap_or(0);
    // By text, the parts that carry it.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    let mut standard: BTreeMap<&str, String> = BTreeMap::new();
    standard.insert("Apache-2.0", ours.clone());
    for part in parts {
        let name = format!("{} {}", part.name, part.version);
        out += &format!("\n{name:width$}  {}", part.licence);
        let found = files(&part.folder)?;
        if found.is_empty() {
            without.push(part);
        }
        for text in found {
            if let Some(id) = STANDARD.iter().find(|id| **id == part.licence) {
                standard.entry(id).or_insert_with(|| text.clone());
            }
            texts.entry(text).or_default().push(name.clone());
        }
    }
    out.push('\n');
    for part in without {
        let known =
            STANDARD.iter().find(|id| part.licence.contains(**id) && standard.contains_key(*id));
        ensure!(
            known.is_some(),
            "{} {} carries no licence text, and {} is none that is known",
            part.name,
            part.version,
            part.licence
        );
        let name =
            format!("{} {} (which carries no text; a standard one)", part.name, part.version);
        if let Some(text) = known.and_then(|id| standard.get(id)) {
            texts.entry(text.clone()).or_default().push(name);
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, names) in texts {
        out += &format!("\n{}\n{}\n\n{}\n", "=".repeat(78), names.join("\n"), text.trim_end());
    }
    out += &format!("\n{}\nneuron-tools\n\n{}\n", "=".repeat(78), ours.trim_end());
    Ok(out)
}

/// Texts of the files whose name says that they are about the licence.
fn files(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        let about = ["license", "licence", "copying", "notice", "unlicense", "copyright"];
        if about.iter().any(|word| name.starts_with(word)) && entry.path().is_file() {
            names.push(entry.path());
        }
    }
    names.sort();
    let text = |path: &std::path::PathBuf| -> Result<String> {
        let bytes = std::fs::read(path)?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned())
    };
    names.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::crates::Kind;
    use super::*;

    fn part(dir: &Path, name: &str, licence: &str, text: Option<&str>) -> Part {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        if let Some(text) = text {
            std::fs::write(folder.join("LICENSE-MIT"), text).unwrap();
        }
        Part {
            kind: Kind::Crate,
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            folder,
            digest: None,
            needs: BTreeSet::new(),
        }
    }

    #[test]
    fn a_text_stands_once_and_no_part_is_without() {
        let dir = std::env::temp_dir().join(format!("xtask-licences-{}", std::process::id()));
        let parts = [
            part(&dir, "a", "MIT", Some("permission is granted\r\n")),
            part(&dir, "b", "MIT", Some("permission is granted")),
            part(&dir, "c", "MIT", None),
        ];
        let text = text(&parts).unwrap();
        assert_eq!(text.matches("permission is granted").count(), 1, "{text}");
        assert!(text.contains("\na 1.0.0\nb 1.0.0\nc 1.0.0 (which carries no text"), "{text}");
        let odd = [part(&dir, "d", "Odd-1.0", None)];
        assert!(super::text(&odd).unwrap_err().to_string().starts_with("d 1.0.0 carries no"));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
