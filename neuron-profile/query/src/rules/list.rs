//! The rules.

use super::measure::{
    coverage, dma_bound, faults, idle, incomplete, memory_bound, one_engine, reloads,
    small_packets, spills, throttled, transposes, turns, underused, waits,
};
use super::{Rule, Severity, Side};

/// All rules; see the module for where the limits are from.
pub const RULES: &[Rule] = &[
    Rule {
        id: "hardware-fault",
        figure: "faults",
        unit: "",
        side: Side::Above,
        threshold: 0.0,
        least: Severity::High,
        measure: faults,
        advice: "repair the program first: an access out of bounds makes results and times worthless",
        trade_off: "none",
        table: "Error",
        sql: "SELECT file_row_index() AS row, timestamp, type, description, pcore_idx \
              FROM Error WHERE type = 'Errors' ORDER BY timestamp LIMIT 10",
    },
    Rule {
        id: "incomplete",
        figure: "warnings, or marks of lost records",
        unit: "",
        side: Side::Above,
        threshold: 0.0,
        least: Severity::Low,
        measure: incomplete,
        advice: "capture again as the warnings say before trusting small differences",
        trade_off: "notifications of descriptor generation add DMA traffic",
        table: "Warning",
        sql: "SELECT file_row_index() AS row, category, message FROM Warning LIMIT 10",
    },
    Rule {
        id: "idle",
        figure: "share of the execution without any activity",
        unit: "%",
        side: Side::Above,
        threshold: 0.3,
        least: Severity::Low,
        measure: idle,
        advice: "look at what ends the longest pauses: start-up, one long dependence, or the host",
        trade_off: "a first execution has 1 to 2 ms of start-up; profile a later one before changing the program",
        table: "ActiveTime",
        sql: "SELECT row, engine, before AS from_ns, start_ts AS to_ns, start_ts - before AS idle_ns \
              FROM (SELECT row, engine, start_ts, max(end_ts) OVER (ORDER BY start_ts, end_ts, row \
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before \
                FROM (SELECT file_row_index() AS row, engine, start_ts, end_ts FROM ActiveTime) AS spans) AS pauses \
              WHERE before < start_ts ORDER BY idle_ns DESC, from_ns LIMIT 10",
    },
    Rule {
        id: "no-overlap",
        figure: "busiest engine by the time in which anything runs",
        unit: "%",
        side: Side::Below,
        threshold: 0.7,
        least: Severity::Low,
        measure: turns,
        advice: "overlap loads, products and elementwise work: several buffers for a tile, independent tiles in flight",
        trade_off: "more buffers take more of the state buffer and of PSUM",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, engine, opcode, evt_wait_time_ns, start_ts, pc, \
                nki_source_location FROM Instruction WHERE evt_wait_time_ns > 0 AND compiler_pc IS NOT NULL \
              ORDER BY evt_wait_time_ns DESC, row LIMIT 10",
    },
    Rule {
        id: "dma-bound",
        figure: "share of the execution with DMA active",
        unit: "%",
        side: Side::Above,
        threshold: 0.5,
        least: Severity::Low,
        measure: dma_bound,
        advice: "move less, in larger packets, or start the moves earlier so that they run beside compute",
        trade_off: "tiles that are loaded early take room in the state buffer for longer",
        table: "DmaPacket",
        sql: "SELECT file_row_index() AS row, queue_name, queue_type, transfer_bytes, duration_ns, start_ts \
              FROM DmaPacket WHERE queue_type <> 'instruction' ORDER BY duration_ns DESC, row LIMIT 10",
    },
    Rule {
        id: "memory-bound",
        figure: "arithmetic intensity by that of the peaks",
        unit: "",
        side: Side::Below,
        threshold: 1.0,
        least: Severity::Low,
        measure: memory_bound,
        advice: "keep tiles in the state buffer for longer, fuse operators, or batch more work for the same weights",
        trade_off: "larger batches take longer for the first answer",
        table: "DmaPacket",
        sql: "SELECT file_row_index() AS row, queue_name, queue_type, transfer_bytes, duration_ns, start_ts \
              FROM DmaPacket WHERE queue_type <> 'instruction' ORDER BY transfer_bytes DESC, row LIMIT 10",
    },
    Rule {
        id: "reloads",
        figure: "bytes read from device memory by bytes of inputs and weights",
        unit: "",
        side: Side::Above,
        threshold: 2.0,
        least: Severity::Low,
        measure: reloads,
        advice: "load each tensor once: order the loops so that a tile is used up before it is replaced",
        trade_off: "loops that keep one operand may write partial sums more often",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, engine, opcode, hbm_read_bytes, start_ts, pc, \
                nki_source_location FROM Instruction WHERE hbm_read_bytes > 0 \
              ORDER BY hbm_read_bytes DESC, row LIMIT 10",
    },
    Rule {
        id: "one-engine",
        figure: "share of the execution with that engine active",
        unit: "%",
        side: Side::Above,
        threshold: 0.5,
        least: Severity::Low,
        measure: one_engine,
        advice: "move work to an engine that is idle, or fuse elementwise operations",
        trade_off: "engines have different precision and throughput for a function",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, opcode, duration_ns, start_ts, pc, nki_source_location \
              FROM Instruction WHERE lower(engine) = '{engine}' ORDER BY duration_ns DESC, row LIMIT 10",
    },
    Rule {
        id: "tensor-waits",
        figure: "share of the execution in which the tensor engine waits",
        unit: "%",
        side: Side::Above,
        threshold: 0.3,
        least: Severity::Low,
        measure: waits,
        advice: "follow the dependences of the longest waits back: what they wait for must start earlier",
        trade_off: "none, but for the buffers that an earlier start needs",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, opcode, evt_wait_time_ns, start_ts, pc, operands, \
                nki_source_location FROM Instruction \
              WHERE lower(engine) = 'tensor' AND evt_wait_time_ns > 0 AND compiler_pc IS NOT NULL \
              ORDER BY evt_wait_time_ns DESC, row LIMIT 10",
    },
    // Vendor: model FLOPs < 50 % of active FLOPs.
    Rule {
        id: "tensor-underused",
        figure: "model FLOPs by those of the active time",
        unit: "%",
        side: Side::Below,
        threshold: 0.5,
        least: Severity::Low,
        measure: underused,
        advice: "fill the array: 128 rows and columns, long moving data, products back to back",
        trade_off: "padding fills the array too, but does not count as work of the model",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, opcode, duration_ns, raw_flops, start_ts, pc, operands, \
                nki_source_location FROM Instruction WHERE lower(timeline_track) = 'tensormatrix' \
              ORDER BY duration_ns DESC, row LIMIT 10",
    },
    // Vendor: transposes > 10 % of hardware FLOPs.
    Rule {
        id: "transposes",
        figure: "FLOPs of transposes by those of the hardware",
        unit: "%",
        side: Side::Above,
        threshold: 0.1,
        least: Severity::Low,
        measure: transposes,
        advice: "choose layouts that need no transpose, or transpose by DMA",
        trade_off: "a layout that suits one product may cost a transpose in another",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, opcode, flops_transpose, duration_ns, start_ts, pc, \
                nki_source_location FROM Instruction WHERE flops_transpose > 0 \
              ORDER BY flops_transpose DESC, row LIMIT 10",
    },
    // Vendor: spill reload > 25 % of HBM reads.
    Rule {
        id: "spills",
        figure: "bytes of reloaded spills by bytes read from device memory",
        unit: "%",
        side: Side::Above,
        threshold: 0.25,
        least: Severity::Low,
        measure: spills,
        advice: "look at data dependences: what is spilled is needed too late, or kept for too long",
        trade_off: "computing a value again may cost less than keeping it",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, engine, opcode, spill_reload_bytes, spill_save_bytes, \
                start_ts, pc, layer FROM Instruction WHERE spill_reload_bytes > 0 \
              ORDER BY spill_reload_bytes DESC, row LIMIT 10",
    },
    // The fixed cost of a descriptor is that of 512 bytes (neuroncore.md §5.5).
    Rule {
        id: "small-packets",
        figure: "bytes of a DMA packet on average",
        unit: "B",
        side: Side::Below,
        threshold: 512.0,
        least: Severity::Low,
        measure: small_packets,
        advice: "a packet of less than 512 bytes costs as much as one of 512: make the last axis contiguous and longer",
        trade_off: "a contiguous layout may need a transpose on the way",
        table: "DmaPacket",
        sql: "SELECT file_row_index() AS row, queue_name, queue_type, transfer_bytes, duration_ns, start_ts \
              FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes BETWEEN 5 AND 511 \
              ORDER BY duration_ns DESC, row LIMIT 10",
    },
    // Vendor: active throttling found. Less than 5 % is not worth a sentence
    // (our choice).
    Rule {
        id: "throttled",
        figure: "allowed rate of the tensor engine",
        unit: "%",
        side: Side::Below,
        threshold: 0.95,
        least: Severity::Low,
        measure: throttled,
        advice: "keep the tensor engine busy for more than half of every 3 us, or accept the power limit",
        trade_off: "work that only keeps the engine warm costs power",
        table: "Throttle",
        sql: "SELECT file_row_index() AS row, timestamp, duration, k, n, type FROM Throttle \
              WHERE k < n ORDER BY duration * (n - k) DESC, row LIMIT 10",
    },
    // Vendor: kernel coverage < 50 % on tensor, vector or scalar.
    Rule {
        id: "kernel-coverage",
        figure: "share of the engine's instructions that come from kernels",
        unit: "%",
        side: Side::Below,
        threshold: 0.5,
        least: Severity::Low,
        measure: coverage,
        advice: "where the compiler's code takes the time, write a kernel for that part",
        trade_off: "a kernel has to be kept up by hand",
        table: "Instruction",
        sql: "SELECT file_row_index() AS row, opcode, duration_ns, start_ts, pc, hlo_name, layer \
              FROM Instruction WHERE lower(engine) = '{engine}' AND nki_source_location IS NULL \
                AND compiler_pc IS NOT NULL \
              ORDER BY duration_ns DESC, row LIMIT 10",
    },
];
