//! Who raised the semaphore that an instruction waited for.
//!
//! An engine's update follows the END of the instruction that makes it by 5 to
//! 17 ns (ntff.md §3.7). PE may end another one meanwhile, so its cause is the
//! latest ended instruction of the engine whose record changes the semaphore. A wait of an instruction is met by the first
//! update since the last reset that makes its condition true (a semaphore that
//! counts up stays there). Updates over the bus are completions of DMA.
//!
//! Where updates were lost, the cause is unknown or the next one that is left.
//!
//! The viewer's own dependences are the compiler's; this is what happened.

use std::collections::VecDeque;

use neuron_core::isa::event::{Compare, Events, Operand, Wait, WaitMode};
use neuron_core::ntff::notification::{Change, Update};

/// Updates of a semaphore that are kept (our choice): a wait for an older one
/// has no known cause.
const KEPT: usize = 256;

/// Ended instructions of an engine that an update may be of (our choice).
const LATEST: usize = 8;

/// Who raised a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Producer {
    /// The instruction of a row.
    Instruction(u64),
    /// A completion over the bus, of DMA.
    Bus,
}

/// A semaphore and what it is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemaphoreWait {
    /// Its number.
    pub semaphore: u8,
    /// Comparison with the value.
    pub compare: Compare,
    /// Value.
    pub value: u32,
}

impl SemaphoreWait {
    /// Of an event block; `None` where it waits for no semaphore, or for one
    /// whose value is in a register.
    pub fn of(events: &Events) -> Option<Self> {
        match WaitMode::meaning(events.wait_mode)? {
            Wait::Semaphore(compare, Operand::Value) => {
                Some(Self { semaphore: events.wait_index, compare, value: events.wait_value })
            }
            _ => None,
        }
    }
}

/// The semaphores of one core.
#[derive(Debug)]
pub(crate) struct Semaphores {
    /// Value after each update since the last reset, and its cause.
    history: Vec<VecDeque<(u32, Option<Producer>)>>,
    /// What ended last on each engine: row, 0 for none, and what it changes.
    ended: [VecDeque<(u64, [Option<u8>; 2])>; 5],
}

impl Default for Semaphores {
    fn default() -> Self {
        Self { history: vec![VecDeque::new(); 256], ended: Default::default() }
    }
}

impl Semaphores {
    /// An instruction of an engine ended; 0 for one that is no row.
    pub(crate) fn ended(&mut self, engine: usize, id: u64, raises: [Option<u8>; 2]) {
        let Some(list) = self.ended.get_mut(engine) else { return };
        if list.len() >= LATEST {
            list.pop_back();
        }
        list.push_front((id, raises));
    }

    /// A semaphore changed.
    pub(crate) fn update(&mut self, update: &Update) {
        let Some(history) = self.history.get_mut(usize::from(update.id)) else { return };
        if !update.is_semaphore {
            return;
        }
        let cause = match update.engine {
            Some(engine) => {
                let mut ended = self.ended.get(engine.index()).into_iter().flatten();
                let cause = ended.find(|(_, raises)| raises.contains(&Some(update.id)));
                cause.filter(|(id, _)| *id > 0).map(|(id, _)| Producer::Instruction(*id))
            }
            None => Some(Producer::Bus),
        };
        if update.change() == Change::Write {
            history.clear();
        }
        if history.len() >= KEPT {
            history.pop_front();
        }
        history.push_back((update.value, cause));
    }

    /// Who met a wait that is over.
    pub(crate) fn producer(&self, wait: SemaphoreWait) -> Option<Producer> {
        let history = self.history.get(usize::from(wait.semaphore))?;
        // The last update that does not meet it: the one after it does.
        let before = history.iter().rposition(|(at, _)| !wait.compare.holds(*at, wait.value));
        history.get(before.map_or(0, |before| before + 1))?.1
    }
}
