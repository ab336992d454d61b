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
//! registers from what they moved themselves.
//!
//! A [`Sink`] takes notification records as they are queued, and
//! [`write_ntff`] makes a trace file of them. [`Summary`] has the counts.
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
//! | MATMUL 512 | the array turns warm and cold at windows of 3.4 us that run on from the device's start, and here from the run's: the records up to 3.4 us around a change take half or twice their time |
//! | COPY on ACT, 128 | waits for a bank of PSUM that PE writes show in the device's record; here they come before its begin |
//! | COPY on DVE, 2 | 0.1 us at most: a few records are longer by the few cycles that another engine holds the port |
//! | MEMSET on DVE, 1 and 2 | the device's record of one behind other work ends with that work: 77 to 140 ns, one constant here |
//! | PSEUDO_DMA_DIRECT2D on POOL, 256 | a record that ends with the one before it shows 33 ns or a whole interval of 606 ns, by an order within POOL that no record tells |
//! | the same, 32768, and 256 of attn-tkg | see attn-tkg below: the measured records are 33 ns where ours wait for the interval, and the other way round |
//! | transfers on each engine | HBM delays some packets by 0.1 to 0.4 us and others not at all; here each takes the mean, right in the median only |
//!
//! Where it falls short as a whole:
//!
//! * attn-tkg takes 0.63 of the measured time. While POOL makes descriptors
//!   back to back for tens of microseconds, the device delays updates of
//!   semaphores by PE and DVE, one for each record of POOL or two, and POOL's
//!   records come every 1.4 us instead of 0.58. No rule for it was found, so
//!   nothing of it is here; it also makes the table's 90th percentile of POOL's
//!   transfers on the fitted captures.
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
//! within the 264 of the dependent ACTIVATE.
//!
//! `NPU_REGENERATE=1 cargo test -p npu --test timing` writes the tables below
//! anew; `cargo run -p npu --example silicon` prints the second one.
//!
#![doc = include_str!("../timing.md")]

mod collectives;
mod emit;
mod events;
mod lane;
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

pub use ntff::{FileInfo, Trace, write_ntff};
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
