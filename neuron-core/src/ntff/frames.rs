//! The framed files of an inspect run: u32 length, then one message, to the
//! end (ntff.md §1); and how to tell what a `.pb` file is.

use std::io::{Read, Write};

use super::error::{Error, Findings, Result, Rule, Severity};
use prost::Message as _;

use super::messages::{CpuUtil, HostMemUsage, NtraceEvent, NtraceInfo};
use super::reader::{Mode, Options};
use super::schema;
use super::table::Message;
use super::wire::{Fields, Visitor, Walker};
use super::{Finding, Limits, root};

/// Empty frames in a row that are read; a message whose fields are all zero
/// is one, a run of them is a hole in the file (our choice).
const EMPTY: u32 = 16;

/// A file of an inspect run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectFile {
    /// `ntrace.pb`: frames of `NtraceEvent`.
    Events,
    /// `cpu_util.pb`: frames of `CpuUtil`.
    Cpu,
    /// `host_mem.pb`: frames of `HostMemUsage`.
    Memory,
    /// `trace_info.pb`: one bare `NtraceInfo`.
    Run,
}

impl InspectFile {
    /// The message in it.
    pub const fn message(self) -> &'static Message {
        match self {
            Self::Events => &schema::NTRACE_EVENT,
            Self::Cpu => &schema::CPU_UTIL,
            Self::Memory => &schema::HOST_MEM_USAGE,
            Self::Run => &schema::NTRACE_INFO,
        }
    }

    /// Says what a file is by its first bytes (64 KiB are plenty). `whole` says
    /// that they are all of it.
    ///
    /// The files carry no mark, so the schemas are tried on them: the kind is
    /// the one that explains every whole frame, and the most fields of them
    /// (our choice; the sheet's rule of walking to the end of the file would
    /// not work on a cut one).
    pub fn sniff(bytes: &[u8], whole: bool) -> Option<Self> {
        let limits = Limits { decoded: 64 << 20, ..Limits::default() };
        let mut frames = FrameReader::new(bytes, Options { mode: Mode::Lenient, limits });
        let mut fitting = [(Self::Events, true), (Self::Cpu, true), (Self::Memory, true)];
        let mut count = 0_u64;
        while let Ok(Some(frame)) = frames.next_frame() {
            // Zeros read as empty frames; a real file begins with a timestamp.
            if count == 0 && frame.bytes.is_empty() {
                return None;
            }
            count += 1;
            for (kind, fits) in &mut fitting {
                *fits &= explains(frame.bytes, kind.message(), &limits);
            }
        }
        // A limit that no frame of these files comes near, so that the length
        // at the start of a bare message does not pass for one.
        let cut = matches!(frames.findings().list().0.last(), Some(finding)
            if matches!(finding.rule, Rule::FrameCut { length, .. } if length < 1 << 20));
        let clean = frames.findings().list().0.is_empty();
        if count > 0 && (clean || cut || !whole || count > 1) {
            return fitting.iter().find(|(_, fits)| *fits).map(|(kind, _)| *kind);
        }
        is_run(bytes, &limits).then_some(Self::Run)
    }
}

/// Notices unknown fields.
struct Strange(bool);

impl Visitor for Strange {
    fn unknown(&mut self, _: &'static Message, _: u32, _: u64, _: &[u8]) {
        self.0 = true;
    }
}

/// Whether bytes are the start of a run description. It may be cut or damaged:
/// it begins with the version of its data, and of its fields more are explained
/// than not, two at least (our choice).
fn is_run(bytes: &[u8], limits: &Limits) -> bool {
    let message = InspectFile::Run.message();
    let (mut good, mut bad) = (0_u32, 0_u32);
    for raw in Fields::new(bytes, 0, message, limits.nesting) {
        // What cannot be walked is the cut, or damage that hides the rest.
        let Ok(raw) = raw else { break };
        let mut strange = Strange(false);
        let sound = Walker::new(&mut strange, limits).field(&raw, message).is_ok() && !strange.0;
        if good == 0 && (!sound || raw.number != 1) {
            return false;
        }
        *(if sound { &mut good } else { &mut bad }) += 1;
    }
    good >= 2 && good > bad
}

/// Whether the schema accepts a message and knows each of its fields.
fn explains(bytes: &[u8], message: &'static Message, limits: &Limits) -> bool {
    let mut strange = Strange(false);
    Walker::new(&mut strange, limits).message(bytes, 0, message).is_ok() && !strange.0
}

/// A frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Position of the message in the file.
    pub offset: u64,
    /// The message.
    pub bytes: &'a [u8],
}

/// Streams frames; memory is the largest frame.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    options: Options,
    findings: Findings,
    frame: Vec<u8>,
    position: u64,
    /// Bytes read, those of a frame that is not whole too.
    taken: u64,
    /// Empty frames since the last one with bytes.
    empty: u32,
    done: bool,
}

