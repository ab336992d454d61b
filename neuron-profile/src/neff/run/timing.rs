//! What a run cost in simulated time, for people and as JSON.

use std::io::{self, Write};

use neuron_core::engine::Engine;
use npu::time::Summary;
use serde_json::{Map, Value, json};

use crate::output::table;

/// Milliseconds, microseconds or nanoseconds, whichever is of a size to read.
fn time_text(picoseconds: u64) -> String {
    let nanoseconds = picoseconds as f64 / 1e3;
    match nanoseconds {
        n if n >= 1e6 => format!("{:.3} ms", n / 1e6),
        n if n >= 1e3 => format!("{:.3} us", n / 1e3),
        n => format!("{n:.3} ns"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Writes the time, the utilisations by the vendor's definitions and a row for
/// each core.
pub(super) fn text(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nsimulated time {}, MFU {}, HFU {}, MBU {}",
        time_text(summary.total),
        percent(summary.mfu()),
        percent(summary.hfu()),
        percent(summary.mbu())
    )?;
    let mut heads = vec![String::from("CORE")];
    heads.extend(Engine::ALL.map(|engine| format!("{engine} BUSY")));
    let rest = ["INSTRUCTIONS", "FLOPS", "TRANSPOSE", "HBM READ", "HBM WRITTEN", "DMA PACKETS"];
    heads.extend(rest.map(str::to_owned));
    let mut rows = vec![heads];
    for (index, core) in summary.cores.iter().enumerate() {
        let mut row = vec![index.to_string()];
        row.extend(Engine::ALL.map(|engine| percent(summary.busy_share(index, engine))));
        let instructions = core.instructions.iter().sum::<u64>();
        let counts = [
            instructions,
            core.hardware_flops,
            core.transpose_flops,
            core.hbm_read,
            core.hbm_written,
            core.packets,
        ];
        row.extend(counts.map(|count| count.to_string()));
        rows.push(row);
    }
    table(out, "", &[0], &rows)
}

/// The same; times in nanoseconds as the vendor's exports have them, shares
/// from 0 to 1.
pub(super) fn document(summary: &Summary) -> Value {
    let cores = summary.cores.iter().enumerate().map(|(index, core)| {
        let engines: Map<String, Value> = Engine::ALL
            .iter()
            .zip(core.busy.iter().zip(core.instructions))
            .map(|(engine, (busy, instructions))| {
                let entry = json!({
                    "busy_ns": *busy as f64 / 1e3,
                    "busy_share": summary.busy_share(index, *engine),
                    "instructions": instructions,
                });
                (engine.to_string(), entry)
            })
            .collect();
        json!({
            "core": index,
            "engines": engines,
            "hardware_flops": core.hardware_flops,
            "transpose_flops": core.transpose_flops,
            "adjusted_flops": core.adjusted_flops,
            "hbm_read_bytes": core.hbm_read,
            "hbm_written_bytes": core.hbm_written,
            "dma_packets": core.packets,
        })
    });
    json!({
        "total_ns": summary.total as f64 / 1e3,
        "mfu": summary.mfu(),
        "hfu": summary.hfu(),
        "mbu": summary.mbu(),
        "cores": cores.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::time_text;

    #[test]
    fn times_have_a_unit_to_read() {
        assert_eq!(time_text(999), "0.999 ns");
        assert_eq!(time_text(38_091_607), "38.092 us");
        assert_eq!(time_text(1_003_215_099), "1.003 ms");
    }
}
