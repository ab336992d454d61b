//! Records of the engines about their instructions (ntff.md §6.3).

use serde::Serialize;

use super::bits::{bit, byte, field, half, kind, single};
use crate::engine::Engine;

/// Program counters are device addresses divided by 64, modulo 2^20.
pub const PC_MASK: u32 = 0xf_ffff;

/// The engine of a record's type, 04 to 17: four types each, in the ISA's order.
pub(super) fn engine_of(kind: u8) -> Option<Engine> {
    Engine::from_number((kind >> 2).checked_sub(1)?)
}

/// The type of an engine's records of a sort, 0 to 3.
pub(super) fn kind_of(engine: Engine, sort: u8) -> u64 {
    kind(((engine.number() + 1) << 2) | sort)
}

/// The part that all instruction records share.
fn place(pc: u32, hint: u8) -> u64 {
    u64::from(pc & PC_MASK) | (u64::from(hint & 0xf) << 20)
}

const fn pc(word: u64) -> u32 {
    single(word, 0) & PC_MASK
}

const fn hint(word: u64) -> u8 {
    byte(word, 20) & 0xf
}

/// An instruction began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Start {
    /// On which engine.
    pub engine: Engine,
    /// Device address divided by 64, 20 bits.
    pub pc: u32,
    /// 4 bits.
    pub hint: u8,
    /// Counts inferences; 0 in all real files.
    pub soft_reset: u16,
    /// How long it waited for semaphores, in cycles.
    pub wait_cycles: u16,
}

impl Start {
    pub(super) const fn decode(engine: Engine, word: u64) -> Self {
        Self {
            engine,
            pc: pc(word),
            hint: hint(word),
            soft_reset: half(word, 32),
            wait_cycles: half(word, 48),
        }
    }

    pub(super) fn encode(self) -> u64 {
        place(self.pc, self.hint)
            | kind_of(self.engine, 0)
            | (u64::from(self.soft_reset) << 32)
            | (u64::from(self.wait_cycles) << 48)
    }

    /// The wait in nanoseconds as the viewer shows it on Trn2: cycles of
    /// 1.2 GHz on every engine, rounded down. (One less in a third of the cases
    /// where 6 divides the cycles: a rounding of the viewer.)
    pub fn wait_ns(self) -> u32 {
        u32::from(self.wait_cycles) * 5 / 6
    }
}

/// An instruction finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct End {
    /// On which engine.
    pub engine: Engine,
    /// Device address divided by 64, 20 bits.
    pub pc: u32,
    /// 4 bits.
    pub hint: u8,
    /// Hash of the data read; FFFF when off.
    pub crc_in: u16,
    /// Hash of the data written; FFFF when off.
    pub crc_out: u16,
}

impl End {
    pub(super) const fn decode(engine: Engine, word: u64) -> Self {
        Self {
            engine,
            pc: pc(word),
            hint: hint(word),
            crc_in: half(word, 32),
            crc_out: half(word, 48),
        }
    }

    pub(super) fn encode(self) -> u64 {
        place(self.pc, self.hint)
            | kind_of(self.engine, 1)
            | (u64::from(self.crc_in) << 32)
            | (u64::from(self.crc_out) << 48)
    }
}

/// A record that an instruction asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explicit {
    /// On which engine.
    pub engine: Engine,
    /// Device address divided by 64, 20 bits; see `infer_pc`.
    pub pc: u32,
    /// 4 bits; not 1, which [`ExplicitBody::DescriptorsDone`] stands for.
    pub hint: u8,
    /// The rest.
    #[serde(flatten)]
    pub body: ExplicitBody,
}

/// What an explicit record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum ExplicitBody {
    /// Any hint but 1.
    Plain {
        /// Counts inferences.
        soft_reset: u16,
        /// More of the hint.
        hint_extended: u16,
    },
    /// Hint 1: descriptors were generated.
    DescriptorsDone {
        /// One bit per DMA engine.
        engines: u16,
        /// The bits stand for engines 16 to 31.
        upper_engines: bool,
        /// Packets for each of them, 1 to 4096.
        packets_per_engine: u16,
        /// Take the pc of the latest start of the engine instead.
        infer_pc: bool,
    },
}

impl Explicit {
    pub(super) fn decode(engine: Engine, word: u64) -> Self {
        let hint = hint(word);
        let body = if hint == 1 {
            let packets = half(field(word, 48, 12), 0);
            ExplicitBody::DescriptorsDone {
                engines: half(word, 32),
                upper_engines: bit(word, 63),
                packets_per_engine: if packets == 0 { 4096 } else { packets },
                infer_pc: bit(word, 62),
            }
        } else {
            ExplicitBody::Plain { soft_reset: half(word, 32), hint_extended: half(word, 48) }
        };
        Self { engine, pc: pc(word), hint, body }
    }

    pub(super) fn encode(self) -> u64 {
        match self.body {
            ExplicitBody::Plain { soft_reset, hint_extended } => {
                place(self.pc, self.hint)
                    | kind_of(self.engine, 2)
                    | (u64::from(soft_reset) << 32)
                    | (u64::from(hint_extended) << 48)
            }
            ExplicitBody::DescriptorsDone {
                engines,
                upper_engines,
                packets_per_engine,
                infer_pc,
            } => {
                place(self.pc, 1)
                    | kind_of(self.engine, 2)
                    | (u64::from(engines) << 32)
                    | (u64::from(packets_per_engine & 0xfff) << 48)
                    | (u64::from(infer_pc) << 62)
                    | (u64::from(upper_engines) << 63)
            }
        }
    }

    /// Packets over all engines, for a record about descriptors.
    pub fn packets(self) -> Option<u32> {
        match self.body {
            ExplicitBody::DescriptorsDone { engines, packets_per_engine, .. } => {
                Some(engines.count_ones() * u32::from(packets_per_engine))
            }
            ExplicitBody::Plain { .. } => None,
        }
    }
}
