//! DMA: transfers, as they are queued by an instruction and done later.
//!
//! A transfer is a walk over runs of bytes on each side: byte k of the source
//! stream becomes byte k of the destination stream, after a change of type or a
//! transpose (isa-layouts.md §5.1, §5.3). Descriptors, rings and engines of the
//! device are left out: they change when bytes move, not where.

mod accumulate;
mod check;
mod indirect;
mod issue;

use crate::fault::Fault;
use crate::hbm::{Hbm, Place};
use crate::memory::OnChip;
use crate::number::Element;

pub(crate) use indirect::indirect;
pub(crate) use issue::{direct, triggered};

/// Most bytes of one transfer (our choice; it bounds the work of a bad record).
pub const MOST_BYTES: u64 = 1 << 30;

/// One side of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The variable.
    pub place: Place,
    /// Offset of the first run, in bytes.
    pub offset: i64,
    /// Bytes of a run.
    pub run: usize,
    /// Steps between runs, in bytes, innermost first.
    pub steps: Vec<i64>,
    /// Counts of runs, innermost first, as many as steps.
    pub counts: Vec<u64>,
}

impl Side {
    /// Runs of the walk; `None` when the side is larger than [`MOST_BYTES`].
    fn runs(&self) -> Option<u64> {
        let runs = self.counts.iter().try_fold(1u64, |runs, count| runs.checked_mul(*count))?;
        let bytes = runs.checked_mul(u64::try_from(self.run).ok()?)?;
        (self.run > 0 && runs > 0 && bytes <= MOST_BYTES).then_some(runs)
    }

    /// Bytes that the walk moves; `None` for none and for more than
    /// [`MOST_BYTES`].
    pub fn bytes(&self) -> Option<usize> {
        usize::try_from(self.runs()?).ok()?.checked_mul(self.run)
    }

    /// Offsets of the runs, in walk order.
    fn offsets(&self) -> Pieces<'_> {
        self.pieces(self.run)
    }

    /// Offsets of pieces of `size` bytes, of which runs are made.
    fn pieces(&self, size: usize) -> Pieces<'_> {
        let indices = vec![0; self.counts.len()];
        let each = self.run.checked_div(size).unwrap_or_default() as u64;
        let left = self.runs().unwrap_or_default().saturating_mul(each);
        Pieces { side: self, size, indices, run: self.offset, inside: 0, left }
    }

    /// The same bytes in the same order, with runs that continue each other as
    /// one.
    fn joined(&self) -> Self {
        let mut joined = self.clone();
        while let (Some(step), Some(count)) = (joined.steps.first(), joined.counts.first()) {
            let whole =
                usize::try_from(*count).ok().and_then(|count| joined.run.checked_mul(count));
            let continued = *count == 1 || i64::try_from(joined.run) == Ok(*step);
            let Some(run) = whole.filter(|run| continued && *run as u64 <= MOST_BYTES) else {
                break;
            };
            joined.run = run;
            joined.steps.remove(0);
            joined.counts.remove(0);
        }
        joined
    }
}

/// See [`Side::pieces`].
#[derive(Debug)]
struct Pieces<'s> {
    side: &'s Side,
    size: usize,
    indices: Vec<u64>,
    /// Offset of the current run, and of the piece in it.
    run: i64,
    inside: usize,
    left: u64,
}

impl Iterator for Pieces<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.run.saturating_add(i64::try_from(self.inside).unwrap_or(i64::MAX));
        self.inside += self.size;
        if self.inside >= self.side.run {
            self.inside = 0;
            let walk = self.side.steps.iter().zip(&self.side.counts);
            for (index, (step, count)) in self.indices.iter_mut().zip(walk) {
                *index += 1;
                if *index < *count {
                    self.run = self.run.saturating_add(*step);
                    break;
                }
                // back to the start of this dimension
                let passed = i64::try_from(*index - 1).unwrap_or(i64::MAX);
                self.run = self.run.saturating_sub(step.saturating_mul(passed));
                *index = 0;
            }
        }
        Some(at)
    }
}

/// What happens to the stream on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// Elements of the first type become elements of the second, through fp32.
    Convert(Element, Element),
    /// Elements of the first type are added to those of the second.
    Add(Element, Element),
    /// Each tile of `rows` x `columns` elements is turned.
    Transpose {
        /// Rows of a tile of the source.
        rows: usize,
        /// Columns of a tile of the source.
        columns: usize,
        /// Bytes of an element.
        element: usize,
    },
}

