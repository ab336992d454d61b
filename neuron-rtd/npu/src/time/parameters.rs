//! Every constant of the clock, by generation, with its source.
//!
//! Sources, as in neuroncore.md §0.1: **D** published documentation, **O**
//! older documentation, **I** inferred there, **C** fitted on the captures
//! attn-fused-fp32-512, attn-fused-bf16-512, attn-tkg and inspect (all of v3),
//! **v3** taken over from v3 because nothing is known: whatever `V2` and `V4`
//! below do not name. Nothing here depends on a program.
//!
//! Cycles are those of the engine that spends them; times are picoseconds.

use neuron_core::instance::Arch;
use neuron_core::isa::{Engine, Opcode};

/// Picoseconds.
pub type Ps = u64;

/// Nanoseconds in picoseconds.
const fn ns(tenths: u64) -> Ps {
    tenths * 100
}

/// Cost of one kind of work on an engine with a pipeline. An instruction takes
/// `fixed + stream` cycles; the next of its kind may begin `gap + stream`
/// cycles after it, or [`Parameters::min_interval`] if that is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// From begin to end without the stream, every source in PSUM.
    pub from_psum: u64,
    /// The same with a source in SBUF.
    pub from_sbuf: u64,
    /// Between two streams.
    pub gap: u64,
    /// More for a scalar that lies in memory.
    pub pointer: u64,
}

const fn work(from_psum: u64, from_sbuf: u64, gap: u64, pointer: u64) -> Work {
    Work { from_psum, from_sbuf, gap, pointer }
}

/// Kinds of work that engines with a pipeline tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A function of ACT.
    Activate,
    /// COPY, CAST and the like on ACT.
    Copy,
    /// Element by element on DVE.
    Vector,
    /// A fold on DVE.
    Reduce,
    /// MEMSET: nothing is read, and the end does not wait for the stream.
    Memset,
    /// Anything on POOL.
    Pool,
}

/// The systolic array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayCost {
    /// LDWEIGHTS from begin to end, without the load.
    pub load_fixed: u64,
    /// MATMUL from begin to end, without the stream.
    pub matmul_fixed: u64,
    /// Columns that a load takes in a cycle.
    pub load_width: u64,
    /// Times as long for fp32 weights: of a product, of a transpose.
    pub load_fp32: [u64; 2],
    /// Cycles by which a stream may begin before the last of its weights.
    pub load_overlap: u64,
    /// Cycles of moving data that wait in front of the array.
    pub buffer: u64,
    /// Between the begins of two records.
    pub issue: u64,
    /// Shortest stream.
    pub min_stream: u64,
}

/// Limits on the power of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThrottleRule {
    /// Length of a window of activity.
    pub window: Ps,
    /// Of `of` cycles, those that may be used until the array is warm.
    pub cold: u8,
    /// See `cold`.
    pub of: u8,
    /// Busy share of a window, in 1/256, from which on the array is warm.
    pub warm_from: u64,
    /// Below it, the array is cold again.
    pub cold_below: u64,
    /// What the metadata of a record shows for a window that is all busy.
    pub full_scale: u64,
}

/// DMA engines, rings and HBM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaCost {
    /// Femtoseconds a byte takes one engine.
    pub fs_per_byte: u64,
    /// The same for a byte that is read from HBM.
    pub fs_per_hbm_byte: u64,
    /// For each descriptor.
    pub descriptor: Ps,
    /// Shortest time of one run of bytes within a descriptor.
    pub run: Ps,
    /// More for a run that is read from SBUF.
    pub sbuf_read: Ps,
    /// From the begin of a packet's last beat to its end record.
    pub tail: Ps,
    /// From the end of a write to its completion record.
    pub completion: Ps,
    /// From the end of the 4-byte write to the change of the semaphore.
    pub semaphore: Ps,
    /// Between two changes of semaphores over the bus.
    pub bus: Ps,
    /// From the doorbell of a ring to its first packet.
    pub ring_start: Ps,
    /// Partitions that one engine takes at least.
    pub partitions: u64,
    /// Most bytes of a packet that descriptors of software gather.
    pub packet_bytes: u64,
    /// Percent of the rate of a copy at which tiles are turned: from HBM, and
    /// from SBUF.
    pub transpose: [u64; 2],
    /// Percent of the rate of a copy at which sums are made.
    pub sum: u64,
    /// Femtoseconds a byte takes the HBM of the chip.
    pub hbm_fs_per_byte: u64,
    /// Bytes a second of one stack, for utilisation.
    pub hbm_stack: u64,
}

