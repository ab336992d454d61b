//! Streams an NTFF: header and message first, then the blobs in the order in
//! which they lie.
//!
//! Memory is the message plus one window, whatever the size of the file. A
//! file that ends early or breaks a rule is read as far as it is whole: in
//! lenient mode the findings say what is missing, in strict mode the first one
//! is an error.

use std::io::Read;

use super::error::{Error, Findings, Result, Rule, Severity};
use super::header::{self, Header};
use super::layout::{self, Section};
use super::messages::NtffInfo;
use super::{Finding, Limits, root};

/// Bytes of the window on the blob area.
const WINDOW: usize = 256 << 10;

/// Sections that may overlap at one place before further ones are left out.
const CROWD: usize = 8;

/// What to do about a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Stop at the first damage.
    Strict,
    /// Note it and read on.
    #[default]
    Lenient,
}

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// What to do about a broken rule.
    pub mode: Mode,
    /// Limits against hostile input.
    pub limits: Limits,
}

/// Whole entries of a section, in order.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// Index in [`Reader::sections`].
    pub index: usize,
    /// Position in the section, in bytes.
    pub offset: u64,
    /// Whole instructions or records.
    pub bytes: &'a [u8],
}

/// A section being read.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    index: usize,
    at: u64,
    end: u64,
    unit: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    header_bytes: [u8; header::SIZE],
    /// What is there of the message.
    message: Vec<u8>,
    info: NtffInfo,
    sections: Vec<Section>,
    mode: Mode,
    findings: Findings,
    /// Sections with bytes, by offset; taken from the end.
    waiting: Vec<usize>,
    active: Vec<Cursor>,
    /// Where all sections so far end.
    covered: u64,
    window: Vec<u8>,
    /// Position of the window in the blob area, and bytes of it that are read.
    start: u64,
    filled: usize,
    ended: bool,
    done: bool,
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn narrow(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Fills a buffer as far as the input goes.
fn fill(input: &mut impl Read, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let mut have = 0;
    while let Some(rest) = buffer.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                let offset = offset.saturating_add(wide(have));
                return Err(Error::Io { action: "read", offset, source });
            }
        }
    }
    Ok(have)
}

impl<R: Read> Reader<R> {
    /// Reads header and message.
    ///
    /// # Errors
    ///
    /// A file without a message (see [`Header::parse`]), a failing input, and
    /// in strict mode any damage of the message.
    pub fn new(mut input: R, options: Options) -> Result<Self> {
        let limits = &options.limits;
        let mut first = [0; header::SIZE];
        let have = fill(&mut input, &mut first, 0)?;
        let header = Header::parse(first.get(..have).unwrap_or_default(), limits)?;
        let mut message = Vec::new();
        input
            .by_ref()
            .take(header.message_size)
            .read_to_end(&mut message)
            .map_err(|source| Error::Io { action: "read", offset: 128, source })?;
        let have = wide(message.len());
        if have == 0 {
            return Err(Error::broken(128, Rule::ShortHeader { have: 128 }));
        }
        let mut reader = Self {
            input,
            header,
            header_bytes: first,
            message: Vec::new(),
            info: NtffInfo::default(),
            sections: Vec::new(),
            mode: options.mode,
            findings: Findings::new(limits.findings),
            waiting: Vec::new(),
            active: Vec::new(),
            covered: 0,
            window: Vec::new(),
            start: 0,
            filled: 0,
            ended: have < header.message_size,
            done: false,
        };
        if !header::FORMS.contains(&header.form) {
            reader.report(0, Rule::Form { form: header.form })?;
        }
        if reader.ended {
            let rule = Rule::MessageCut { have, length: header.message_size };
            reader.report(have.saturating_add(128), rule)?;
        }
        let lenient = options.mode == Mode::Lenient;
        reader.info = root::decode(&message, 128, limits, lenient, &mut reader.findings)
            .map_err(Error::Broken)?;
        if message.first() != Some(&header::FIRST_KEY)
            && reader.findings.damaged()
            && reader.info == NtffInfo::default()
        {
            // Bytes of something else: nothing of them is a message.
            return Err(Error::broken(0, Rule::NotNtff));
        }
        reader.message = message;
        let mut each = layout::each_section(&reader.info);
        reader.sections = each.by_ref().take(limits.sections).collect();
        let count = wide(each.count());
        if count > 0 {
            reader.report(128, Rule::TooManySections { count, limit: wide(limits.sections) })?;
        }
        reader.queue()?;
        Ok(reader)
    }

