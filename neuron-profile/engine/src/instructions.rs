//! Starts and ends of instructions, matched.
//!
//! Settled on the exports: START and END belong together by (engine, pc), first
//! in first out; a row is listed when it starts and ends inside the execution.

use neuron_core::engine::Engine;
use neuron_core::ntff::notification::{End, Start, Update};

use crate::cores::Core;
use crate::row::{Edge, InstructionRow};
use crate::waits::{Producer, Semaphores};

/// Instructions of one engine that may be under way (our choice; PE keeps two).
const OPEN: usize = 4096;

/// An instruction under way.
#[derive(Debug)]
struct Open {
    start: Start,
    time: u64,
    /// 0 for one that began before the execution.
    id: u64,
    slot: Option<u32>,
    edges: Vec<Edge>,
    waited_for: Option<Producer>,
}

/// Those of one core.
#[derive(Debug)]
pub(crate) struct Instructions {
    core: usize,
    open: [Vec<Open>; 5],
    /// Row of the latest execution of each slot, 0 for none.
    latest: [Vec<u64>; 5],
    semaphores: Semaphores,
    /// Lists that may be used again.
    spare: Vec<Vec<Edge>>,
    /// Ends without a start.
    pub(crate) orphans: u64,
    /// Starts given up because too many were under way.
    pub(crate) overflow: u64,
}

/// A whole one; `edges` goes back with [`Instructions::reuse`].
pub(crate) struct Whole {
    pub(crate) row: InstructionRow,
    pub(crate) edges: Vec<Edge>,
}

impl Instructions {
    pub(crate) fn new(core: usize, of: &Core) -> Self {
        let latest = Engine::ALL.map(|engine| vec![0; of.program(engine).slots.len()]);
        Self {
            core,
            open: Default::default(),
            latest,
            semaphores: Semaphores::default(),
            spare: Vec::new(),
            orphans: 0,
            overflow: 0,
        }
    }

    fn latest(&self, engine: Engine, slot: u32) -> u64 {
        let list = self.latest.get(engine.index());
        let place = list.zip(usize::try_from(slot).ok()).and_then(|(list, at)| list.get(at));
        place.copied().unwrap_or(0)
    }

    /// An instruction began; `id` names its row if it began in the execution.
    pub(crate) fn begin(&mut self, core: &Core, start: Start, time: u64, id: Option<u64>) {
        let slot = core.program(start.engine).slot_of(start.pc);
        let mut edges = self.spare.pop().unwrap_or_default();
        edges.clear();
        let mut waited_for = None;
        if let (Some(id), Some(at)) = (id, slot) {
            if let Some(known) = core.slot(start.engine, at) {
                waited_for = known.start_wait.and_then(|wait| self.semaphores.producer(wait));
                for (engine, slot, kind) in &known.predecessors {
                    let latest = self.latest(*engine, *slot);
                    if latest > 0 {
                        edges.push(Edge { id: latest, kind: *kind });
                    }
                }
            }
            let list = self.latest.get_mut(start.engine.index());
            let place = list.zip(usize::try_from(at).ok()).and_then(|(list, at)| list.get_mut(at));
            if let Some(place) = place {
                *place = id;
            }
        }
        let Some(open) = self.open.get_mut(start.engine.index()) else { return };
        if open.len() >= OPEN {
            open.remove(0);
            self.overflow += 1;
        }
        open.push(Open { start, time, id: id.unwrap_or(0), slot, edges, waited_for });
    }

    /// A semaphore changed.
    pub(crate) fn update(&mut self, update: &Update) {
        self.semaphores.update(update);
    }

    /// An instruction ended. `None` when its start is unknown.
    pub(crate) fn end(&mut self, core: &Core, end: End, time: u64, from: u64) -> Option<Whole> {
        let open = self.open.get_mut(end.engine.index())?;
        let Some(at) = open.iter().position(|open| open.start.pc == end.pc) else {
            self.orphans += 1;
            return None;
        };
        let Open { start, time: began, id, slot, edges, waited_for } = open.remove(at);
        let known = slot.and_then(|slot| core.slot(end.engine, slot));
        let raises = known.map(|slot| slot.raises).unwrap_or_default();
        let last = known.and_then(|slot| slot.end_wait);
        let last = last.and_then(|wait| self.semaphores.producer(wait));
        self.semaphores.ended(end.engine.index(), id, raises);
        let row = InstructionRow {
            id,
            core: self.core,
            engine: end.engine,
            pc: end.pc,
            slot,
            start: began.saturating_sub(from),
            end: time.max(began).saturating_sub(from),
            wait_cycles: start.wait_cycles,
            crc_in: end.crc_in,
            crc_out: end.crc_out,
            waited_for: last.or(waited_for),
        };
        Some(Whole { row, edges })
    }

    /// Takes a list back.
    pub(crate) fn reuse(&mut self, edges: Vec<Edge>) {
        if self.spare.len() < 64 {
            self.spare.push(edges);
        }
    }

    /// Starts without an end.
    pub(crate) fn open(&self) -> u64 {
        self.open.iter().map(|open| u64::try_from(open.len()).unwrap_or(0)).sum()
    }
}
