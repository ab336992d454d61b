//! Published timing numbers, one by one, and the tables of the docs.
//!
//! `NPU_REGENERATE=1 cargo test -p npu --test timing` writes `src/timing.md`
//! anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

#[path = "support/published/mod.rs"]
mod published;
#[path = "support/silicon.rs"]
mod silicon;

use silicon::Comparison;

/// Whole runs may differ from those of the device by this part.
const WHOLE: f64 = 0.15;
/// Medians of opcodes may differ by this part.
const MEDIAN: f64 = 0.20;

#[test]
fn every_published_number() {
    for row in published::rows() {
        let off = (row.simulated / row.published - 1.0).abs();
        let published::Row { what, source, published, simulated, unit, .. } = &row;
        println!("{what} ({source}): {published} {unit}, simulated {simulated:.3}");
        assert!(off <= row.tolerance, "{what}: {published} {unit}, simulated {simulated}");
    }
}

/// No constant was fitted on these captures.
#[test]
fn silicon_takes_as_long() {
    let all = Comparison::all();
    for one in all.iter().filter(|one| !one.fitted) {
        let whole = one.whole();
        println!("{}: {whole:.3} of the measured time", one.name);
        assert!((whole - 1.0).abs() < WHOLE, "{}: {whole:.3}", one.name);
        for ((opcode, engine, size), ratios) in one.by_opcode() {
            let median = ratios.at(0.5);
            if silicon::counts(opcode) && ratios.count() >= 8 {
                let what = format!("{} {opcode:02x} on {engine}, size {size}", one.name);
                assert!((median - 1.0).abs() <= MEDIAN, "{what}: {median:.2}");
            }
        }
    }
    let page = format!(
        "{}\n{}\n{}\n{}",
        "## Published numbers\n",
        published::page(&published::rows()),
        "## Beside silicon\n",
        silicon::page(&all)
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/timing.md");
    if std::env::var_os("NPU_REGENERATE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "{path} is stale: run with NPU_REGENERATE=1");
}