    /// Form and message size.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The header as it lies in the file, with the bytes that mean nothing.
    pub fn header_bytes(&self) -> &[u8; header::SIZE] {
        &self.header_bytes
    }

    /// The message as it lies in the file, as far as it goes.
    pub fn message_bytes(&self) -> &[u8] {
        &self.message
    }

    /// The message.
    pub fn info(&self) -> &NtffInfo {
        &self.info
    }

    /// Every blob, those without bytes too.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// What was found so far. After the last chunk nothing is added.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Bytes of the file read so far.
    pub fn position(&self) -> u64 {
        wide(self.message.len()).saturating_add(128).saturating_add(self.window_end())
    }

    /// Where the last section ends in the file.
    pub fn expected_size(&self) -> u64 {
        let last = self.sections.iter().filter_map(Section::end).max().unwrap_or(0);
        self.file_offset(last)
    }

    /// The next whole entries; `None` after the last ones.
    ///
    /// # Errors
    ///
    /// A failing input, and in strict mode damage. Nothing follows an error.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>> {
        if self.done {
            return Ok(None);
        }
        let step = self.advance();
        self.done = !matches!(step, Ok(Some(_)));
        let Some((index, offset, range)) = step? else { return Ok(None) };
        let bytes = self.window.get(range).unwrap_or_default();
        Ok(Some(Chunk { index, offset, bytes }))
    }

    fn file_offset(&self, blob_offset: u64) -> u64 {
        self.header.blobs_start().saturating_add(blob_offset)
    }

    fn report(&mut self, offset: u64, rule: Rule) -> Result<()> {
        if self.mode == Mode::Strict && rule.severity() >= Severity::Damage {
            return Err(Error::Broken(Finding { offset, rule }));
        }
        self.findings.push(offset, rule);
        Ok(())
    }

    fn name(&self, index: usize) -> String {
        self.sections.get(index).map(ToString::to_string).unwrap_or_default()
    }

    /// Sorts the sections and flags those that cannot be.
    fn queue(&mut self) -> Result<()> {
        for index in 0..self.sections.len() {
            let Some(section) = self.sections.get(index).copied() else { break };
            if section.end().is_none_or(|end| end > u64::MAX - self.header.blobs_start()) {
                let rule = Rule::Range {
                    section: section.to_string(),
                    start: section.offset,
                    size: section.size,
                };
                self.report(self.file_offset(section.offset), rule)?;
            } else if section.size > 0 {
                self.waiting.push(index);
            }
        }
        let sections = &self.sections;
        let offset = |index: &usize| sections.get(*index).map_or(0, |section| section.offset);
        self.waiting.sort_by_key(|index| std::cmp::Reverse(offset(index)));
        Ok(())
    }

    /// The next section, if it begins before a position.
    fn waiting_before(&self, position: u64) -> Option<(usize, Section)> {
        let index = *self.waiting.last()?;
        let section = *self.sections.get(index)?;
        (section.offset < position).then_some((index, section))
    }

    fn window_end(&self) -> u64 {
        self.start.saturating_add(wide(self.filled))
    }

    fn advance(&mut self) -> Result<Option<(usize, u64, std::ops::Range<usize>)>> {
        loop {
            if self.active.is_empty() && !self.seek()? {
                return Ok(None);
            }
            self.admit()?;
            // The one that is furthest behind, so that the window can move on.
            let Some(behind) = (0..self.active.len())
                .min_by_key(|at| self.active.get(*at).map_or(u64::MAX, |cursor| cursor.at))
            else {
                continue;
            };
            let Some(cursor) = self.active.get(behind).copied() else { continue };
            let window_end = self.window_end();
            let whole = window_end.min(cursor.end).saturating_sub(cursor.at) / cursor.unit;
            if whole > 0 {
                let size = whole * cursor.unit;
                let next = cursor.at + size;
                if cursor.end - next < cursor.unit {
                    self.active.swap_remove(behind);
                } else if let Some(cursor) = self.active.get_mut(behind) {
                    cursor.at = next;
                }
                let from = narrow(cursor.at - self.start);
                let offset = self.sections.get(cursor.index).map_or(0, |s| cursor.at - s.offset);
                return Ok(Some((cursor.index, offset, from..from + narrow(size))));
            }
            if cursor.end - cursor.at < cursor.unit {
                // Shorter than one entry from the start; flagged when admitted.
                self.active.swap_remove(behind);
            } else if self.ended {
                self.active.swap_remove(behind);
                let rule = Rule::SectionCut {
                    section: self.name(cursor.index),
                    lost: cursor.end - window_end.max(cursor.at),
                    size: self.sections.get(cursor.index).map_or(0, |section| section.size),
                    end: self.position(),
                };
                self.report(self.file_offset(window_end.max(cursor.at)), rule)?;
            } else {
                self.slide(cursor.at)?;
            }
        }
    }

    /// Takes in the sections that begin inside the window.
    fn admit(&mut self) -> Result<()> {
        // At the end of the file the sections behind it are taken in too, to
        // be flagged one by one.
        let reach = if self.ended { u64::MAX } else { self.window_end() };
        while let Some((index, section)) = self.waiting_before(reach) {
            if self.active.is_empty() && section.offset > self.covered {
                break;
            }
            self.waiting.pop();
            let at = self.file_offset(section.offset);
            if section.offset < self.covered {
                let bytes = self.covered.min(section.offset + section.size) - section.offset;
                self.report(at, Rule::Overlap { section: section.to_string(), bytes })?;
                if self.active.len() >= CROWD {
                    self.report(at, Rule::Crowded { section: section.to_string() })?;
                    continue;
                }
            } else if section.offset > self.covered {
                let bytes = section.offset - self.covered;
                let gap = self.file_offset(self.covered);
                self.report(gap, Rule::Gap { section: section.to_string(), bytes })?;
            }
            let (unit, end) = (section.unit(), section.offset + section.size);
            if !section.size.is_multiple_of(unit) {
                let size = section.size;
                self.report(at, Rule::Unit { section: section.to_string(), size, unit })?;
            }
            self.covered = self.covered.max(end);
            self.active.push(Cursor { index, at: section.offset, end, unit });
            if self.ended && section.offset >= self.window_end() {
                break;
            }
        }
        Ok(())
    }

    /// With nothing active: goes on to the next section, or to the end of the
    /// file.
    fn seek(&mut self) -> Result<bool> {
        let Some((_, section)) = self.waiting_before(u64::MAX) else {
            self.drain()?;
            return Ok(false);
        };
        if section.offset > self.covered {
            let bytes = section.offset - self.covered;
            let gap = self.file_offset(self.covered);
            self.report(gap, Rule::Gap { section: section.to_string(), bytes })?;
            self.covered = section.offset;
        }
        while self.window_end() <= section.offset && !self.ended {
            self.slide(self.window_end())?;
        }
        Ok(true)
    }

    /// Reads what is left of the file.
    fn drain(&mut self) -> Result<()> {
        while !self.ended {
            self.slide(self.window_end())?;
        }
        if let Some(bytes) = self.window_end().checked_sub(self.covered).filter(|b| *b > 0) {
            self.report(self.file_offset(self.covered), Rule::Trailing { bytes })?;
        }
        Ok(())
    }

    /// Moves the window to a position inside or at the end of it, and reads.
    fn slide(&mut self, to: u64) -> Result<()> {
        self.window.resize(WINDOW, 0);
        let drop = narrow(to.saturating_sub(self.start)).min(self.filled);
        self.window.copy_within(drop..self.filled, 0);
        self.start = self.start.saturating_add(wide(drop));
        self.filled -= drop;
        let offset = self.position();
        let free = self.window.get_mut(self.filled..).unwrap_or_default();
        let wanted = free.len();
        let have = fill(&mut self.input, free, offset)?;
        self.filled += have;
        self.ended = have < wanted;
        Ok(())
    }
}
