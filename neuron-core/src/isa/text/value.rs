//! How single values are written and read.

use std::fmt::Write as _;

use super::Style;
use crate::isa::activation::Activation;
use crate::isa::address::Addr4;
use crate::isa::body::pe::{AccumulateFlags, ArrayGroup};
use crate::isa::code::{
    AccumulatorCmd, AffineCompare, AluOp, BranchCompare, BranchTarget, CollectiveKind, DgeKind,
    DmaCompute, Dtype, Fp32Mode, ImmSource, IndexMiss, LaneAxis, LaneOp, NotifyKind, OperandSource,
    OrderingMode, PseudoKind, RangeMode, ReduceDims, Reverse, TransposeMode,
};
use crate::isa::value::{LaneMap, Name};

/// A value with a text. Reading what was written gives the same value, but
/// for floats in the style of the viewer, which are rounded.
pub(crate) trait Value: Sized + PartialEq {
    fn show(&self, style: Style, out: &mut String);
    fn parse(text: &str) -> Option<Self>;
}

/// Reads a decimal or `0x` number, with a sign where the type has one.
pub(crate) fn integer<T: TryFrom<i128>>(text: &str) -> Option<T> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let number = match digits.strip_prefix("0x") {
        Some(hex) if hex.starts_with(|first: char| first.is_ascii_hexdigit()) => {
            u64::from_str_radix(hex, 16).ok()?
        }
        Some(_) => return None,
        None => digits.parse::<u64>().ok()?,
    };
    let number = i128::from(number);
    T::try_from(if negative { -number } else { number }).ok()
}

/// Splits at commas; an empty text has no part.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(move |_| !text.is_empty())
}

macro_rules! shown_by_display {
    ($($type:ty => $parse:expr;)*) => { $(
        impl Value for $type {
            fn show(&self, _: Style, out: &mut String) {
                // writing to a String cannot fail
                let _ = write!(out, "{self}");
            }
            fn parse(text: &str) -> Option<Self> {
                let parse: fn(&str) -> Option<Self> = $parse;
                parse(text)
            }
        }
    )* };
}

shown_by_display! {
    u8 => integer;
    u16 => integer;
    u32 => integer;
    u64 => integer;
    i32 => integer;
    Addr4 => |text| integer(text).map(Self);
    ArrayGroup => group;
    Activation => |text| {
        let number = text.strip_prefix("FUNC_").and_then(integer).map(Self);
        Self::from_name(text).or(number)
    };
}

macro_rules! codes {
    ($($type:ty),*) => { shown_by_display! { $(
        $type => |text| Self::from_name(text).or_else(|| integer(text).map(Self));
    )* } };
}
codes!(
    AccumulatorCmd,
    AffineCompare,
    AluOp,
    BranchCompare,
    BranchTarget,
    CollectiveKind,
    DgeKind,
    DmaCompute,
    Dtype,
    Fp32Mode,
    ImmSource,
    IndexMiss,
    LaneAxis,
    LaneOp,
    NotifyKind,
    OperandSource,
    OrderingMode,
    PseudoKind,
    RangeMode,
    ReduceDims,
    Reverse,
    TransposeMode
);

/// `0,1,2`, 32 numbers.
impl Value for LaneMap {
    fn show(&self, _: Style, out: &mut String) {
        for (index, lane) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "," };
            let _ = write!(out, "{gap}{lane}");
        }
    }
    fn parse(text: &str) -> Option<Self> {
        let lanes: Option<Vec<u8>> = parts(text).map(integer).collect();
        lanes?.try_into().ok().map(Self)
    }
}

fn group(text: &str) -> Option<ArrayGroup> {
    if let Some(number) = integer(text) {
        return Some(ArrayGroup(number));
    }
    let mut bits = 0;
    for part in parts(text) {
        let quarter: u8 = part.strip_prefix('q').and_then(integer).filter(|n| *n < 4)?;
        bits |= 1 << quarter;
    }
    (bits != 0).then_some(ArrayGroup(bits))
}

impl Value for AccumulateFlags {
    fn show(&self, style: Style, out: &mut String) {
        self.0.show(style, out);
    }
    fn parse(text: &str) -> Option<Self> {
        integer(text).map(Self)
    }
}

/// A number written in lower-case hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hex<T>(pub(crate) T);

impl<T: std::fmt::LowerHex + PartialEq + TryFrom<i128>> Value for Hex<T> {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "{:#x}", self.0);
    }
    fn parse(text: &str) -> Option<Self> {
        integer(text).map(Self)
    }
}

/// Two values with a comma between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Both<T>(pub(crate) T, pub(crate) T);

impl<T: Value> Value for Both<T> {
    fn show(&self, style: Style, out: &mut String) {
        self.0.show(style, out);
        out.push(',');
        self.1.show(style, out);
    }
    fn parse(text: &str) -> Option<Self> {
        let (first, second) = text.split_once(',')?;
        Some(Self(T::parse(first)?, T::parse(second)?))
    }
}

/// One value, or two with a comma between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OneOrTwo<T>(pub(crate) T, pub(crate) Option<T>);

impl<T: Value> Value for OneOrTwo<T> {
    fn show(&self, style: Style, out: &mut String) {
        self.0.show(style, out);
        if let Some(second) = &self.1 {
            out.push(',');
            second.show(style, out);
        }
    }
    fn parse(text: &str) -> Option<Self> {
        match text.split_once(',') {
            Some((first, second)) => Some(Self(T::parse(first)?, Some(T::parse(second)?))),
            None => Some(Self(T::parse(text)?, None)),
        }
    }
}

/// Any number of values with commas between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T: Value> Value for List<T> {
    fn show(&self, style: Style, out: &mut String) {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            item.show(style, out);
        }
    }
    fn parse(text: &str) -> Option<Self> {
        parts(text).map(T::parse).collect::<Option<_>>().map(Self)
    }
}

impl<const N: usize> Value for Name<N> {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn parse(text: &str) -> Option<Self> {
        let Some(quoted) = text.strip_prefix('"') else {
            return Self::new(text);
        };
        let mut rest = quoted.strip_suffix('"')?.as_bytes();
        let mut bytes = Vec::with_capacity(N);
        while let Some((first, tail)) = rest.split_first() {
            rest = tail;
            if *first == b'\\' {
                let (digits, tail) = tail.strip_prefix(b"x")?.split_at_checked(2)?;
                bytes.extend(crate::isa::field::unhex(std::str::from_utf8(digits).ok()?)?);
                rest = tail;
            } else {
                bytes.push(*first);
            }
            if bytes.len() > N {
                return None;
            }
        }
        let mut name = [0; N];
        name.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(Self(name))
    }
}

/// Bytes in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HexBytes(pub(crate) Vec<u8>);

impl Value for HexBytes {
    fn show(&self, _: Style, out: &mut String) {
        out.push_str(&crate::text::hex(&self.0));
    }
    fn parse(text: &str) -> Option<Self> {
        crate::isa::field::unhex(text).map(Self)
    }
}