impl Change {
    /// Bytes that come of so many.
    fn bytes(self, read: usize) -> Result<usize, Fault> {
        match self {
            Self::None => Ok(read),
            Self::Convert(from, to) | Self::Add(from, to) => {
                if !read.is_multiple_of(from.bytes()) {
                    return Err(Fault::shape("the source ends within an element"));
                }
                let bytes = (read / from.bytes()).checked_mul(to.bytes());
                bytes.ok_or_else(|| Fault::shape(format!("{read} bytes")))
            }
            Self::Transpose { rows, columns, element } => {
                let tile = columns.saturating_mul(element).saturating_mul(rows);
                if tile == 0 || !read.is_multiple_of(tile) {
                    return Err(Fault::shape(format!("no whole tiles of {tile} bytes")));
                }
                Ok(read)
            }
        }
    }

    /// What becomes of a stream that fits. Sums are not made here.
    fn apply(self, stream: Vec<u8>) -> Vec<u8> {
        match self {
            Self::None | Self::Add(..) => stream,
            Self::Convert(from, to) => from.convert(&stream, to),
            Self::Transpose { rows, columns, element } => {
                let row = columns.saturating_mul(element);
                let tile = row.saturating_mul(rows).max(1);
                let mut out = Vec::with_capacity(stream.len());
                for tile in stream.chunks_exact(tile) {
                    for column in 0..columns {
                        for row in tile.chunks_exact(row) {
                            let at = column * element;
                            out.extend_from_slice(row.get(at..at + element).unwrap_or_default());
                        }
                    }
                }
                out
            }
        }
    }
}

/// One transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Source.
    pub from: Side,
    /// Destination.
    pub to: Side,
    /// What happens between them.
    pub change: Change,
}

impl Transfer {
    /// Moves the bytes.
    pub(crate) fn perform(&self, memory: &mut OnChip, hbm: &mut Hbm) -> Result<(), Fault> {
        self.check(memory, hbm)?;
        if self.change == Change::None && self.copy(memory, hbm)? {
            return Ok(());
        }
        if let Change::Add(from, to) = self.change {
            return accumulate::add(self, (from, to), memory, hbm);
        }
        let stream = self.change.apply(self::read(&self.from, memory, hbm)?);
        for (offset, run) in self.to.offsets().zip(stream.chunks_exact(self.to.run)) {
            self.to.place.write(memory, hbm, offset, run)?;
        }
        Ok(())
    }
}

/// The bytes of a side, in walk order.
fn read(side: &Side, memory: &OnChip, hbm: &Hbm) -> Result<Vec<u8>, Fault> {
    let bytes = side.bytes();
    let bytes = bytes.ok_or_else(|| Fault::shape(format!("a side with {:?}", side.counts)))?;
    let mut stream = vec![0; bytes];
    for (offset, run) in side.offsets().zip(stream.chunks_exact_mut(side.run)) {
        side.place.read(memory, hbm, offset, run)?;
    }
    Ok(stream)
}

impl Transfer {
    /// Copies piece by piece without a stream between, where the sides are
    /// different memories and the runs of one are made of those of the other;
    /// tells whether they are.
    fn copy(&self, memory: &mut OnChip, hbm: &mut Hbm) -> Result<bool, Fault> {
        // runs of SBUF stay: one lies in one partition
        let (from, to) = match (self.from.place, self.to.place) {
            (Place::Hbm { .. }, Place::Sbuf) => (self.from.joined(), self.to.clone()),
            (Place::Sbuf, Place::Hbm { .. }) => (self.from.clone(), self.to.joined()),
            _ => return Ok(false),
        };
        let (long, size) = (from.run.max(to.run), from.run.min(to.run));
        if size == 0 || !long.is_multiple_of(size) {
            return Ok(false);
        }
        let pieces = from.pieces(size).zip(to.pieces(size));
        if to.place == Place::Sbuf {
            for (at, into) in pieces {
                from.place.read_hbm(hbm, at, memory.sbuf_run_mut(into, size)?)?;
            }
        } else {
            for (at, into) in pieces {
                to.place.write_hbm(hbm, into, memory.sbuf_run(at, size)?)?;
            }
        }
        Ok(true)
    }
}

/// What an instruction gives to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The queue; jobs of one queue are done in order.
    pub queue: String,
    /// The transfers, done in order.
    pub transfers: Vec<Transfer>,
    /// Semaphore that rises once all are done.
    pub semaphore: Option<u8>,
    /// By how much.
    pub increment: u8,
    /// Event that is set once all are done.
    pub event: Option<u8>,
}

