//! How tensors and walks over memory are written and read.

use std::fmt::Write as _;

use super::Style;
use super::value::{Hex, Value, integer, parts};
use crate::isa::address::{Addr4, Joined, Pattern};
use crate::isa::code::Dtype;

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
