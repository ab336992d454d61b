//! Walks the entries of an archive, extension records folded into the entry
//! that they belong to.

use super::block::{self, Block};
use super::pax::Overrides;
use super::write::BLOCK;
use super::{Dialect, Entry, Kind};
use crate::neff::limits::Limits;
use crate::neff::problem::{Place, Problem, Report, Rule, widen};
use crate::neff::stream::{Body, Stream};

/// The walk. After [`Self::next`] gave an entry, [`Self::body`] must be called.
#[derive(Debug)]
pub(crate) struct Entries<S> {
    stream: S,
    limits: Limits,
    globals: Overrides,
    seen: usize,
    /// Bytes of all names so far.
    names: usize,
    /// Archive offset where the zero blocks of the end start.
    pub(crate) end_at: u64,
}

/// Extension records waiting for their entry.
#[derive(Debug, Default)]
struct Pending {
    header_at: Option<u64>,
    pax: Option<Overrides>,
    long_name: Option<Vec<u8>>,
}

impl<'a, S: Stream<'a>> Entries<S> {
    pub(crate) fn new(stream: S, limits: Limits) -> Self {
        Self { stream, limits, globals: Overrides::default(), seen: 0, names: 0, end_at: 0 }
    }

    pub(crate) fn into_stream(self) -> S {
        self.stream
    }

    /// The stream ended early: its fault, or else `rule`.
    fn cut(&mut self, rule: Rule, value: String, report: &mut Report) -> Result<(), Problem> {
        let at = self.stream.position();
        let problem = match self.stream.fault() {
            Some(fault) => fault,
            None => Problem::new(rule, Place::Archive(at), value),
        };
        report.take(problem)
    }

    /// The next entry; `None` at the end, or where a lenient reader gives up.
    pub(crate) fn next(&mut self, report: &mut Report) -> Result<Option<Entry>, Problem> {
        let mut pending = Pending::default();
        loop {
            let at = self.stream.position();
            let Some(block) = self.header(report)? else {
                if pending.header_at.is_some() {
                    let value = "the archive ends after an extension record";
                    report.note(Rule::TarExtension, Place::Archive(at), value)?;
                }
                return Ok(None);
            };
            self.seen += 1;
            if self.seen > self.limits.members {
                let value = format!("there are more than {}", self.limits.members);
                return Err(Problem::new(Rule::LimitMembers, Place::Archive(at), value));
            }
            let header_at = *pending.header_at.get_or_insert(at);
            match block.type_flag() {
                b'x' | b'g' | b'X' | b'L' | b'K' => {
                    if !self.extension(&block, at, &mut pending, report)? {
                        return Ok(None);
                    }
                }
                _ => return self.entry(&block, header_at, at, pending, report).map(Some),
            }
        }
    }

    /// A header block whose checksum fits; `None` at the end.
    fn header(&mut self, report: &mut Report) -> Result<Option<Block>, Problem> {
        let at = self.stream.position();
        self.end_at = at;
        let mut bytes = [0; BLOCK];
        let got = self.stream.fill(&mut bytes);
        if got < BLOCK {
            let rule = if got == 0 { Rule::TarEnd } else { Rule::TarTruncated };
            self.cut(rule, format!("the archive ends after {got} bytes of a header"), report)?;
            return Ok(None);
        }
        if block::is_zero(&bytes) {
            self.end(report)?;
            return Ok(None);
        }
        Block::parse(bytes).map(Some).map_err(|(stored, computed)| {
            let value = format!("checksum {stored:o}, computed {computed:o} (octal)");
            Problem::new(Rule::TarChecksum, Place::Archive(at), value)
        })
    }

