//! Instructions in the order of the lowering become five streams whose
//! semaphores hold that order where it matters.
//!
//! Each engine has one semaphore, which rises with every instruction that
//! another engine waits for, and each DMA queue has 16, used in turn, each
//! rising by 16 with its transfer (neuroncore.md §4.2). A transfer waits until
//! the last one on its semaphore is done: the 16 DMA engines count on their
//! own, so two transfers on one semaphore could be told apart by nobody. A wait
//! that follows from an earlier wait of the engine is left out.

mod hazard;
mod streams;

use std::collections::BTreeMap;
use std::ops::Range;

use neuron_core::isa::body::Body;
use neuron_core::isa::{Engine, Instruction, Opcode};

use crate::error::{BuildError, Result};
use hazard::Hazards;
pub(crate) use hazard::PSUM;
pub use hazard::{Edge, Step};
pub use streams::{Line, Streams};

/// Producers: 5 engines, then the semaphores of the queues.
const PRODUCERS: usize = 5 + 3 * LANES;

/// Semaphores of a queue.
pub(crate) const LANES: usize = 16;

/// A DMA queue of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    /// Into SBUF, on SP.
    Load,
    /// Out of SBUF, and within HBM, on POOL.
    Store,
    /// Collectives, on POOL.
    Collective,
}

impl Queue {
    /// Every queue.
    pub const ALL: [Self; 3] = [Self::Load, Self::Store, Self::Collective];

    /// The engine that issues its transfers.
    pub const fn owner(self) -> Engine {
        match self {
            Self::Load => Engine::Sp,
            Self::Store | Self::Collective => Engine::Pool,
        }
    }

    const fn first(self) -> usize {
        match self {
            Self::Load => 5,
            Self::Store => 5 + LANES,
            Self::Collective => 5 + 2 * LANES,
        }
    }

    /// Its semaphores.
    pub fn semaphores(self) -> Range<u8> {
        let first = self.first() as u8;
        semaphore(first)..semaphore(first) + LANES as u8
    }

    /// What a transfer adds to its semaphore: 1 from each DMA engine, or 1 from
    /// the record of a collective.
    const fn rise(self) -> u32 {
        match self {
            Self::Load | Self::Store => 16,
            Self::Collective => 1,
        }
    }
}

/// The semaphore of a producer. Real programs have 3 for POOL, 4 for ACT, 5 for
/// PE, 6 for DVE, and queues from 8 up (isa-layouts.md §2.2); 0 to 2 are the
/// runtime's.
fn semaphore(producer: u8) -> u8 {
    match producer {
        0 => 5,
        1 => 4,
        2 => 3,
        3 => 6,
        4 => 7,
        queue => queue + 3,
    }
}

/// The semaphore of an engine.
pub(crate) fn engine_semaphore(engine: Engine) -> u8 {
    semaphore(engine.number())
}

fn rise(producer: u8) -> u32 {
    let queue = Queue::ALL.into_iter().rev().find(|queue| usize::from(producer) >= queue.first());
    queue.map_or(1, Queue::rise)
}

/// Steps of every producer that are known to be done.
type Clock = [u32; PRODUCERS];

/// What an instruction touches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Touches {
    /// Bytes of SBUF, or from [`PSUM`] on of PSUM, that it reads.
    pub(crate) reads: Vec<Range<u32>>,
    /// Bytes that it writes.
    pub(crate) writes: Vec<Range<u32>>,
    /// Variables in HBM that it reads.
    pub(crate) loads: Vec<u32>,
    /// Variables that it writes. No byte of a variable is written twice.
    pub(crate) stores: Vec<u32>,
}

/// What an instruction is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Number of the layer's operator.
    pub node: usize,
    /// What it does there.
    pub what: &'static str,
    /// Whether it turns a tile.
    pub transpose: bool,
    /// Its step.
    pub step: Step,
    /// What it must come after, and why.
    pub after: Vec<(Step, Edge)>,
}

/// An instruction before its semaphores are known.
#[derive(Debug, Clone)]
struct Item {
    instruction: Instruction,
    waits: Vec<Step>,
    /// What the header's update counts: the step of the engine or of a
    /// collective. Transfers name their semaphore in the record.
    step: Option<Step>,
    part: Part,
}

/// Collects instructions.
#[derive(Debug, Clone)]
pub(crate) struct Emitter {
    items: [Vec<Item>; 5],
    hazards: Hazards,
    /// Writers of each variable.
    stores: BTreeMap<u32, Vec<Step>>,
    counts: Clock,
    known: [Clock; 5],
    /// What was known when each step of each producer started.
    history: Vec<Vec<Clock>>,
    turns: [usize; 3],
    /// What the instructions from here on are part of.
    pub(crate) node: usize,
}

impl Default for Emitter {
    fn default() -> Self {
        Self {
            items: Default::default(),
            hazards: Hazards::default(),
            stores: BTreeMap::new(),
            counts: [0; PRODUCERS],
            known: [[0; PRODUCERS]; 5],
            history: vec![Vec::new(); PRODUCERS],
            turns: [0; 3],
            node: 0,
        }
    }
}

