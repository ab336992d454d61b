//! Writes a NEFF (sheet sections 4 and 12). The bytes depend on the members,
//! the header fields and the packing only: no time, no owner, no random id.

use super::digest::{self, DigestForm, Hasher, WRITTEN_FORM};
use super::header::{HEADER_LENGTH, Header};
use super::limits::Limits;
use super::problem::{Place, Problem, Rule, WriteError, widen};
use super::tar::{append_end, append_header, append_padding, check_name};
use flate2::{Compression, GzBuilder};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};

/// Members that a loader wants first.
const FIRST: [&str; 3] = ["kelf-0.json", "neff.json", "info.json"];

/// How the archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// A bare tar.
    Bare,
    /// A gzip stream of this level, 0 to 9.
    Gzip(u32),
}

impl Default for Packing {
    fn default() -> Self {
        Self::Gzip(6)
    }
}

/// Collects members and header fields, then writes them.
#[derive(Debug, Clone)]
pub struct Builder<'a> {
    /// Header fields as they should be written. `data_size` and `hash` are
    /// computed; `header_size` is 1024; a `uuid` of zeros is replaced by one
    /// made from the content.
    pub header: Header,
    /// How the archive is packed.
    pub packing: Packing,
    /// Form of the digest of packager 2.
    pub form: DigestForm,
    members: BTreeMap<String, Cow<'a, [u8]>>,
}

impl<'a> Builder<'a> {
    /// A NEFF of one logical core with this many subgraphs, no features, and
    /// the header values of real compiler output: one core asked for and
    /// needed, the subgraphs in the logical core size.
    pub fn new(subgraphs: u32) -> Self {
        let mut header = Header::empty();
        header.packager = 2;
        header.major = 1;
        header.num_tpb = 1;
        header.requested_tpb = 1;
        if let Some(first) = header.tpb_per_node.first_mut() {
            *first = 1;
        }
        header.lnc_size = subgraphs.max(1);
        Self::with_header(header)
    }

    /// A NEFF with these header fields.
    pub fn with_header(header: Header) -> Self {
        Self { header, packing: Packing::default(), form: WRITTEN_FORM, members: BTreeMap::new() }
    }

    /// Sets the features, and the major version they ask for.
    pub fn set_features(&mut self, bits: u64) {
        self.header.feature_bits = bits;
        self.header.major = if bits == 0 { 1 } else { 2 };
    }

    /// Adds a member.
    ///
    /// # Errors
    ///
    /// Its name is unsafe or taken, or it is larger than a reader accepts.
    pub fn add(&mut self, name: &str, body: impl Into<Cow<'a, [u8]>>) -> Result<(), Problem> {
        check_name(name)?;
        let body = body.into();
        let limits = Limits::default();
        let refuse = |rule, value: String| Err(Problem::new(rule, Place::key(name, ""), value));
        if widen(body.len()) > limits.member {
            return refuse(Rule::LimitMember, format!("it has {} bytes", body.len()));
        }
        if name.len() > limits.name {
            return refuse(Rule::LimitName, format!("the name has {} bytes", name.len()));
        }
        if self.members.insert(name.to_owned(), body).is_some() {
            return refuse(Rule::Duplicate, format!("{name} is added twice"));
        }
        Ok(())
    }

    /// Names of the members in the order in which they are written.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        let first = FIRST.into_iter().filter(|name| self.members.contains_key(*name));
        let rest = self.members.keys().map(String::as_str).filter(|name| !FIRST.contains(name));
        first.chain(rest)
    }

    /// Writes the payload alone and returns the header that belongs before it.
    /// `progress` is called with the name of each member before it is written.
    pub fn write_payload(
        &self,
        out: &mut dyn Write,
        mut progress: impl FnMut(&str),
    ) -> Result<Header, WriteError> {
        if self.members.is_empty() {
            let place = Place::File(widen(HEADER_LENGTH));
            return Err(Problem::new(Rule::DataEmpty, place, "there is no member to write").into());
        }
        let hasher = Hasher::for_packager(self.header.packager);
        let mut out = Tally { out, hasher, count: 0 };
        match self.packing {
            Packing::Bare => self.write_tar(&mut out, &mut progress)?,
            Packing::Gzip(level) => {
                let level = Compression::new(level.min(9));
                let gzip = GzBuilder::new().operating_system(255);
                let mut gzip = gzip.write(&mut out, level);
                self.write_tar(&mut gzip, &mut progress)?;
                gzip.finish()?;
            }
        }
        let mut header = self.header.clone();
        header.header_size = widen(HEADER_LENGTH);
        header.data_size = out.count;
        let plain = out.hasher.finish();
        let form = if header.packager == 1 { DigestForm::Sha256 } else { self.form };
        header.hash = digest::field(&plain, form);
        if header.uuid == [0; 16] {
            header.uuid = stable_uuid(&plain);
        }
        Ok(header)
    }

    fn write_tar(&self, out: &mut dyn Write, progress: &mut dyn FnMut(&str)) -> io::Result<()> {
        let mut written = 0;
        for name in self.order() {
            progress(name);
            let Some(body) = self.members.get(name) else {
                continue;
            };
            let size = widen(body.len());
            written += append_header(out, name, size)?;
            out.write_all(body)?;
            written += size + append_padding(out, size)?;
        }
        append_end(out, written)
    }

    /// Writes header and payload front to back; holds the payload in memory.
    pub fn write(&self, out: &mut dyn Write) -> Result<Header, WriteError> {
        let mut payload = Vec::new();
        let header = self.write_payload(&mut payload, |_| ())?;
        out.write_all(&header.to_bytes())?;
        out.write_all(&payload)?;
        Ok(header)
    }

    /// Writes the payload as it comes and the header last, at its place.
    pub fn write_seek(
        &self,
        out: &mut (impl Write + Seek),
        progress: impl FnMut(&str),
    ) -> Result<Header, WriteError> {
        let start = out.stream_position()?;
        out.write_all(&[0; HEADER_LENGTH])?;
        let header = self.write_payload(out, progress)?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(&header.to_bytes())?;
        out.seek(SeekFrom::Start(end))?;
        Ok(header)
    }
}

/// An RFC 9562 version 8 id made from the payload's digest.
fn stable_uuid(digest: &[u8]) -> [u8; 16] {
    let mut uuid = [0; 16];
    for (to, from) in uuid.iter_mut().zip(digest) {
        *to = *from;
    }
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut uuid;
    *version = *version & 0x0f | 0x80;
    *variant = *variant & 0x3f | 0x80;
    uuid
}

/// Counts and hashes what passes through.
struct Tally<'o> {
    out: &'o mut dyn Write,
    hasher: Hasher,
    count: u64,
}

impl Write for Tally<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.write(bytes)?;
        self.hasher.update(bytes.get(..length).unwrap_or(bytes));
        self.count += widen(length);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
