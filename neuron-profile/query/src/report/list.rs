//! The reports.

use super::{Report, Section};

/// All that look at one profile.
pub const REPORTS: &[Report] = &[
    Report {
        name: "layers",
        about: "Which layers of the framework take the time of which engine",
        sections: &[Section {
            name: "layers",
            title: "Layers by the time in which their instructions ran",
            sql: "SELECT name AS layer, engine, pcore_idx AS core, \
                    instruction_count AS instructions, active_time_ns AS active_ns, \
                    round(active_time_ns * 100.0 / (SELECT max(last_hw_timestamp) FROM Metadata), 2) AS percent, \
                    start_ts AS first_ns, end_ts AS last_ns, \
                    tensor_engine_flop_count AS flops \
                  FROM LayerSummary WHERE instruction_count > 0 \
                  ORDER BY active_ns DESC, layer, engine, core LIMIT {limit}",
        }],
    },
    Report {
        name: "operators",
        about: "Which operators take the time of the engines",
        sections: &[
            Section {
                name: "operators",
                title: "Operators by the sum of their instructions' times",
                sql: "SELECT coalesce(hlo_name, nki_source_location, bir_instruction_name, '(none)') AS operator, \
                        count(*) AS instructions, sum(duration_ns) AS time_ns, \
                        sum(CASE WHEN engine = 'Tensor' THEN duration_ns ELSE 0 END) AS tensor_ns, \
                        sum(CASE WHEN engine = 'Vector' THEN duration_ns ELSE 0 END) AS vector_ns, \
                        sum(CASE WHEN engine = 'Scalar' THEN duration_ns ELSE 0 END) AS scalar_ns, \
                        sum(CASE WHEN engine = 'GpSimd' THEN duration_ns ELSE 0 END) AS gpsimd_ns, \
                        sum(CASE WHEN engine = 'Sync' THEN duration_ns ELSE 0 END) AS sync_ns, \
                        sum(evt_wait_time_ns) AS waited_ns, sum(raw_flops) AS flops, \
                        sum(hbm_read_bytes) AS read_bytes, sum(hbm_write_bytes) AS written_bytes \
                      FROM Instruction GROUP BY operator \
                      ORDER BY time_ns DESC, operator LIMIT {limit}",
            },
            Section {
                name: "opcodes",
                title: "Opcodes",
                sql: "SELECT engine, opcode, instruction_count AS instructions, \
                        instruction_time_ns AS time_ns, active_time_ns AS active_ns, \
                        round(active_time_percent * 100, 2) AS percent \
                      FROM OpcodeSummary ORDER BY active_ns DESC, engine, opcode LIMIT {limit}",
            },
        ],
    },
    Report {
        name: "engines",
        about: "How busy each engine is, and what it waits for",
        sections: &[
            Section {
                name: "engines",
                title: "Engines; active is without waits for semaphores",
                sql: "SELECT engine, pcore_idx AS core, count(*) AS spans, \
                        sum(duration_ns) AS active_ns, \
                        round(sum(duration_ns) * 100.0 / (SELECT max(last_hw_timestamp) FROM Metadata), 2) AS percent, \
                        max(duration_ns) AS longest_ns, min(start_ts) AS first_ns, max(end_ts) AS last_ns \
                      FROM ActiveTime GROUP BY engine, pcore_idx \
                      ORDER BY active_ns DESC, engine, core LIMIT {limit}",
            },
            Section {
                name: "waits",
                title: "Waits for semaphores by the instruction that waits",
                sql: "SELECT engine, pcore_idx AS core, opcode, count(*) AS waits, \
                        sum(evt_wait_time_ns) AS waited_ns, max(evt_wait_time_ns) AS longest_ns \
                      FROM Instruction WHERE evt_wait_time_ns > 0 \
                      GROUP BY engine, pcore_idx, opcode \
                      ORDER BY waited_ns DESC, engine, opcode, core LIMIT {limit}",
            },
        ],
    },
    Report {
        name: "dma",
        about: "What the DMA rings move, how fast, and in what sizes",
        sections: &[
            Section {
                name: "rings",
                title: "Rings",
                sql: "SELECT queue_name AS ring, queue_type AS carries, pcore_idx AS core, \
                        count(*) AS packets, sum(transfer_bytes) AS bytes, \
                        round(avg(transfer_bytes), 1) AS bytes_a_packet, \
                        sum(duration_ns) AS time_ns, \
                        min(start_ts) AS first_ns, max(end_ts) AS last_ns \
                      FROM DmaPacket GROUP BY queue_name, queue_type, pcore_idx \
                      ORDER BY bytes DESC, ring, core LIMIT {limit}",
            },
            Section {
                name: "sizes",
                title: "Sizes of packets",
                sql: "SELECT transfer_bytes AS size, count(*) AS packets, \
                        sum(transfer_bytes) AS bytes, round(avg(duration_ns), 1) AS ns_a_packet, \
                        round(sum(transfer_bytes) * 1.0 / nullif(sum(duration_ns), 0), 3) AS gb_a_second \
                      FROM DmaPacket GROUP BY transfer_bytes \
                      ORDER BY packets DESC, size LIMIT {limit}",
            },
            Section {
                name: "engines",
                title: "DMA engines",
                sql: "SELECT engine_idx AS dma_engine, count(*) AS packets, \
                        sum(transfer_bytes) AS bytes, sum(duration_ns) AS time_ns \
                      FROM DmaPacket GROUP BY engine_idx ORDER BY dma_engine LIMIT {limit}",
            },
        ],
    },
    Report {
        name: "idle",
        about: "When nothing computed, and what ended the pause",
        sections: &[Section {
            name: "pauses",
            title: "Pauses of all compute engines, longest first; DMA may run in them",
            sql: "SELECT before AS from_ns, start_ts AS to_ns, start_ts - before AS idle_ns, \
                    round((start_ts - before) * 100.0 / (SELECT max(last_hw_timestamp) FROM Metadata), 2) AS percent, \
                    engine AS ended_by, pcore_idx AS core, row \
                  FROM (SELECT engine, pcore_idx, row, start_ts, max(end_ts) OVER \
                      (ORDER BY start_ts, end_ts, row ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before \
                    FROM (SELECT file_row_index() AS row, engine, pcore_idx, start_ts, end_ts \
                      FROM ActiveTime) AS spans) AS pauses \
                  WHERE before < start_ts ORDER BY idle_ns DESC, from_ns LIMIT {limit}",
        }],
    },
    Report {
        name: "memory",
        about: "How full the memories are, and what moves between them",
        sections: &[
            Section {
                name: "traffic",
                title: "Bytes that instructions move",
                sql: "SELECT engine, sum(hbm_read_bytes) AS hbm_read, sum(hbm_write_bytes) AS hbm_written, \
                        sum(sbuf_read_bytes) AS sbuf_read, sum(sbuf_write_bytes) AS sbuf_written, \
                        sum(psum_read_bytes) AS psum_read, sum(psum_write_bytes) AS psum_written, \
                        sum(spill_save_bytes) AS spilled, sum(spill_reload_bytes) AS reloaded \
                      FROM Instruction GROUP BY engine ORDER BY engine LIMIT {limit}",
            },
            Section {
                name: "usage",
                title: "How full the memories of a core are; average over samples and most, percent",
                sql: "SELECT * FROM (SELECT 'state buffer' AS memory, pcore_idx AS core, count(*) AS samples, \
                          round(avg(avg_util_percent) * 100, 2) AS average, \
                          round(max(avg_util_percent) * 100, 2) AS most FROM SbufUsage GROUP BY pcore_idx \
                        UNION ALL SELECT 'sum buffer', pcore_idx, count(*), \
                          round(avg(avg_util_percent) * 100, 2), \
                          round(max(avg_util_percent) * 100, 2) FROM PsumUsage GROUP BY pcore_idx) AS usage \
                      ORDER BY memory, core LIMIT {limit}",
            },
            Section {
                name: "tensors",
                title: "Tensors of the NEFF, largest first, and how often they were loaded",
                sql: "SELECT variable_name AS tensor, type, format, shape, size AS bytes, \
                        load_to_sbuf_dma_count AS loads, load_to_sbuf_total_size_bytes AS loaded_bytes, \
                        round(load_to_sbuf_repeat_factor, 2) AS times \
                      FROM TensorInfo WHERE variable_name <> '' \
                      ORDER BY bytes DESC, tensor LIMIT {limit}",
            },
            Section {
                name: "scratchpad",
                title: "Scratch tensors in device memory, largest first; from the first use to the last",
                sql: "SELECT variable_name AS tensor, pcore_idx AS core, size AS bytes, offset_bytes, \
                        start_ts, end_ts, write_count AS writes, read_count AS reads \
                      FROM ScratchpadTensor ORDER BY bytes DESC, tensor, core LIMIT {limit}",
            },
            Section {
                name: "device",
                title: "Device memory before the start, by purpose",
                sql: "SELECT neuron_device_idx AS device, neuroncore_idx AS core, usage_type AS purpose, \
                        usage_bytes AS bytes FROM HbmUsageSummaryByType WHERE usage_bytes > 0 \
                      ORDER BY bytes DESC, purpose, core LIMIT {limit}",
            },
        ],
    },
];