/// Making of descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorCost {
    /// POOL: from dispatch to the begin of the record.
    pub software_lead: Ps,
    /// POOL: until its sequencer takes the next record.
    pub software_dispatch: Ps,
    /// POOL: least time between two ends.
    pub software_interval: Ps,
    /// POOL: from begin to end.
    pub software_length: Ps,
    /// POOL: from end to the first packet.
    pub software_start: Ps,
    /// ACT, SP: from begin to end.
    pub hardware_length: Ps,
    /// ACT, SP: from begin to the first packet.
    pub hardware_start: Ps,
    /// ACT, SP: for each descriptor, before the next transfer's first packet.
    pub hardware_descriptor: Ps,
    /// ACT and SP have generators.
    pub hardware: bool,
}

/// A ring of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveCost {
    /// Of one step, whatever it moves.
    pub step: Ps,
    /// Femtoseconds a byte takes the link between two cores.
    pub fs_per_byte: u64,
}

/// Every constant of one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// The generation.
    pub arch: Arch,
    /// Clocks in MHz, in the order of [`Engine::ALL`].
    pub clocks: [u64; 5],
    /// Least cycles between two begins of compute instructions.
    pub min_interval: u64,
    /// ACT.
    pub activate: Work,
    /// COPY and CAST on ACT.
    pub copy: Work,
    /// DVE, element by element.
    pub vector: Work,
    /// DVE, folds.
    pub reduce: Work,
    /// MEMSET on any engine.
    pub memset: Work,
    /// POOL.
    pub pool: Work,
    /// Cycles from the end of a producer to the begin of a consumer on the
    /// same engine, by engine.
    pub dependent: [u64; 5],
    /// A change between kinds of work lets the pipeline run empty.
    pub drains: bool,
    /// The array.
    pub array: ArrayCost,
    /// Its power limit.
    pub throttle: Option<ThrottleRule>,
    /// From the end of an instruction to its update, by engine.
    pub update: [Ps; 5],
    /// From an update to the begin of an instruction that waits for it.
    pub wake: Ps,
    /// From the begin of a compute instruction until the sequencer may begin
    /// the next one that does not need the pipeline.
    pub issue: Ps,
    /// From the end of a control instruction to the next begin, by engine.
    pub control_gap: [Ps; 5],
    /// DMA.
    pub dma: DmaCost,
    /// Descriptors.
    pub descriptors: DescriptorCost,
    /// Collectives.
    pub collective: CollectiveCost,
    /// From the start of a run to the first instruction, by engine.
    pub launch: [Ps; 5],
    /// From the last instruction to the end of a run.
    pub finish: Ps,
    /// DVE and POOL use one SBUF port, DVE and ACT one PSUM port.
    pub shared_ports: bool,
}

impl Parameters {
    /// The table of a generation. v1 takes that of v2 (our choice: its records
    /// are those of v2 here and its costs are not published).
    pub const fn of(arch: Arch) -> Self {
        match arch {
            Arch::V1 | Arch::V2 => Self { arch, ..V2 },
            Arch::V3 => V3,
            Arch::V4 => V4,
        }
    }

    /// Picoseconds of cycles of an engine, to the nearest.
    pub const fn cycles(&self, engine: Engine, cycles: u64) -> Ps {
        let [pe, act, pool, dve, sp] = self.clocks;
        let clock = match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        };
        // whole picoseconds of a cycle, and the rest: small numbers divide fast
        let (whole, rest) = (1_000_000 / clock, 1_000_000 % clock);
        cycles.saturating_mul(whole) + (cycles.saturating_mul(rest) + clock / 2) / clock
    }

    /// Cost of a kind of work.
    pub const fn work(&self, class: Class) -> Work {
        match class {
            Class::Activate => self.activate,
            Class::Copy => self.copy,
            Class::Vector => self.vector,
            Class::Reduce => self.reduce,
            Class::Memset => self.memset,
            Class::Pool => self.pool,
        }
    }

    /// Length of an instruction of the sequencer (C, as all of v3; other
    /// generations take the same times: I).
    pub fn control(&self, engine: Engine, opcode: Opcode) -> Ps {
        let row = CONTROL.iter().find(|(known, _)| *known == opcode).map(|(_, row)| row);
        row.and_then(|row| row.get(usize::from(engine.number()))).copied().unwrap_or(ns(200))
    }
}

