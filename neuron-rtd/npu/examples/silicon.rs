//! Prints the table of simulated against measured times that is in the docs;
//! with `records`, each instruction by itself: capture, core, engine, slot, how
//! often it ran before, opcode, begin and length measured, and simulated, in
//! nanoseconds; then each transfer: DMA engine, ring, begins and ends.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "a tool of developers"
)]

use std::io::Write as _;

#[path = "../tests/support/silicon.rs"]
mod silicon;

fn main() -> std::io::Result<()> {
    let all = silicon::Comparison::all();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if std::env::args().nth(1).as_deref() != Some("records") {
        return out.write_all(silicon::page(&all).as_bytes());
    }
    for one in &all {
        let first = |run: &silicon::Run| run.instructions.values().map(|span| span.start).min();
        let (from, ours_from) = (first(&one.measured), first(&one.simulated));
        for (key, measured) in &one.measured.instructions {
            let Some(ours) = one.simulated.instructions.get(key) else { continue };
            let (core, engine, slot, turn) = key;
            let record = &one.program.cores()[*core].stream(*engine)[*slot];
            let show = |span: &silicon::Span, from: Option<u64>| {
                let ns = |ps: u64| ps as f64 / 1e3;
                let start = ns(span.start - from.unwrap_or_default());
                format!("{start:.1}\t{:.1}", ns(span.end - span.start))
            };
            let (theirs, ours) = (show(measured, from), show(ours, ours_from));
            let (name, opcode) = (one.name, record.opcode());
            writeln!(out, "{name}\t{core}\t{engine}\t{slot}\t{turn}\t{opcode}\t{theirs}\t{ours}")?;
        }
        for (key, measured) in &one.measured.transfers {
            let Some(ours) = one.simulated.transfers.get(key) else { continue };
            let (core, engine, ring, turn) = key;
            let ns =
                |ps: u64, from: Option<u64>| (ps as f64 - from.unwrap_or_default() as f64) / 1e3;
            let show = |span: &silicon::Span, from| {
                format!("{:.1}\t{:.1}", ns(span.start, from), ns(span.end, from))
            };
            let (theirs, ours) = (show(measured, from), show(ours, ours_from));
            let name = one.name;
            writeln!(
                out,
                "{name}\t{core}\tdma {engine}\t{ring}\t{turn}\ttransfer\t{theirs}\t{ours}"
            )?;
        }
    }
    Ok(())
}
