//! How full SBUF and PSUM are over time.
//!
//! Settled on the table `instruction_usage` (900 samples equal): a byte is in
//! use from the start of the instruction that writes it to the end of the last
//! one that reads it before it is written again, or to the end of the writer
//! when nobody reads it. Lives that touch are one. DMA does not count. There is
//! a sample at the start of each instruction that writes to the memory, and at
//! each moment when the number of bytes in use changes. A PSUM bank is full
//! when any byte of it is in use. SBUF shares are single precision, the bytes
//! times the inverse of the size.
//!
//! The end of a life is known only when it is over, so samples cannot be told
//! as records pass: they are kept, 16 bytes for each change, and sorted at the
//! end, with 32 bytes for each life in SBUF (our choice: the memory viewer draws
//! them; no export has them). A caller that wants bounded memory leaves this part out
//! ([`Parts::usage`](crate::run::Parts)).

use std::collections::BTreeMap;

use neuron_core::engine::Engine;

use crate::operand::{Memory, Span};

/// Partitions that the viewer samples.
const SAMPLED: [u8; 4] = [0, 32, 64, 96];

/// Bytes of a PSUM bank.
const BANK: u32 = 2048;

/// Banks.
const BANKS: usize = 8;

/// A sample of one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UsageRow {
    /// Shares of SBUF in use.
    Sbuf {
        /// When, ps from the start.
        time: u64,
        /// In partitions 0, 32, 64 and 96.
        shares: [f32; 4],
        /// On average over these.
        average: f32,
    },
    /// Banks of PSUM in use.
    Psum {
        /// When, ps from the start.
        time: u64,
        /// Each of eight.
        banks: [bool; BANKS],
    },
}

/// Bytes of a partition of SBUF that hold what an instruction wrote, until the
/// last one that reads it ends: the life by which fullness is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// When the writer began, ps from the start.
    pub born: u64,
    /// End of the last use, ps.
    pub dies: u64,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
    /// Slot of the writer; the first of several that write at once.
    pub slot: u32,
    /// Its engine.
    pub engine: Engine,
    /// Partition: 0, 32, 64 or 96.
    pub partition: u8,
}

/// Who writes: engine and slot.
pub(crate) type Writer = (Engine, u32);

/// A range of bytes in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Life {
    by: Writer,
    end: u32,
    born: u64,
    /// End of the last use so far.
    dies: u64,
    /// Instructions that are writing it.
    writers: u32,
}

/// The bytes of one partition.
#[derive(Debug, Default)]
struct Bytes {
    lives: BTreeMap<u32, Life>,
}

impl Bytes {
    /// Cuts lives at an address.
    fn cut(&mut self, at: u32) {
        if let Some((_, life)) = self.lives.range_mut(..at).next_back()
            && life.end > at
        {
            let rest = *life;
            life.end = at;
            self.lives.insert(at, rest);
        }
    }

    /// A writer begins. Lives that are over go to `over`.
    fn begin(
        &mut self,
        (start, end): (u32, u32),
        (from, by): (u64, Writer),
        over: &mut impl FnMut(u32, &Life),
    ) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        let inside: Vec<u32> = self.lives.range(start..end).map(|(at, _)| *at).collect();
        let fresh = |end| Life { by, end, born: from, dies: from, writers: 1 };
        let mut next = start;
        let mut lives = Vec::new();
        for at in inside {
            let Some(life) = self.lives.remove(&at) else { continue };
            if next < at {
                lives.push((next, fresh(at)));
            }
            next = life.end;
            if life.writers > 0 || life.dies >= from {
                lives.push((at, Life { writers: life.writers + 1, ..life }));
            } else {
                over(at, &life);
                lives.push((at, fresh(life.end)));
            }
        }
        if next < end {
            lives.push((next, fresh(end)));
        }
        // Neighbours of one age are one again.
        for (at, life) in lives {
            if let Some((_, before)) = self.lives.range_mut(..at).next_back()
                && *before == (Life { end: at, ..life })
            {
                before.end = life.end;
            } else {
                self.lives.insert(at, life);
            }
        }
    }

    /// The writer ends.
    fn end(&mut self, (start, end): (u32, u32), to: u64) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        for (_, life) in self.lives.range_mut(start..end) {
            life.dies = life.dies.max(to);
            life.writers = life.writers.saturating_sub(1);
        }
    }

    fn read(&mut self, (start, end): (u32, u32), to: u64) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        for (_, life) in self.lives.range_mut(start..end) {
            life.dies = life.dies.max(to);
        }
    }
}

/// A change of the bytes in use.
#[derive(Debug, Clone, Copy)]
struct Change {
    time: u64,
    /// Sampled partition, or bank.
    place: u8,
    bytes: i32,
}

/// One core.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    sbuf: [Bytes; 4],
    psum: Bytes,
    sbuf_changes: Vec<Change>,
    psum_changes: Vec<Change>,
    sbuf_writes: Vec<u64>,
    allocations: Vec<Allocation>,
    psum_writes: Vec<u64>,
}

fn signed(bytes: u32) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// A life as two changes.
fn life(changes: &mut Vec<Change>, place: u8, bytes: u32, born: u64, dies: u64) {
    changes.push(Change { time: born, place, bytes: signed(bytes) });
    changes.push(Change { time: dies, place, bytes: -signed(bytes) });
}

