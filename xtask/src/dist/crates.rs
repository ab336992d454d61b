//! What is linked into the packages: crates of the registry and, in the Device
//! Viewer, packages of npm.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::run::{metadata, root};

/// The packages of the workspace that are shipped.
pub(super) const SHIPPED: &[&str] =
    &["neuron-ls", "neuron-top", "neuron-monitor", "neuron-profile", "neuron-rtd", "libnrt"];

/// Something that others made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    /// Where its files are, with its licence among them.
    pub(super) folder: PathBuf,
    /// Names of the algorithm and of the digest, in hexadecimal.
    pub(super) digest: Option<(&'static str, String)>,
    /// Package urls of the parts that it needs.
    pub(super) needs: BTreeSet<String>,
}

/// Where a part comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Crate,
    Npm,
}

impl Part {
    /// The package url, which names a part all over the world.
    pub(super) fn purl(&self) -> String {
        match self.kind {
            Kind::Crate => purl(&self.name, &self.version),
            // The @ of a scope has a code of its own there.
            Kind::Npm => format!("pkg:npm/{}@{}", self.name.replace('@', "%40"), self.version),
        }
    }
}

fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

/// All parts for a target, by their package url, and what the shipped packages
/// need directly.
pub(super) fn parts(triple: &str) -> Result<(Vec<Part>, BTreeSet<String>)> {
    let metadata = metadata(&["--all-features", "--locked", "--filter-platform", triple])?;
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("no Cargo.lock")?;
    let (mut parts, direct) = of_crates(&metadata, &checksums(&lock));
    let web = root().join("neuron-profile/web");
    let lock = std::fs::read_to_string(web.join("package-lock.json"))?;
    parts.extend(of_npm(&serde_json::from_str(&lock)?, &web));
    parts.sort_by_key(Part::purl);
    // npm may install the same part in two places.
    parts.dedup_by_key(|part| part.purl());
    Ok((parts, direct))
}

/// Crates that the shipped packages reach by dependencies that are linked in.
fn of_crates(
    metadata: &Value,
    checksums: &BTreeMap<(String, String), String>,
) -> (Vec<Part>, BTreeSet<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|n| (text(&n["id"]), n)).collect();
    // Dependencies of a node that are neither of its build nor of its tests.
    let linked = |id: &str| -> Vec<String> {
        let deps = nodes.get(id).map(|node| list(&node["deps"])).unwrap_or_default();
        let normal =
            |dep: &Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        deps.iter().filter(|dep| normal(dep)).map(|dep| text(&dep["pkg"])).collect()
    };
    let is_ours = |id: &str| packages.get(id).is_some_and(|p| p["source"].is_null());
    let shipped = packages
        .iter()
        .filter(|(id, package)| is_ours(id) && SHIPPED.iter().any(|name| package["name"] == *name));
    let mut open: Vec<String> = shipped.map(|(id, _)| id.clone()).collect();
    let (mut seen, mut direct) = (BTreeSet::new(), BTreeSet::new());
    let mut parts = Vec::new();
    let purl_of = |id: &str| {
        packages.get(id).map(|p| purl(&text(&p["name"]), &text(&p["version"]))).unwrap_or_default()
    };
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let needs = linked(&id);
        open.extend(needs.iter().cloned());
        let foreign = needs.iter().filter(|id| !is_ours(id)).map(|id| purl_of(id));
        if is_ours(&id) {
            direct.extend(foreign);
            continue;
        }
        let Some(package) = packages.get(&id) else { continue };
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let sum = checksums.get(&(name.clone(), version.clone()));
        parts.push(Part {
            kind: Kind::Crate,
            // An old form of OR.
            licence: text(&package["license"]).replace('/', " OR ").replace("  OR  ", " OR "),
            folder: PathBuf::from(text(&package["manifest_path"])).with_file_name(""),
            digest: sum.map(|sum| ("SHA-256", sum.clone())),
            needs: foreign.collect(),
            name,
            version,
        });
    }
    (parts, direct)
}

/// Checksums of a Cargo.lock by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |line: &str, key: &str| {
        Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned())
    };
    let mut found = BTreeMap::new();
    for block in lock.split("[[package]]") {
        let field = |key| block.lines().find_map(|line| value(line, key));
        if let (Some(name), Some(version), Some(sum)) =
            (field("name"), field("version"), field("checksum"))
        {
            found.insert((name, version), sum);
        }
    }
    found
}

/// What the viewer carries: everything of the lock file that is not for its
/// development alone.
fn of_npm(lock: &Value, web: &Path) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, package) in lock["packages"].as_object().into_iter().flatten() {
        let Some((_, name)) = place.rsplit_once("node_modules/") else { continue };
        if package["dev"] == true || package["devOptional"] == true || name.starts_with("@types/") {
            continue;
        }
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let digest = text("integrity").strip_prefix("sha512-").map(hexadecimal);
        parts.push(Part {
            kind: Kind::Npm,
            name: name.to_owned(),
            version: text("version"),
            licence: text("license"),
            folder: web.join(place),
            digest: digest.map(|digest| ("SHA-512", digest)),
            needs: BTreeSet::new(),
        });
    }
    parts
}

/// Base64 as hexadecimal.
fn hexadecimal(base64: &str) -> String {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut out) = (0_u32, 0, String::new());
    for value in base64.bytes().filter_map(digit) {
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out += &format!("{:02x}", (bits >> count) & 0xff);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_linked_is_a_part() {
        let package = |name: &str, source: Value| {
            json!({"id": name, "name": name, "version": "1.0.0", "source": source,
                   "license": "MIT/Apache-2.0", "manifest_path": format!("/r/{name}/Cargo.toml")})
        };
        let dep = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("neuron-ls", Value::Null),
                package("xtask", Value::Null),
                package("core", Value::Null),
                package("linked", json!("registry")),
                package("tester", json!("registry")),
                package("builder", json!("registry")),
            ],
            "resolve": {"nodes": [
                {"id": "neuron-ls", "deps": [dep("core", Value::Null), dep("tester", json!("dev"))]},
                {"id": "core", "deps": [dep("linked", Value::Null), dep("builder", json!("build"))]},
                {"id": "xtask", "deps": [dep("tester", Value::Null)]},
            ]},
        });
        let lock = "[[package]]\nname = \"linked\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n";
        let (parts, direct) = of_crates(&metadata, &checksums(lock));
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert_eq!(parts[0].purl(), "pkg:cargo/linked@1.0.0");
        assert_eq!(parts[0].licence, "MIT OR Apache-2.0");
        assert_eq!(parts[0].digest, Some(("SHA-256", "ab".to_owned())));
        assert_eq!(direct, BTreeSet::from(["pkg:cargo/linked@1.0.0".to_owned()]));
    }

    #[test]
    fn packages_of_npm_for_development_are_left_out() {
        let lock = json!({"packages": {
            "": {"version": "1"},
            "node_modules/@a/b": {"version": "1.2.3", "license": "MIT", "integrity": "sha512-AQID/w=="},
            "node_modules/x/node_modules/c": {"version": "2.0.0", "license": "ISC"},
            "node_modules/vite": {"version": "9.0.0", "dev": true},
        }});
        let parts = of_npm(&lock, Path::new("web"));
        let purls: Vec<_> = parts.iter().map(Part::purl).collect();
        assert_eq!(purls, ["pkg:npm/%40a/b@1.2.3", "pkg:npm/c@2.0.0"]);
        assert_eq!(parts[0].digest, Some(("SHA-512", "010203ff".to_owned())));
    }
}
