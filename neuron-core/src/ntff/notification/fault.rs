//! Errors of engines and of blocks of the device (ntff.md §6.3). No real file
//! holds one.

use serde::Serialize;

use super::bits::{bit, byte, field, half, kind, single};

/// An engine met an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What, see [`Fault::name`].
    pub error_id: u8,
    /// Depends on the error.
    pub metadata_lo: u16,
    /// Depends on the error.
    pub metadata_hi: u32,
}

/// How the runtime sorts faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names of the classes")]
pub enum FaultClass {
    None,
    Numerical,
    Transient,
    Memory,
    Fake,
    Semaphore,
    Event,
    Psum,
    Sequencer,
}

impl Fault {
    pub(super) const fn decode(word: u64) -> Self {
        Self { error_id: byte(word, 0), metadata_lo: half(word, 8), metadata_hi: single(word, 32) }
    }

    pub(super) fn encode(self) -> u64 {
        u64::from(self.error_id)
            | (u64::from(self.metadata_lo) << 8)
            | kind(0x1f)
            | (u64::from(self.metadata_hi) << 32)
    }

    /// The published name of the error.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.error_id {
            0 => "FP_UNDERFLOW",
            1 => "FP_NAN",
            2 => "FP_INF",
            3 => "FP_OVERFLOW",
            4 => "MEMORY",
            5 => "FAKE",
            6 => "SEMAPHORE",
            7 => "EVENT",
            8 => "PSUM_COLLISION",
            9 => "SEQUENCER_NONFATAL",
            10 => "SEQUENCER_FATAL",
            _ => return None,
        })
    }

    /// The runtime's list of classes by id: NaN alone is a numerical error.
    pub const fn class(self) -> FaultClass {
        match self.error_id {
            1 => FaultClass::Numerical,
            9 => FaultClass::Transient,
            4 => FaultClass::Memory,
            5 => FaultClass::Fake,
            6 => FaultClass::Semaphore,
            7 => FaultClass::Event,
            8 => FaultClass::Psum,
            10 => FaultClass::Sequencer,
            _ => FaultClass::None,
        }
    }
}

/// An interrupt or warning of a block. The order of the fields is published,
/// their positions are inferred from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum ErrorReport {
    /// An interrupt.
    Interrupt {
        /// 3 bits.
        group: u8,
        /// 10 bits.
        block_id: u16,
        /// One bit per cause.
        cause_bits: u32,
    },
    /// A warning.
    Warning {
        /// 3 bits.
        group: u8,
        /// 4 bits.
        meta_a: u8,
        /// 10 bits.
        block_id: u16,
        /// 6 bits.
        meta_b: u8,
        /// 32 bits.
        meta_c: u32,
    },
}

impl ErrorReport {
    pub(super) const fn decode(word: u64) -> Self {
        let group = byte(word, 0) & 7;
        if bit(word, 3) {
            Self::Warning {
                group,
                meta_a: byte(word, 4) & 0xf,
                block_id: half(field(word, 8, 10), 0),
                meta_b: byte(word, 18) & 0x3f,
                meta_c: single(word, 32),
            }
        } else {
            Self::Interrupt {
                group,
                block_id: half(field(word, 4, 10), 0),
                cause_bits: single(word, 32),
            }
        }
    }

    pub(super) fn encode(self) -> u64 {
        kind(0x03)
            | match self {
                Self::Interrupt { group, block_id, cause_bits } => {
                    u64::from(group & 7)
                        | (u64::from(block_id & 0x3ff) << 4)
                        | (u64::from(cause_bits) << 32)
                }
                Self::Warning { group, meta_a, block_id, meta_b, meta_c } => {
                    u64::from(group & 7)
                        | (1 << 3)
                        | (u64::from(meta_a & 0xf) << 4)
                        | (u64::from(block_id & 0x3ff) << 8)
                        | (u64::from(meta_b & 0x3f) << 18)
                        | (u64::from(meta_c) << 32)
                }
            }
    }
}
