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
//! registers from memory.
//!
//! A [`Sink`] takes notification records as they are queued, and
//! [`write_ntff`] makes a trace file of them. [`Summary`] has the counts.
//!
//! # Left out
//!
//! Fetching of instructions, refresh and banks of HBM, collectives, two
//! transfers that share more than an engine or the chip's HBM bandwidth; what
//! the runtime's own instructions do before and after a program is a constant.

mod collect;
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
mod stream;
mod summary;
mod throttle;
mod transfers;

pub use ntff::{FileInfo, Trace, write_ntff};
pub use parameters::{
    ArrayCost, Class, DescriptorCost, DmaCost, Parameters, Ps, ThrottleRule, Work,
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
