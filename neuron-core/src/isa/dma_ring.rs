//! What DMA work becomes below the instruction stream: descriptors in the
//! rings of a DMA engine, and the addresses that WRITE records reach.
//!
//! Descriptor bits and ring registers are those of the public driver
//! (neuroncore.md §3.8, §3.9). The addresses of WRITE records are inferred
//! from the driver's address map and the records of real images
//! (isa-layouts.md §4.2).

use serde::Serialize;

/// Bytes of a descriptor.
pub const DESCRIPTOR_BYTES: usize = 16;
/// Most bytes that one descriptor moves.
pub const MAX_DESCRIPTOR_TRANSFER: u32 = 0x1_0000;
/// Rings of one DMA engine.
pub const RINGS_PER_ENGINE: u8 = 16;

/// A DMA descriptor, 16 bytes. A copy is one on the ring that reads memory
/// (TX, M2S) and one on the ring that writes it (RX, S2M).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    /// Word 0: length and flags.
    pub control: Control,
    /// Word 1: what the engine does with the bytes; TX only.
    pub meta: Meta,
    /// Source (TX) or destination (RX).
    pub address: u64,
}

/// Word 0 of a [`Descriptor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Control(pub u32);

/// Word 1 of a [`Descriptor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Meta(pub u32);

impl Control {
    /// First of a packet.
    pub const FIRST: u32 = 1 << 26;
    /// Last of a packet.
    pub const LAST: u32 = 1 << 27;
    /// Interrupt when done.
    pub const INTERRUPT: u32 = 1 << 28;
    /// Caches are not asked (public notes).
    pub const NO_SNOOP: u32 = 1 << 29;
    /// Later descriptors wait for this one.
    pub const BARRIER: u32 = 1 << 30;
    /// Continues the previous packet (public notes).
    pub const CONCAT: u32 = 1 << 31;

    /// A length of 1 to 65536 bytes with the ring's turn counter (0 to 3) and
    /// flags; `None` for another length or counter.
    pub fn new(length: u32, ring_id: u8, flags: u32) -> Option<Self> {
        let known = Self::FIRST
            | Self::LAST
            | Self::INTERRUPT
            | Self::NO_SNOOP
            | Self::BARRIER
            | Self::CONCAT;
        let fits = (1..=MAX_DESCRIPTOR_TRANSFER).contains(&length);
        (fits && ring_id < 4 && flags & !known == 0)
            .then_some(Self(length & 0xffff | u32::from(ring_id) << 24 | flags))
    }

    /// Bytes to move; a stored 0 means 65536.
    pub const fn length(self) -> u32 {
        match self.0 & 0xffff {
            0 => MAX_DESCRIPTOR_TRANSFER,
            length => length,
        }
    }

    /// The ring's turn counter: starts at 1 and grows by 1 at each wrap,
    /// modulo 4.
    pub const fn ring_id(self) -> u32 {
        self.0 >> 24 & 3
    }

    /// Whether all given flags are set.
    pub const fn has(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
}

impl Meta {
    /// A plain copy: first and last block, copy of the source, copy engine
    /// (inferred from the driver's defaults).
    pub const COPY: Self = Self(0x0108_0003);
    /// [`Meta::COPY`], and writes are done before the completion.
    pub const COPY_WITH_BARRIER: Self = Self(0x0508_0003);

    /// Which part of the engine works: 1 strides and transposes, 2 copies, 4
    /// computes (public notes).
    pub const fn engine(self) -> u32 {
        self.0 >> 23 & 7
    }

    /// What a computing engine does: 0 add, 1 multiply-add, 2 max, 3 min
    /// (public notes).
    pub const fn operation(self) -> u32 {
        self.0 >> 20 & 7
    }

    /// Whether the completion waits for the writes.
    pub const fn write_barrier(self) -> bool {
        self.0 >> 26 & 1 == 1
    }
}

impl Descriptor {
    /// From its bytes.
    pub fn decode(bytes: &[u8; DESCRIPTOR_BYTES]) -> Self {
        let [c0, c1, c2, c3, m0, m1, m2, m3, address @ ..] = *bytes;
        Self {
            control: Control(u32::from_le_bytes([c0, c1, c2, c3])),
            meta: Meta(u32::from_le_bytes([m0, m1, m2, m3])),
            address: u64::from_le_bytes(address),
        }
    }

