//! How registers are written and read.

use std::fmt::Write as _;

use super::Style;
use super::value::{Hex, Value, integer};
use crate::isa::body::control::RegisterPair;

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
