//! What the memory viewer draws, against the fullness in the vendor's exports.

use serde_json::Value;

use super::series::vendor;
use super::server::{Server, stored};
use super::trees::{long, rows};

/// Bytes of a partition (neuron-profile's engine, from the same exports).
const PARTITION: f64 = 229_376.0;

#[test]
fn rectangles_fill_the_memory_as_the_vendor_says() {
    let data = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for capture in ["attn-fused-bf16-512", "attn-base-bf16-512", "attn-fused-fp32-1024"] {
        let id = stored(data.path(), capture);
        let server = Server::start(data.path(), &[]);
        let at = format!("/api/v1/profiles/{id}");
        let lives = rows(&server, &at, "SbufAllocation");
        let mut samples: Vec<Value> = vendor(capture, "instruction_usage")
            .into_iter()
            .filter(|row| row["type"] == "sb" && row["subgraph"] == "sg00")
            .collect();
        samples.sort_by_key(|row| long(row, "timestamp"));
        for partition in [0, 32, 64, 96] {
            let own: Vec<&Value> = lives
                .iter()
                .filter(|life| life["partition"] == partition && life["pcore_idx"] == 0)
                .collect();
            assert!(!own.is_empty(), "{capture} {partition}");
            // In order of time, as they are drawn.
            assert!(own.is_sorted_by_key(|life| long(life, "start_ts")));
            for three in samples.windows(3) {
                let [before, time, next] = [0, 1, 2].map(|at| long(&three[at], "timestamp"));
                // Changes within a nanosecond cannot be told apart here.
                let (sample, time) = (&three[1], time + 1);
                if next <= time || before + 1 == time {
                    continue;
                }
                let holds =
                    |life: &&&Value| (long(life, "start_ts")..long(life, "end_ts")).contains(&time);
                let bytes: u64 = own
                    .iter()
                    .filter(holds)
                    .map(|life| long(life, "end_address") + 1 - long(life, "start_address"))
                    .sum();
                let share = sample[format!("partition_{partition}_usage")].as_f64().unwrap();
                assert!((bytes as f64 / PARTITION - share).abs() < 1e-6, "{capture} {time}");
                compared += 1;
            }
        }
        // A window, as a viewer asks for it.
        let (from, to) = (10_000, 20_000);
        let found = server.json(&format!(
            "{at}/search/SbufAllocation?pcore_idx=0&partition=0&start_ts=..{to}&end_ts={from}..&limit=10000"
        ));
        let wanted = lives.iter().filter(|life| {
            life["pcore_idx"] == 0
                && life["partition"] == 0
                && long(life, "start_ts") <= to
                && long(life, "end_ts") >= from
        });
        let found = found["rows"].as_array().unwrap();
        assert!(found.iter().eq(wanted) && found[0]["opcode"].is_string());
    }
    assert!(compared > 300, "{compared} moments");
}
