//! What will happen, in order of time. Ties go by the kind of event, the core,
//! the unit of the core, and the order of scheduling, so that one program has
//! one order on every host.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use neuron_core::isa::Engine;

use super::parameters::Ps;

/// What happens to a core. Changes come before those who look at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The inputs of an instruction are read.
    Read { engine: Engine, slot: usize },
    /// An instruction is done, and its update is there.
    Done { engine: Engine, slot: usize, end: Ps },
    /// A collective is done, and the update of one of its records is there.
    Collected { engine: Engine, slot: usize },
    /// The 4-byte write of a DMA engine reached its semaphore.
    Semaphore { job: usize, share: u8 },
    /// The doorbell of a job reached the DMA engines.
    Doorbell { job: usize },
    /// A DMA engine is free for its next packet.
    Packet { engine: u8 },
    /// An engine looks at its next instruction.
    Step { engine: Engine },
}

impl Event {
    fn order(&self) -> (u64, u64) {
        match self {
            Self::Read { engine, .. } => (0, u64::from(engine.number())),
            Self::Done { engine, .. } | Self::Collected { engine, .. } => {
                (1, u64::from(engine.number()))
            }
            Self::Semaphore { share, .. } => (2, u64::from(*share)),
            Self::Doorbell { .. } => (3, 0),
            Self::Packet { engine } => (4, u64::from(*engine)),
            Self::Step { engine } => (5, u64::from(engine.number())),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    time: Ps,
    /// Kind, core, unit and sequence.
    rank: (u64, u64),
    core: usize,
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
        // far more cores and units than there are
        let rank = (kind << 48 | (core as u64) << 16 | unit, self.sequence);
        self.heap.push(Reverse(Entry { time, rank, core, event }));
    }

    pub(super) fn pop(&mut self) -> Option<(Ps, usize, Event)> {
        self.heap.pop().map(|Reverse(entry)| (entry.time, entry.core, entry.event))
    }

    /// Whether nothing happens up to and at this time.
    pub(super) fn is_quiet_until(&self, time: Ps) -> bool {
        self.heap.peek().is_none_or(|Reverse(entry)| entry.time > time)
    }
}
