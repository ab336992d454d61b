//! The five streams: semaphores counted, waits written, prologue and end added.

use std::collections::BTreeSet;

use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::{EventSemaphore, RangeClear, SetOrdering};
use neuron_core::isa::body::pseudo::BranchLabel;
use neuron_core::isa::code::{OrderingMode, RangeMode};
use neuron_core::isa::event::{Events, UpdateMode, WaitMode};
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::{Emitter, Item, Part, Queue, Step, rise, semaphore};
use crate::error::{BuildError, Result};

/// An instruction, and what it is part of if the graph asked for it.
#[derive(Debug, Clone)]
pub struct Line {
    /// The record.
    pub instruction: Instruction,
    /// What it is part of.
    pub part: Option<Part>,
}

/// The streams of a core, by engine number.
#[derive(Debug, Clone, Default)]
pub struct Streams {
    /// The instructions of each engine.
    pub engines: [Vec<Line>; 5],
    /// Queues that are used.
    pub queues: Vec<Queue>,
}

/// What no layer asks for.
const END: &str = "end";
/// Wait until a semaphore is at least a value.
const AT_LEAST: WaitMode = WaitMode(0x05);
/// One more when done.
const INCREMENT: UpdateMode = UpdateMode(0x13);

fn bare(opcode: Opcode, body: impl Into<Body>) -> Result<Instruction> {
    Instruction::new(opcode, body).ok_or_else(|| BuildError::Operator {
        layer: "end".to_owned(),
        reason: format!("{opcode} has another payload"),
    })
}

impl Streams {
    /// Adds a record that no layer asked for.
    pub fn push(&mut self, engine: Engine, instruction: Instruction) {
        if let Some(lines) = self.engines.get_mut(usize::from(engine.number())) {
            lines.push(Line { instruction, part: None });
        }
    }

    /// Records of all engines together.
    pub fn instructions(&self) -> usize {
        self.engines.iter().map(Vec::len).sum()
    }

    /// Streams with the first records of real programs: relaxed ordering, a
    /// label (isa-layouts.md §1.2).
    ///
    /// # Errors
    ///
    /// None in fact; the records are checked like all others.
    pub fn prologue() -> Result<Self> {
        let mut streams = Self::default();
        for engine in Engine::ALL {
            let mode = SetOrdering { mode: OrderingMode::RELAXED };
            streams.push(engine, bare(Opcode::SET_ORDERING_MODE, mode)?);
            streams.push(engine, bare(Opcode::PSEUDO_BRANCH_LABEL, BranchLabel {})?);
        }
        Ok(streams)
    }
}

/// Header wait of a record.
fn waiting(mut instruction: Instruction, (index, value): (u8, u32)) -> Instruction {
    instruction.header.wait_mode = AT_LEAST;
    instruction.header.wait_index = index;
    instruction.header.value = value;
    instruction
}

fn raising(mut instruction: Instruction, index: u8) -> Instruction {
    instruction.header.update_mode = INCREMENT;
    instruction.header.update_index = index;
    instruction
}

/// A record that does nothing but wait, for one or two semaphores.
fn wait(first: (u8, u32), second: Option<(u8, u32)>) -> Result<Instruction> {
    let mut events = Events::default();
    if let Some((index, value)) = second {
        (events.wait_mode, events.wait_index, events.wait_value) = (AT_LEAST, index, value);
    }
    let body = EventSemaphore { setter: 0, events };
    Ok(waiting(bare(Opcode::EVENT_SEMAPHORE, body)?, first))
}

impl Emitter {
    /// The streams.
    ///
    /// # Errors
    ///
    /// When a semaphore would pass 32 bits.
    pub(crate) fn finish(mut self) -> Result<Streams> {
        // Every engine ends with a step that SP waits for, and SP waits for
        // every queue; then nobody waits any more and all can be cleared.
        let others = [Engine::Pe, Engine::Act, Engine::Pool, Engine::Dve];
        for engine in others {
            let step = self.next(usize::from(engine.number()));
            self.start(engine, step);
            let body = Body::from(EventSemaphore::default());
            let part = self.part(step, END, Vec::new());
            self.push(engine, Opcode::EVENT_SEMAPHORE, body, Vec::new(), Some(step), part)?;
        }
        let last =
            (0u8..).zip(self.counts).filter(|(producer, count)| *producer != 4 && *count > 0);
        let last: Vec<Step> = last.map(|(producer, count)| Step { producer, count }).collect();
        let waits = self.learn(Engine::Sp, last);
        let highest = Queue::Collective.semaphores().end - 1;
        let clear = RangeClear { mode: RangeMode::SEMAPHORE_ZERO, first: 3, last: highest };
        let opcode = Opcode::EVENT_SEMAPHORE_RANGE_CLEAR;
        let step = self.next(usize::from(Engine::Sp.number()));
        let part = self.part(step, END, Vec::new());
        self.push(Engine::Sp, opcode, Body::from(clear), waits, None, part)?;

        let waited = Waited::of(&self.items);
        let mut streams = Streams::prologue()?;
        let used = |queue: &Queue| {
            let first = queue.first();
            self.counts.get(first).is_some_and(|count| *count > 0)
        };
        streams.queues = Queue::ALL.into_iter().filter(used).collect();
        for (engine, items) in Engine::ALL.into_iter().zip(&self.items) {
            for item in items {
                line(&mut streams, engine, item, &waited)?;
            }
        }
        Ok(streams)
    }
}

/// The steps of each engine that somebody waits for, in order.
struct Waited([Vec<u32>; 5]);

impl Waited {
    fn of(items: &[Vec<Item>; 5]) -> Self {
        let mut waited: [BTreeSet<u32>; 5] = Default::default();
        for wait in items.iter().flatten().flat_map(|item| &item.waits) {
            if let Some(steps) = waited.get_mut(usize::from(wait.producer)) {
                steps.insert(wait.count);
            }
        }
        Self(waited.map(|steps| steps.into_iter().collect()))
    }

    /// What the semaphore of a step counts up to it; `None` when the step does
    /// not raise it.
    fn count(&self, step: Step) -> Option<u32> {
        match self.0.get(usize::from(step.producer)) {
            Some(steps) => {
                let index = steps.binary_search(&step.count).ok()?;
                u32::try_from(index + 1).ok()
            }
            None => step.count.checked_mul(rise(step.producer)),
        }
    }
}

/// The semaphore of a step, and its value once the step is done.
fn value(step: Step, waited: &Waited) -> Result<(u8, u32)> {
    let count = waited.count(step).ok_or_else(|| BuildError::Memory {
        layer: "end".to_owned(),
        reason: "a semaphore passes 32 bits".to_owned(),
    })?;
    Ok((semaphore(step.producer), count))
}

fn line(streams: &mut Streams, engine: Engine, item: &Item, waited: &Waited) -> Result<()> {
    let values: Result<Vec<_>> = item.waits.iter().map(|wait| value(*wait, waited)).collect();
    let mut values = values?.into_iter();
    let mut instruction = item.instruction;
    if let Some(first) = values.next() {
        instruction = waiting(instruction, first);
    }
    while let Some(first) = values.next() {
        streams.push(engine, wait(first, values.next())?);
    }
    if let Some(step) = item.step
        && waited.count(step).is_some()
    {
        instruction = raising(instruction, semaphore(step.producer));
    }
    let part = (item.part.what != END).then(|| item.part.clone());
    if let Some(lines) = streams.engines.get_mut(usize::from(engine.number())) {
        lines.push(Line { instruction, part });
    }
    Ok(())
}
