//! Folded stacks: core, engine, the path of the layer, opcode, and nanoseconds.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context as _;
use profile_store::Profile;
use profile_store::read::Line;

use super::has;

/// Writes a line for each stack, in the order of their texts.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    const TABLE: &str = "Instruction";
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let batches = if has(profile, TABLE) { Some(profile.batches(TABLE)?) } else { None };
    for batch in batches.into_iter().flatten() {
        let batch = batch.context(TABLE)?;
        for line in Line::all(&batch) {
            let core = line.long("pcore_idx").unwrap_or(0);
            let track = line.text("timeline_track").unwrap_or_default();
            let layer = line.text("layer").unwrap_or("Unknown");
            let opcode = line.text("opcode").unwrap_or_default();
            // A semicolon ends a frame, a slash a part of a path.
            let layer = layer.replace(';', ":").replace('/', ";");
            let stack = format!("NeuronCore {core};{track};{layer};{opcode}");
            *sums.entry(stack).or_default() += line.long("duration_ns").unwrap_or(0);
        }
    }
    for (stack, ns) in sums {
        writeln!(out, "{stack} {ns}")?;
    }
    Ok(())
}
