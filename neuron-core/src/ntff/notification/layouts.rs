//! Which bits of a record its layout explains, by a key of a few of its bits.
//!
//! Counting needs only the key, and looking it up costs no branch, which is
//! what makes it several times faster than decoding each record. Layouts and
//! masks are not written down again: they come from decoding and encoding one
//! record of each key with all other bits set.

use std::sync::OnceLock;

use super::{Decoder, Notification};
use crate::ntff::Record;
use crate::ntff::clock::Ticks;

/// Number of keys.
pub const KEYS: usize = 64;

/// Types of explicit records: every fourth from 06 to 16.
const EXPLICIT: u32 = 0x0044_4440;
/// The type of error records.
const ERROR: u32 = 0x0000_0008;
/// Loss marks and phase belong to the frame, not to a layout.
const MARKS: u64 = 7 << 29;

/// The layouts of a trace.
#[derive(Debug, Clone)]
pub struct Layouts {
    dma: bool,
    reserved: [u64; KEYS],
    samples: [Notification; KEYS],
}

impl Layouts {
    /// Of the records that a decoder reads; made once.
    pub fn of(decoder: Decoder) -> &'static Self {
        static ALL: [OnceLock<Layouts>; 4] = [const { OnceLock::new() }; 4];
        let [trace, blind, dma, blind_dma] = &ALL;
        let cell = match (decoder.dma, decoder.throttle) {
            (false, true) => trace,
            (false, false) => blind,
            (true, true) => dma,
            (true, false) => blind_dma,
        };
        cell.get_or_init(|| Self::new(decoder))
    }

    fn new(decoder: Decoder) -> Self {
        let mut layouts = Self {
            dma: decoder.dma,
            reserved: [0; KEYS],
            samples: [Notification::Unknown { word: 0 }; KEYS],
        };
        for (key, (reserved, sample)) in
            (0_u64..).zip(layouts.reserved.iter_mut().zip(&mut layouts.samples))
        {
            let word = Self::word(decoder.dma, key);
            let record = Record { word, time: Ticks(0) };
            *sample = decoder.decode(record);
            *reserved = word & !sample.encode(Ticks(0)).word & !MARKS;
        }
        layouts
    }

    /// A word of a key with all other bits set.
    fn word(dma: bool, key: u64) -> u64 {
        if dma {
            return !(0xf << 32) | ((key & 0xf) << 32);
        }
        let word = !(0x1f << 24) | ((key & 0x1f) << 24);
        let flag = key >> 5 != 0;
        match 1_u32 << (key & 0x1f) {
            // Hint 1 and any other; bit 3 set and not.
            kind if kind & EXPLICIT != 0 && flag => word & !(0xf << 20) | (1 << 20),
            kind if kind & ERROR != 0 && !flag => word & !(1 << 3),
            _ => word,
        }
    }

    /// The key of a record, below [`KEYS`].
    #[inline]
    pub fn key(&self, word: u64) -> usize {
        let [b0, _, b2, b3, b4, ..] = word.to_le_bytes();
        if self.dma {
            return usize::from(b4 & 0xf);
        }
        let kind = b3 & 0x1f;
        let described = (EXPLICIT >> kind) & 1 != 0 && b2 >> 4 == 1;
        let warning = (ERROR >> kind) & 1 != 0 && b0 & 8 != 0;
        usize::from(kind) | (usize::from(described | warning) << 5)
    }

    /// Bits of a record of this key that its layout does not explain.
    #[inline]
    pub fn reserved(&self, key: usize) -> u64 {
        self.reserved.get(key % KEYS).copied().unwrap_or(0)
    }

    /// A record of this key; its values mean nothing.
    pub fn sample(&self, key: usize) -> Notification {
        self.samples.get(key % KEYS).copied().unwrap_or(Notification::Unknown { word: 0 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ntff::messages::NotificationTraceType as TraceType;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// The table says the same as decoding the record itself.
        #[test]
        fn table_and_decoder_agree(word: u64, dma: bool, arch in 1..3_u64) {
            let trace = if dma { TraceType::Dma } else { TraceType::Instruction };
            let decoder = Decoder::new(trace, arch);
            let layouts = Layouts::of(decoder);
            let record = Record { word, time: Ticks(0) };
            let decoded = decoder.decode(record);
            let key = layouts.key(word);
            prop_assert!(key < KEYS);
            prop_assert_eq!(decoded.explains(record), word & layouts.reserved(key) == 0);
            let same = std::mem::discriminant(&decoded) == std::mem::discriminant(&layouts.sample(key));
            prop_assert!(same, "{:?} {:?}", decoded, layouts.sample(key));
        }
    }
}
