//! One 512-byte header block: checksum, numbers, texts.

use super::Dialect;
use super::write::BLOCK;
use crate::neff::problem::widen;

/// A header block whose checksum fits.
#[derive(Debug, Clone)]
pub(super) struct Block {
    bytes: [u8; BLOCK],
}

/// A part of the block; the offsets below are within 512.
type Field = std::ops::Range<usize>;

pub(super) const NAME: Field = 0..100;
pub(super) const MODE: Field = 100..108;
pub(super) const UID: Field = 108..116;
pub(super) const GID: Field = 116..124;
pub(super) const SIZE: Field = 124..136;
pub(super) const MTIME: Field = 136..148;
pub(super) const CHECKSUM: Field = 148..156;
const TYPE: usize = 156;
const MAGIC: Field = 257..265;
pub(super) const USER: Field = 265..297;
pub(super) const GROUP: Field = 297..329;
const PREFIX: Field = 345..500;

/// Whether these bytes start with a tar header: by magic, or for v7 by checksum.
pub(crate) fn looks_like_tar(payload: &[u8]) -> bool {
    let Some(bytes) = payload.first_chunk::<BLOCK>() else {
        return false;
    };
    bytes.get(257..262) == Some(b"ustar") || !is_zero(bytes) && Block::parse(*bytes).is_ok()
}

/// Whether a block is all zero.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| *b == 0)
}

impl Block {
    /// Takes a block; the error holds the stored and the computed checksum.
    pub(super) fn parse(bytes: [u8; BLOCK]) -> Result<Self, (u64, u64)> {
        let block = Self { bytes };
        // Some old writers summed signed characters.
        let (mut unsigned, mut signed) = (0_u64, 0_i64);
        for (index, byte) in block.bytes.iter().enumerate() {
            let byte = if CHECKSUM.contains(&index) { b' ' } else { *byte };
            unsigned += u64::from(byte);
            signed += i64::from(byte.cast_signed());
        }
        let stored = block.number(CHECKSUM).unwrap_or(u64::MAX);
        if stored == unsigned || i64::try_from(stored) == Ok(signed) {
            Ok(block)
        } else {
            Err((stored, unsigned))
        }
    }

    pub(super) fn field(&self, field: Field) -> &[u8] {
        self.bytes.get(field).unwrap_or_default()
    }

    /// A text field up to its first NUL.
    pub(super) fn text(&self, field: Field) -> &[u8] {
        self.field(field).split(|b| *b == 0).next().unwrap_or_default()
    }

    /// A number: octal digits between blanks, or base 256 if the top bit is
    /// set. `None` if it is neither, negative, or beyond 64 bits.
    pub(super) fn number(&self, field: Field) -> Option<u64> {
        let bytes = self.field(field);
        let (first, rest) = bytes.split_first()?;
        if first & 0x80 != 0 {
            if *first & 0x40 != 0 {
                return None;
            }
            return rest.iter().try_fold(u64::from(first & 0x3f), |value, byte| {
                value.checked_mul(256)?.checked_add(u64::from(*byte))
            });
        }
        let digits = bytes.split(|b| *b == 0).next()?.trim_ascii();
        digits.iter().try_fold(0_u64, |value, digit| match digit {
            b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
            _ => None,
        })
    }

    pub(super) fn type_flag(&self) -> u8 {
        self.bytes.get(TYPE).copied().unwrap_or_default()
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self.field(MAGIC) {
            b"ustar  \0" => Dialect::Gnu,
            magic if magic.starts_with(b"ustar") => Dialect::Ustar,
            _ => Dialect::V7,
        }
    }

    /// The name, with the prefix that ustar headers may split off. GNU headers
    /// use those bytes for other things.
    pub(super) fn name(&self) -> Vec<u8> {
        let mut name = Vec::new();
        if self.dialect() == Dialect::Ustar {
            let prefix = self.text(PREFIX);
            if !prefix.is_empty() {
                name.extend_from_slice(prefix);
                name.push(b'/');
            }
        }
        name.extend_from_slice(self.text(NAME));
        name
    }
}

/// Bytes that fill the last block of a body.
pub(super) fn padding(size: u64) -> u64 {
    let block = widen(BLOCK);
    (block - size % block) % block
}
