//! Time: a run as a device would report it, in integer picoseconds.
//!
//! Engines issue in order and overlap as their pipelines allow, semaphores
//! change when instructions and transfers are done, 16 DMA engines serve rings
//! packet by packet, the array warms up and cools down. The same program, with
//! the same inputs, gives the same records on any host.
//!
//! Time decides the order, function rides along: with
//! [`Timing::arithmetic`] each instruction also computes, at its begin, and
//! each transfer moves its bytes, at its end. Without it, registers, branches,
//! semaphores and descriptors still run; bytes move only in programs that load
//! registers from what they moved themselves. Such a run refuses what a whole
//! run refuses: what is wrong with a record is found once per program, before
//! its first run, as far as no register decides, and each transfer is looked at
//! by its walks. It cannot see faults of numbers: an integer that is divided by
//! zero, an index of a gather by DMA beyond its bound.
//!
//! A [`Sink`] takes notification records as they are queued, and
//! [`write_ntff`] makes a trace file of them. [`Summary`] has the counts.
//!
//! # How fast it is on the host
//!
//! `cargo bench -p npu --bench time` tells instructions a second of processor
//! time, without arithmetic, on one thread. On the reference machine, while
//! other work kept it busy: 8 million for one engine without waits, 5 million
//! for a load, a product, a function and a copy that wait for each other; with
//! records 6 and 4 to 5 million. Programs like moe-dge are mostly packets of
//! DMA, which are no instructions here: it has 9400 packets with 3300
//! instructions, and a rate of 0.65 million of them when bytes have to move.
//!
//! # Where the constants come from
//!
//! [`Parameters`] has them all, by generation, each with its source: published,
//! inferred, or fitted on four captures of v3. Where nothing is published for
//! v2 and v4, what was fitted on v3 stands in. No constant depends on a program.
//!
//! # How true it is
//!
//! Published numbers are reproduced, and costs follow their formulas for other
//! shapes. Beside silicon, on captures that nothing was fitted on, whole runs
//! are within 6 % and the median of every opcode within 15 %; no median of the
//! other captures is outside 20 % either. Rows of the tables whose 10th or 90th
//! percentile is outside 20 %, and why:
//!
//! | row | why |
//! |---|---|
//! | MATMUL 512 | the array turns warm and cold at windows of 3.4 us that run on from the device's start, and here from the run's: records up to 3.4 us around a change take half or twice their time |
//! | COPY on ACT, 128 | from PSUM to PSUM the device takes 217 ns (inspect), to SBUF 255; here both are one |
//! | MEMSET on DVE, 1 and 128 | some rows of MEMSET 8 ns apart end 8 ns apart, as here, and others 60 ns apart; behind other work short ones end 67 ns after it, as here, and those of 128 elements sooner; no rule found for both |
//! | NOP on POOL, SET_ORDERING_MODE on SP | each takes one of two times on the device, 175 or 272 ns, 183 or 242 ns; here the commoner one |
//! | PSEUDO_DMA_DIRECT2D on POOL | a record ends 606 ns after the one before it and begins every 580, so that its length is what POOL is behind; a stall of 50 to 500 ns that the device has now and then (and we have not) takes the length back to 32 ns, and every later one differs |
//! | transfers on each engine | HBM delays some packets by 0.1 to 0.4 us and others not at all; here each takes the mean, right in the median only |
//!
//! Where it falls short as a whole:
//!
//! * attn-tkg takes 0.63 of the measured time. Its POOL makes descriptors back
//!   to back, each record waiting for the transfer 16 records before it. On the
//!   device those transfers come to their semaphores every 0.7 us while records
//!   are made every 0.58, so that POOL waits after some 55 of them; from then on
//!   both come every 1.400 us, until the pressure ends. Updates by PE and DVE
//!   are late at the same times, by one record of POOL or two. Here a transfer
//!   is complete 1.5 us after its record, however many are under way. The
//!   packets themselves are no later, changes over the bus may be 5 ns apart,
//!   and their rate in the other captures is higher: no rule was found that
//!   holds there too, so nothing of it is here.
//! * Packets of the hardware generators leave engine by engine on the device,
//!   here all at once: transfers of 8-byte runs take a fifth of their time.
//! * What the runtime does before a program took 11.6 to 13.9 us in captures,
//!   and is one constant here.
//! * A collective is the sheet's model: after the last post, p - 1 steps of a
//!   ring, twice that for an all-reduce, one for a permute, each of 5 us and the
//!   bytes of a part over the link of a chip. Nothing of it is measured, and
//!   the algorithm that a runtime picks is not public.
//!
//! # What is not known of v2 and v4
//!
//! Captures are of v3 only. In [`Parameters`], whatever the constants of v2 and
//! v4 do not name is v3's. For v2 that is the sequencer (lengths and gaps of
//! control instructions, updates, wake-ups), the ends of a packet and of a
//! semaphore's write, the making of descriptors by POOL, the link of
//! collectives, launch and end of a run; for v4 all of that, and the fixed
//! cycles of every engine, the array with its warm-up, and the generators.
//!
//! # Left out
//!
//! Fetching of instructions, refresh and banks of HBM, priorities of rings (v4),
//! the DMA of GpSimd (v3, v4), rates of FP8, MX and sparse products. Of the
//! published numbers these cannot be shown: 4x of MX, 4 elements a cycle of
//! QUANTIZE_MX, 4 a cycle of XORWOW, 4n + K of top-k and 307 GB/s of GpSimd,
//! whose records have no public layout; 600 cycles of a dynamic address, as
//! operands with registers are refused; advice that is no number of the device
//! (rows of 2 KiB or 4 KiB, transfers of 32 KiB). The 60 cycles of an access are
//! within the 264 of the dependent ACTIVATE. No number is published for tiles of
//! an MLP that overlap: its row is what the interval of MATMUL comes to when the
//! functions of ACT are hidden.
//!
//! `NPU_REGENERATE=1 cargo test -p npu --test timing` writes the tables below
//! anew; `cargo run -p npu --example silicon` prints the second one.
//!
#![doc = include_str!("../timing.md")]

