//! Streams an NTFF out: header and message first, so the sizes of all blobs
//! must be known before (ntff.md §2.4).
//!
//! Fields go out by rising number and defaults are left out, so the same input
//! gives the same bytes.

use std::io::Write;

use prost::Message as _;

use super::error::{Error, Result, Rule};
use super::header::Header;
use super::layout::{self, Section};
use super::messages::NtffInfo;
use super::{Limits, Record};

/// See the module.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    sections: Vec<Section>,
    current: usize,
    /// Bytes that the current section still needs.
    left: u64,
    written: u64,
}

/// Gives every blob its offset: programs first, then traces, without gaps, in
/// the order of [`layout::sections`].
///
/// # Errors
///
/// Sizes that do not add up to a position.
pub fn place(info: &mut NtffInfo) -> Result<()> {
    let mut next = 0_u64;
    let mut put = |offset: &mut u64, size: u64| {
        *offset = next;
        next = next.checked_add(size).ok_or_else(|| {
            let reason = String::from("the sizes of the blobs add up to more than 2^64");
            Error::broken(next, Rule::Write { what: "blob area", reason })
        })?;
        Ok::<(), Error>(())
    };
    for graph in layout::subgraphs_mut(info) {
        for program in layout::programs_mut(graph).filter(|p| layout::is_blob(p)) {
            put(&mut program.instructions_offset, program.instructions_size)?;
        }
    }
    for graph in layout::subgraphs_mut(info) {
        for trace in graph.traces.iter_mut().filter(|t| t.inline_records.is_empty()) {
            put(&mut trace.offset, trace.size)?;
        }
    }
    for trace in info.session_notifications.iter_mut().filter(|t| t.inline_records.is_empty()) {
        put(&mut trace.offset, trace.size)?;
    }
    Ok(())
}

impl<W: Write> Writer<W> {
    /// Writes header and message. The sizes in `info` are taken, the offsets
    /// are set.
    ///
    /// # Errors
    ///
    /// A failing output, and a message that readers would refuse.
    pub fn new(mut out: W, form: u8, mut info: NtffInfo) -> Result<Self> {
        place(&mut info)?;
        let message = info.encode_to_vec();
        let message_size = u64::try_from(message.len()).unwrap_or(u64::MAX);
        let header = Header { form, message_size };
        Header::parse(&header.to_bytes(), &Limits::default())?;
        let start = |source| Error::Io { action: "write", offset: 0, source };
        out.write_all(&header.to_bytes()).map_err(start)?;
        out.write_all(&message).map_err(start)?;
        let sections = layout::sections(&info);
        let left = sections.first().map_or(0, |section| section.size);
        let written = header.blobs_start();
        let mut writer = Self { out, sections, current: 0, left, written };
        writer.skip_full();
        Ok(writer)
    }

    /// The blobs in the order in which they must be written.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The blob that the next bytes belong to; `None` when all are written.
    pub fn current(&self) -> Option<&Section> {
        self.sections.get(self.current)
    }

    /// Writes bytes of the current blob and those after it.
    ///
    /// # Errors
    ///
    /// A failing output, and more bytes than all blobs have.
    pub fn bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        while !bytes.is_empty() {
            let take = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            if take == 0 {
                let reason = format!("{} bytes more than the blobs have", bytes.len());
                return Err(Error::broken(self.written, Rule::Write { what: "blob", reason }));
            }
            let (now, rest) = bytes.split_at(take);
            let offset = self.written;
            self.out.write_all(now).map_err(|source| Error::Io {
                action: "write",
                offset,
                source,
            })?;
            let taken = u64::try_from(take).unwrap_or(u64::MAX).min(count);
            self.written = self.written.saturating_add(taken);
            self.left = self.left.saturating_sub(taken);
            bytes = rest;
            self.skip_full();
        }
        Ok(())
    }

    /// Writes one record.
    ///
    /// # Errors
    ///
    /// As [`Self::bytes`].
    pub fn record(&mut self, record: Record) -> Result<()> {
        self.bytes(&record.to_bytes())
    }

    /// Flushes.
    ///
    /// # Errors
    ///
    /// A failing output, and a blob that is not whole.
    pub fn finish(mut self) -> Result<W> {
        if let Some(section) = self.sections.get(self.current) {
            let reason = format!("{} bytes of {section} were not written", self.left);
            return Err(Error::broken(self.written, Rule::Write { what: "blob", reason }));
        }
        let offset = self.written;
        self.out.flush().map_err(|source| Error::Io { action: "write", offset, source })?;
        Ok(self.out)
    }

    fn skip_full(&mut self) {
        while self.left == 0 && self.current < self.sections.len() {
            self.current += 1;
            self.left = self.sections.get(self.current).map_or(0, |section| section.size);
        }
    }
}
