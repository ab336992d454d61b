//! What limits a profile: rules over its metrics, each with the numbers that
//! fulfil it and the question whose rows show where.
//!
//! The limits of the rules on FLOPs, transposes, spills and throttling are those
//! of the vendor's insights (profiler.md §3.10); the others are our choice.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Metrics of a profile by name: the one row of `Summary`.
pub type Metrics = serde_json::Map<String, Value>;

/// Something that limits a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the rule, for scripts.
    pub rule: &'static str,
    /// Share of the execution, or of the work, that is at stake: 0 to 1. The
    /// largest comes first.
    pub weight: f64,
    /// What it is, one sentence.
    pub what: String,
    /// What to do, one sentence.
    pub advice: &'static str,
    /// The metrics that it is drawn from.
    pub evidence: BTreeMap<&'static str, f64>,
    /// A question whose rows show where.
    pub sql: &'static str,
}

/// Metrics that are being looked at, and those that were used.
struct Seen<'a> {
    metrics: &'a Metrics,
    used: BTreeMap<&'static str, f64>,
}

impl Seen<'_> {
    /// A metric; `None` where the profile does not have it.
    fn get(&mut self, name: &'static str) -> Option<f64> {
        let value = self.metrics.get(name)?.as_f64()?;
        self.used.insert(name, value);
        Some(value)
    }
}

