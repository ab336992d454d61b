//! Takes the gzip wrapper off a file, keeping what is whole of a damaged one.
//!
//! Damage of the wrapper ends the stream as the end of the file would; what it
//! was is told afterwards by [`Trouble`]. A failing input stays an error.

use std::cell::RefCell;
use std::io::{BufRead, Read};
use std::rc::Rc;

use flate2::bufread::GzDecoder;
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::{Finding, Rule};

/// Bytes inflated at a time. Where deflate data breaks, the inflater may give
/// nothing of the piece that it was at, so pieces are small.
const PIECE: usize = 4 << 10;

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
    /// `None` at the end.
    member: Option<GzDecoder<R>>,
    inflated: u64,
    trouble: Trouble,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(packed: R, trouble: Trouble) -> Self {
        Self { member: Some(GzDecoder::new(packed)), inflated: 0, trouble }
    }

    fn note(&mut self, rule: Rule) {
        self.member = None;
        *self.trouble.0.borrow_mut() = Some(Finding { offset: self.inflated, rule });
    }

    /// Goes on to the next member, if there is one.
    fn next(&mut self) -> std::io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut packed = member.into_inner();
        match packed.fill_buf()?.first() {
            None => {}
            Some(0x1f) => self.member = Some(GzDecoder::new(packed)),
            Some(_) => {
                let bytes = std::io::copy(&mut packed, &mut std::io::sink())?;
                self.note(Rule::GzipTrailing { bytes });
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(PIECE);
        let Some(piece) = buffer.get_mut(..length).filter(|piece| !piece.is_empty()) else {
            return Ok(0);
        };
        while let Some(member) = &mut self.member {
            match member.read(piece) {
                Ok(0) => self.next()?,
                Ok(count) => {
                    self.inflated = self.inflated.saturating_add(u64::try_from(count).unwrap_or(0));
                    return Ok(count);
                }
                // The system has a number for what failed; the inflater none.
                Err(error)
                    if error.raw_os_error().is_some()
                        || error.kind() == std::io::ErrorKind::Interrupted =>
                {
                    return Err(error);
                }
                Err(error) => {
                    let inflated = self.inflated;
                    self.note(Rule::GzipCut { inflated, reason: error.to_string() });
                }
            }
        }
        Ok(0)
    }
}
