//! What a record waits for and what it changes when it is done
//! (isa-layouts.md §2.1, neuroncore.md §3.3).

use serde::Serialize;

use super::field::{Field, RecordBytes, newtype_field};

/// Condition before a record starts, as its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct WaitMode(pub u8);
newtype_field!(WaitMode(u8));

/// Change after a record, as its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct UpdateMode(pub u8);
newtype_field!(UpdateMode(u8));

/// Comparison of a semaphore with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `==`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Compare {
    /// Whether `left` stands in this relation to `right`.
    pub const fn holds(self, left: u32, right: u32) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
        }
    }

    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}

/// Where the operand of a wait or an update comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The value in the record.
    Value,
    /// The register whose number is the value in the record.
    Register,
}

/// Meaning of a [`WaitMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Starts at once.
    None,
    /// Until a semaphore compares so.
    Semaphore(Compare, Operand),
    /// Until an event is set; `then_clear` clears it.
    EventSet {
        /// Whether the event is cleared.
        then_clear: bool,
    },
    /// Until an event is clear; `then_set` sets it.
    EventClear {
        /// Whether the event is set.
        then_set: bool,
    },
    /// Skips waiting and ordering.
    Unordered,
}

impl WaitMode {
    /// Modes with a meaning. Used by real code: 00, 01, 04, 05, 07; the
    /// others are from public notes.
    pub const KNOWN: [(u8, Wait); 16] = {
        use Compare::{Equal, Greater, GreaterEqual, Less, LessEqual};
        use Operand::{Register, Value};
        [
            (0x00, Wait::None),
            (0x01, Wait::Semaphore(Equal, Value)),
            (0x02, Wait::Semaphore(Less, Value)),
            (0x03, Wait::Semaphore(LessEqual, Value)),
            (0x04, Wait::Semaphore(Greater, Value)),
            (0x05, Wait::Semaphore(GreaterEqual, Value)),
            (0x06, Wait::EventSet { then_clear: false }),
            (0x07, Wait::EventSet { then_clear: true }),
            (0x0e, Wait::EventClear { then_set: false }),
            (0x0f, Wait::EventClear { then_set: true }),
            (0x81, Wait::Semaphore(Equal, Register)),
            (0x82, Wait::Semaphore(Less, Register)),
            (0x83, Wait::Semaphore(LessEqual, Register)),
            (0x84, Wait::Semaphore(Greater, Register)),
            (0x85, Wait::Semaphore(GreaterEqual, Register)),
            (0xfe, Wait::Unordered),
        ]
    };

    /// What it means; `None` when no sheet says.
    pub fn meaning(self) -> Option<Wait> {
        Self::KNOWN.iter().find(|(mode, _)| *mode == self.0).map(|(_, wait)| *wait)
    }

    /// The mode of a meaning; `None` when no mode has it.
    pub fn of(wait: Wait) -> Option<Self> {
        Self::KNOWN.iter().find(|(_, known)| *known == wait).map(|(mode, _)| Self(*mode))
    }
}

/// When an update happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Once the inputs are read.
    Read,
    /// Once the outputs are written.
    Complete,
}

/// What an update does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sets an event.
    SetEvent,
    /// Clears an event.
    ClearEvent,
    /// Adds 1 to a semaphore.
    Increment,
    /// Takes 1 from a semaphore.
    Decrement,
    /// Adds the operand to a semaphore.
    Add(Operand),
    /// Takes the operand from a semaphore.
    Subtract(Operand),
    /// Sets a semaphore to the operand.
    Write(Operand),
}

/// Meaning of an [`UpdateMode`]; mode 0, no update, has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    /// What is done.
    pub action: Action,
    /// When.
    pub moment: Moment,
}

impl UpdateMode {
    /// Modes with a meaning. Used by real code: 11, 13, 14, 15, 19; the
    /// others are from public notes.
    pub const KNOWN: [(u8, Action, Moment); 17] = {
        use Moment::{Complete, Read};
        use Operand::{Register, Value};
        [
            (0x01, Action::SetEvent, Read),
            (0x02, Action::ClearEvent, Read),
            (0x03, Action::Increment, Read),
            (0x04, Action::Decrement, Read),
            (0x05, Action::Add(Value), Read),
            (0x07, Action::Subtract(Value), Read),
            (0x09, Action::Write(Value), Read),
            (0x11, Action::SetEvent, Complete),
            (0x12, Action::ClearEvent, Complete),
            (0x13, Action::Increment, Complete),
            (0x14, Action::Decrement, Complete),
            (0x15, Action::Add(Value), Complete),
            (0x17, Action::Subtract(Value), Complete),
            (0x19, Action::Write(Value), Complete),
            (0x87, Action::Subtract(Register), Read),
            (0x97, Action::Subtract(Register), Complete),
            (0x99, Action::Write(Register), Complete),
        ]
    };

    /// What it does; `None` for mode 0 and where no sheet says.
    pub fn meaning(self) -> Option<Update> {
        let known = Self::KNOWN.iter().find(|(mode, ..)| *mode == self.0);
        known.map(|(_, action, moment)| Update { action: *action, moment: *moment })
    }

    /// The mode of a meaning; `None` when no mode has it.
    pub fn of(update: Update) -> Option<Self> {
        let known = Self::KNOWN
            .iter()
            .find(|(_, action, moment)| *action == update.action && *moment == update.moment);
        known.map(|(mode, ..)| Self(*mode))
    }
}

/// A wait and an update with their own values: 12 bytes, the second event
/// block of EVENT_SEMAPHORE (isa-layouts.md §4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Events {
    /// Condition.
    pub wait_mode: WaitMode,
    /// Semaphore or event of the condition.
    pub wait_index: u8,
    /// Change.
    pub update_mode: UpdateMode,
    /// Semaphore or event of the change.
    pub update_index: u8,
    /// Operand of the condition.
    pub wait_value: u32,
    /// Operand of the change.
    pub update_value: u32,
}

impl Field for Events {
    const SIZE: usize = 12;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        Self {
            wait_mode: Field::read(bytes, offset),
            wait_index: Field::read(bytes, offset + 1),
            update_mode: Field::read(bytes, offset + 2),
            update_index: Field::read(bytes, offset + 3),
            wait_value: Field::read(bytes, offset + 4),
            update_value: Field::read(bytes, offset + 8),
        }
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        self.wait_mode.write(bytes, offset);
        self.wait_index.write(bytes, offset + 1);
        self.update_mode.write(bytes, offset + 2);
        self.update_index.write(bytes, offset + 3);
        self.wait_value.write(bytes, offset + 4);
        self.update_value.write(bytes, offset + 8);
    }
}
