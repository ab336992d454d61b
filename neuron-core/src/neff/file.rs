//! A whole NEFF: header, digest and archive of one slice of bytes.

use super::archive::{self, Archive, Member};
use super::digest::{self, Digest};
use super::header::{HEADER_LENGTH, Header};
use super::limits::Options;
use super::problem::{Problem, Report, widen};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// An opened NEFF. Borrows the bytes it was opened on, which may be a map.
#[derive(Clone)]
pub struct Neff<'a> {
    /// The header.
    pub header: Header,
    /// The archive.
    pub archive: Archive<'a>,
    /// What the digest comparison found; `None` if it was left out.
    pub digest: Option<Digest>,
    /// Warnings of opening.
    pub report: Report,
    /// Where the payload lies in the file.
    pub payload_range: Range<usize>,
    /// The options it was opened with.
    pub options: Options,
    bytes: &'a [u8],
}

impl fmt::Debug for Neff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neff")
            .field("name", &self.header.name_text())
            .field("archive", &self.archive)
            .field("digest", &self.digest)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<'a> Neff<'a> {
    /// Opens a NEFF.
    ///
    /// A bare archive costs one look at each member's header; its bodies are
    /// borrowed. A gzip archive is inflated once, front to back; bodies larger
    /// than [`Options::hold`] are not kept. Unless left out, the digest reads
    /// the stored payload once.
    ///
    /// # Errors
    ///
    /// The first broken rule that refuses the file in the mode of `options`.
    pub fn open(bytes: &'a [u8], options: &Options) -> Result<Self, Problem> {
        let mut report = Report::new(options.mode);
        let header = Header::of_file(bytes)?;
        header.check(widen(bytes.len()), &mut report)?;
        let payload_range = payload_range(&header, bytes);
        let payload = bytes.get(payload_range.clone()).unwrap_or_default();
        let digest =
            if options.digest { Some(digest::check(&header, payload, &mut report)?) } else { None };
        let base = widen(payload_range.start);
        let archive = Archive::open(payload, base, options, &mut report)?;
        Ok(Self { header, archive, digest, report, payload_range, options: *options, bytes })
    }

    /// The payload as stored.
    pub fn payload(&self) -> &'a [u8] {
        self.bytes.get(self.payload_range.clone()).unwrap_or_default()
    }

    /// The members, in archive order.
    pub fn members(&self) -> &[Member<'a>] {
        self.archive.members()
    }

    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.archive.member(name)
    }

    /// The body of the member of this name, `None` if there is no such member.
    pub fn body(&self, name: &str) -> Option<Result<Cow<'_, [u8]>, Problem>> {
        self.member(name).map(|member| self.archive.body(member))
    }
}

/// Where the payload lies. It starts at 1024, whatever `header_size` says; only
/// where no archive starts there and one does at `header_size`, it starts there
/// (our choice, sheet section 1; strict mode has refused before).
fn payload_range(header: &Header, bytes: &[u8]) -> Range<usize> {
    let rest = |start: usize| bytes.get(start..).unwrap_or_default();
    let mut start = HEADER_LENGTH.min(bytes.len());
    if let Ok(other) = usize::try_from(header.header_size) {
        let other = other.min(bytes.len());
        if !archive::looks_like_payload(rest(start)) && archive::looks_like_payload(rest(other)) {
            start = other;
        }
    }
    let size = usize::try_from(header.data_size).unwrap_or(usize::MAX);
    start..start.saturating_add(size).min(bytes.len())
}