/// The times of two profiles, which are `p1` and `p2`.
pub const COMPARE: Report = Report {
    name: "compare",
    about: "What differs between two profiles",
    sections: &[
        Section {
            name: "layers",
            title: "Layers by the difference of their active times",
            sql: "SELECT coalesce(a.layer, b.layer) AS layer, coalesce(a.engine, b.engine) AS engine, \
                    coalesce(a.ns, 0) AS first_ns, coalesce(b.ns, 0) AS second_ns, \
                    coalesce(b.ns, 0) - coalesce(a.ns, 0) AS difference_ns, \
                    round(coalesce(b.ns, 0) * 1.0 / nullif(a.ns, 0), 4) AS ratio \
                  FROM (SELECT CAST(name AS VARCHAR) AS layer, CAST(engine AS VARCHAR) AS engine, \
                      sum(active_time_ns) AS ns FROM p1.LayerSummary WHERE instruction_count > 0 \
                      GROUP BY name, engine) AS a \
                  FULL OUTER JOIN (SELECT CAST(name AS VARCHAR) AS layer, CAST(engine AS VARCHAR) AS engine, \
                      sum(active_time_ns) AS ns FROM p2.LayerSummary WHERE instruction_count > 0 \
                      GROUP BY name, engine) AS b \
                  ON a.layer = b.layer AND a.engine = b.engine \
                  ORDER BY abs(coalesce(b.ns, 0) - coalesce(a.ns, 0)) DESC, layer, engine LIMIT {limit}",
        },
        Section {
            name: "operators",
            title: "Operators by the difference of their instructions' times",
            sql: "SELECT coalesce(a.operator, b.operator) AS operator, \
                    coalesce(a.n, 0) AS first_instructions, coalesce(b.n, 0) AS second_instructions, \
                    coalesce(a.ns, 0) AS first_ns, coalesce(b.ns, 0) AS second_ns, \
                    coalesce(b.ns, 0) - coalesce(a.ns, 0) AS difference_ns, \
                    round(coalesce(b.ns, 0) * 1.0 / nullif(a.ns, 0), 4) AS ratio \
                  FROM (SELECT coalesce(hlo_name, nki_source_location, bir_instruction_name, '(none)') AS operator, \
                      count(*) AS n, sum(duration_ns) AS ns FROM p1.Instruction GROUP BY operator) AS a \
                  FULL OUTER JOIN (SELECT coalesce(hlo_name, nki_source_location, bir_instruction_name, '(none)') AS operator, \
                      count(*) AS n, sum(duration_ns) AS ns FROM p2.Instruction GROUP BY operator) AS b \
                  ON a.operator = b.operator \
                  ORDER BY abs(coalesce(b.ns, 0) - coalesce(a.ns, 0)) DESC, operator LIMIT {limit}",
        },
        Section {
            name: "opcodes",
            title: "Opcodes by the difference of their active times",
            sql: "SELECT coalesce(a.engine, b.engine) AS engine, coalesce(a.opcode, b.opcode) AS opcode, \
                    coalesce(a.instruction_count, 0) AS first_instructions, \
                    coalesce(b.instruction_count, 0) AS second_instructions, \
                    coalesce(a.active_time_ns, 0) AS first_ns, coalesce(b.active_time_ns, 0) AS second_ns, \
                    coalesce(b.active_time_ns, 0) - coalesce(a.active_time_ns, 0) AS difference_ns, \
                    round(coalesce(b.active_time_ns, 0) * 1.0 / nullif(a.active_time_ns, 0), 4) AS ratio \
                  FROM p1.OpcodeSummary AS a FULL OUTER JOIN p2.OpcodeSummary AS b \
                  ON a.engine = b.engine AND a.opcode = b.opcode \
                  ORDER BY abs(coalesce(b.active_time_ns, 0) - coalesce(a.active_time_ns, 0)) DESC, \
                    engine, opcode LIMIT {limit}",
        },
    ],
};
