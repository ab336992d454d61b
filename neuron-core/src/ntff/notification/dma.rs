//! Records of DMA traces (ntff.md §6.4).

use serde::Serialize;

use super::bits::{byte, field, half, kind};

/// Side of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Memory to stream.
    Read,
    /// Stream to memory.
    Write,
}

/// A DMA engine made a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dma {
    /// Engine modulo 32, see [`Dma::device_engine`].
    pub engine: u8,
    /// Which step.
    #[serde(flatten)]
    pub step: DmaStep,
}

/// The steps. Real files hold only read starts, write ends and write
/// completions, in equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum DmaStep {
    /// A packet began.
    Start {
        /// Side.
        direction: Direction,
        /// Queue, 0 to 15.
        queue: u8,
        /// From the first descriptor word, 7 bits (inferred); 0 in real files.
        metadata: u8,
    },
    /// A packet ended.
    End {
        /// Side.
        direction: Direction,
        /// Queue, 0 to 15.
        queue: u8,
        /// Bytes moved, 24 bits.
        bytes: u32,
        /// Checksum.
        crc: u16,
    },
    /// The completion of a packet was written.
    Completion {
        /// Side.
        direction: Direction,
        /// Queue, 0 to 15.
        queue: u8,
    },
    /// A bus request; which code is read and which is write is unknown.
    AxiRequest {
        /// 8 or 9.
        code: u8,
        /// 5 bits.
        id: u8,
        /// 47 bits: 24 low ones, then 23 high ones.
        address: u64,
    },
    /// A register access; which code is read and which is write is unknown.
    Apb {
        /// 12 or 13.
        code: u8,
        /// 32 bits: 24 low ones, then 8 high ones.
        address: u64,
    },
    /// A bus response (10, 11), whose fields are not published, or an unlisted
    /// code.
    Other {
        /// First word of the record.
        word: u64,
    },
}

impl Dma {
    #[inline]
    pub(super) const fn decode(word: u64) -> Self {
        let code = byte(word, 32) & 0xf;
        let queue = byte(word, 36) & 0xf;
        let direction = if matches!(code, 1..=3) { Direction::Read } else { Direction::Write };
        let step = match code {
            1 | 4 => DmaStep::Start { direction, queue, metadata: byte(word, 40) & 0x7f },
            2 | 5 => DmaStep::End {
                direction,
                queue,
                bytes: super::bits::single(field(word, 0, 24), 0),
                crc: half(word, 48),
            },
            3 | 6 => DmaStep::Completion { direction, queue },
            8 | 9 => DmaStep::AxiRequest {
                code,
                id: byte(word, 36) & 0x1f,
                address: field(word, 0, 24) | (field(word, 41, 23) << 24),
            },
            12 | 13 => {
                DmaStep::Apb { code, address: field(word, 0, 24) | (field(word, 36, 8) << 24) }
            }
            _ => DmaStep::Other { word },
        };
        Self { engine: byte(word, 24) & 0x1f, step }
    }

    pub(super) fn encode(self) -> u64 {
        let packet = |direction, read, write, queue: u8| {
            let code: u64 = if direction == Direction::Read { read } else { write };
            (code << 32) | (u64::from(queue & 0xf) << 36)
        };
        let step = match self.step {
            DmaStep::Start { direction, queue, metadata } => {
                packet(direction, 1, 4, queue) | (u64::from(metadata & 0x7f) << 40)
            }
            DmaStep::End { direction, queue, bytes, crc } => {
                packet(direction, 2, 5, queue)
                    | u64::from(bytes & 0xff_ffff)
                    | (u64::from(crc) << 48)
            }
            DmaStep::Completion { direction, queue } => packet(direction, 3, 6, queue),
            DmaStep::AxiRequest { code, id, address } => {
                (u64::from(code & 0xf) << 32)
                    | (u64::from(id & 0x1f) << 36)
                    | field(address, 0, 24)
                    | (field(address, 24, 23) << 41)
            }
            DmaStep::Apb { code, address } => {
                (u64::from(code & 0xf) << 32)
                    | field(address, 0, 24)
                    | (field(address, 24, 8) << 36)
            }
            DmaStep::Other { word } => word & !(0x1f << 24),
        };
        step | kind(self.engine & 0x1f)
    }

    /// The number of the engine on the device, for a trace of this core:
    /// (16 x core) rounded down to a multiple of 32, plus the five bits.
    pub const fn device_engine(self, core: u32) -> u32 {
        ((core.saturating_mul(16)) & !31).saturating_add(self.engine as u32)
    }
}
