//! The gzip layer of the payload (sheet section 4): one deflate member, then
//! zero bytes up to a multiple of 10240 in compiler output.

use super::limits::Limits;
use super::problem::{Place, Problem, Report, Rule, widen};
use super::stream::{Body, Stream};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// What a gzip payload starts with: magic and the deflate method.
pub(super) const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Bytes of the fixed part of the header.
const FIXED: usize = 10;
/// Bytes of the trailer: CRC-32 and length modulo 2^32.
const TRAILER: usize = 8;
/// Steps in which a body grows, so that a claimed size allocates nothing.
const STEP: usize = 1 << 20;

/// The gzip header as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GzipHeader {
    /// Flag bits.
    pub flags: u8,
    /// Modification time, seconds since 1970; 0 if not given. Compilers store
    /// the build time.
    pub mtime: u32,
    /// Extra flags: 4 for the fastest compression.
    pub xfl: u8,
    /// Operating system code: 3 Unix, 255 unknown.
    pub os: u8,
    /// Bytes up to the deflate stream.
    pub length: usize,
}

impl GzipHeader {
    /// Reads the header at the start of `payload`, which lies at `base` in the file.
    pub fn parse(payload: &[u8], base: u64) -> Result<Self, Problem> {
        let bad = |at: usize, value: String| {
            Problem::new(Rule::GzipHeader, Place::File(base + widen(at)), value)
        };
        let &[a, b, method, flags, m0, m1, m2, m3, xfl, os] = payload
            .first_chunk::<FIXED>()
            .ok_or_else(|| bad(payload.len(), format!("it ends after {} bytes", payload.len())))?;
        if [a, b, method] != MAGIC {
            return Err(bad(0, format!("it starts {a:02x} {b:02x} {method:02x}")));
        }
        if flags & 0xe0 != 0 {
            return Err(bad(3, format!("the flags are {flags:#04x}")));
        }
        let mut length = FIXED;
        if flags & 4 != 0 {
            let size = payload.get(length..length + 2).and_then(|s| s.first_chunk::<2>());
            let size = size.ok_or_else(|| bad(length, "the extra field is cut".into()))?;
            length += 2 + usize::from(u16::from_le_bytes(*size));
        }
        for (bit, what) in [(8, "file name"), (16, "comment")] {
            if flags & bit != 0 {
                let rest = payload.get(length..).unwrap_or_default();
                let end = rest.iter().position(|b| *b == 0);
                length += 1 + end.ok_or_else(|| bad(length, format!("the {what} has no end")))?;
            }
        }
        if flags & 2 != 0 {
            length += 2;
        }
        if length > payload.len() {
            return Err(bad(payload.len(), "the header is cut".into()));
        }
        Ok(Self { flags, mtime: u32::from_le_bytes([m0, m1, m2, m3]), xfl, os, length })
    }
}

/// How the stored bytes of a gzip payload are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GzipLayout {
    /// The gzip header.
    pub header: GzipHeader,
    /// Bytes of the deflate stream.
    pub deflate: u64,
    /// CRC-32 of the unpacked bytes, as stored.
    pub crc: u32,
    /// Zero bytes after the trailer.
    pub padding: u64,
}

/// Inflates a payload.
pub(crate) struct GzipStream<'a> {
    payload: &'a [u8],
    base: u64,
    header: GzipHeader,
    limits: Limits,
    at: usize,
    inflate: Decompress,
    crc: Crc,
    out: u64,
    ended: bool,
    stopped: bool,
    fault: Option<Problem>,
}

impl<'a> GzipStream<'a> {
    /// A stream over `payload`, which lies at `base` in the file.
    pub(crate) fn new(payload: &'a [u8], base: u64, limits: Limits) -> Result<Self, Problem> {
        let header = GzipHeader::parse(payload, base)?;
        let at = header.length;
        Ok(Self {
            payload,
            base,
            header,
            limits,
            at,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            out: 0,
            ended: false,
            stopped: false,
            fault: None,
        })
    }

    fn stop(&mut self, rule: Rule, place: Place, value: String) {
        self.stopped = true;
        self.fault = Some(Problem::new(rule, place, value));
    }

