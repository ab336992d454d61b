//! Named reports: questions that are asked of every profile, as SQL.
//!
//! The SQL is what `neuron-profile query` would run; a user can print it, and
//! change it. Times are nanoseconds.

/// A table of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// What it says.
    pub title: &'static str,
    /// A table that it needs; without that the section is left out.
    pub needs: &'static str,
    /// The question.
    pub sql: &'static str,
}

/// A named report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its tables.
    pub sections: &'static [Section],
}

/// All of them.
pub const REPORTS: &[Report] = &[
    Report {
        name: "layers",
        about: "Which layers of the framework take the time of which engine",
        sections: &[Section {
            title: "Layers by the time in which their instructions ran",
            needs: "LayerSummary",
            sql: "SELECT name AS layer, engine, pcore_idx AS core, \
                    sum(instruction_count) AS instructions, \
                    sum(active_time_ns) AS active_ns, \
                    round(sum(active_time_ns) * 100.0 \
                      / (SELECT max(end_ts) - min(start_ts) FROM Instruction), 2) AS percent, \
                    min(start_ts) AS first_ns, max(end_ts) AS last_ns, \
                    max(tensor_engine_flop_count) AS flops \
                  FROM LayerSummary GROUP BY name, engine, pcore_idx \
                  ORDER BY active_ns DESC, layer, engine LIMIT 50",
        }],
    },
    Report {
        name: "engines",
        about: "How busy each engine is, and with what",
        sections: &[
            Section {
                title: "Engines",
                needs: "ActiveTime",
                sql: "SELECT engine, pcore_idx AS core, count(*) AS spans, \
                        sum(duration_ns) AS active_ns, \
                        round(sum(duration_ns) * 100.0 \
                          / (SELECT max(end_ts) - min(start_ts) FROM Instruction), 2) AS percent, \
                        max(duration_ns) AS longest_ns \
                      FROM ActiveTime GROUP BY engine, pcore_idx \
                      ORDER BY active_ns DESC, engine, core",
            },
            Section {
                title: "Opcodes",
                needs: "OpcodeSummary",
                sql: "SELECT engine, opcode, instruction_count AS instructions, \
                        instruction_time_ns AS time_ns, active_time_ns AS active_ns, \
                        round(active_time_percent * 100, 2) AS percent \
                      FROM OpcodeSummary ORDER BY active_ns DESC, engine, opcode LIMIT 50",
            },
            Section {
                title: "Waits for semaphores, longest first",
                needs: "Instruction",
                sql: "SELECT engine, pcore_idx AS core, opcode, count(*) AS waits, \
                        sum(evt_wait_time_ns) AS waited_ns, max(evt_wait_time_ns) AS longest_ns \
                      FROM Instruction WHERE evt_wait_time_ns > 0 \
                      GROUP BY engine, pcore_idx, opcode \
                      ORDER BY waited_ns DESC, engine, opcode LIMIT 20",
            },
        ],
    },
    Report {
        name: "dma",
        about: "What the DMA rings move, how fast, and in what sizes",
        sections: &[
            Section {
                title: "Rings",
                needs: "DmaPacket",
                sql: "SELECT queue_name AS ring, queue_type AS carries, pcore_idx AS core, \
                        count(*) AS packets, sum(transfer_bytes) AS bytes, \
                        round(avg(transfer_bytes), 1) AS bytes_a_packet, \
                        sum(duration_ns) AS time_ns, \
                        min(start_ts) AS first_ns, max(end_ts) AS last_ns \
                      FROM DmaPacket GROUP BY queue_name, queue_type, pcore_idx \
                      ORDER BY bytes DESC, ring, core LIMIT 50",
            },
            Section {
                title: "Sizes of packets",
                needs: "DmaPacket",
                sql: "SELECT transfer_bytes AS size, count(*) AS packets, \
                        sum(transfer_bytes) AS bytes, round(avg(duration_ns), 1) AS ns_a_packet, \
                        round(avg(throughput) / 1e9, 3) AS gb_a_second \
                      FROM DmaPacket GROUP BY transfer_bytes \
                      ORDER BY packets DESC, size LIMIT 20",
            },
            Section {
                title: "Engines",
                needs: "DmaPacket",
                sql: "SELECT engine_idx AS dma_engine, count(*) AS packets, \
                        sum(transfer_bytes) AS bytes, sum(duration_ns) AS time_ns \
                      FROM DmaPacket GROUP BY engine_idx ORDER BY dma_engine",
            },
        ],
    },
    Report {
        name: "idle",
        about: "When nothing computed, and what ended the pause",
        sections: &[Section {
            title: "Pauses of all compute engines, longest first",
            needs: "ActiveTime",
            sql: "WITH spans AS (SELECT engine, pcore_idx, start_ts, max(end_ts) OVER \
                      (ORDER BY start_ts, end_ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) \
                      AS before FROM ActiveTime WHERE engine NOT LIKE '%dma%') \
                  SELECT before AS from_ns, start_ts AS to_ns, start_ts - before AS idle_ns, \
                    engine AS ended_by, pcore_idx AS core \
                  FROM spans WHERE before < start_ts ORDER BY idle_ns DESC, from_ns LIMIT 20",
        }],
    },
];

/// A report by its name.
pub fn find(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}
