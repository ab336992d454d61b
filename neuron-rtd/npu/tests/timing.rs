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

/// Rows whose 10th or 90th percentile may be outside 20 %.
const EXPLAINED: [&str; 8] = [
    "MATMUL PE 512",
    "COPY ACT 128",
    "MEMSET DVE 1",
    "MEMSET DVE 128",
    "NOP POOL",
    "SET_ORDERING_MODE SP",
    "PSEUDO_DMA_DIRECT2D POOL",
    "transfers",
];

#[test]
fn every_published_number() {
    for row in published::rows() {
        let off = (row.simulated / row.published - 1.0).abs();
        let published::Row { what, source, published, simulated, unit, .. } = &row;
        println!("{what} ({source}): {published} {unit}, simulated {simulated:.3}");
        assert!(off <= row.tolerance, "{what}: {published} {unit}, simulated {simulated}");
    }
}

#[test]
fn silicon_takes_as_long() {
    let all = Comparison::all();
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
    for one in &all {
        let whole = one.whole();
        println!("{}: {whole:.3} of the measured time", one.name);
        // what is missing of attn-tkg is in the docs of `time`
        let (least, most) =
            if one.name == "attn-tkg" { (0.6, 0.65) } else { (1.0 - WHOLE, 1.0 + WHOLE) };
        assert!((least..=most).contains(&whole), "{}: {whole:.3}", one.name);
        for ((opcode, engine, size), ratios) in one.by_opcode() {
            let median = ratios.at(0.5);
            if !one.fitted && ratios.count() >= 8 {
                let what = format!("{} {opcode:02x} on {engine}, size {size}", one.name);
                assert!((median - 1.0).abs() <= MEDIAN, "{what}: {median:.2}");
            }
        }
    }
    // all of the table: medians, and the spread but for the rows that the docs
    // of `time` explain
    for fitted in [false, true] {
        let rows = silicon::rows(&all, fitted);
        assert_eq!(silicon::outside(&rows, &[0.5]), [""; 0]);
        let ends = silicon::outside(&rows, &[0.1, 0.9]);
        let known = |row: &&String| !EXPLAINED.iter().any(|known| row.starts_with(known));
        assert_eq!(ends.iter().find(known), None, "of {ends:?}");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "{path} is stale: run with NPU_REGENERATE=1");
}