impl Emitter {
    /// Adds an instruction of an engine.
    ///
    /// # Errors
    ///
    /// When the opcode has another payload.
    pub(crate) fn compute(
        &mut self,
        engine: Engine,
        opcode: Opcode,
        body: impl Into<Body>,
        what: &'static str,
        touches: &Touches,
    ) -> Result<()> {
        let number = usize::from(engine.number());
        let step = self.next(number);
        let after = self.after(step, touches);
        // an engine does its instructions in order
        let others = after.iter().filter(|(wait, _)| usize::from(wait.producer) != number);
        let waits = self.learn(engine, others.map(|(wait, _)| *wait).collect());
        self.start(engine, step);
        let part = self.part(step, what, after);
        self.push(engine, opcode, body.into(), waits, Some(step), part)
    }

    /// Adds a transfer or a collective. `body` is given the semaphore.
    ///
    /// # Errors
    ///
    /// When the opcode has another payload.
    pub(crate) fn queue<B: Into<Body>>(
        &mut self,
        queue: Queue,
        opcode: Opcode,
        body: impl FnOnce(u8) -> B,
        what: &'static str,
        touches: &Touches,
    ) -> Result<()> {
        let lane = queue_turn(&mut self.turns, queue);
        let producer = queue.first() + lane;
        let step = self.next(producer);
        let after = self.after(step, touches);
        let mut waits: Vec<Step> = after.iter().map(|(wait, _)| *wait).collect();
        if step.count > 1 {
            waits.push(Step { count: step.count - 1, ..step });
        }
        let engine = queue.owner();
        let waits = self.learn(engine, waits);
        self.start(engine, step);
        let body = body(semaphore(step.producer)).into();
        let own = (queue == Queue::Collective).then_some(step);
        let part = self.part(step, what, after);
        self.push(engine, opcode, body, waits, own, part)
    }

    fn part(&self, step: Step, what: &'static str, after: Vec<(Step, Edge)>) -> Part {
        Part { node: self.node, what, transpose: what == "transpose", step, after }
    }

    fn next(&mut self, producer: usize) -> Step {
        let count = self.counts.get_mut(producer).map_or(0, |count| {
            *count += 1;
            *count
        });
        Step { producer: producer as u8, count }
    }

    /// What a step must come after.
    fn after(&mut self, step: Step, touches: &Touches) -> Vec<(Step, Edge)> {
        let mut after = Vec::new();
        for range in &touches.reads {
            self.hazards.touch(range.clone(), step, false, &mut after);
        }
        for range in &touches.writes {
            self.hazards.touch(range.clone(), step, true, &mut after);
        }
        // operands may overlap: no step waits for itself
        after.retain(|(wait, _)| *wait != step);
        for variable in &touches.loads {
            let writers = self.stores.get(variable).into_iter().flatten();
            after.extend(writers.map(|writer| (*writer, Edge::Flow)));
        }
        for variable in &touches.stores {
            let writers = self.stores.entry(*variable).or_default();
            writers.retain(|writer| writer.producer != step.producer);
            writers.push(step);
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Leaves out what the engine knows already, and notes what it will know.
    fn learn(&mut self, engine: Engine, mut waits: Vec<Step>) -> Vec<Step> {
        let Some(known) = self.known.get_mut(usize::from(engine.number())) else {
            return waits;
        };
        // the latest steps first: they are the likeliest to imply the others
        waits.sort_unstable_by_key(|wait| (std::cmp::Reverse(wait.count), wait.producer));
        let mut needed: Vec<Step> = Vec::new();
        for wait in waits {
            let producer = usize::from(wait.producer);
            let Some(done) = known.get_mut(producer).filter(|done| **done < wait.count) else {
                continue;
            };
            *done = wait.count;
            let then = self
                .history
                .get(producer)
                .and_then(|steps| steps.get(usize::try_from(wait.count).ok()?.checked_sub(1)?));
            for (known, then) in known.iter_mut().zip(then.into_iter().flatten()) {
                *known = (*known).max(*then);
            }
            needed.retain(|other| other.producer != wait.producer);
            needed.push(wait);
        }
        needed.sort_unstable();
        needed
    }

    fn start(&mut self, engine: Engine, step: Step) {
        let known = self.known.get(usize::from(engine.number())).copied();
        let history = self.history.get_mut(usize::from(step.producer));
        if let (Some(known), Some(history)) = (known, history) {
            history.push(known);
        }
    }

    fn push(
        &mut self,
        engine: Engine,
        opcode: Opcode,
        body: Body,
        waits: Vec<Step>,
        step: Option<Step>,
        part: Part,
    ) -> Result<()> {
        let instruction = Instruction::new(opcode, body).ok_or_else(|| BuildError::Operator {
            layer: part.what.to_owned(),
            reason: format!("{opcode} has another payload"),
        })?;
        if let Some(items) = self.items.get_mut(usize::from(engine.number())) {
            items.push(Item { instruction, waits, step, part });
        }
        Ok(())
    }
}

fn queue_turn(turns: &mut [usize; 3], queue: Queue) -> usize {
    let turn = turns.get_mut(queue as usize);
    turn.map_or(0, |turn| std::mem::replace(turn, (*turn + 1) % LANES))
}
