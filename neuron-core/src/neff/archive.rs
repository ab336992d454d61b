//! The index of the inner archive: every member by name, bodies borrowed, held
//! or left for later (sheet section 4).

use super::gzip::{GzipLayout, GzipStream, MAGIC};
use super::limits::Options;
use super::path;
use super::problem::{Place, Problem, Report, Rule, widen};
use super::stream::{Body, SliceStream, Stream};
use super::tar::{Entries, Entry, Kind, looks_like_tar};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};

/// A member of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// Its tar entry.
    pub entry: Entry,
    /// Its body.
    pub body: Body<'a>,
}

impl Member<'_> {
    /// Name of the member.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Bytes of its body.
    pub fn size(&self) -> u64 {
        self.entry.size
    }
}

/// How the archive is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encoding {
    /// A bare tar.
    Bare,
    /// A gzip stream; `None` if it was cut and read leniently.
    Gzip(Option<GzipLayout>),
}

/// The members of a NEFF.
#[derive(Clone)]
pub struct Archive<'a> {
    /// The stored bytes.
    payload: &'a [u8],
    base: u64,
    options: Options,
    /// How they are stored.
    pub encoding: Encoding,
    members: Vec<Member<'a>>,
    index: HashMap<String, usize>,
    /// Directory entries, in archive order; they carry nothing.
    pub directories: Vec<Entry>,
    /// Archive offset of the zero blocks at the end.
    pub end_at: u64,
    /// Bytes of the unpacked archive.
    pub unpacked: u64,
}

impl fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive")
            .field("stored", &self.payload.len())
            .field("encoding", &self.encoding)
            .field("members", &self.members)
            .field("unpacked", &self.unpacked)
            .finish_non_exhaustive()
    }
}

/// Whether bytes at the payload's place can be an archive.
pub(crate) fn looks_like_payload(payload: &[u8]) -> bool {
    payload.starts_with(&MAGIC) || looks_like_tar(payload)
}

impl<'a> Archive<'a> {
    /// Indexes the archive in `payload`, which lies at `base` in the file.
    pub fn open(
        payload: &'a [u8],
        base: u64,
        options: &Options,
        report: &mut Report,
    ) -> Result<Self, Problem> {
        let mut archive = Self {
            payload,
            base,
            options: *options,
            encoding: Encoding::Bare,
            members: Vec::new(),
            index: HashMap::new(),
            directories: Vec::new(),
            end_at: 0,
            unpacked: 0,
        };
        if payload.starts_with(&MAGIC) {
            let stream = GzipStream::new(payload, base, options.limits)?;
            let stream = archive.read(stream, report)?;
            let layout = if stream.ended() { Some(stream.finish(report)?) } else { None };
            archive.encoding = Encoding::Gzip(layout);
        } else if looks_like_tar(payload) {
            if widen(payload.len()) > options.limits.unpacked {
                let value = format!("it is {} bytes", payload.len());
                return Err(Problem::new(Rule::LimitUnpacked, Place::File(base), value));
            }
            archive.read(SliceStream::new(payload), report)?;
        } else if !payload.is_empty() {
            let start = payload.get(..16).unwrap_or(payload);
            let value = format!("it starts {}", crate::text::hex(start));
            return Err(Problem::new(Rule::PayloadKind, Place::File(base), value));
        }
        Ok(archive)
    }

