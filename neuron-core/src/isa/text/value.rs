//! How single values are written and read.

use std::fmt::Write as _;

use super::Style;
use crate::isa::activation::Activation;
use crate::isa::address::{Addr4, Pattern};
use crate::isa::body::control::RegisterPair;
use crate::isa::body::pe::{AccumulateFlags, ArrayGroup};
use crate::isa::code::{
    AccumulatorCmd, AffineCompare, AluOp, BranchCompare, BranchTarget, CollectiveKind, DgeKind,
    DmaCompute, Dtype, Fp32Mode, ImmSource, NotifyKind, OperandSource, OrderingMode, PseudoKind,
    RangeMode, ReduceDims, Reverse, TransposeMode,
};
use crate::isa::value::{Fp32, Name};

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
    NotifyKind,
    OperandSource,
    OrderingMode,
    PseudoKind,
    RangeMode,
    ReduceDims,
    Reverse,
    TransposeMode
);

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

/// A register pair, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegisterOrNumber {
    Register(RegisterPair),
    Number(u64),
}

impl Default for RegisterOrNumber {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl Value for RegisterOrNumber {
    fn show(&self, style: Style, out: &mut String) {
        match self {
            Self::Register(pair) => pair.show(style, out),
            Self::Number(number) => number.show(style, out),
        }
    }
    fn parse(text: &str) -> Option<Self> {
        match text.starts_with('$') {
            true => RegisterPair::parse(text).map(Self::Register),
            false => integer(text).map(Self::Number),
        }
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

/// `$R[61]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Register(pub(crate) u8);

impl Value for Register {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "$R[{}]", self.0);
    }
    fn parse(text: &str) -> Option<Self> {
        text.strip_prefix("$R[")?.strip_suffix(']').and_then(integer).map(Self)
    }
}

/// `$R[60]`, or `$R[60]:$R[61]` with a high part.
impl Value for RegisterPair {
    fn show(&self, style: Style, out: &mut String) {
        Register(self.low).show(style, out);
        if self.high != 0 {
            out.push(':');
            Register(self.high).show(style, out);
        }
    }
    fn parse(text: &str) -> Option<Self> {
        let (low, high) = match text.split_once(':') {
            Some((low, high)) => (low, Register::parse(high)?.0),
            None => (text, 0),
        };
        Some(Self { low: Register::parse(low)?.0, high })
    }
}

/// `$R[61]=0x3f800000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Assignment {
    pub(crate) register: u8,
    pub(crate) value: u32,
}

impl Value for Assignment {
    fn show(&self, style: Style, out: &mut String) {
        Register(self.register).show(style, out);
        out.push('=');
        Hex(self.value).show(style, out);
    }
    fn parse(text: &str) -> Option<Self> {
        let (register, value) = text.split_once('=')?;
        Some(Self { register: Register::parse(register)?.0, value: integer(value)? })
    }
}

/// `128*512`: partitions and columns of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ArraySize {
    pub(crate) rows: u8,
    pub(crate) columns: u8,
}

impl Value for ArraySize {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "{}*{}", self.rows, self.columns);
    }
    fn parse(text: &str) -> Option<Self> {
        let (rows, columns) = text.split_once('*')?;
        Some(Self { rows: integer(rows)?, columns: integer(columns)? })
    }
}

/// `[s0,s1][n0,n1]`: steps and counts of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walk<S, C, const N: usize> {
    pub(crate) steps: [S; N],
    pub(crate) counts: [C; N],
}

impl<S: Default + Copy, C: Default + Copy, const N: usize> Default for Walk<S, C, N> {
    fn default() -> Self {
        Self { steps: [S::default(); N], counts: [C::default(); N] }
    }
}

impl<S, C, const N: usize> Value for Walk<S, C, N>
where
    S: std::fmt::Display + PartialEq + Copy + TryFrom<i128>,
    C: std::fmt::Display + PartialEq + Copy + TryFrom<i128>,
{
    fn show(&self, _: Style, out: &mut String) {
        use crate::isa::address::Joined;
        let _ = write!(out, "[{}][{}]", Joined(&self.steps), Joined(&self.counts));
    }
    fn parse(text: &str) -> Option<Self> {
        fn numbers<T: TryFrom<i128>, const N: usize>(text: &str) -> Option<[T; N]> {
            let list = parts(text).map(integer).collect::<Option<Vec<T>>>()?;
            list.try_into().ok()
        }
        let (steps, counts) = text.strip_prefix('[')?.strip_suffix(']')?.split_once("][")?;
        Some(Self { steps: numbers(steps)?, counts: numbers(counts)? })
    }
}

impl<const N: usize> Value for Pattern<N> {
    fn show(&self, _: Style, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn parse(text: &str) -> Option<Self> {
        let walk_at = text.find('[')?;
        let (start, walk) = text.split_at_checked(walk_at)?;
        let walk = Walk::<i16, u16, N>::parse(walk)?;
        Some(Self { start: Addr4(integer(start)?), steps: walk.steps, counts: walk.counts })
    }
}

/// `fp32@` before something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Typed<T> {
    pub(crate) dtype: Dtype,
    pub(crate) value: T,
}

impl<T: Value> Value for Typed<T> {
    fn show(&self, style: Style, out: &mut String) {
        self.dtype.show(style, out);
        out.push('@');
        self.value.show(style, out);
    }
    fn parse(text: &str) -> Option<Self> {
        let (dtype, value) = text.split_once('@')?;
        Some(Self { dtype: Dtype::parse(dtype)?, value: T::parse(value)? })
    }
}

/// An address of the device with a walk in elements: `0x8005c0[1,0][2,1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MemoryWalk {
    pub(crate) address: u64,
    pub(crate) walk: Walk<i32, u8, 2>,
}

impl Value for MemoryWalk {
    fn show(&self, style: Style, out: &mut String) {
        Hex(self.address).show(style, out);
        self.walk.show(style, out);
    }
    fn parse(text: &str) -> Option<Self> {
        let (address, walk) = text.split_at_checked(text.find('[')?)?;
        Some(Self { address: integer(address)?, walk: Value::parse(walk)? })
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
        out.push_str(&crate::isa::field::hex(&self.0));
    }
    fn parse(text: &str) -> Option<Self> {
        crate::isa::field::unhex(text).map(Self)
    }
}