impl<R: Read> FrameReader<R> {
    /// A reader from the first frame on.
    pub fn new(input: R, options: Options) -> Self {
        let findings = Findings::new(options.limits.findings);
        Self {
            input,
            options,
            findings,
            frame: Vec::new(),
            position: 0,
            taken: 0,
            empty: 0,
            done: false,
        }
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Where the last whole frame read so far ends.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes of the file read so far, as [`super::Reader::position`] gives them.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The next whole frame. A file that ends inside one, and a length over
    /// the limit, end the reading: frames have no mark to find the next by.
    ///
    /// # Errors
    ///
    /// A failing input, and in strict mode damage.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>> {
        let offset = self.advance()?;
        Ok(offset.map(|offset| Frame { offset, bytes: &self.frame }))
    }

    /// The next frame as a message. In lenient mode one that does not decode
    /// is noted and left out.
    ///
    /// # Errors
    ///
    /// As [`Self::next_frame`].
    pub fn next_message<M: Framed>(&mut self) -> Result<Option<M>> {
        let limits = self.options.limits;
        while let Some(offset) = self.advance()? {
            let findings = &mut self.findings;
            match root::decode_whole(&self.frame, offset, M::MESSAGE, &limits, findings) {
                Ok(message) => return Ok(Some(message)),
                Err(finding) => self.report(finding).inspect_err(|_| self.done = true)?,
            }
        }
        Ok(None)
    }

    /// Reads the next frame; its position.
    fn advance(&mut self) -> Result<Option<u64>> {
        if self.done {
            return Ok(None);
        }
        self.done = true;
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        let have = self.read(4, &mut frame)?;
        if have == 0 {
            return Ok(None);
        }
        let Some(length) = frame.first_chunk().copied().map(u32::from_le_bytes) else {
            return self.stop(Rule::FrameCut { have, length: 4 });
        };
        self.empty = if length == 0 { self.empty.saturating_add(1) } else { 0 };
        if self.empty > EMPTY {
            return self.stop(Rule::EmptyFrames { limit: EMPTY });
        }
        if length > self.options.limits.frame {
            let limit = self.options.limits.frame;
            return self.stop(Rule::FrameTooLong { length, limit });
        }
        frame.clear();
        let have = self.read(length.into(), &mut frame)?;
        self.frame = frame;
        if have < length.into() {
            return self.stop(Rule::FrameCut { have, length: length.into() });
        }
        let offset = self.position.saturating_add(4);
        self.position = offset.saturating_add(have);
        self.done = false;
        Ok(Some(offset))
    }

    fn stop(&mut self, rule: Rule) -> Result<Option<u64>> {
        self.report(Finding { offset: self.position, rule }).map(|()| None)
    }

    fn report(&mut self, finding: Finding) -> Result<()> {
        if self.options.mode == Mode::Strict && finding.rule.severity() >= Severity::Damage {
            return Err(Error::Broken(finding));
        }
        self.findings.push(finding.offset, finding.rule);
        Ok(())
    }

    fn read(&mut self, length: u64, to: &mut Vec<u8>) -> Result<u64> {
        let offset = self.position;
        // Grows with what is there, not with what the length says.
        let have = self
            .input
            .by_ref()
            .take(length)
            .read_to_end(to)
            .map_err(|source| Error::Io { action: "read", offset, source })?;
        let have = u64::try_from(have).unwrap_or(u64::MAX);
        self.taken = self.taken.saturating_add(have);
        Ok(have)
    }
}

/// A message that has its own framed file.
pub trait Framed: prost::Message + Default {
    /// Its table.
    const MESSAGE: &'static Message;
}

impl Framed for NtraceEvent {
    const MESSAGE: &'static Message = &schema::NTRACE_EVENT;
}

impl Framed for CpuUtil {
    const MESSAGE: &'static Message = &schema::CPU_UTIL;
}

impl Framed for HostMemUsage {
    const MESSAGE: &'static Message = &schema::HOST_MEM_USAGE;
}

/// The bytes of `trace_info.pb`, which has no frame.
pub fn bare(run: &NtraceInfo) -> Vec<u8> {
    run.encode_to_vec()
}

/// Writes one frame.
///
/// # Errors
///
/// A failing output, and a message of 4 GiB or more. `offset` is for the
/// error text.
pub fn write_frame(out: &mut impl Write, message: &impl Framed, offset: u64) -> Result<u64> {
    let bytes = message.encode_to_vec();
    let length = u32::try_from(bytes.len()).map_err(|_| {
        let reason = format!("{} bytes are 4 GiB or more", bytes.len());
        Error::broken(offset, Rule::Write { what: "frame", reason })
    })?;
    let failed = |source| Error::Io { action: "write", offset, source };
    out.write_all(&length.to_le_bytes()).map_err(failed)?;
    out.write_all(&bytes).map_err(failed)?;
    Ok(u64::from(length).saturating_add(4))
}
