//! Pages of a Parquet file: header in thrift's compact protocol, then bytes.

use super::bits::{varint, zigzag};

/// How the values of a page are written, by their numbers in the format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Coding {
    #[default]
    Plain = 0,
    Delta = 5,
    Dictionary = 8,
    Split = 9,
}

/// Levels are always runs.
const LEVELS: i64 = 3;

/// Kinds of pages.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;

/// A field of 32 bits that follows the one before it.
fn number(out: &mut Vec<u8>, value: i64) {
    out.push(0x15);
    varint(out, zigzag(value));
}

fn head(out: &mut Vec<u8>, kind: i64, plain: usize, packed: usize) {
    number(out, kind);
    number(out, i64::try_from(plain).unwrap_or(i64::MAX));
    number(out, i64::try_from(packed).unwrap_or(i64::MAX));
}

/// Header of a page of values; sizes before and after compression.
pub(super) fn data(out: &mut Vec<u8>, plain: usize, packed: usize, values: usize, coding: Coding) {
    head(out, DATA, plain, packed);
    // Field 5, a structure.
    out.push(0x2c);
    number(out, i64::try_from(values).unwrap_or(i64::MAX));
    number(out, coding as i64);
    number(out, LEVELS);
    number(out, LEVELS);
    out.extend_from_slice(&[0, 0]);
}

/// Header of a dictionary.
pub(super) fn dictionary(out: &mut Vec<u8>, plain: usize, packed: usize, values: usize) {
    head(out, DICTIONARY, plain, packed);
    // Field 7, a structure.
    out.push(0x4c);
    number(out, i64::try_from(values).unwrap_or(i64::MAX));
    number(out, Coding::Plain as i64);
    out.extend_from_slice(&[0, 0]);
}