mod collectives;
mod emit;
mod events;
mod lane;
mod legal;
mod machine;
mod memory_ports;
mod ntff;
mod operands;
mod parameters;
mod plan;
mod rings;
mod sink;
mod split;
mod steering;
mod stream;
mod summary;
mod throttle;
mod transfers;

pub use emit::EPOCH;
pub(crate) use legal::Faults;
pub use ntff::{FileInfo, SIMULATED, Trace, write_ntff};
pub use parameters::{
    ArrayCost, Class, CollectiveCost, DescriptorCost, DmaCost, Parameters, Ps, ThrottleRule, Work,
};
pub use sink::{Executed, Packet, Sink};
pub use summary::{CoreSummary, Summary};

use crate::program::Program;
use crate::run::{Limits, Tensors};
use crate::stop::Stop;

/// How to run in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Every cost.
    pub parameters: Parameters,
    /// Whether numbers are computed. Without it there are no outputs, and
    /// inputs that are not given are zero.
    pub arithmetic: bool,
    /// How much a run may do.
    pub limits: Limits,
}

impl Timing {
    /// The costs of the generation that a program is for, with arithmetic.
    pub fn of(program: &Program) -> Self {
        let parameters = Parameters::of(program.arch());
        Self { parameters, arithmetic: true, limits: Limits::default() }
    }

    /// The same without arithmetic.
    pub fn only(program: &Program) -> Self {
        Self { arithmetic: false, ..Self::of(program) }
    }
}

/// What a timed run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Outputs; none without arithmetic.
    pub outputs: Tensors,
    /// Counts and times.
    pub summary: Summary,
    /// Names of the rings of each core, in the order of their numbers.
    pub rings: Vec<Vec<String>>,
}

impl Program {
    /// Runs the program in time.
    ///
    /// # Errors
    ///
    /// As [`Program::run_with`].
    pub fn run_timed(
        &self,
        inputs: &Tensors,
        timing: &Timing,
        sink: &mut dyn Sink,
    ) -> Result<Timed, Stop> {
        machine::run(self, inputs, timing, sink)
    }
}
