//! Writes ustar entries that depend on name and size only (sheet section 4,
//! writer): owner 0, no owner names, time 0, mode 0644.

use super::pax;
use crate::neff::problem::{Place, Problem, Rule, widen};
use std::io::{self, Write};

/// Bytes of a tar block.
pub const BLOCK: usize = 512;
/// The archive is padded to a multiple of this.
pub const BLOCKING: u64 = 10_240;

const ZEROES: [u8; BLOCK] = [0; BLOCK];

/// Writes the header of a plain file, with a pax record where the name does
/// not fit the ustar fields; returns the bytes written.
pub fn append_header(out: &mut dyn Write, name: &str, size: u64) -> io::Result<u64> {
    let mut written = 0;
    let (prefix, last) = match split(name) {
        Some(parts) => parts,
        None => {
            let record = pax::encode("path", name.as_bytes());
            out.write_all(&block("", "pax", widen(record.len()), b'x'))?;
            out.write_all(&record)?;
            written += widen(BLOCK + record.len());
            written += append_padding(out, widen(record.len()))?;
            ("", cut(name))
        }
    };
    out.write_all(&block(prefix, last, size, b'0'))?;
    Ok(written + widen(BLOCK))
}

/// Fills the last block of a body of `size` bytes; returns the bytes written.
pub(crate) fn append_padding(out: &mut dyn Write, size: u64) -> io::Result<u64> {
    let padding = super::block::padding(size);
    let length = usize::try_from(padding).unwrap_or(0);
    out.write_all(ZEROES.get(..length).unwrap_or_default())?;
    Ok(padding)
}

/// Ends an archive of `written` bytes: two zero blocks, then zero up to a
/// multiple of [`BLOCKING`].
pub fn append_end(out: &mut dyn Write, written: u64) -> io::Result<()> {
    let blocks = 2 + (BLOCKING - (written + widen(2 * BLOCK)) % BLOCKING) % BLOCKING / widen(BLOCK);
    for _ in 0..blocks {
        out.write_all(&ZEROES)?;
    }
    Ok(())
}

/// Whether a name can be written and read back as it is.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let place = || Place::key(name, "");
    if name.is_empty() || name.contains('\0') || name.ends_with('/') || name.starts_with("./") {
        return Err(Problem::new(Rule::NameEmpty, place(), format!("the name is {name:?}")));
    }
    if !crate::neff::path::is_safe(name) {
        return Err(Problem::new(Rule::NameUnsafe, place(), format!("the name is {name:?}")));
    }
    Ok(())
}

/// Splits a name into ustar prefix (155 bytes) and name (100 bytes).
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= 100 {
        return Some(("", name));
    }
    name.match_indices('/')
        .map(|(at, _)| (name.get(..at).unwrap_or_default(), name.get(at + 1..).unwrap_or_default()))
        .find(|(prefix, last)| (1..=155).contains(&prefix.len()) && (1..=100).contains(&last.len()))
}

/// The first characters of a name, for the header that a pax record overrides.
fn cut(name: &str) -> &str {
    let mut end = name.len().min(99);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

fn block(prefix: &str, name: &str, size: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = ZEROES;
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in block.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    };
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    // Eleven digits hold 8 GiB, above the member limit.
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u64 = block.iter().map(|b| u64::from(*b)).sum();
    for (to, from) in block.iter_mut().skip(148).zip(format!("{sum:06o}\0 ").bytes()) {
        *to = from;
    }
    block
}
