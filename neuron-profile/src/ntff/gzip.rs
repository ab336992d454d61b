//! Takes the gzip wrapper off a file, keeping what is whole of a damaged one.
//!
//! Damage of the wrapper ends the stream as the end of the file would; what it
//! was is told afterwards by [`Trouble`]. A failing input stays an error.

use std::cell::RefCell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::{Finding, Rule};

/// What each member starts with: the magic number, and deflate.
pub(super) const MEMBER: [u8; 3] = [0x1f, 0x8b, 0x08];

/// Bytes inflated at a time. No less than the window of deflate: what the
/// inflater holds when the data breaks must fit, to be kept.
const PIECE: usize = 64 << 10;

/// Longest name or comment of a member that is passed over.
const LONGEST_NAME: u64 = 64 << 10;

/// What was wrong with the wrapper, shared with the stream that notices it.
#[derive(Debug, Clone, Default)]
pub(super) struct Trouble(Rc<RefCell<Option<Finding>>>);

impl Trouble {
    pub(super) fn finding(&self) -> Option<Finding> {
        self.0.borrow().clone()
    }

    /// Adds it to the findings of what was in the wrapper.
    pub(super) fn report(&self, findings: &mut Findings) {
        if let Some(finding) = self.finding() {
            findings.push(finding.offset, finding.rule);
        }
    }
}

/// The bytes in one gzip member or several on end.
pub(super) struct Gunzip<R> {
    packed: R,
    /// `None` between members.
    member: Option<Member>,
    ended: bool,
    piece: Vec<u8>,
    /// Bytes of the piece that were handed out, and that there are.
    given: usize,
    filled: usize,
    inflated: u64,
    trouble: Trouble,
}

/// A member that is being inflated.
struct Member {
    inflate: Decompress,
    crc: Crc,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(packed: R, trouble: Trouble) -> Self {
        let piece = vec![0; PIECE];
        Self {
            packed,
            member: None,
            ended: false,
            piece,
            given: 0,
            filled: 0,
            inflated: 0,
            trouble,
        }
    }

    fn end(&mut self, rule: Rule) {
        self.ended = true;
        *self.trouble.0.borrow_mut() = Some(Finding { offset: self.inflated, rule });
    }

    fn cut(&mut self, reason: &str) {
        let inflated = self.inflated;
        self.end(Rule::GzipCut { inflated, reason: reason.to_owned() });
    }

    /// `N` bytes, if there are as many.
    fn exactly<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        match self.packed.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Begins the next member, if there is one.
    fn begin(&mut self) -> io::Result<()> {
        let mut start = Vec::new();
        (&mut self.packed).take(3).read_to_end(&mut start)?;
        if start != MEMBER {
            self.ended = true;
            if !start.is_empty() {
                let more = io::copy(&mut self.packed, &mut io::sink())?;
                let bytes = more.saturating_add(u64::try_from(start.len()).unwrap_or(0));
                self.end(Rule::GzipTrailing { bytes });
            }
        } else if self.pass_header()? {
            self.member = Some(Member { inflate: Decompress::new(false), crc: Crc::new() });
        } else {
            self.cut("its header is cut");
        }
        Ok(())
    }

    /// Passes over a header after its method (RFC 1952 §2.3); tells whether it
    /// is whole.
    fn pass_header(&mut self) -> io::Result<bool> {
        let Some([flags, ..]) = self.exactly::<7>()? else { return Ok(false) };
        if flags & 4 != 0 {
            let Some(length) = self.exactly::<2>()?.map(u16::from_le_bytes) else {
                return Ok(false);
            };
            let mut extra = (&mut self.packed).take(u64::from(length));
            if io::copy(&mut extra, &mut io::sink())? < u64::from(length) {
                return Ok(false);
            }
        }
        for flag in [8, 16] {
            if flags & flag != 0 {
                let mut name = Vec::new();
                (&mut self.packed).take(LONGEST_NAME).read_until(0, &mut name)?;
                if name.last() != Some(&0) {
                    return Ok(false);
                }
            }
        }
        Ok(flags & 2 == 0 || self.exactly::<2>()?.is_some())
    }

    /// Inflates the next piece of the member.
    fn inflate(&mut self, mut member: Member) -> io::Result<()> {
        let input = self.packed.fill_buf()?;
        let at_end = input.is_empty();
        let (taken, given) = (member.inflate.total_in(), member.inflate.total_out());
        let status = member.inflate.decompress(input, &mut self.piece, FlushDecompress::None);
        let count = |from: u64, to: u64| usize::try_from(to - from).unwrap_or(0);
        // Counted for failures too: what stands before the damage is good.
        self.packed.consume(count(taken, member.inflate.total_in()));
        self.given = 0;
        self.filled = count(given, member.inflate.total_out());
        self.inflated = self.inflated.saturating_add(u64::try_from(self.filled).unwrap_or(0));
        member.crc.update(self.piece.get(..self.filled).unwrap_or_default());
        match status {
            Err(error) => self.cut(&error.to_string()),
            Ok(Status::StreamEnd) => {
                let trailer = self.exactly::<8>()?.map(u64::from_le_bytes);
                let found = u64::from(member.crc.amount()) << 32 | u64::from(member.crc.sum());
                match trailer {
                    None => self.cut("its trailer is cut"),
                    Some(trailer) if trailer != found => {
                        self.cut("checksum or length is of other bytes");
                    }
                    Some(_) => {}
                }
            }
            Ok(_) if at_end && self.filled == 0 => self.cut("it ends early"),
            Ok(_) => self.member = Some(member),
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = self.piece.get(self.given..self.filled).unwrap_or_default();
            if !ready.is_empty() || buffer.is_empty() {
                let count = (&mut &*ready).read(buffer)?;
                self.given += count;
                return Ok(count);
            }
            if self.ended {
                return Ok(0);
            }
            match self.member.take() {
                Some(member) => self.inflate(member)?,
                None => self.begin()?,
            }
        }
    }
}
