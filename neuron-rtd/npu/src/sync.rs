//! Semaphores and events of a core (neuroncore.md §3.3, isa-layouts.md §2.1).
//!
//! A semaphore that would fall below zero or pass 32 bits is a fault (our
//! choice: the sheet has a semaphore error and no rule for it).

use std::fmt;

use neuron_core::isa::event::{Action, Events, Operand, Update, UpdateMode, Wait, WaitMode};

use crate::fault::Fault;
use crate::geometry::SEMAPHORES;

/// Registers of an engine's sequencer. A record names them with one byte.
pub type Registers = [u32; 256];

/// The semaphores and events of one core, all zero at the start of a run.
#[derive(Debug, Clone)]
pub struct Sync {
    semaphores: [u32; SEMAPHORES],
    events: [bool; SEMAPHORES],
}

/// A wait that does not hold yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmet {
    /// A semaphore: its value, and what it should be, as `>=16`.
    Semaphore {
        /// Its number.
        index: u8,
        /// Its value.
        value: u32,
        /// Comparison and operand.
        needed: String,
    },
    /// An event, and whether it should be set.
    Event {
        /// Its number.
        index: u8,
        /// Whether it must be set; else it must be clear.
        set: bool,
    },
    /// A collective: the ranks that have not posted.
    Ranks(Vec<usize>),
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Semaphore { index, value, needed } => {
                write!(f, "semaphore {index} is {value} and must be {needed}")
            }
            Self::Event { index, set: true } => write!(f, "event {index} is clear and must be set"),
            Self::Event { index, set: false } => {
                write!(f, "event {index} is set and must be clear")
            }
            Self::Ranks(missing) => write!(f, "ranks {missing:?} have not posted"),
        }
    }
}

impl Default for Sync {
    fn default() -> Self {
        Self { semaphores: [0; SEMAPHORES], events: [false; SEMAPHORES] }
    }
}

/// What a wait mode means.
pub(crate) fn wait_of(mode: WaitMode) -> Result<Wait, Fault> {
    mode.meaning().ok_or_else(|| Fault::unknown(format!("wait mode {:#04x}", mode.0)))
}

/// What an update mode means; none for mode 0.
pub(crate) fn update_of(mode: UpdateMode) -> Result<Option<Update>, Fault> {
    if mode == UpdateMode(0) {
        return Ok(None);
    }
    let unknown = || Fault::unknown(format!("update mode {:#04x}", mode.0));
    mode.meaning().map(Some).ok_or_else(unknown)
}

fn operand(operand: Operand, value: u32, registers: &Registers) -> Result<u32, Fault> {
    match operand {
        Operand::Value => Ok(value),
        Operand::Register => {
            let register = usize::try_from(value).ok().and_then(|index| registers.get(index));
            register.copied().ok_or_else(|| Fault::unknown(format!("register {value}")))
        }
    }
}

