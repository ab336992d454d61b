//! The first 12 bytes, common to all records (isa-layouts.md §2.1).

use serde::Serialize;

use super::event::{Events, UpdateMode, WaitMode};
use super::field::{Field as _, RecordBytes};
use super::opcode::Opcode;

/// Header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Header {
    /// Byte 0: what the record is.
    pub opcode: Opcode,
    /// Byte 1: length in 4-byte words, 16 but for PSEUDO_EXTENSION.
    pub words: u8,
    /// Byte 2: trace command: 0 none, 1 notify, 3 start, 5 end, 7 start and
    /// end, 9 field of the record (neuroncore.md §3.2, from public notes).
    pub debug_cmd: u8,
    /// Byte 3: the low 4 bits reach the trace record.
    pub debug_hint: u8,
    /// Byte 4: condition before the start.
    pub wait_mode: WaitMode,
    /// Byte 5: its semaphore or event.
    pub wait_index: u8,
    /// Byte 6: change at the end.
    pub update_mode: UpdateMode,
    /// Byte 7: its semaphore or event.
    pub update_index: u8,
    /// Bytes 8 to 11: operand of both.
    pub value: u32,
}

impl Header {
    /// The header that the compiler writes for an opcode: no wait, no update.
    pub fn new(opcode: Opcode) -> Self {
        Self {
            opcode,
            words: opcode.usual_words(),
            debug_cmd: opcode.usual_debug_cmd(),
            debug_hint: 0,
            wait_mode: WaitMode(0),
            wait_index: 0,
            update_mode: UpdateMode(0),
            update_index: 0,
            value: 0,
        }
    }

    /// Wait and update in the form of the second block, with the one value
    /// as operand of both.
    pub const fn events(&self) -> Events {
        Events {
            wait_mode: self.wait_mode,
            wait_index: self.wait_index,
            update_mode: self.update_mode,
            update_index: self.update_index,
            wait_value: self.value,
            update_value: self.value,
        }
    }

    pub(crate) fn read(bytes: &RecordBytes) -> Self {
        let [
            opcode,
            words,
            debug_cmd,
            debug_hint,
            wait_mode,
            wait_index,
            update_mode,
            update_index,
        ] = super::field::take(bytes, 0);
        Self {
            opcode: Opcode(opcode),
            words,
            debug_cmd,
            debug_hint,
            wait_mode: WaitMode(wait_mode),
            wait_index,
            update_mode: UpdateMode(update_mode),
            update_index,
            value: u32::read(bytes, 8),
        }
    }

    pub(crate) fn write(&self, bytes: &mut RecordBytes) {
        let first = [
            self.opcode.0,
            self.words,
            self.debug_cmd,
            self.debug_hint,
            self.wait_mode.0,
            self.wait_index,
            self.update_mode.0,
            self.update_index,
        ];
        super::field::put(bytes, 0, first);
        self.value.write(bytes, 8);
    }
}
