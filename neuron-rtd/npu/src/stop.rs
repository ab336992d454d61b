//! Why a run ended without outputs.

use std::fmt;

use neuron_core::isa::field::RecordBytes;
use neuron_core::isa::{Engine, Opcode};

use crate::fault::Fault;
use crate::observer::At;
use crate::sync::Unmet;

/// An engine that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// Where it waits.
    pub at: At,
    /// The instruction that waits.
    pub opcode: Opcode,
    /// What does not hold: the header's wait, and that of the second block.
    pub unmet: Vec<Unmet>,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { core, engine, slot } = self.at;
        write!(f, "core {core} {engine} slot {slot} {}: ", self.opcode)?;
        for (index, unmet) in self.unmet.iter().enumerate() {
            let gap = if index == 0 { "" } else { ", " };
            write!(f, "{gap}{unmet}")?;
        }
        Ok(())
    }
}

/// Why a run ended without outputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// An input is missing, unknown, or of another size.
    #[error("input {name}: {reason}")]
    Input {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An instruction cannot run.
    #[error(
        "core {} {} slot {} {opcode}: {fault}; record {}", at.core, at.engine, at.slot, Hex(bytes)
    )]
    Instruction {
        /// Where it stands.
        at: At,
        /// What it is.
        opcode: Opcode,
        /// Why it cannot run.
        fault: Fault,
        /// The whole record.
        bytes: Box<RecordBytes>,
    },
    /// A transfer cannot be done.
    #[error("core {core} queue {queue:?}: {fault}")]
    Transfer {
        /// Physical core.
        core: usize,
        /// Its queue.
        queue: String,
        /// Why it cannot be done.
        fault: Fault,
    },
    /// Every engine has ended or waits, and no transfer is under way.
    #[error("deadlock: {}", Joined(.0))]
    Deadlock(Vec<Blocked>),
    /// More instructions than the caller allows.
    #[error("stopped after {0} instructions; allow more, or the program does not end")]
    Instructions(u64),
    /// More packets of DMA than the caller allows.
    #[error("stopped after {0} DMA packets; allow more")]
    Packets(u64),
    /// Transfers move more bytes than the caller allows.
    #[error("stopped after transfers of {0} bytes; allow more")]
    MovedBytes(u64),
    /// The caller's [`Cancel`](crate::Cancel) was set.
    #[error("cancelled")]
    Cancelled,
    /// An output cannot be held in memory.
    #[error("output {name}: {fault}")]
    Output {
        /// Its name.
        name: String,
        /// Why.
        fault: Fault,
    },
}

impl Stop {
    /// The engine that stopped the run, where one did.
    pub fn engine(&self) -> Option<Engine> {
        match self {
            Self::Instruction { at, .. } => Some(at.engine),
            _ => None,
        }
    }
}

struct Joined<'a>(&'a [Blocked]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, blocked) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "; " };
            write!(f, "{gap}{blocked}")?;
        }
        Ok(())
    }
}

/// Bytes in groups of four.
struct Hex<'a>(&'a RecordBytes);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let gap = if index > 0 && index % 4 == 0 { " " } else { "" };
            write!(f, "{gap}{byte:02x}")?;
        }
        Ok(())
    }
}