    /// Bytes that may still be unpacked; stops the stream where that is none.
    fn allowance(&mut self) -> usize {
        let by_ratio = widen(self.payload.len()).saturating_mul(self.limits.ratio);
        let by_ratio = by_ratio.max(self.limits.ratio_floor);
        let most = self.limits.unpacked.min(by_ratio);
        let left = most.saturating_sub(self.out);
        if left == 0 {
            let (rule, value) = if by_ratio < self.limits.unpacked {
                let stored = self.payload.len();
                (Rule::LimitRatio, format!("{stored} bytes unpack to more than {by_ratio}"))
            } else {
                (Rule::LimitUnpacked, format!("it is larger than {most} bytes"))
            };
            self.stop(rule, Place::Archive(self.out), value);
        }
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// One step of inflation into `out`; returns the bytes written, 0 at the end.
    fn step(&mut self, out: &mut [u8]) -> usize {
        while !self.ended && !self.stopped && !out.is_empty() {
            let allowance = self.allowance();
            let length = out.len().min(allowance);
            let Some(part) = out.get_mut(..length).filter(|part| !part.is_empty()) else {
                return 0;
            };
            let input = self.payload.get(self.at..).unwrap_or_default();
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(input, part, FlushDecompress::None);
            let used = self.inflate.total_in() - before_in;
            let made = self.inflate.total_out() - before_out;
            self.at += usize::try_from(used).unwrap_or(0);
            let made = usize::try_from(made).unwrap_or(0);
            self.crc.update(part.get(..made).unwrap_or_default());
            self.out += widen(made);
            let place = Place::File(self.base + widen(self.at));
            match status {
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(_) if used == 0 && made == 0 => {
                    let value = format!("the stream ends after {} bytes", self.at);
                    self.stop(Rule::GzipStream, place, value);
                }
                Ok(_) => {}
                Err(error) => {
                    self.stop(Rule::GzipStream, place, error.to_string());
                }
            }
            if made > 0 {
                return made;
            }
        }
        0
    }

    /// Whether the deflate stream was read to its end.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Checks what follows the deflate stream, after it was read to its end.
    pub(crate) fn finish(self, report: &mut Report) -> Result<GzipLayout, Problem> {
        let deflate = widen(self.at.saturating_sub(self.header.length));
        let rest = self.payload.get(self.at..).unwrap_or_default();
        let place = |more: usize| Place::File(self.base + widen(self.at + more));
        let mut layout = GzipLayout { header: self.header, deflate, crc: 0, padding: 0 };
        let Some(&[c0, c1, c2, c3, l0, l1, l2, l3]) = rest.first_chunk::<TRAILER>() else {
            let value = format!("the trailer has {} of 8 bytes", rest.len());
            report.note(Rule::GzipCheck, place(rest.len()), value)?;
            return Ok(layout);
        };
        layout.crc = u32::from_le_bytes([c0, c1, c2, c3]);
        if layout.crc != self.crc.sum() {
            let value = format!("CRC {:08x}, computed {:08x}", layout.crc, self.crc.sum());
            report.note(Rule::GzipCheck, place(0), value)?;
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if length != self.crc.amount() {
            let value = format!("length {length}, unpacked {}", self.crc.amount());
            report.note(Rule::GzipCheck, place(4), value)?;
        }
        let tail = rest.get(TRAILER..).unwrap_or_default();
        layout.padding = widen(tail.len());
        if let Some(index) = tail.iter().position(|b| *b != 0) {
            let byte = tail.get(index).copied().unwrap_or_default();
            let value = format!("byte {byte:#04x} follows the gzip member");
            report.note(Rule::GzipTrailing, place(TRAILER + index), value)?;
        }
        Ok(layout)
    }
}

impl<'a> Stream<'a> for GzipStream<'a> {
    fn position(&self) -> u64 {
        self.out
    }

    fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(rest) = out.get_mut(filled..) {
            let made = self.step(rest);
            if made == 0 {
                break;
            }
            filled += made;
        }
        filled
    }

    fn skip(&mut self, count: u64) -> u64 {
        let mut scratch = vec![0; 64 << 10];
        let mut skipped = 0;
        while skipped < count {
            let left = usize::try_from(count - skipped).unwrap_or(usize::MAX);
            let length = left.min(scratch.len());
            let made = self.fill(scratch.get_mut(..length).unwrap_or_default());
            skipped += widen(made);
            if made < length {
                break;
            }
        }
        skipped
    }

    fn take(&mut self, count: u64, hold: bool) -> (Body<'a>, u64) {
        if !hold {
            return (Body::Left, self.skip(count));
        }
        let mut body = Vec::new();
        while widen(body.len()) < count {
            let left = usize::try_from(count - widen(body.len())).unwrap_or(usize::MAX);
            let start = body.len();
            body.resize(start + left.min(STEP), 0);
            let made = self.fill(body.get_mut(start..).unwrap_or_default());
            if start + made < body.len() {
                body.truncate(start + made);
                break;
            }
        }
        body.shrink_to_fit();
        let length = widen(body.len());
        (Body::Held(body), length)
    }

    fn fault(&mut self) -> Option<Problem> {
        self.fault.take()
    }
}
