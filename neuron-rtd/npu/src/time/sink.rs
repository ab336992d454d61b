//! Where a timed run tells what happened, as it happens, so that nothing is
//! held in memory.

use neuron_core::ntff::Record;
use neuron_core::ntff::messages::NotificationTraceType as Ring;

use super::Timed;
use super::parameters::Ps;
use crate::errors::Errors;
use crate::observer::At;

/// An instruction that has begun, with its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// Where it stands.
    pub at: At,
    /// When it was ready but for its waits.
    pub ready: Ps,
    /// Begin.
    pub start: Ps,
    /// End.
    pub end: Ps,
}

/// A packet that a DMA engine moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Physical core.
    pub core: usize,
    /// DMA engine of the core, 0 to 15.
    pub engine: u8,
    /// Ring: numbers in the order of first use.
    pub ring: usize,
    /// Begin.
    pub start: Ps,
    /// End.
    pub end: Ps,
    /// Bytes moved; 4 for the write of a semaphore.
    pub bytes: u32,
}

/// Takes what a timed run tells. Every method does nothing unless it is given.
///
/// Calls come in the order of the simulation, so times may fall by as much as
/// one instruction lasts, as in the rings of a device (ntff.md §7.3).
pub trait Sink {
    /// Whether the run shall end now, with [`Stop::Cancelled`]. Asked at each
    /// event, and every 64 instructions that an engine runs in between.
    ///
    /// [`Stop::Cancelled`]: crate::Stop::Cancelled
    fn cancelled(&self) -> bool {
        false
    }
    /// Whether notification records are wanted. The times of a run are the
    /// same with and without them.
    fn wants_records(&self) -> bool {
        false
    }
    /// A notification, as the device queues it, on one of the rings of a core.
    fn record(&mut self, _core: usize, _ring: Ring, _record: Record) {}
    /// An instruction.
    fn instruction(&mut self, _executed: &Executed) {}
    /// An instruction produced numerical errors; comes before the call for the
    /// instruction, and not at all where there are none.
    fn errors(&mut self, _at: At, _errors: &Errors) {}
    /// A DMA packet.
    fn packet(&mut self, _packet: &Packet) {}
    /// The run stopped; `timed` has its counts up to then, and no outputs. The
    /// last call, before the run gives the reason.
    fn stopped(&mut self, _timed: &Timed) {}
}

/// Takes nothing.
impl Sink for () {}
