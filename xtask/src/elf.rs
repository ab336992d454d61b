//! What an ELF file needs at run time: its loader and its shared libraries.
//!
//! Reads little-endian 64-bit files only, which is what we build. Every
//! offset of the file is checked, since a broken file must give an error.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// What the kernel and the loader have to find before the program runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The program interpreter; a static program has none.
    pub loader: Option<String>,
    /// The shared libraries, in the order of the file.
    pub libraries: Vec<String>,
}

/// Reads what the file at `path` needs.
pub(crate) fn needs(path: &Path) -> Result<Needs> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    needs_of(&bytes).with_context(|| format!("{} is not a whole ELF file", path.display()))
}

fn needs_of(file: &[u8]) -> Result<Needs> {
    if file.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("no header of a 64-bit little-endian file");
    }
    let table = word(file, 0x20)?;
    let size = u64::from(half(file, 0x36)?);
    let count = u64::from(half(file, 0x38)?);
    let mut segments = Vec::new();
    for at in (0..count).map(|i| table.saturating_add(i * size)) {
        let kind = u32::try_from(word(file, at)? & 0xffff_ffff)?;
        // Offset, virtual address, size in the file.
        segments.push((
            kind,
            word(file, at + 0x08)?,
            word(file, at + 0x10)?,
            word(file, at + 0x20)?,
        ));
    }

    let mut needs = Needs { loader: None, libraries: Vec::new() };
    for &(kind, offset, _, size) in &segments {
        match kind {
            PT_INTERP => needs.loader = Some(text(file, offset)?),
            PT_DYNAMIC => {
                let entries = (0..size / 16)
                    .map(|i| offset.saturating_add(i * 16))
                    .map(|at| Ok((word(file, at)?, word(file, at + 8)?)))
                    .collect::<Result<Vec<_>>>()?;
                let strings = entries.iter().find(|entry| entry.0 == DT_STRTAB);
                let strings = strings.context("no string table")?.1;
                // The table is given by address: the segment that holds it tells the offset.
                let base = segments
                    .iter()
                    .find(|s| s.0 == PT_LOAD && s.2 <= strings && strings - s.2 < s.3)
                    .map(|s| s.1.saturating_add(strings - s.2))
                    .context("string table outside the file")?;
                for entry in entries.iter().filter(|entry| entry.0 == DT_NEEDED) {
                    needs.libraries.push(text(file, base.saturating_add(entry.1))?);
                }
            }
            _ => {}
        }
    }
    Ok(needs)
}

fn bytes<const N: usize>(file: &[u8], at: u64) -> Result<[u8; N]> {
    let found = usize::try_from(at).ok().and_then(|at| file.get(at..)?.first_chunk::<N>());
    found.copied().with_context(|| format!("cut off at byte {at}"))
}

fn half(file: &[u8], at: u64) -> Result<u16> {
    Ok(u16::from_le_bytes(bytes(file, at)?))
}

fn word(file: &[u8], at: u64) -> Result<u64> {
    Ok(u64::from_le_bytes(bytes(file, at)?))
}

/// A text that ends with a zero byte.
fn text(file: &[u8], at: u64) -> Result<String> {
    let rest = usize::try_from(at).ok().and_then(|at| file.get(at..)).unwrap_or_default();
    let end = rest.iter().position(|&byte| byte == 0);
    let text = end.and_then(|end| rest.get(..end)).context("text without end")?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one loadable segment (all of it, at address 0x1000), a
    /// loader and two libraries.
    fn made_up() -> Vec<u8> {
        let strings = b"\0libone.so\0libtwo.so\0/lib/ld.so\0";
        let (phdr, dynamic, strtab) = (0x40_u64, 0x200_u64, 0x300_u64);
        let mut file = vec![0; 0x400];
        let mut put = |at: u64, bytes: &[u8]| {
            let at = usize::try_from(at).unwrap();
            file[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(0, b"\x7fELF\x02\x01");
        put(0x20, &phdr.to_le_bytes());
        put(0x36, &56_u16.to_le_bytes());
        put(0x38, &3_u16.to_le_bytes());
        let segments = [
            (PT_LOAD, 0, 0x1000, 0x400),
            (PT_INTERP, strtab + 21, 0, 11),
            (PT_DYNAMIC, dynamic, 0x1000 + dynamic, 64),
        ];
        for (at, (kind, offset, address, size)) in (phdr..).step_by(56).zip(segments) {
            put(at, &kind.to_le_bytes());
            put(at + 0x08, &offset.to_le_bytes());
            put(at + 0x10, &u64::to_le_bytes(address));
            put(at + 0x20, &u64::to_le_bytes(size));
        }
        let entries = [(DT_NEEDED, 1), (DT_NEEDED, 11), (DT_STRTAB, 0x1000 + strtab), (0, 0)];
        for (at, (tag, value)) in (dynamic..).step_by(16).zip(entries) {
            put(at, &tag.to_le_bytes());
            put(at + 8, &u64::to_le_bytes(value));
        }
        put(strtab, strings);
        file
    }

    #[test]
    fn loader_and_libraries_are_found() {
        let needs = needs_of(&made_up()).unwrap();
        assert_eq!(needs.loader.as_deref(), Some("/lib/ld.so"));
        assert_eq!(needs.libraries, ["libone.so", "libtwo.so"]);
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let whole = made_up();
        for end in 0..0x320 {
            assert!(needs_of(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn this_test_program_needs_libc() {
        let needs = needs(&std::env::current_exe().unwrap()).unwrap();
        assert!(needs.libraries.iter().any(|name| name.starts_with("libc.")), "{needs:?}");
    }
}
