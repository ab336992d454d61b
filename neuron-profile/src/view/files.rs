//! The files of `view`: a trace that can be read at any place, and results that
//! appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use neuron_core::Error;
use profile_engine::ReadAt as _;

use crate::whole::Whole;

/// First bytes of a gzip member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Most bytes that a compressed trace may give, as for `ntff`.
const UNWRAPPED: u64 = 1 << 40;

/// A trace.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Its name for messages.
    pub(crate) name: String,
    /// It, or a copy of it that has no name.
    pub(crate) file: File,
}

impl Trace {
    /// Opens a trace. A pipe and a compressed file are copied first, since the
    /// sections of a trace are read side by side.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let name = String::from("stdin");
            let file = copy(io::stdin().lock(), &name)?;
            return Self::unwrapped(name, file);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(Error::io("open", path))?;
        let meta = file.metadata().map_err(Error::io("look at", path))?;
        let file = if meta.is_file() { file } else { copy(file, &name)? };
        Self::unwrapped(name, file)
    }

    pub(crate) fn unwrapped(name: String, file: File) -> anyhow::Result<Self> {
        let mut first = [0; 2];
        let have = file.fill_at(0, &mut first).map_err(Error::io("read", &name))?;
        if have < first.len() || first != GZIP {
            return Ok(Self { name, file });
        }
        let plain = flate2::read::MultiGzDecoder::new(io::BufReader::new(file));
        let file = copy(plain.take(UNWRAPPED), &name)?;
        Ok(Self { name, file })
    }
}

fn copy(mut from: impl Read, name: &str) -> anyhow::Result<File> {
    let mut file = tempfile::tempfile().map_err(Error::io("create", "a file for a copy of it"))?;
    io::copy(&mut from, &mut file).map_err(Error::io("copy", name))?;
    Ok(file)
}

/// Writes a file anew, whole or not at all.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let whole = Whole::create(path)?;
    let mut out = BufWriter::new(whole.file());
    write(&mut out).and_then(|()| out.flush()).map_err(Error::io("write", path))?;
    drop(out);
    Ok(whole.keep()?)
}