/// One of five values.
pub(crate) fn by_engine<T: Copy + Default>(row: &[T; 5], engine: Engine) -> T {
    row.get(usize::from(engine.number())).copied().unwrap_or_default()
}

/// Instructions of the sequencer on PE, ACT, POOL, DVE and SP (C). Where an
/// engine never ran one, the others stand in for it.
const CONTROL: [(Opcode, [Ps; 5]); 15] = [
    (Opcode::EVENT_SEMAPHORE, [ns(525), ns(400), ns(192), ns(250), ns(183)]),
    (Opcode::NOP, [ns(217), ns(200), ns(175), ns(200), ns(200)]),
    (Opcode::MOVE, [ns(470), ns(470), ns(458), ns(470), ns(470)]),
    (Opcode::ALU_OP, [ns(420); 5]),
    (Opcode::PSEUDO_TENSOR_LOAD, [ns(6400), ns(4800), ns(2890), ns(6900), ns(6300)]),
    (Opcode::COMPARE_BRANCH, [ns(2096), ns(2225), ns(975), ns(1047), ns(808)]),
    (Opcode::EVENT_SEMAPHORE_RANGE_CLEAR, [ns(3742), ns(2640), ns(2850), ns(3080), ns(992)]),
    (Opcode::SET_ORDERING_MODE, [ns(442), ns(417), ns(417), ns(562), ns(183)]),
    (Opcode::DRAIN, [ns(125), ns(75), ns(292), ns(135), ns(83)]),
    (Opcode::NOTIFY, [ns(75), ns(42), ns(108), ns(135), ns(100)]),
    (Opcode::PSEUDO_DMA_TRIGGER, [ns(700), ns(500), ns(467), ns(333), ns(583)]),
    // D: the sheet's model of 1.3 us; C: 1283.3 ns in every capture
    (Opcode::ACT_TABLE_LOAD, [ns(12833); 5]),
    // deleted by the loader (isa-layouts.md §4.4)
    (Opcode::PSEUDO_BRANCH_LABEL, [0; 5]),
    // becomes a MOVE (isa-layouts.md §5.2)
    (Opcode::PSEUDO_EXTENSION, [ns(470), ns(470), ns(458), ns(470), ns(470)]),
    (Opcode::HALT, [ns(125), ns(75), ns(292), ns(135), ns(83)]),
];

/// The first of the two WRITEs that a PSEUDO_DMA_TRIGGER becomes, with the gap
/// behind it (C).
pub(crate) const TRIGGER_LEAD: [Ps; 5] = [ns(1500), ns(1100), ns(825), ns(844), ns(817)];

/// Of all generations, DMA beats at 0.85 GHz (C: 1176 ps in every packet).
const BEAT: Ps = 1176;