impl Job {
    /// Whether all that it writes is SBUF, from HBM.
    pub(crate) fn only_loads(&self) -> bool {
        let load = |transfer: &Transfer| {
            transfer.from.place != Place::Sbuf && transfer.to.place == Place::Sbuf
        };
        self.transfers.iter().all(load)
    }

    /// Bytes that it reads or writes, whichever is more.
    pub(crate) fn bytes(&self) -> u64 {
        let side = |side: &Side| side.bytes().unwrap_or_default() as u64;
        let transfers = self.transfers.iter();
        transfers.map(|transfer| side(&transfer.from).max(side(&transfer.to))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Buffer;
    use neuron_core::instance::Arch;

    fn side(buffer: usize, offset: i64, run: usize, walk: &[(i64, u64)]) -> Side {
        let place = Place::Hbm { buffer, start: 0, size: 64 };
        let (steps, counts) = walk.iter().copied().unzip();
        Side { place, offset, run, steps, counts }
    }

    fn moved(transfer: &Transfer) -> Result<Vec<u8>, Fault> {
        let mut hbm = Hbm { buffers: vec![Buffer::new(64), Buffer::new(64)] };
        let data: Vec<u8> = (0..64).collect();
        hbm.buffers[0].write(0, &data).unwrap();
        transfer.perform(&mut OnChip::new(Arch::V2), &mut hbm)?;
        hbm.buffers[1].to_vec()
    }

    #[test]
    fn strides_differ_on_both_sides() {
        let from = side(0, 8, 2, &[(-4, 3), (16, 2)]);
        let to = side(1, 0, 4, &[(8, 3)]);
        let out = moved(&Transfer { from, to, change: Change::None }).unwrap();
        assert_eq!(out[..20], [8, 9, 4, 5, 0, 0, 0, 0, 0, 1, 24, 25, 0, 0, 0, 0, 20, 21, 16, 17]);
    }

    /// In either direction, with runs of either side made of the other's.
    #[test]
    fn copies_to_and_from_sbuf_follow_both_walks() {
        let sbuf = |offset, run, walk: &[(i64, u64)]| {
            let side = side(0, offset, run, walk);
            Side { place: Place::Sbuf, ..side }
        };
        let data: Vec<u8> = (0..64).collect();
        // runs in HBM and their number, runs in SBUF and their number
        for (run, runs, inner, inners) in [(8, 3, 8, 3), (4, 6, 8, 3), (24, 1, 6, 4), (8, 3, 6, 4)]
        {
            let mut hbm = Hbm { buffers: vec![Buffer::new(64), Buffer::new(64)] };
            hbm.buffers[0].write(0, &data).unwrap();
            let mut memory = OnChip::new(Arch::V2);
            let from = side(0, 2, run, &[(run as i64 + 1, runs)]);
            let there = sbuf(0x4_0000, inner, &[(0x4_0000, inners)]);
            let back = side(1, 0, 24, &[]);
            for (from, to) in [(from.clone(), there.clone()), (there, back)] {
                let transfer = Transfer { from, to, change: Change::None };
                transfer.perform(&mut memory, &mut hbm).unwrap();
            }
            let expected: Vec<u8> = (0..runs as usize)
                .flat_map(|index| data[2 + index * (run + 1)..][..run].to_vec())
                .collect();
            assert_eq!(hbm.buffers[1].to_vec().unwrap()[..24], expected, "{run} {inner}");
        }
    }

    #[test]
    fn tiles_are_turned() {
        let change = Change::Transpose { rows: 2, columns: 3, element: 2 };
        let transfer = Transfer { from: side(0, 0, 12, &[]), to: side(1, 0, 12, &[]), change };
        assert_eq!(moved(&transfer).unwrap()[..12], [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let try_it = |from, to, change| moved(&Transfer { from, to, change }).is_err();
        assert!(try_it(side(0, 0, 8, &[]), side(1, 0, 4, &[]), Change::None));
        assert!(try_it(side(0, 60, 8, &[]), side(1, 0, 8, &[]), Change::None));
        assert!(try_it(side(0, 0, 8, &[(0, 1 << 60)]), side(1, 0, 8, &[]), Change::None));
        assert!(try_it(side(0, 0, 0, &[]), side(1, 0, 0, &[]), Change::None));
        let convert = Change::Convert(Element::Fp32, Element::Bf16);
        assert!(try_it(side(0, 0, 6, &[]), side(1, 0, 2, &[]), convert));
        assert!(!try_it(side(0, 0, 8, &[]), side(1, 0, 4, &[]), convert));
    }
}