/// A rule: how much is at stake and the sentence; `None` where it does not hold.
type Test = fn(&mut Seen<'_>) -> Option<(f64, String)>;

struct Rule {
    name: &'static str,
    test: Test,
    advice: &'static str,
    sql: &'static str,
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Part of a whole; `None` for a whole of nothing.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

const LONGEST: &str = "SELECT engine, opcode, layer, start_ts, end_ts, duration_ns, pc \
    FROM Instruction ORDER BY duration_ns DESC LIMIT 10";

const RULES: &[Rule] = &[
    Rule {
        name: "idle",
        test: |seen| {
            let idle = 1.0 - seen.get("total_active_time_percent")?;
            let text = format!("nothing runs for {} of the execution", percent(idle));
            (idle > 0.3).then_some((idle, text))
        },
        advice: "look for what the engines wait for: start-up, one long dependence, or the host",
        sql: "WITH spans AS (SELECT engine, start_ts, max(end_ts) OVER (ORDER BY start_ts, end_ts \
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM ActiveTime) \
              SELECT before AS from_ns, start_ts AS to_ns, start_ts - before AS idle_ns, \
              engine AS ended_by FROM spans WHERE before < start_ts \
              ORDER BY idle_ns DESC, from_ns LIMIT 10",
    },
    Rule {
        name: "dma-bound",
        test: |seen| {
            let dma = seen.get("dma_active_time_percent")?;
            let tensor = seen.get("tensor_engine_active_time_percent")?;
            let text = format!(
                "DMA is active for {} of the execution, the tensor engine for {}",
                percent(dma),
                percent(tensor)
            );
            (dma > 0.5 && dma > 1.25 * tensor).then_some((dma - tensor, text))
        },
        advice: "move less, in larger packets, or overlap the moves with compute",
        sql: "SELECT queue_name, count(*) AS packets, sum(transfer_bytes) AS bytes, \
                round(avg(transfer_bytes), 1) AS bytes_a_packet, sum(duration_ns) AS time_ns \
              FROM DmaPacket GROUP BY queue_name ORDER BY time_ns DESC, queue_name LIMIT 10",
    },
    Rule {
        name: "memory-bound",
        test: |seen| {
            let intensity = seen.get("mm_arithmetic_intensity")?;
            let ridge = seen.get("peak_flops_bandwidth_ratio")?;
            let reached = share(intensity, ridge)?;
            let text = format!(
                "the products do {intensity:.1} FLOPs for a byte of HBM, the core needs {ridge:.1} \
                 to be busy"
            );
            (intensity > 0.0 && reached < 0.5).then_some((1.0 - reached, text))
        },
        advice: "keep tiles in the state buffer longer, or batch more work for the same weights",
        sql: "SELECT queue_type, sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes, \
                count(*) AS packets FROM DmaPacket GROUP BY queue_type ORDER BY read_bytes DESC",
    },
    Rule {
        name: "tensor-underused",
        test: |seen| {
            let active = seen.get("tensor_engine_active_time_percent")?;
            let used = seen.get("hfu_estimated_percent")?;
            let reached = share(used, active)?;
            let text = format!(
                "while the tensor engine is active it does {} of the FLOPs that it could",
                percent(reached)
            );
            (active > 0.1 && reached < 0.5).then_some((active * (1.0 - reached), text))
        },
        advice: "fill the array: 128 rows and columns, long moving data, products back to back",
        sql: "SELECT opcode, operands, count(*) AS instructions, sum(duration_ns) AS time_ns, \
                sum(raw_flops) AS flops FROM Instruction \
              WHERE lower(timeline_track) = 'tensormatrix' GROUP BY opcode, operands \
              ORDER BY time_ns DESC, operands LIMIT 10",
    },
    Rule {
        name: "transposes",
        test: |seen| {
            let transposes = seen.get("transpose_flops")?;
            let part = share(transposes, seen.get("hardware_flops")?)?;
            let text = format!("{} of the FLOPs of the array are transposes", percent(part));
            (part > 0.1).then_some((part, text))
        },
        advice: "choose layouts that need no transpose, or transpose by DMA",
        sql: "SELECT layer, count(*) AS transposes, sum(duration_ns) AS time_ns, \
                sum(flops_transpose) AS flops FROM Instruction WHERE flops_transpose > 0 \
              GROUP BY layer ORDER BY flops DESC, layer LIMIT 10",
    },
    Rule {
        name: "spills",
        test: |seen| {
            let reloaded = seen.get("spill_reload_bytes")?;
            let part = share(reloaded, seen.get("hbm_read_bytes")?)?;
            let text = format!("{} of what is read from HBM is reloaded spills", percent(part));
            (part > 0.25).then_some((part, text))
        },
        advice: "look at data dependences: what is spilled is needed too late, or kept too long",
        sql: "SELECT layer, sum(spill_save_bytes) AS saved, sum(spill_reload_bytes) AS reloaded \
              FROM Instruction GROUP BY layer HAVING sum(spill_reload_bytes) > 0 \
              ORDER BY reloaded DESC, layer LIMIT 10",
    },
    Rule {
        name: "small-packets",
        test: |seen| {
            let size = seen.get("hardware_dynamic_dma_size")? + seen.get("software_dynamic_dma_size")?;
            let packets = seen.get("hardware_dynamic_dma_packet_count")?
                + seen.get("software_dynamic_dma_packet_count")?;
            let mean = share(size, packets)?;
            let active = seen.get("dma_active_time_percent")?;
            let text = format!("a dynamic DMA packet has {mean:.0} bytes on average");
            (mean < 512.0 && active > 0.2).then_some((active * (1.0 - mean / 512.0), text))
        },
        advice: "packets below 512 bytes cost as much as those of 512: make the last axis contiguous",
        sql: "SELECT transfer_bytes AS size, count(*) AS packets, sum(duration_ns) AS time_ns \
              FROM DmaPacket GROUP BY transfer_bytes ORDER BY time_ns DESC, size LIMIT 10",
    },
    Rule {
        name: "throttled",
        test: |seen| {
            let limit = seen.get("throttle_avg_util_limit_nc0_percent")?;
            let text = format!("the activity manager allows {} on average", percent(limit));
            (limit < 0.95).then_some((1.0 - limit, text))
        },
        advice: "keep the tensor engine busy for more than half of every 3 us, or accept the power limit",
        sql: "SELECT type, k, n, count(*) AS times, sum(duration) AS ns FROM Throttle \
              GROUP BY type, k, n ORDER BY ns DESC, type LIMIT 10",
    },
    Rule {
        name: "one-engine",
        test: |seen| {
            const OTHERS: [(&str, &str); 3] = [
                ("vector", "vector_engine_active_time_percent"),
                ("scalar", "scalar_engine_active_time_percent"),
                ("gpsimd", "gpsimd_engine_active_time_percent"),
            ];
            let tensor = seen.get("tensor_engine_active_time_percent")?;
            let busiest = OTHERS.into_iter().filter_map(|(name, key)| Some((name, seen.get(key)?)));
            let (name, active) = busiest.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let text = format!(
                "the {name} engine is active for {} of the execution, the tensor engine for {}",
                percent(active),
                percent(tensor)
            );
            (active > 0.5 && active > 1.25 * tensor).then_some((active - tensor, text))
        },
        advice: "move work to an engine that is idle, or fuse elementwise operations",
        sql: LONGEST,
    },
];

/// What limits a profile, the heaviest first.
pub fn find(metrics: &Metrics) -> Vec<Finding> {
    let held = RULES.iter().filter_map(|rule| {
        let mut seen = Seen { metrics, used: BTreeMap::new() };
        let (weight, what) = (rule.test)(&mut seen)?;
        let (advice, sql, evidence) = (rule.advice, rule.sql, seen.used);
        Some(Finding { rule: rule.name, weight, what, advice, evidence, sql })
    });
    let mut findings: Vec<Finding> = held.collect();
    findings.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(all: &[(&str, f64)]) -> Metrics {
        all.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    fn rules(all: &[(&str, f64)]) -> Vec<&'static str> {
        find(&metrics(all)).iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn rules_hold_beyond_their_limits_only() {
        assert_eq!(rules(&[("total_active_time_percent", 0.69)]), ["idle"]);
        assert!(rules(&[("total_active_time_percent", 0.71)]).is_empty());
        let flops = |transposed| [("transpose_flops", transposed), ("hardware_flops", 100.0)];
        assert_eq!(rules(&flops(10.1)), ["transposes"]);
        assert!(rules(&flops(10.0)).is_empty());
        let spills = |reloaded| [("spill_reload_bytes", reloaded), ("hbm_read_bytes", 100.0)];
        assert_eq!(rules(&spills(25.1)), ["spills"]);
        assert!(rules(&spills(25.0)).is_empty());
        assert!(rules(&[("spill_reload_bytes", 0.0), ("hbm_read_bytes", 0.0)]).is_empty());
        let dma = |dma, tensor| {
            [("dma_active_time_percent", dma), ("tensor_engine_active_time_percent", tensor)]
        };
        assert_eq!(rules(&dma(0.9, 0.3)), ["dma-bound"]);
        assert!(rules(&dma(0.9, 0.8)).is_empty());
        assert!(rules(&[]).is_empty());
    }

    #[test]
    fn the_heaviest_comes_first_with_its_numbers() {
        let found = find(&metrics(&[
            ("total_active_time_percent", 0.1),
            ("transpose_flops", 50.0),
            ("hardware_flops", 100.0),
        ]));
        let names: Vec<_> = found.iter().map(|finding| finding.rule).collect();
        assert_eq!(names, ["idle", "transposes"]);
        assert_eq!(found[0].what, "nothing runs for 90.0 % of the execution");
        assert_eq!(found[1].evidence["hardware_flops"], 100.0);
    }
}