const V3: Parameters = Parameters {
    arch: Arch::V3,
    clocks: [2400, 1200, 1200, 960, 1200], // D; SP: C
    min_interval: 64,                      // D
    activate: work(310, 352, 172, 102),    // C: 258 and 293 ns, 570 ns at N = 512
    copy: work(190, 192, 80, 0),           // C: 159 ns
    vector: work(143, 143, 64, 64),        // C: 149 ns, 64.6 ns between; 64 is D
    reduce: work(143, 143, 64, 0),         // C
    memset: work(77, 77, 8, 0),            // C: 80 ns
    pool: work(245, 245, 174, 0),          // C: one form only
    dependent: [0, 39, 39, 33, 0],         // C: 32.5 and 34.4 ns
    drains: true,                          // C
    array: ArrayCost {
        load_fixed: 188,   // C: 78.5 ns
        matmul_fixed: 380, // C: 158.5 ns
        load_width: 4,     // D
        load_fp32: [8, 4], // C
        load_overlap: 4,   // C: 1.7 ns
        buffer: 57,        // C: 47.5 ns when cold
        issue: 4,          // C: 1.7 ns
        min_stream: 64,    // D
    },
    throttle: Some(ThrottleRule {
        window: 3_413_333, // C: 4096 cycles of 1.2 GHz; D says about 3 us
        cold: 4,           // D, C
        of: 8,             // D, C
        warm_from: 200,    // C: warm at 0.87 and more of a window, not at 0.75
        cold_below: 128,   // D
        full_scale: 204,   // C
    }),
    update: [ns(150), ns(80), ns(80), ns(80), ns(10)], // C
    wake: ns(260),                                     // C
    issue: ns(80),                                     // C
    control_gap: [ns(242), ns(225), ns(360), ns(600), ns(350)], // C
    dma: DmaCost {
        fs_per_byte: 36_765,        // D: 27.2 GB/s, which is 32 bytes a beat
        fs_per_hbm_byte: 42_534,    // D: 32 KiB in 1416 ns, in 4 descriptors
        descriptor: 4 * BEAT,       // C
        run: BEAT,                  // C
        sbuf_read: 8 * BEAT,        // C
        tail: 3 * BEAT,             // C
        completion: ns(2200),       // C
        semaphore: ns(2700),        // C
        bus: ns(133),               // C
        ring_start: ns(5970),       // C
        partitions: 8,              // D
        packet_bytes: 4096,         // C
        transpose: [90, 50],        // D, "up to" both
        sum: 50,                    // D
        hbm_fs_per_byte: 345,       // D: 2.9 TB/s
        hbm_stack: 716_000_000_000, // the vendor's exports
    },
    descriptors: DescriptorCost {
        software_lead: ns(11950),    // C
        software_dispatch: ns(5830), // C
        software_interval: ns(6060), // C
        software_length: ns(317),    // C
        software_start: ns(7800),    // C
        hardware_length: ns(6000),   // D; C: 520 to 602
        hardware_start: ns(13000),   // D; C: 1327
        hardware_descriptor: ns(80), // C: one pair of transfers
        hardware: true,              // D
    },
    // I: 5 to 20 us, of which the least (our choice); D: 1.28 TB/s a chip
    collective: CollectiveCost { step: ns(50_000), fs_per_byte: 781 },
    launch: [ns(133_960), ns(133_240), ns(132_150), ns(132_500), ns(131_550)], // C, medians
    finish: ns(17_000),                                                        // C
    shared_ports: false,                                                       // D
};

/// What is not in the table of v2 stands as in v3 (I).
const V2: Parameters = Parameters {
    arch: Arch::V2,
    clocks: [2800, 1400, 1400, 1120, 1400], // D; SP: I
    // I: 264 cycles for dependent instructions of one element (D) less the 100
    // of the dependence (D) and the element; 60 of them are the access (D).
    activate: work(163, 163, 0, 0),
    copy: work(163, 163, 0, 0),
    vector: work(163, 163, 0, 0),
    reduce: work(163, 163, 0, 0),
    memset: work(163, 163, 0, 0),
    pool: work(150, 150, 150, 0),     // O: 150 cycles before the stream
    dependent: [0, 100, 100, 100, 0], // D
    drains: false,
    array: ArrayCost {
        load_fixed: 64,    // I: as MATMUL
        matmul_fixed: 64,  // D: its latency
        load_width: 4,     // D
        load_fp32: [4, 4], // O
        load_overlap: 0,
        buffer: 0,
        issue: 0,
        min_stream: 64, // D
    },
    throttle: None, // D names Trn2 and Trn3 only
    dma: DmaCost {
        // D: 27.2 GB/s; the rest of a descriptor makes 17 GB/s at 2 KiB (D)
        descriptor: 45_180,
        fs_per_hbm_byte: 36_765,
        packet_bytes: 0,            // a run each
        ring_start: ns(13000),      // D
        hbm_fs_per_byte: 1220,      // D: 820 GB/s
        hbm_stack: 410_000_000_000, // D: two stacks
        ..V3.dma
    },
    descriptors: DescriptorCost { hardware: false, ..V3.descriptors }, // D
    shared_ports: true,                                                // D
    ..V3
};

const V4: Parameters = Parameters {
    arch: Arch::V4,
    clocks: [2400, 1200, 1200, 1200, 1200], // D
    dma: DmaCost {
        fs_per_byte: 26_042, // D: 38.4 GB/s
        fs_per_hbm_byte: 26_042,
        sum: 100,                     // D
        descriptor: 17_450,           // I: 33 GB/s (D) in packets of 4 KiB
        hbm_fs_per_byte: 204,         // D: 4.9 TB/s
        hbm_stack: 1_225_000_000_000, // D: four stacks
        ..V3.dma
    },
    collective: CollectiveCost { fs_per_byte: 391, ..V3.collective }, // D: 2.56 TB/s
    ..V3
};