    /// Its bytes.
    pub fn encode(&self) -> [u8; DESCRIPTOR_BYTES] {
        let [c0, c1, c2, c3] = self.control.0.to_le_bytes();
        let [m0, m1, m2, m3] = self.meta.0.to_le_bytes();
        let [a0, a1, a2, a3, a4, a5, a6, a7] = self.address.to_le_bytes();
        [c0, c1, c2, c3, m0, m1, m2, m3, a0, a1, a2, a3, a4, a5, a6, a7]
    }
}

/// Offset of a ring's registers in a DMA engine.
pub const fn ring_registers(ring: u8) -> u64 {
    0x1000 * (1 + ring as u64)
}

/// Offset of the doorbell in a ring's registers: writing N adds N
/// descriptors.
pub const DOORBELL: u64 = 0x38;

/// Offsets of the semaphore windows of a core from the start of its events,
/// 4 bytes per semaphore (neuroncore.md §4.1).
pub mod window {
    /// Events, read and written.
    pub const EVENT: u64 = 0x0000;
    /// Reads a semaphore.
    pub const READ: u64 = 0x1000;
    /// Sets a semaphore.
    pub const SET: u64 = 0x1400;
    /// Adds the word to a semaphore.
    pub const INCREMENT: u64 = 0x1800;
    /// Takes the word from a semaphore.
    pub const DECREMENT: u64 = 0x1c00;
}

/// What a WRITE record reaches on v3 (inferred).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteTarget {
    /// Adds the word to a semaphore of a core.
    IncrementSemaphore {
        /// Where the core's state buffer starts.
        core: u64,
        /// The semaphore.
        index: u8,
    },
    /// Adds descriptors to a ring.
    Doorbell {
        /// Where the ring's DMA engine starts.
        engine: u64,
        /// The ring.
        ring: u8,
    },
}

/// From the start of a core's state buffer to its semaphore increment window,
/// as WRITE records of real images show it.
const CORE_TO_INCREMENT: u64 = 0x8_0270_1800;
/// State buffers of the cores in the captures start at multiples of this.
const CORE_ALIGNMENT: u64 = 0x10_0000_0000;

impl WriteTarget {
    /// The target of an address; `None` when it is neither.
    pub fn of(address: u64) -> Option<Self> {
        if let Some(offset) = address.checked_sub(CORE_TO_INCREMENT) {
            let index = u8::try_from(offset % CORE_ALIGNMENT / 4);
            if let (Ok(index), 0) = (index, offset % 4) {
                let core = offset - offset % CORE_ALIGNMENT;
                return Some(Self::IncrementSemaphore { core, index });
            }
        }
        let ring = u8::try_from((address >> 12 & 0x1f).checked_sub(1)?).ok()?;
        (address & 0xfff == DOORBELL && ring < RINGS_PER_ENGINE)
            .then_some(Self::Doorbell { engine: address - ring_registers(ring) - DOORBELL, ring })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of neuroncore.md §3.8.
    #[test]
    fn copy_words_of_the_driver() {
        assert_eq!((Meta::COPY.engine(), Meta::COPY.write_barrier()), (2, false));
        assert_eq!(Meta(Meta::COPY.0 | 1 << 26), Meta::COPY_WITH_BARRIER);
        let control = Control::new(0x1_0000, 1, Control::FIRST | Control::LAST).unwrap();
        assert_eq!(control.0, 0x0d00_0000);
        assert_eq!((control.length(), control.ring_id()), (0x1_0000, 1));
        assert!(control.has(Control::FIRST) && !control.has(Control::BARRIER));
        assert!(Control::new(0, 1, 0).is_none() && Control::new(1, 4, 0).is_none());
        let descriptor = Descriptor { control, meta: Meta::COPY, address: 0x8020_0000_0040 };
        assert_eq!(Descriptor::decode(&descriptor.encode()), descriptor);
    }

    /// WRITE records of attn-fused-fp32-512.json.
    #[test]
    fn targets_of_captured_writes() {
        assert_eq!(
            WriteTarget::of(0x8028_0270_1804),
            Some(WriteTarget::IncrementSemaphore { core: 0x8020_0000_0000, index: 1 })
        );
        assert_eq!(
            WriteTarget::of(0x8038_0270_1804),
            Some(WriteTarget::IncrementSemaphore { core: 0x8030_0000_0000, index: 1 })
        );
        assert_eq!(
            WriteTarget::of(0x8010_0252_f038),
            Some(WriteTarget::Doorbell { engine: 0x8010_0252_0000, ring: 14 })
        );
        assert_eq!(WriteTarget::of(0x8028_0270_1002), None);
    }
}
