//! Where the bytes of a trace come from: anything that reads at an offset.
//!
//! The tables need the records of all cores, engines and DMA queues in order of
//! time, while a file holds one section after the other, so every section is
//! read through a window of its own. A pipe must be copied to a file first.

use std::io;

/// Bytes that can be read at any offset. Files and slices of memory are.
pub trait ReadAt {
    /// Reads up to `buffer.len()` bytes at `offset`; 0 at the end.
    ///
    /// # Errors
    ///
    /// A failing device.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Fills the buffer as far as the source goes; how much was read.
    ///
    /// # Errors
    ///
    /// A failing device.
    fn fill_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut have = 0;
        while let Some(rest) = buffer.get_mut(have..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(u64::try_from(have).unwrap_or(u64::MAX));
            match self.read_at(at, rest) {
                Ok(0) => break,
                Ok(count) => have += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(have)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.get(start..).unwrap_or_default();
        let count = bytes.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), bytes.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }
}

#[cfg(unix)]
impl ReadAt for std::fs::File {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }
}

/// A source as a stream from the start, for the reader of header and message.
#[derive(Debug)]
pub(crate) struct FromStart<'s, S: ?Sized> {
    source: &'s S,
    at: u64,
}

impl<'s, S: ReadAt + ?Sized> FromStart<'s, S> {
    pub(crate) const fn new(source: &'s S) -> Self {
        Self { source, at: 0 }
    }
}

impl<S: ReadAt + ?Sized> io::Read for FromStart<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(self.at, buffer)?;
        self.at = self.at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}
