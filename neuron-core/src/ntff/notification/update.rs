//! Changes of semaphores and events (ntff.md §6.3).

use serde::Serialize;

use super::bits::{bit, byte, kind, single};
use super::instruction::kind_of;
use crate::engine::Engine;

/// A semaphore or event changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Update {
    /// The engine that changed it; `None` when it was changed over the bus.
    pub engine: Option<Engine>,
    /// Its number.
    pub id: u8,
    /// A semaphore, not an event.
    pub is_semaphore: bool,
    /// Set when set, or clear when clear; never seen.
    pub double_set_or_clear: bool,
    /// How, see [`Update::change`].
    pub mode: u8,
    /// Value after the change.
    pub value: u32,
}

/// How a value changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// An event was set.
    Set,
    /// A semaphore went up by one.
    Increment,
    /// A semaphore went down by one.
    Decrement,
    /// A value was written, or a range cleared.
    Write,
    /// A wait cleared the event it waited for.
    ClearedByWait,
    /// A mode that no real file has shown.
    Unknown,
}

impl Update {
    pub(super) const fn decode(engine: Option<Engine>, word: u64) -> Self {
        Self {
            engine,
            id: byte(word, 0),
            is_semaphore: bit(word, 8),
            double_set_or_clear: bit(word, 9),
            mode: byte(word, 16),
            value: single(word, 32),
        }
    }

    pub(super) fn encode(self) -> u64 {
        u64::from(self.id)
            | (u64::from(self.is_semaphore) << 8)
            | (u64::from(self.double_set_or_clear) << 9)
            | (u64::from(self.mode) << 16)
            | self.engine.map_or(kind(0x1b), |engine| kind_of(engine, 3))
            | (u64::from(self.value) << 32)
    }

    /// What the mode means: E0 plus the update mode of the instruction, all
    /// "at complete", or the wait mode itself.
    pub const fn change(self) -> Change {
        match self.mode {
            0xf1 => Change::Set,
            0xf3 => Change::Increment,
            0xf4 => Change::Decrement,
            0xf9 | 0x00 => Change::Write,
            0x07 => Change::ClearedByWait,
            _ => Change::Unknown,
        }
    }
}
