//! `cargo xtask bench formats`: NEFF, NTFF and the instruction set, by
//! criterion, whose estimates are read afterwards.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::bar::{Good, judge};
use crate::run::{Run, target_dir};

/// Milliseconds that opening a mapped NEFF of 1 GiB may take.
const OPEN_MS: f64 = 50.0;

/// 10^9 bytes of notifications a second that a core should decode.
const DECODE: f64 = 1.0;

/// A digest's time beside that of the bare hash.
const DIGEST: f64 = 1.1;

/// What criterion keeps of a bench.
#[derive(Debug, PartialEq)]
struct Estimate {
    group: String,
    name: String,
    /// Nanoseconds of the median.
    nanos: f64,
    /// Bytes that it goes through, where it says so.
    bytes: Option<f64>,
}

/// Measures and prints.
pub(super) fn run() -> Result<()> {
    let core = ["-p", "neuron-core", "--features", "neff,ntff,isa,sources", "--benches"];
    Run::cargo("bench").args(core).run()?;
    Run::cargo("bench").args(["-p", "neuron-profile", "--benches"]).run()?;
    let estimates = estimates(&target_dir()?.join("criterion"))?;
    ensure!(!estimates.is_empty(), "criterion left no estimates");
    for estimate in &estimates {
        let what = format!("{}, {}", estimate.group, estimate.name);
        match (estimate.group.as_str(), estimate.bytes) {
            ("open", None) => {
                judge(&format!("NEFF {what}, ms"), estimate.nanos / 1e6, Good::AtMost, OPEN_MS);
            }
            ("decode", Some(bytes)) => {
                let rate = bytes / estimate.nanos;
                judge(&format!("NTFF {what}, GB/s"), rate, Good::AtLeast, DECODE);
            }
            _ => {}
        }
    }
    for (digest, bare) in [("packager 2", "bare MD5"), ("packager 1", "bare SHA-256")] {
        let of = |name| estimates.iter().find(|e| e.group == "digest" && e.name == name);
        if let (Some(ours), Some(bare)) = (of(digest), of(bare)) {
            let what = format!("digest of {digest}, time to that of {}", bare.name);
            judge(&what, ours.nanos / bare.nanos, Good::AtMost, DIGEST);
        }
    }
    Ok(())
}

/// Everything below criterion's folder, by group and name.
fn estimates(folder: &Path) -> Result<Vec<Estimate>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name == "new") {
                found.push(estimate(&path)?);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    Ok(found)
}

fn estimate(folder: &Path) -> Result<Estimate> {
    let read = |name: &str| -> Result<Value> {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
    };
    let (about, numbers) = (read("benchmark.json")?, read("estimates.json")?);
    let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
    let nanos = numbers["median"]["point_estimate"].as_f64();
    Ok(Estimate {
        group: text("group_id"),
        name: text("function_id"),
        nanos: nanos.with_context(|| format!("no median in {}", folder.display()))?,
        bytes: about["throughput"]["Bytes"].as_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_read_from_the_newest_run() {
        let dir = std::env::temp_dir().join(format!("xtask-criterion-{}", std::process::id()));
        for (place, nanos) in [("decode/dma/new", 4.0), ("decode/dma/base", 9.0)] {
            let folder = dir.join(place);
            std::fs::create_dir_all(&folder).unwrap();
            let about = r#"{"group_id":"decode","function_id":"dma","throughput":{"Bytes":8}}"#;
            std::fs::write(folder.join("benchmark.json"), about).unwrap();
            let numbers = format!(r#"{{"median":{{"point_estimate":{nanos}}}}}"#);
            std::fs::write(folder.join("estimates.json"), numbers).unwrap();
        }
        let wanted = Estimate {
            group: "decode".to_owned(),
            name: "dma".to_owned(),
            nanos: 4.0,
            bytes: Some(8.0),
        };
        assert_eq!(estimates(&dir).unwrap(), [wanted]);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
