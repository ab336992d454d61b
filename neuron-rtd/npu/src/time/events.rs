//! What will happen, in order of time. Ties go by the kind of event, the core,
//! the unit of the core, and the order of scheduling, so that one program has
//! one order on every host.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use neuron_core::isa::Engine;

use super::parameters::Ps;

/// What happens to a core. Changes come before those who look at them; what
/// engines look at is in their lanes, and comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The inputs of an instruction are read.
    Read { engine: Engine, slot: u32 },
    /// An instruction is done, and its update is there.
    Done { engine: Engine, slot: u32 },
    /// A semaphore or event changed, other than by an update.
    Changed { index: u8 },
    /// The 4-byte write of a DMA engine reached its semaphore.
    Semaphore { job: u32, share: u8 },
    /// A collective of which all ranks have posted is done.
    Collective { number: u32 },
    /// The doorbell of a job reached the DMA engines.
    Doorbell { job: u32 },
    /// A DMA engine is free for its next packet.
    Packet { engine: u8 },
}

impl Event {
    fn order(&self) -> (u64, u64) {
        match self {
            Self::Read { engine, .. } => (0, u64::from(engine.number())),
            Self::Done { engine, .. } => (1, u64::from(engine.number())),
            Self::Changed { index } => (2, u64::from(*index)),
            Self::Semaphore { share, .. } => (3, u64::from(*share)),
            Self::Collective { .. } => (4, 0),
            Self::Doorbell { .. } => (5, 0),
            Self::Packet { engine } => (6, u64::from(*engine)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    time: Ps,
    /// Kind, core, unit and sequence.
    rank: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.rank) == (other.time, other.rank)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.rank).cmp(&(other.time, other.rank))
    }
}

/// The agenda.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl Agenda {
    pub(super) fn push(&mut self, time: Ps, core: usize, event: Event) {
        self.sequence += 1;
        let (kind, unit) = event.order();
        // 3 bits of kinds, 13 of cores, 8 of units, 40 of the sequence
        let place = (kind << 13 | core as u64 & 0x1fff) << 8 | unit;
        let rank = place << 40 | self.sequence & 0xff_ffff_ffff;
        self.heap.push(Reverse(Entry { time, rank, event }));
    }

    pub(super) fn pop(&mut self) -> Option<(Ps, usize, Event)> {
        let Reverse(entry) = self.heap.pop()?;
        Some((entry.time, (entry.rank >> 48 & 0x1fff) as usize, entry.event))
    }

    /// When the next one happens; [`Ps::MAX`] for never.
    pub(super) fn time(&self) -> Ps {
        self.heap.peek().map_or(Ps::MAX, |Reverse(entry)| entry.time)
    }
}
