//! The bill of materials: CycloneDX 1.6 as JSON, the same for the same lock
//! files and time.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::crates::Part;

/// The document for all packages.
pub(super) fn document(
    version: &str,
    time: &str,
    compiler: &str,
    parts: &[Part],
    direct: &BTreeSet<String>,
) -> Value {
    let root = format!("pkg:generic/neuron-tools@{version}");
    let components: Vec<Value> = parts.iter().map(component).collect();
    let all: BTreeSet<String> = parts.iter().map(Part::purl).collect();
    // A part that is not linked for this target has no component to refer to.
    let known = |needs: &BTreeSet<String>| needs.intersection(&all).cloned().collect::<Vec<_>>();
    let mut first: BTreeSet<String> = direct.clone();
    first.extend(all.iter().filter(|purl| purl.starts_with("pkg:npm/")).cloned());
    let mut dependencies = vec![json!({"ref": root, "dependsOn": known(&first)})];
    for part in parts {
        dependencies.push(json!({"ref": part.purl(), "dependsOn": known(&part.needs)}));
    }
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": {"components": [
                {"type": "application", "name": "cargo xtask dist", "version": version},
                {"type": "application", "name": "rustc", "version": compiler},
            ]},
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "neuron-tools",
                "version": version,
                "purl": root,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    let digest: [u8; 32] = Sha256::digest(document.to_string()).into();
    document["serialNumber"] = json!(serial(&digest));
    document
}

fn component(part: &Part) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": part.purl(),
        "name": part.name,
        "version": part.version,
        "purl": part.purl(),
        "licenses": [{"expression": part.licence}],
    });
    if let Some((algorithm, digest)) = &part.digest {
        component["hashes"] = json!([{"alg": algorithm, "content": digest}]);
    }
    component
}

/// A UUID of version 8, made of what the document says.
fn serial(digest: &[u8; 32]) -> String {
    let mut bytes: Vec<u8> = digest.iter().take(16).copied().collect();
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (a, rest) = hex.split_at(8);
    let (b, rest) = rest.split_at(4);
    let (c, rest) = rest.split_at(4);
    let (d, e) = rest.split_at(4);
    format!("urn:uuid:{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::super::crates::Kind;
    use super::*;

    #[test]
    fn parts_and_what_they_need_are_told() {
        let part = |name: &str, needs: &[&str]| Part {
            kind: Kind::Crate,
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT OR Apache-2.0".to_owned(),
            folder: ".".into(),
            digest: Some(("SHA-256", "ab".repeat(32))),
            needs: needs.iter().map(|name| format!("pkg:cargo/{name}@1.0.0")).collect(),
        };
        let parts = [part("a", &["b", "only-on-windows"]), part("b", &[])];
        let direct = BTreeSet::from(["pkg:cargo/a@1.0.0".to_owned()]);
        let made = document("0.1.0", "2026-01-01T00:00:00Z", "1.95.0", &parts, &direct);
        assert_eq!(made["components"].as_array().unwrap().len(), 2);
        let needs = |at: usize| made["dependencies"][at]["dependsOn"].clone();
        assert_eq!(needs(0), json!(["pkg:cargo/a@1.0.0"]));
        assert_eq!(needs(1), json!(["pkg:cargo/b@1.0.0"]));
        assert_eq!(made["serialNumber"].as_str().map(str::len), Some(45));
        let again = document("0.1.0", "2026-01-01T00:00:00Z", "1.95.0", &parts, &direct);
        assert_eq!(made, again);
    }
}