    fn read<S: Stream<'a>>(&mut self, stream: S, report: &mut Report) -> Result<S, Problem> {
        let mut entries = Entries::new(stream, self.options.limits);
        let mut held = 0;
        while let Some(entry) = entries.next(report)? {
            let fits = entry.size <= self.keep(&entry.name)
                && entry.size <= self.options.hold_total.saturating_sub(held);
            let hold = fits && entry.kind == Kind::File;
            let Some(body) = entries.body(&entry, hold, report)? else {
                break;
            };
            if matches!(body, Body::Held(_)) {
                held += entry.size;
            }
            match entry.kind {
                Kind::File => self.add(Member { entry, body }, report)?,
                Kind::Directory => self.directories.push(entry),
                Kind::Other(kind) => {
                    let name = &entry.name;
                    let value = format!("{name} has type {}", kind.escape_ascii());
                    report.note(Rule::TarKind, Place::Archive(entry.header_at), value)?;
                }
            }
        }
        self.end_at = entries.end_at;
        let stream = entries.into_stream();
        self.unpacked = stream.position();
        Ok(stream)
    }

    /// Up to which size a member of this name is held.
    fn keep(&self, name: &str) -> u64 {
        let (hold, limits) = (self.options.hold, self.options.limits);
        if hold == 0 {
            0
        } else if name.ends_with(".json") {
            hold.max(limits.json)
        } else if name.contains(".dbg") {
            hold.max(limits.debug)
        } else {
            hold
        }
    }

    fn add(&mut self, member: Member<'a>, report: &mut Report) -> Result<(), Problem> {
        let name = member.name().to_owned();
        let place = || Place::Archive(member.entry.header_at);
        if name.is_empty() || name.contains('\0') {
            report.note(Rule::NameEmpty, place(), format!("the name is {name:?}"))?;
        } else if let Some(fault) = path::fault(&name) {
            let value = format!("the name is {name:?}: {fault}");
            report.note(Rule::NameUnsafe, place(), value)?;
        }
        match self.index.get(&name) {
            // The last body wins, as in the loader (sheet section 4, inferred).
            Some(first) => {
                report.note(Rule::Duplicate, place(), format!("{name} occurs again"))?;
                if let Some(slot) = self.members.get_mut(*first) {
                    *slot = member;
                }
            }
            None => {
                self.index.insert(name, self.members.len());
                self.members.push(member);
            }
        }
        Ok(())
    }

    /// The members, in archive order.
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.index.get(name).and_then(|index| self.members.get(*index))
    }

    /// A member's body in memory: borrowed where possible, unpacked if it was left.
    pub fn body<'s>(&'s self, member: &'s Member<'a>) -> Result<Cow<'s, [u8]>, Problem> {
        match &member.body {
            Body::Borrowed(body) => Ok(Cow::Borrowed(body)),
            Body::Held(body) => Ok(Cow::Borrowed(body)),
            Body::Left => {
                let mut stream = self.stream_at(member)?;
                let (body, got) = stream.take(member.size(), true);
                match body {
                    Body::Held(body) if got == member.size() => Ok(Cow::Owned(body)),
                    _ => Err(self.short(member, got, &mut stream)),
                }
            }
        }
    }

    /// Writes a member's body to `out` without holding it.
    pub fn copy(&self, member: &Member<'a>, out: &mut dyn Write) -> io::Result<()> {
        match &member.body {
            Body::Borrowed(body) => out.write_all(body),
            Body::Held(body) => out.write_all(body),
            Body::Left => {
                let mut stream = self.stream_at(member).map_err(io::Error::other)?;
                let mut reader = BodyReader { stream: &mut stream, left: member.size() };
                let copied = io::copy(&mut reader, out)?;
                if copied == member.size() {
                    Ok(())
                } else {
                    Err(io::Error::other(self.short(member, copied, &mut stream)))
                }
            }
        }
    }

    /// Hands every member to `sink` in archive order, unpacking the payload at
    /// most once more and holding nothing beyond what is held already.
    pub fn for_each(
        &self,
        mut sink: impl FnMut(&Member<'a>, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut order: Vec<&Member<'a>> = self.members.iter().collect();
        // A duplicate sits in the place of its first occurrence.
        order.sort_by_key(|member| member.entry.body_at);
        let mut stream = None;
        for member in order {
            match &member.body {
                Body::Borrowed(body) => sink(member, &mut &**body)?,
                Body::Held(body) => sink(member, &mut body.as_slice())?,
                Body::Left => {
                    let mut running = match stream.take() {
                        Some(stream) => stream,
                        None => GzipStream::new(self.payload, self.base, self.options.limits)
                            .map_err(io::Error::other)?,
                    };
                    running.skip(member.entry.body_at.saturating_sub(running.position()));
                    sink(member, &mut BodyReader { stream: &mut running, left: member.size() })?;
                    stream = Some(running);
                }
            }
        }
        Ok(())
    }

    fn stream_at(&self, member: &Member<'a>) -> Result<GzipStream<'a>, Problem> {
        let mut stream = GzipStream::new(self.payload, self.base, self.options.limits)?;
        stream.skip(member.entry.body_at);
        Ok(stream)
    }

    fn short(&self, member: &Member<'a>, got: u64, stream: &mut GzipStream<'a>) -> Problem {
        stream.fault().unwrap_or_else(|| {
            let value = format!("{} has {got} of {} bytes", member.name(), member.size());
            Problem::new(Rule::ShortBody, Place::Archive(member.entry.body_at), value)
        })
    }
}

/// Reads one body out of a running stream.
struct BodyReader<'s, 'a> {
    stream: &'s mut GzipStream<'a>,
    left: u64,
}

impl Read for BodyReader<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let got = self.stream.fill(out.get_mut(..length).unwrap_or_default());
        self.left -= widen(got);
        if got < length
            && let Some(fault) = self.stream.fault()
        {
            return Err(io::Error::other(fault));
        }
        Ok(got)
    }
}
