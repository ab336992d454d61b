//! What a record says, for every kind that is documented (ntff.md §6).
//!
//! Decoding keeps every documented bit and no other, so a record that does
//! not come back the same from [`Notification::encode`] has bits that no known
//! layout explains. First-generation records have another, unknown layout.

mod bits;
mod completion;
mod dma;
mod fault;
mod instruction;
mod layouts;
mod throttle;
mod update;

use serde::Serialize;

pub use crate::engine::Engine;
pub use completion::{Completion, Custom};
pub use dma::{Direction, Dma, DmaStep};
pub use fault::{ErrorReport, Fault, FaultClass};
use instruction::engine_of;
pub use instruction::{End, Explicit, ExplicitBody, PC_MASK, Start};
pub use layouts::{KEYS, Layouts};
pub use throttle::Throttle;
pub use update::{Change, Update};

use super::Record;
use super::clock::Ticks;
use super::messages::NotificationTraceType as TraceType;

/// A decoded record; its time stays with the [`Record`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notification {
    /// An engine began an instruction.
    Start(Start),
    /// An engine finished an instruction.
    End(End),
    /// An instruction asked for a record.
    Explicit(Explicit),
    /// A semaphore or event changed.
    Update(Update),
    /// An engine met an error.
    Fault(Fault),
    /// An interrupt or warning of a block of the device.
    Error(ErrorReport),
    /// The allowed utilisation changed.
    Throttle(Throttle),
    /// A DMA engine made a step.
    Dma(Dma),
    /// A kind without a known layout, as it is.
    Unknown {
        /// First word of the record.
        word: u64,
    },
}

/// Which layouts a trace uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoder {
    dma: bool,
    /// The layout of Trn1 throttle records is unknown.
    throttle: bool,
}

impl Decoder {
    /// For the records of a trace on a device of `arch` (1 = Trn1, 2 = Trn2).
    pub fn new(trace_type: TraceType, arch: u64) -> Self {
        Self { dma: trace_type == TraceType::Dma, throttle: arch != 1 }
    }

    /// Decodes one record.
    #[inline]
    pub fn decode(self, record: Record) -> Notification {
        let word = record.word;
        if self.dma {
            return Notification::Dma(Dma::decode(word));
        }
        let kind = record.kind();
        if let Some(engine) = engine_of(kind) {
            return match kind & 3 {
                0 => Notification::Start(Start::decode(engine, word)),
                1 => Notification::End(End::decode(engine, word)),
                2 => Notification::Explicit(Explicit::decode(engine, word)),
                _ => Notification::Update(Update::decode(Some(engine), word)),
            };
        }
        match kind {
            0x1b => Notification::Update(Update::decode(None, word)),
            0x1e if self.throttle => Notification::Throttle(Throttle::decode(word)),
            0x1f => Notification::Fault(Fault::decode(word)),
            0x03 => Notification::Error(ErrorReport::decode(word)),
            _ => Notification::Unknown { word },
        }
    }
}

impl Notification {
    /// The record of it, without loss marks.
    #[inline]
    pub fn encode(self, time: Ticks) -> Record {
        let word = match self {
            Self::Start(body) => body.encode(),
            Self::End(body) => body.encode(),
            Self::Explicit(body) => body.encode(),
            Self::Update(body) => body.encode(),
            Self::Fault(body) => body.encode(),
            Self::Error(body) => body.encode(),
            Self::Throttle(body) => body.encode(),
            Self::Dma(body) => body.encode(),
            Self::Unknown { word } => word,
        };
        Record { word, time }.with_marks(false, false)
    }

    /// Whether a record holds nothing but this and the marks.
    pub fn explains(self, record: Record) -> bool {
        const MARKS: u64 = 7 << 29;
        self.encode(record.time).word | MARKS == record.word | MARKS
    }
}

#[cfg(test)]
mod tests;
