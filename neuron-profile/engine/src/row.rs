//! Rows of the tables, and who takes them.
//!
//! Times are picoseconds from the start of the execution. Whole nanoseconds
//! are taken of each time and of each difference, never of a difference of
//! whole nanoseconds (ntff.md §7.3). Texts that are the same for every
//! execution of a slot are not in a row: the row has core, engine and slot, the
//! [`Core`](crate::Core) has the rest.

use neuron_core::engine::Engine;
use neuron_core::ntff::Notification;
use neuron_core::ntff::notification::Update;

use crate::cores::QueueKind;
use crate::debug::Dependence;
use crate::waits::Producer;

/// An executed instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionRow {
    /// Unique in the profile, from 1, in the order of the starts.
    pub id: u64,
    /// Index of the core.
    pub core: usize,
    /// Its engine.
    pub engine: Engine,
    /// Program counter as in the record.
    pub pc: u32,
    /// Slot in the captured program; `None` for resident code.
    pub slot: Option<u32>,
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
    /// Cycles between ready and start.
    pub wait_cycles: u16,
    /// Hash of what it read, FFFF when off.
    pub crc_in: u16,
    /// Hash of what it wrote, FFFF when off.
    pub crc_out: u16,
    /// Who raised the semaphore that it waited for; `None` without a wait, or
    /// where nobody is known.
    pub waited_for: Option<Producer>,
}

/// An instruction that another one takes data from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Row of the earlier instruction: its latest execution before.
    pub id: u64,
    /// How.
    pub kind: Dependence,
}

/// A DMA packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacketRow {
    /// Unique among the packets, from 1.
    pub id: u64,
    /// Index of the core.
    pub core: usize,
    /// DMA engine of the device.
    pub engine: u32,
    /// Ring.
    pub queue: u8,
    /// What the ring is for.
    pub kind: QueueKind,
    /// Place among the packets of its engine and ring, from 0.
    pub index: u64,
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
    /// Bytes moved.
    pub bytes: u32,
    /// Hash of them.
    pub crc: u16,
}

impl PacketRow {
    /// Bytes per second, in the viewer's precision: single, with the duration
    /// in seconds (4,866 rows equal). 0 for a packet without a duration.
    pub fn rate(&self) -> f32 {
        rate(self.bytes, self.end.saturating_sub(self.start))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the viewer's precision is meant"
)]
pub(crate) fn rate(bytes: u32, ps: u64) -> f32 {
    if ps == 0 { 0.0 } else { bytes as f32 / (ps as f64 * 1e-12) as f32 }
}

/// A semaphore or event changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateRow {
    /// Index of the core.
    pub core: usize,
    /// When.
    pub time: u64,
    /// What.
    pub update: Update,
}

/// A limit of the activity manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThrottleRow {
    /// Index of the core.
    pub core: usize,
    /// From when.
    pub time: u64,
    /// For how long: to the next one of the core, or to the last record.
    pub duration: u64,
    /// Cycles of `n` that may be used.
    pub k: u8,
    /// Of how many.
    pub n: u8,
    /// Kind of activity.
    pub activity: u8,
}

/// An engine was busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveRow {
    /// Index of the core.
    pub core: usize,
    /// Which engine.
    pub engine: Engine,
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
}

/// DMA traffic of a core at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughputRow {
    /// Index of the core.
    pub core: usize,
    /// When.
    pub time: u64,
    /// Bytes per second of the packets under way.
    pub rate: f64,
    /// Bytes of all packets that began so far.
    pub total: u64,
}

/// DMA triggers of a core so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRow {
    /// Index of the core.
    pub core: usize,
    /// When.
    pub time: u64,
    /// How many.
    pub value: u64,
}

/// A record with the mark that others of its ring are lost: the hardware or the
/// software had no room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossRow {
    /// Index of the core in the capture.
    pub core: usize,
    /// Time of the marked record from the start of the execution, ps.
    pub time: u64,
}

/// A record about a fault, or one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoticeRow {
    /// Index of the core.
    pub core: usize,
    /// When.
    pub time: u64,
    /// The record.
    pub what: Notification,
}

/// Takes rows as they become whole. What a taker does not want it leaves out.
#[allow(unused_variables, reason = "names for the documentation")]
pub trait Sink {
    /// Why it stops.
    type Error;

    /// An instruction, in the order of the ends, with what it depends on.
    ///
    /// # Errors
    ///
    /// The taker's, as for all others.
    fn instruction(&mut self, row: &InstructionRow, edges: &[Edge]) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A packet, in the order of the ends.
    ///
    /// # Errors
    ///
    /// See above.
    fn packet(&mut self, row: &PacketRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A change of a semaphore or event, in order of time.
    ///
    /// # Errors
    ///
    /// See above.
    fn update(&mut self, row: &UpdateRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A limit, in order of time for each core.
    ///
    /// # Errors
    ///
    /// See above.
    fn throttle(&mut self, row: &ThrottleRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Busy time, in order of time for each engine.
    ///
    /// # Errors
    ///
    /// See above.
    fn active(&mut self, row: &ActiveRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Traffic, in order of time for each core.
    ///
    /// # Errors
    ///
    /// See above.
    fn throughput(&mut self, row: &ThroughputRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Triggers, in order of time for each core.
    ///
    /// # Errors
    ///
    /// See above.
    fn pending(&mut self, row: &PendingRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A fault, or an explicit record, in order of time.
    ///
    /// # Errors
    ///
    /// See above.
    fn notice(&mut self, row: &NoticeRow) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Records of the trace are lost about here, in order of time.
    ///
    /// # Errors
    ///
    /// See above.
    fn loss(&mut self, row: &LossRow) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Takes nothing: for the summary alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Sink for Nothing {
    type Error = std::convert::Infallible;
}