    /// Reads what follows the first zero block.
    fn end(&mut self, report: &mut Report) -> Result<(), Problem> {
        let mut bytes = [0; BLOCK];
        let at = self.stream.position();
        if self.stream.fill(&mut bytes) < BLOCK || !block::is_zero(&bytes) {
            self.cut(Rule::TarEnd, String::from("the second zero block is missing"), report)?;
        }
        let mut told = !block::is_zero(&bytes);
        if told {
            let value = "bytes follow the first zero block";
            report.note(Rule::TarAfterEnd, Place::Archive(at), value)?;
        }
        let mut chunk = vec![0; 64 << 10];
        loop {
            let at = self.stream.position();
            let got = self.stream.fill(&mut chunk);
            let read = chunk.get(..got).unwrap_or_default();
            if let Some(index) = read.iter().position(|b| *b != 0).filter(|_| !told) {
                told = true;
                let value = "the byte is not zero";
                report.note(Rule::TarAfterEnd, Place::Archive(at + widen(index)), value)?;
            }
            if got < chunk.len() {
                break;
            }
        }
        match self.stream.fault() {
            Some(fault) => report.take(fault),
            None => Ok(()),
        }
    }

    fn size(&self, block: &Block, at: u64) -> Result<u64, Problem> {
        block.number(block::SIZE).ok_or_else(|| {
            let value = format!("the size is {}", block.field(block::SIZE).escape_ascii());
            Problem::new(Rule::TarNumber, Place::Archive(at + 124), value)
        })
    }

    /// Reads an extension record; `false` where the archive ended in it.
    fn extension(
        &mut self,
        block: &Block,
        at: u64,
        pending: &mut Pending,
        report: &mut Report,
    ) -> Result<bool, Problem> {
        let size = self.size(block, at)?;
        if size > self.limits.record {
            let value = format!("the record has {size} bytes, the limit is {}", self.limits.record);
            return Err(Problem::new(Rule::LimitRecord, Place::Archive(at), value));
        }
        let body_at = self.stream.position();
        let (body, got) = self.stream.take(size, true);
        let padding = block::padding(size);
        if got < size || self.stream.skip(padding) < padding {
            self.cut(Rule::ShortBody, format!("{got} of {size} bytes of a record"), report)?;
            return Ok(false);
        }
        let body = match &body {
            Body::Borrowed(body) => body,
            Body::Held(body) => body.as_slice(),
            Body::Left => &[],
        };
        let bad = |error: super::pax::BadRecord| {
            Problem::new(Rule::TarPax, Place::Archive(body_at + widen(error.at)), error.value)
        };
        let odd = match block.type_flag() {
            b'g' => {
                let odd = self.globals.apply(body).map_err(bad)?;
                let length = self.globals.path.as_ref().map_or(0, Vec::len);
                if length > self.limits.name {
                    // Each record that follows would copy it.
                    let value = format!("a name for all entries has {length} bytes");
                    return Err(Problem::new(Rule::LimitName, Place::Archive(at), value));
                }
                odd
            }
            b'L' => {
                let name = body.split(|b| *b == 0).next().unwrap_or_default();
                pending.long_name = Some(name.to_vec());
                Vec::new()
            }
            // The target of a link; links are not followed.
            b'K' => Vec::new(),
            _ => {
                let mut records = self.globals.clone();
                let odd = records.apply(body).map_err(bad)?;
                pending.pax = Some(records);
                odd
            }
        };
        for record in odd {
            let place = Place::Archive(body_at + widen(record.at));
            report.note(Rule::TarField, place, record.value)?;
        }
        Ok(true)
    }