impl Sync {
    /// Value of a semaphore.
    pub fn semaphore(&self, index: u8) -> u32 {
        self.semaphores.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// Whether an event is set.
    pub fn event(&self, index: u8) -> bool {
        self.events.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// Whether the wait of a block holds; changes nothing.
    ///
    /// # Errors
    ///
    /// For a mode without a meaning.
    pub fn unmet(&self, events: &Events, registers: &Registers) -> Result<Option<Unmet>, Fault> {
        let index = events.wait_index;
        Ok(match wait_of(events.wait_mode)? {
            Wait::None | Wait::Unordered => None,
            Wait::Semaphore(compare, source) => {
                let needed = operand(source, events.wait_value, registers)?;
                let value = self.semaphore(index);
                let sign = sign(compare);
                (!compare.holds(value, needed)).then(|| Unmet::Semaphore {
                    index,
                    value,
                    needed: format!("{sign}{needed}"),
                })
            }
            Wait::EventSet { .. } => {
                (!self.event(index)).then_some(Unmet::Event { index, set: true })
            }
            Wait::EventClear { .. } => {
                self.event(index).then_some(Unmet::Event { index, set: false })
            }
        })
    }

    /// What a wait that holds does to its event.
    ///
    /// # Errors
    ///
    /// For a mode without a meaning.
    pub fn pass(&mut self, events: &Events) -> Result<(), Fault> {
        let set = match wait_of(events.wait_mode)? {
            Wait::EventSet { then_clear: true } => false,
            Wait::EventClear { then_set: true } => true,
            _ => return Ok(()),
        };
        self.put_event(events.wait_index, set);
        Ok(())
    }

    /// The update of a block.
    ///
    /// # Errors
    ///
    /// For a mode without a meaning, and a semaphore that leaves its range.
    pub fn update(&mut self, events: &Events, registers: &Registers) -> Result<(), Fault> {
        match update_of(events.update_mode)? {
            None => Ok(()),
            Some(update) => {
                self.act(update.action, events.update_index, events.update_value, registers)
            }
        }
    }

    /// Whether a wait holds.
    pub(crate) fn holds(
        &self,
        wait: Wait,
        index: u8,
        value: u32,
        registers: &Registers,
    ) -> Result<bool, Fault> {
        Ok(match wait {
            Wait::None | Wait::Unordered => true,
            Wait::Semaphore(compare, source) => {
                compare.holds(self.semaphore(index), operand(source, value, registers)?)
            }
            Wait::EventSet { .. } => self.event(index),
            Wait::EventClear { .. } => !self.event(index),
        })
    }

    /// One change.
    pub(crate) fn act(
        &mut self,
        action: Action,
        index: u8,
        value: u32,
        registers: &Registers,
    ) -> Result<(), Fault> {
        let number = |source| operand(source, value, registers).map(i64::from);
        match action {
            Action::SetEvent => self.put_event(index, true),
            Action::ClearEvent => self.put_event(index, false),
            Action::Increment => self.add(index, 1)?,
            Action::Decrement => self.add(index, -1)?,
            Action::Add(source) => self.add(index, number(source)?)?,
            Action::Subtract(source) => self.add(index, -number(source)?)?,
            Action::Write(source) => {
                let value = operand(source, value, registers)?;
                self.put(index, value);
            }
        }
        Ok(())
    }

    /// Adds to a semaphore.
    ///
    /// # Errors
    ///
    /// When the sum is no 32-bit number.
    pub fn add(&mut self, index: u8, by: i64) -> Result<(), Fault> {
        let value = self.semaphore(index);
        let sum = u32::try_from(i64::from(value) + by).map_err(|_| {
            Fault::Semaphore(format!("semaphore {index} is {value} and cannot change by {by}"))
        })?;
        self.put(index, sum);
        Ok(())
    }

    /// Sets a range of semaphores to zero, the last one included.
    pub fn clear(&mut self, first: u8, last: u8) {
        for index in first..=last {
            self.put(index, 0);
        }
    }

    /// Writes a semaphore.
    pub fn put(&mut self, index: u8, value: u32) {
        if let Some(semaphore) = self.semaphores.get_mut(usize::from(index)) {
            *semaphore = value;
        }
    }

    /// Sets or clears an event.
    pub fn put_event(&mut self, index: u8, set: bool) {
        if let Some(event) = self.events.get_mut(usize::from(index)) {
            *event = set;
        }
    }
}

fn sign(compare: neuron_core::isa::event::Compare) -> &'static str {
    use neuron_core::isa::event::Compare;
    match compare {
        Compare::Equal => "==",
        Compare::Less => "<",
        Compare::LessEqual => "<=",
        Compare::Greater => ">",
        Compare::GreaterEqual => ">=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(mode: u8, index: u8, value: u32) -> Events {
        let (wait_mode, wait_index, wait_value) = (WaitMode(mode), index, value);
        Events { wait_mode, wait_index, wait_value, ..Events::default() }
    }

    fn update(mode: u8, index: u8, value: u32) -> Events {
        let (update_mode, update_index, update_value) = (UpdateMode(mode), index, value);
        Events { update_mode, update_index, update_value, ..Events::default() }
    }

    #[test]
    fn a_wait_tells_value_and_need() {
        let mut sync = Sync::default();
        let registers = [7; 256];
        sync.update(&update(0x15, 9, 15), &registers).unwrap();
        let unmet = sync.unmet(&wait(0x05, 9, 16), &registers).unwrap().unwrap();
        assert_eq!(unmet.to_string(), "semaphore 9 is 15 and must be >=16");
        sync.update(&update(0x13, 9, 0), &registers).unwrap();
        assert_eq!(sync.unmet(&wait(0x05, 9, 16), &registers).unwrap(), None);
        // neuroncore.md §0.4: 04 is strictly greater
        assert!(sync.unmet(&wait(0x04, 9, 16), &registers).unwrap().is_some());
        sync.update(&update(0x99, 9, 3), &registers).unwrap();
        assert_eq!(sync.unmet(&wait(0x81, 9, 200), &registers).unwrap(), None);
    }

    #[test]
    fn an_event_is_cleared_by_the_wait_that_passes() {
        let (mut sync, registers) = (Sync::default(), [0; 256]);
        let needs = wait(0x07, 3, 0);
        assert!(sync.unmet(&needs, &registers).unwrap().is_some());
        sync.update(&update(0x11, 3, 0), &registers).unwrap();
        assert_eq!(sync.unmet(&needs, &registers).unwrap(), None);
        sync.pass(&needs).unwrap();
        assert!(!sync.event(3));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let (mut sync, registers) = (Sync::default(), [0; 256]);
        assert!(sync.unmet(&wait(0x55, 0, 0), &registers).is_err());
        assert!(sync.update(&update(0x55, 0, 0), &registers).is_err());
        assert!(sync.update(&update(0x14, 0, 0), &registers).is_err());
        sync.add(255, 1).unwrap();
        sync.clear(0, 255);
        assert_eq!(sync.semaphore(255), 0);
    }
}