/// The same, cut at the banks.
fn bank_lives(changes: &mut Vec<Change>, start: u32, end: u32, born: u64, dies: u64) {
    let mut at = start;
    while at < end {
        let next = (at / BANK + 1).saturating_mul(BANK).min(end);
        if let Some(bank) = u8::try_from(at / BANK).ok().filter(|bank| usize::from(*bank) < BANKS) {
            life(changes, bank, next - at, born, dies);
        }
        at = next;
    }
}

impl Usage {
    /// An instruction began.
    pub(crate) fn begin(&mut self, writes: &[Span], start: u64, by: Writer) {
        for span in writes {
            let range = (span.start, span.end);
            match span.memory {
                Memory::Sbuf => {
                    let changes = &mut self.sbuf_changes;
                    let allocations = &mut self.allocations;
                    for (place, bytes) in sampled(&mut self.sbuf, span) {
                        bytes.begin(range, (start, by), &mut |from, last| {
                            life(changes, place, last.end - from, last.born, last.dies);
                            allocations.push(allocation(place, from, last));
                        });
                    }
                }
                Memory::Psum => {
                    let changes = &mut self.psum_changes;
                    self.psum.begin(range, (start, by), &mut |from, last| {
                        bank_lives(changes, from, last.end, last.born, last.dies);
                    });
                }
            }
        }
    }

    /// It ended; only a row gives a sample.
    pub(crate) fn end(&mut self, reads: &[Span], writes: &[Span], time: (u64, u64), row: bool) {
        let (start, end) = time;
        for span in reads {
            let range = (span.start, span.end);
            match span.memory {
                Memory::Sbuf => {
                    for (_, bytes) in sampled(&mut self.sbuf, span) {
                        bytes.read(range, end);
                    }
                }
                Memory::Psum => self.psum.read(range, end),
            }
        }
        for span in writes {
            let range = (span.start, span.end);
            match span.memory {
                Memory::Sbuf => {
                    for (_, bytes) in sampled(&mut self.sbuf, span) {
                        bytes.end(range, end);
                    }
                }
                Memory::Psum => self.psum.end(range, end),
            }
            if row {
                match span.memory {
                    Memory::Sbuf => self.sbuf_writes.push(start),
                    Memory::Psum => self.psum_writes.push(start),
                }
            }
        }
    }

    /// The samples of SBUF, then those of PSUM, each in order of time; and the
    /// lives in SBUF by partition and time.
    pub(crate) fn finish(mut self, sbuf_bytes: u32) -> (Vec<UsageRow>, Vec<Allocation>) {
        for (place, bytes) in (0..).zip(&self.sbuf) {
            for (start, last) in &bytes.lives {
                life(&mut self.sbuf_changes, place, last.end - start, last.born, last.dies);
                self.allocations.push(allocation(place, *start, last));
            }
        }
        for (start, last) in &self.psum.lives {
            bank_lives(&mut self.psum_changes, *start, last.end, last.born, last.dies);
        }
        let mut rows = Vec::new();
        #[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
        let inverse = 1.0 / sbuf_bytes as f32;
        walk::<4>(self.sbuf_changes, self.sbuf_writes, |time, used| {
            #[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
            let shares = used.map(|bytes| bytes as f32 * inverse);
            let average = shares.iter().sum::<f32>() / 4.0;
            rows.push(UsageRow::Sbuf { time, shares, average });
        });
        walk::<BANKS>(self.psum_changes, self.psum_writes, |time, used| {
            rows.push(UsageRow::Psum { time, banks: used.map(|bytes| bytes > 0) });
        });
        let mut allocations = self.allocations;
        allocations.sort_unstable_by_key(|of| (of.partition, of.born, of.start));
        (rows, allocations)
    }
}

/// A life that is over.
fn allocation(place: u8, start: u32, of: &Life) -> Allocation {
    let partition = SAMPLED.get(usize::from(place)).copied().unwrap_or(0);
    let (engine, slot) = of.by;
    Allocation { born: of.born, dies: of.dies, start, end: of.end, slot, engine, partition }
}

/// The sampled partitions that a span covers, with their places.
fn sampled<'b>(sbuf: &'b mut [Bytes; 4], span: &Span) -> impl Iterator<Item = (u8, &'b mut Bytes)> {
    let (first, channels) = (span.partition, span.channels);
    let all = (0..).zip(sbuf.iter_mut().zip(SAMPLED));
    all.filter(move |(_, (_, partition))| covers(first, channels, *partition))
        .map(|(place, (bytes, _))| (place, bytes))
}

const fn covers(first: u8, channels: u8, partition: u8) -> bool {
    partition >= first && (partition as u16) < first as u16 + channels as u16
}

/// Goes through the changes in order of time; `each` gets the moments of
/// samples.
fn walk<const N: usize>(
    mut changes: Vec<Change>,
    mut writes: Vec<u64>,
    mut each: impl FnMut(u64, [i32; N]),
) {
    changes.sort_by_key(|change| change.time);
    writes.sort_unstable();
    writes.dedup();
    let mut used = [0_i32; N];
    let mut changes = changes.into_iter().peekable();
    let mut writes = writes.into_iter().peekable();
    loop {
        let next = changes.peek().map(|change| change.time);
        let time = match (next, writes.peek().copied()) {
            (Some(change), Some(write)) => change.min(write),
            (Some(time), None) | (None, Some(time)) => time,
            (None, None) => break,
        };
        let before = used;
        while let Some(change) = changes.next_if(|change| change.time == time) {
            if let Some(place) = used.get_mut(usize::from(change.place)) {
                *place = place.saturating_add(change.bytes);
            }
        }
        let wrote = writes.next_if_eq(&time).is_some();
        if wrote || used != before {
            each(time, used);
        }
    }
}
