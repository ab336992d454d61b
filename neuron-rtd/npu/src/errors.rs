//! The error classes of the device, and the count of those that stop nothing.
//!
//! A numerical error is a result of an instruction that is no usual number
//! (neuroncore.md §4.4 has the classes and no rule; the rules are our choice).
//! Results are looked at in fp32, as they go into the type of the destination:
//!
//! * NaN and infinity: the result is one;
//! * overflow: a finite result becomes infinite in a narrower float, or leaves
//!   the range of an integer;
//! * underflow: a result other than zero is nearer to zero than the smallest
//!   normal number of the destination.
//!
//! What moves bits (copies, shuffles, DMA) produces nothing and counts nothing.

use crate::fault::Fault;
use crate::number::Element;

/// Class of an error, with the number that the device reports
/// (neuroncore.md §4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ErrorClass {
    /// A number too small.
    Underflow = 0,
    /// Not a number.
    Nan = 1,
    /// An infinity.
    Infinity = 2,
    /// A number too large.
    Overflow = 3,
    /// An address that leads nowhere.
    Memory = 4,
    /// A semaphore out of its range.
    Semaphore = 6,
    /// An event set or cleared twice.
    Event = 7,
    /// A write to PSUM that does not go with the others.
    PsumCollision = 8,
    /// A record that the sequencer passes over.
    SequencerNonfatal = 9,
    /// A record that stops the sequencer.
    SequencerFatal = 10,
}

impl ErrorClass {
    /// The number that the device reports.
    pub const fn id(self) -> u8 {
        self as u8
    }
}

impl Fault {
    /// Class of the device for a fault. Which fault is of which class is our
    /// choice; the sheet has the classes alone.
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Address(_) | Self::Reach(_) => ErrorClass::Memory,
            Self::Psum(_) => ErrorClass::PsumCollision,
            Self::Semaphore(_) => ErrorClass::Semaphore,
            Self::NotUnderstood(_)
            | Self::Opcode
            | Self::Engine
            | Self::Operation { .. }
            | Self::Type(_)
            | Self::Shape(_)
            | Self::Collective(_) => ErrorClass::SequencerFatal,
        }
    }
}

/// Numerical errors, counted by class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    /// Results too small.
    pub underflow: u64,
    /// Results that are no number.
    pub nan: u64,
    /// Infinite results.
    pub infinity: u64,
    /// Results too large.
    pub overflow: u64,
}

impl Errors {
    /// Whether there is none.
    pub const fn is_none(&self) -> bool {
        self.underflow | self.nan | self.infinity | self.overflow == 0
    }

    /// How many there are of a class; 0 for classes that are not numerical.
    pub const fn of(&self, class: ErrorClass) -> u64 {
        match class {
            ErrorClass::Underflow => self.underflow,
            ErrorClass::Nan => self.nan,
            ErrorClass::Infinity => self.infinity,
            ErrorClass::Overflow => self.overflow,
            _ => 0,
        }
    }

    /// Adds others.
    pub const fn add(&mut self, other: &Self) {
        self.underflow += other.underflow;
        self.nan += other.nan;
        self.infinity += other.infinity;
        self.overflow += other.overflow;
    }

    /// Looks at results on their way into a type.
    pub(crate) fn look(&mut self, results: &[f32], into: Element) {
        let (low, high, smallest) = range(into);
        // one pass without branches, in short runs so that 32 bits hold the
        // counts
        for run in results.chunks(1 << 16) {
            let mut counts = [0u32; 4];
            for value in run {
                let nan = value.is_nan();
                let infinite = value.abs() == f32::INFINITY;
                let outside = !(*value > low && *value < high);
                let small = value.abs() < smallest && *value != 0.0;
                for (count, found) in
                    counts.iter_mut().zip([small, nan, infinite, outside && !nan && !infinite])
                {
                    *count += u32::from(found);
                }
            }
            let [underflow, nan, infinity, overflow] = counts.map(u64::from);
            self.add(&Self { underflow, nan, infinity, overflow });
        }
    }
}

/// Numbers between which a number keeps a finite value in a type, both left
/// out, and the smallest normal number.
const fn range(into: Element) -> (f32, f32, f32) {
    // of floats, half a unit above the largest finite number becomes infinite
    match into {
        Element::Int8 => (-129.0, 128.0, 0.0),
        Element::Uint8 => (-1.0, 256.0, 0.0),
        Element::Int16 => (-32769.0, 32768.0, 0.0),
        Element::Uint16 => (-1.0, 65536.0, 0.0),
        // the number below is the next one that fp32 has
        Element::Int32 => (-2_147_483_904.0, 2_147_483_648.0, 0.0),
        Element::Uint32 => (-1.0, 4_294_967_296.0, 0.0),
        Element::Fp32 => (f32::NEG_INFINITY, f32::INFINITY, f32::MIN_POSITIVE),
        Element::Bf16 => (-BF16_BOUND, BF16_BOUND, f32::MIN_POSITIVE),
        Element::Fp16 => (-65520.0, 65520.0, 6.103_515_6e-5),
        Element::Fp8E3M4 => (-15.75, 15.75, 0.25),
        Element::Fp8E4M3 => (-248.0, 248.0, 0.015_625),
        Element::Fp8E5M2 => (-61440.0, 61440.0, 6.103_515_6e-5),
    }
}

/// Half a unit above the largest bfloat16.
const BF16_BOUND: f32 = f32::from_bits(0x7f7f_8000);

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds against the conversions themselves.
    #[test]
    fn bounds_are_where_the_conversions_end() {
        for element in Element::ALL {
            let (low, high, smallest) = range(element);
            if element.is_signed().is_none() {
                let back = |value: f32| element.decode(element.encode(value));
                if element != Element::Fp32 {
                    assert!(back(high).is_infinite() && back(low).is_infinite(), "{element:?}");
                    assert!(back(high.next_down()).is_finite(), "{element:?}");
                }
                assert_eq!(back(smallest), smallest, "{element:?}");
                // the smallest normal number has an exponent field of 1
                let one = element.encode(smallest);
                assert_eq!(one.count_ones(), 1, "{element:?}");
            } else {
                let held = |value: f32| f64::from(element.decode(element.encode(value)));
                assert!(held(high.next_down()) > f64::from(high) - 129.0 * 2.0, "{element:?}");
                assert!(held(high) < f64::from(high) || element.bytes() == 4, "{element:?}");
            }
        }
    }

    #[test]
    fn each_result_counts_once() {
        let mut errors = Errors::default();
        let results = [0.0, -0.0, 1.0, f32::NAN, -f32::INFINITY, 1e9, -65520.0, 1e-6, -1e-30];
        errors.look(&results, Element::Fp16);
        let expected = Errors { underflow: 2, nan: 1, infinity: 1, overflow: 2 };
        assert_eq!(errors, expected);
        assert_eq!(errors.of(ErrorClass::Overflow), 2);
        let mut errors = Errors::default();
        errors.look(&[-0.9, -1.0, 255.9, 256.0, f32::NAN], Element::Uint8);
        assert_eq!(errors, Errors { nan: 1, overflow: 2, ..Errors::default() });
        assert_eq!(ErrorClass::SequencerFatal.id(), 10);
    }
}