    fn entry(
        &mut self,
        block: &Block,
        header_at: u64,
        at: u64,
        pending: Pending,
        report: &mut Report,
    ) -> Result<Entry, Problem> {
        let is_pax = pending.pax.is_some();
        let records = pending.pax.unwrap_or_else(|| self.globals.clone());
        let raw = records.path.or(pending.long_name).unwrap_or_else(|| block.name());
        let name = self.name(&raw, header_at, report)?;
        self.names = self.names.saturating_add(name.len());
        if self.names > self.limits.names {
            let value = format!("the names have more than {} bytes together", self.limits.names);
            return Err(Problem::new(Rule::LimitName, Place::Archive(header_at), value));
        }
        let size = match records.size {
            Some(size) => size,
            None => self.size(block, at)?,
        };
        if size > self.limits.member {
            let limit = self.limits.member;
            let value = format!("{name} has {size} bytes, the limit is {limit}");
            return Err(Problem::new(Rule::LimitMember, Place::Archive(at), value));
        }
        let kind = match block.type_flag() {
            _ if records.sparse => Kind::Other(b'S'),
            b'0' | 0 | b'7' if raw.ends_with(b"/") => Kind::Directory,
            b'0' | 0 | b'7' => Kind::File,
            b'5' => Kind::Directory,
            other => Kind::Other(other),
        };
        // POSIX: links, devices and pipes have no body, whatever their size says.
        let size = if matches!(kind, Kind::Other(b'1'..=b'4' | b'6')) { 0 } else { size };
        let mut number = |field: std::ops::Range<usize>, what: &str, set: Option<u64>| {
            let start = widen(field.start);
            match set.or_else(|| block.number(field.clone())) {
                Some(value) => Ok(value),
                None => {
                    let text = block.field(field).escape_ascii();
                    let value = format!("the {what} of {name} is {text}");
                    report.note(Rule::TarField, Place::Archive(at + start), value)?;
                    Ok(0)
                }
            }
        };
        let mode = number(block::MODE, "mode", None)?;
        let uid = number(block::UID, "owner", records.uid)?;
        let gid = number(block::GID, "group", records.gid)?;
        let mtime = number(block::MTIME, "time", records.mtime)?;
        let text = |field, set: Option<Vec<u8>>| {
            let bytes = set.unwrap_or_else(|| block.text(field).to_vec());
            String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().escape_ascii().to_string())
        };
        let named = block.dialect() != Dialect::V7;
        Ok(Entry {
            kind,
            size,
            header_at,
            body_at: self.stream.position(),
            dialect: if is_pax { Dialect::Pax } else { block.dialect() },
            mode,
            uid,
            gid,
            mtime,
            user: if named { text(block::USER, records.user) } else { String::new() },
            group: if named { text(block::GROUP, records.group) } else { String::new() },
            name,
        })
    }

    fn name(&self, raw: &[u8], at: u64, report: &mut Report) -> Result<String, Problem> {
        if raw.len() > self.limits.name {
            let value =
                format!("a name has {} bytes, the limit is {}", raw.len(), self.limits.name);
            return Err(Problem::new(Rule::LimitName, Place::Archive(at), value));
        }
        let mut stripped = raw;
        while let Some(rest) = stripped.strip_prefix(b"./") {
            stripped = rest;
        }
        match std::str::from_utf8(stripped) {
            Ok(name) => Ok(name.to_owned()),
            Err(_) => {
                let value = format!("the name is {}", stripped.escape_ascii());
                report.note(Rule::NameText, Place::Archive(at), value)?;
                let mut name = String::new();
                for chunk in stripped.utf8_chunks() {
                    name.push_str(chunk.valid());
                    for byte in chunk.invalid() {
                        name.push_str(&format!("%{byte:02x}"));
                    }
                }
                Ok(name)
            }
        }
    }

    /// Reads the body of an entry and its padding; `None` where it is cut and
    /// the reader is lenient.
    pub(crate) fn body(
        &mut self,
        entry: &Entry,
        hold: bool,
        report: &mut Report,
    ) -> Result<Option<Body<'a>>, Problem> {
        let (body, got) = self.stream.take(entry.size, hold);
        if got < entry.size {
            let value = format!("{} has {got} of {} bytes", entry.name, entry.size);
            self.cut(Rule::ShortBody, value, report)?;
            return Ok(None);
        }
        let length = usize::try_from(block::padding(entry.size)).unwrap_or(0);
        let mut padding = [0; BLOCK];
        let padding = padding.get_mut(..length).unwrap_or_default();
        let at = self.stream.position();
        if self.stream.fill(padding) < length {
            let value = format!("the last block of {} is cut", entry.name);
            self.cut(Rule::TarTruncated, value, report)?;
        } else if !block::is_zero(padding) {
            let value = format!("the padding of {} is not zero", entry.name);
            report.note(Rule::TarPadding, Place::Archive(at), value)?;
        }
        Ok(Some(body))
    }
}
