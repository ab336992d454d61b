//! Payloads of the sequencer: events, registers, branches, memory words
//! (isa-layouts.md §4; neuroncore.md §3.6).

use serde::Serialize;

use crate::isa::address::Addr8;
use crate::isa::code::{
    AluOp, BranchCompare, BranchTarget, Dtype, NotifyKind, OperandSource, OrderingMode, RangeMode,
};
use crate::isa::event::Events;
use crate::isa::field::{Field, RecordBytes, layout};

/// A register, or two for a 64-bit value. Numbers as in the record; 0 as the
/// high part means that there is none (inferred).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RegisterPair {
    /// Register of the low word.
    pub low: u8,
    /// Register of the high word.
    pub high: u8,
}

impl Field for RegisterPair {
    const SIZE: usize = 2;
    fn read(bytes: &RecordBytes, offset: usize) -> Self {
        Self { low: Field::read(bytes, offset), high: Field::read(bytes, offset + 1) }
    }
    fn write(&self, bytes: &mut RecordBytes, offset: usize) {
        self.low.write(bytes, offset);
        self.high.write(bytes, offset + 1);
    }
}

layout! {
    /// EVENT_SEMAPHORE: waits and updates, nothing else. The record holds two
    /// blocks; both waits must hold.
    EventSemaphore {
        /// 0 in real files.
        12 setter: u8,
        /// The second block.
        32 events: Events,
    }
}

layout! {
    /// HALT.
    Halt {
        /// 1 on Trn1, 0 on Trn2.
        36 code: u16,
        /// 1 on Trn1, 0 on Trn2.
        39 kind: u8,
    }
}

layout! {
    /// DRAIN: waits until the engine is empty.
    Drain {
        /// 0 or 1; not printed by the viewer.
        40 flag: u8,
    }
}

layout! {
    /// NOP.
    Nop {
        /// Cycles to spend.
        12 cycles: u32,
    }
}

layout! {
    /// WRITE: one or two words to addresses of the device (doorbells, remote
    /// semaphores).
    Write {
        /// Bytes of the first word.
        12 size0: u8,
        /// Bytes of the second word; 0 when there is one only.
        13 size1: u8,
        /// Address of the first word.
        16 dst0: u64,
        /// Address of the second word.
        24 dst1: u64,
        /// The first word.
        32 data0: u64,
        /// The second word.
        40 data1: u64,
    }
}

layout! {
    /// NOTIFY: writes a notification.
    Notify {
        /// 2 start, 3 end; of collectives 7 start, 8 end; 6 custom.
        36 code: u16,
        /// Kind of the notification.
        39 kind: NotifyKind,
        /// Second code.
        44 code2: u16,
        /// 1 where `kind` is 2 (Trn1).
        47 kind2: u8,
    }
}

layout! {
    /// MOVE: a number into a register.
    Move {
        /// 1.
        12 count: u8,
        /// Type.
        13 dtype: Dtype,
        /// Where the number comes from.
        14 source: OperandSource,
        /// Destination.
        24 register: u8,
        /// The number.
        32 value: u32,
    }
}

layout! {
    /// ALU_OP: arithmetic on registers, 32 bits with wrap.
    Alu {
        /// Operation.
        12 op: AluOp,
        /// Type.
        13 dtype: Dtype,
        /// Where the second operand comes from.
        14 src1_source: OperandSource,
        /// First operand.
        16 src0: RegisterPair,
        /// Second operand, when a register.
        18 src1: RegisterPair,
        /// Result.
        20 dst: RegisterPair,
        /// Second operand, when a number.
        24 immediate: u64,
    }
}

layout! {
    /// COMPARE_BRANCH.
    Branch {
        /// Condition.
        12 compare: BranchCompare,
        /// Type of the comparison.
        13 dtype: Dtype,
        /// Where it goes.
        14 target: BranchTarget,
        /// Number to compare with.
        16 immediate: u64,
        /// Register to compare.
        32 register: u8,
        /// Registers of the target.
        34 target_registers: RegisterPair,
        /// Distance in bytes from this record: slot = this slot +
        /// distance / 64.
        48 distance: i32,
    }
}

impl Branch {
    /// Slot that an immediate distance leads to from a slot; `None` for other
    /// targets, for a distance that is no whole number of records, and before
    /// the stream.
    pub fn target_slot(&self, slot: u32) -> Option<u32> {
        let relative = self.target == BranchTarget::RELATIVE && self.distance % 64 == 0;
        slot.checked_add_signed(self.distance / 64).filter(|_| relative)
    }
}

layout! {
    /// TENSOR_LOAD: words of memory into registers.
    TensorLoad {
        /// Type of a word.
        12 dtype: Dtype,
        /// Words of the inner dimension; `n0 x n1` registers are loaded.
        14 n0: u8,
        /// Words of the outer dimension.
        15 n1: u8,
        /// Address of the device.
        16 address: Addr8,
        /// Steps in elements, inner and outer.
        24 steps: [i32; 2],
        /// The registers.
        32 registers: [u8; 32],
    }
}

layout! {
    /// PSEUDO_TENSOR_LOAD: becomes TENSOR_LOAD when loaded.
    PseudoTensorLoad {
        /// Type of a word.
        12 dtype: Dtype,
        /// Words of the inner dimension.
        14 n0: u8,
        /// Words of the outer dimension.
        15 n1: u8,
        /// Variable of the NEFF.
        16 var_id: u32,
        /// Offset in it, in bytes.
        20 var_offset: u32,
        /// Steps in elements, inner and outer.
        24 steps: [i32; 2],
        /// The registers.
        32 registers: [u8; 32],
    }
}

layout! {
    /// TENSOR_STORE: registers or numbers into memory.
    TensorStore {
        /// Type of a word.
        12 dtype: Dtype,
        /// What `data` holds.
        13 source: OperandSource,
        /// Words of the inner dimension.
        14 n0: u8,
        /// Words of the outer dimension.
        15 n1: u8,
        /// Address of the device.
        16 address: Addr8,
        /// Steps in elements, inner and outer.
        24 steps: [i32; 2],
        /// Register numbers, one byte each, or numbers of 4 bytes.
        32 data: [u8; 32],
    }
}

layout! {
    /// EVENT_SEMAPHORE_RANGE_CLEAR.
    RangeClear {
        /// What is done.
        12 mode: RangeMode,
        /// First index.
        13 first: u8,
        /// Last index, included.
        14 last: u8,
    }
}

layout! {
    /// SET_ORDERING_MODE.
    SetOrdering {
        /// The ordering from here on.
        12 mode: OrderingMode,
    }
}

layout! {
    /// POLL_SEM: reads words, folds them and writes the result back.
    PollSemaphore {
        /// Words to read.
        12 count: u8,
        /// Register of the result.
        13 result: u8,
        /// Fold.
        14 op: AluOp,
        /// Address of the words.
        16 address: u64,
        /// Address of the result.
        24 writeback: u64,
    }
}
