//! How immediates are written and read.

use std::fmt::Write as _;

use super::Style;
use super::value::{Hex, Value, integer};
use super::walk::Typed;
use crate::isa::address::Addr4;
use crate::isa::code::{Dtype, ImmSource};
use crate::isa::value::Fp32;

/// The viewer writes six decimals. In a line the number must come back, so
/// six decimals are kept where they suffice, else the shortest decimals that
/// do; a NaN is written as its bits.
impl Value for Fp32 {
    fn show(&self, style: Style, out: &mut String) {
        let number = self.get();
        let six = format!("{number:.6}");
        let exact = |text: &str| text.parse::<f32>().is_ok_and(|back| back.to_bits() == self.0);
        let _ = if style == Style::Viewer || exact(&six) {
            write!(out, "{six}")
        } else if number.is_nan() {
            write!(out, "{:#010x}", self.0)
        } else {
            write!(out, "{number:?}")
        };
    }
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("0x") {
            Some(_) => integer(text).map(Self),
            None => text.parse::<f32>().ok().map(Self::new),
        }
    }
}

/// An immediate operand: hexadecimal when it is an address or raw bits, else
/// a number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Immediate {
    pub(crate) bits: u32,
    pub(crate) as_hex: bool,
}

/// How it is written does not count.
impl PartialEq for Immediate {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl Value for Immediate {
    fn show(&self, _: Style, out: &mut String) {
        let number = Fp32(self.bits);
        if self.as_hex {
            Hex(self.bits).show(Style::Line, out);
        } else if self.bits == 0 {
            out.push('0');
        } else {
            number.show(Style::Line, out);
        }
    }
    fn parse(text: &str) -> Option<Self> {
        Fp32::parse(text).map(|number| Self { bits: number.0, as_hex: false })
    }
}

/// An operand whose source number has no meaning here: `0x05:0x3f800000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RawImmediate {
    pub(crate) source: u8,
    pub(crate) bits: u32,
}

impl Value for RawImmediate {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "{:#x}:{:#x}", self.source, self.bits);
    }
    fn parse(text: &str) -> Option<Self> {
        let (source, bits) = text.split_once(':')?;
        Some(Self { source: integer(source)?, bits: integer(bits)? })
    }
}

/// `fp32@0.500000`, or the address of a column, `[fp32@0xc000]`; any other
/// source with its number, `fp32@0x5:0xc000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TypedImmediate {
    pub(crate) dtype: Dtype,
    pub(crate) source: ImmSource,
    pub(crate) bits: u32,
}

impl Value for TypedImmediate {
    fn show(&self, style: Style, out: &mut String) {
        match self.source {
            ImmSource::INSTRUCTION => {
                Typed { dtype: self.dtype, value: Fp32(self.bits) }.show(style, out);
            }
            ImmSource::PTR => {
                out.push('[');
                Typed { dtype: self.dtype, value: Addr4(self.bits) }.show(style, out);
                out.push(']');
            }
            ImmSource(source) => {
                let value = RawImmediate { source, bits: self.bits };
                Typed { dtype: self.dtype, value }.show(style, out);
            }
        }
    }
    fn parse(text: &str) -> Option<Self> {
        if let Some(pointer) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let Typed { dtype, value } = Typed::<Addr4>::parse(pointer)?;
            return Some(Self { dtype, source: ImmSource::PTR, bits: value.0 });
        }
        if let Some(Typed { dtype, value }) = Typed::<RawImmediate>::parse(text) {
            return Some(Self { dtype, source: ImmSource(value.source), bits: value.bits });
        }
        let Typed { dtype, value } = Typed::<Fp32>::parse(text)?;
        Some(Self { dtype, source: ImmSource::INSTRUCTION, bits: value.0 })
    }
}
