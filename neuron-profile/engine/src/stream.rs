//! All records of a trace in order of time.
//!
//! A section is read through windows of 64 KiB. Within one, times fall now and
//! then (PE mostly, ntff.md §7.3), so a window hands out a record only when
//! [`LAG`] later ones are known. In the real files that is enough for START and
//! END and for updates. A DMA section holds one engine after the other, and
//! explicit records follow behind the others, so a section whose times fall
//! further is read through one window for each of its [classes](class), each
//! over its own part of the section. To tell, each section is looked through
//! once before. Memory depends on the number of sections alone. A record that
//! is out of order within its class is handed out when it comes, and counted.

use std::collections::VecDeque;

use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::notification::Decoder;
use neuron_core::ntff::record::{Record, SIZE};
use neuron_core::ntff::{Calibration, Notification, Section};

use crate::error::Error;
use crate::source::ReadAt;

/// Records that a section looks ahead to put times in order (our choice; real
/// sections need a few).
const LAG: usize = 256;

/// Bytes of the window of a section.
const WINDOW: usize = 64 << 10;

/// A decoded record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Index of its core in the capture.
    pub(crate) core: usize,
    /// Device time in ps.
    pub(crate) time: u64,
    /// What happened.
    pub(crate) what: Notification,
    /// It has the mark that others of its ring are lost.
    pub(crate) lossy: bool,
}

/// Device times, in ps, between which records are wanted; without an end for
/// `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Wanted whatever the others say: two executions may share a moment.
    pub(crate) own: Option<(u64, u64)>,
    /// Later than this.
    pub(crate) after: Option<u64>,
    /// Earlier than this.
    pub(crate) before: Option<u64>,
}

impl Span {
    fn has(self, time: u64) -> bool {
        self.own.is_some_and(|(start, end)| (start..=end).contains(&time))
            || self.after.is_none_or(|after| time > after)
                && self.before.is_none_or(|before| time < before)
    }
}

/// What reading met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Records handed out.
    pub records: u64,
    /// Records of all zero, which are unused slots of a ring.
    pub blank: u64,
    /// Records too far out of order to be put in order.
    pub late: u64,
    /// Records with the mark that earlier or later ones of their ring are lost.
    pub loss_marks: u64,
    /// Bytes that sections name and the file does not have.
    pub missing_bytes: u64,
}

/// Classes of records that are in order of time each: the engine of a DMA
/// record; of others the engine of an explicit one, and all the rest.
const CLASSES: usize = 32;

/// The class of a record.
fn class(dma: bool, record: Record) -> usize {
    let kind = usize::from(record.kind());
    match kind {
        _ if dma => kind,
        4..24 if kind % 4 == 2 => kind / 4,
        _ => 0,
    }
}

/// A section, or a class of its records, being read.
struct Cursor {
    core: usize,
    dma: bool,
    /// The class that is wanted; all for none.
    class: Option<usize>,
    span: Span,
    decoder: Decoder,
    calibration: Calibration,
    /// Next byte of the file, and the end of the section.
    next: u64,
    end: u64,
    window: Vec<u8>,
    used: usize,
    /// Time, what happened, and whether it has a mark of loss.
    ready: VecDeque<(u64, Notification, bool)>,
    last: u64,
}

impl Cursor {
    fn time(&self, record: Record, what: &Notification) -> u64 {
        let clock = match what {
            Notification::Start(start) => self.calibration.engine(start.engine),
            Notification::End(end) => self.calibration.engine(end.engine),
            Notification::Explicit(explicit) => self.calibration.engine(explicit.engine),
            Notification::Dma(dma) => self.calibration.dma(u32::from(dma.engine)),
            Notification::Throttle(_) => self.calibration.throttle(),
            _ => self.calibration.updates(),
        };
        clock.correct(record.time).ps()
    }

    fn refill<S: ReadAt + ?Sized>(
        &mut self,
        source: &S,
        counts: &mut ReadCounts,
    ) -> Result<bool, Error> {
        let left = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(usize::MAX);
        let wanted = left.min(WINDOW) / SIZE * SIZE;
        self.window.resize(wanted, 0);
        self.used = 0;
        let have = source
            .fill_at(self.next, &mut self.window)
            .map_err(|source| Error::Read { offset: self.next, source })?;
        self.window.truncate(have / SIZE * SIZE);
        self.next = self.next.saturating_add(wide(have));
        if have < wanted {
            counts.missing_bytes += self.end.saturating_sub(self.next);
            self.end = self.next;
        }
        Ok(!self.window.is_empty())
    }

    /// Looks ahead.
    fn fill<S: ReadAt + ?Sized>(
        &mut self,
        source: &S,
        counts: &mut ReadCounts,
    ) -> Result<(), Error> {
        while self.ready.len() < LAG {
            let rest = self.window.get(self.used..).unwrap_or_default();
            let Some(bytes) = rest.first_chunk::<SIZE>() else {
                if self.next >= self.end || !self.refill(source, counts)? {
                    return Ok(());
                }
                continue;
            };
            let record = Record::from_bytes(*bytes);
            self.used += SIZE;
            if record.is_blank() {
                counts.blank += u64::from(self.class.is_none());
                continue;
            }
            if self.class.is_some_and(|wanted| wanted != class(self.dma, record)) {
                continue;
            }
            let what = self.decoder.decode(record);
            // The largest number stands for the end of a section.
            let time = self.time(record, &what).min(u64::MAX - 1);
            if !self.span.has(time) {
                continue;
            }
            counts.records += 1;
            let lossy = record.software_loss() || record.hardware_loss();
            counts.loss_marks += u64::from(lossy);
            self.ready.push_back((time, what, lossy));
            let mut at = self.ready.len() - 1;
            while at > 0 && self.ready.get(at - 1).is_some_and(|before| before.0 > time) {
                self.ready.swap(at - 1, at);
                at -= 1;
            }
        }
        Ok(())
    }

    fn head(&self) -> u64 {
        self.ready.front().map_or(u64::MAX, |(time, ..)| *time)
    }

    fn pop<S: ReadAt + ?Sized>(
        &mut self,
        source: &S,
        counts: &mut ReadCounts,
    ) -> Result<Option<Event>, Error> {
        let Some((time, what, lossy)) = self.ready.pop_front() else { return Ok(None) };
        if time < self.last {
            counts.late += 1;
        }
        self.last = self.last.max(time);
        if self.ready.len() < LAG / 2 {
            self.fill(source, counts)?;
        }
        Ok(Some(Event { core: self.core, time, what, lossy }))
    }
}

/// First and last byte of each class in a section.
type Classes = [Option<(u64, u64)>; CLASSES];

/// How a section can be read.
enum Looked {
    /// One window puts it in order; the bytes that are wanted.
    InOrder(u64, u64),
    /// Its classes, each through a window of its own.
    Classes(Box<Classes>),
}

/// Looks whether one window can put a section in order. `None` when it has
/// nothing that is wanted.
fn look_through<S: ReadAt + ?Sized>(
    source: &S,
    mut cursor: Cursor,
    counts: &mut ReadCounts,
) -> Result<Option<Looked>, Error> {
    let mut classes = [None; CLASSES];
    let mut whole: Option<(u64, u64)> = None;
    let mut in_order = true;
    // Latest time of all records but the last few.
    let mut before = VecDeque::with_capacity(LAG);
    let (mut latest, mut sure) = (0, 0);
    let (first, last) = (cursor.next, cursor.end);
    let all = cursor.span == Span::default();
    let mut at = first;
    // What is cut off is counted here, once.
    while cursor.next < cursor.end && cursor.refill(source, counts)? {
        for bytes in cursor.window.as_chunks::<SIZE>().0 {
            let record = Record::from_bytes(*bytes);
            let place = at;
            at = at.saturating_add(wide(SIZE));
            if record.is_blank() {
                continue;
            }
            // not needed any more once it is known not to be in order
            let time = if in_order || !all {
                cursor.time(record, &cursor.decoder.decode(record))
            } else {
                0
            };
            if !cursor.span.has(time) {
                continue;
            }
            whole = Some((whole.map_or(place, |(first, _)| first), at));
            if let Some(class) = classes.get_mut(class(cursor.dma, record)) {
                let (first, _) = class.unwrap_or((place, at));
                *class = Some((first, at));
            }
            if in_order {
                in_order = time >= sure;
                latest = latest.max(time);
                before.push_back(latest);
                if before.len() > LAG / 2 {
                    sure = before.pop_front().unwrap_or(0);
                }
            }
        }
    }
    Ok(match whole {
        _ if !in_order => Some(Looked::Classes(Box::new(classes))),
        // unused slots of a ring are counted too
        _ if all => Some(Looked::InOrder(first, last)),
        whole => whole.map(|(first, end)| Looked::InOrder(first, end)),
    })
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The records of many sections as one.
pub(crate) struct Stream<'s, S: ?Sized> {
    source: &'s S,
    cursors: Vec<Cursor>,
    heads: Heads,
    counts: ReadCounts,
}

/// The cursor whose next record is the earliest: a tree of winners, so that a
/// record costs as many comparisons as the number of cursors has bits.
#[derive(Debug, Default)]
struct Heads {
    /// Time and cursor: node 1 is the winner of all, node `n` that of `2 n` and
    /// `2 n + 1`; the second half are the cursors, the largest time at the end
    /// of one.
    nodes: Vec<(u64, usize)>,
}

impl Heads {
    fn new(heads: impl ExactSizeIterator<Item = u64>) -> Self {
        let leaves = heads.len().next_power_of_two();
        let mut nodes = vec![(u64::MAX, usize::MAX); leaves];
        nodes.extend(heads.zip(0..));
        nodes.resize(leaves * 2, (u64::MAX, usize::MAX));
        let mut tree = Self { nodes };
        for at in (1..leaves).rev() {
            tree.play(at);
        }
        tree
    }

    /// Of equal times the cursor that comes first wins.
    fn play(&mut self, at: usize) {
        if let Some([left, right]) = self.nodes.get(at * 2..).and_then(<[_]>::first_chunk) {
            let winner = if left.0 <= right.0 { *left } else { *right };
            if let Some(node) = self.nodes.get_mut(at) {
                *node = winner;
            }
        }
    }

    fn set(&mut self, cursor: usize, head: u64) {
        let mut at = self.nodes.len() / 2 + cursor;
        if let Some(leaf) = self.nodes.get_mut(at) {
            leaf.0 = head;
        }
        at /= 2;
        while at > 0 {
            self.play(at);
            at /= 2;
        }
    }

    /// The cursor with the earliest record, if there is one.
    fn first(&self) -> Option<usize> {
        let (time, cursor) = self.nodes.get(1)?;
        (*time != u64::MAX).then_some(*cursor)
    }
}

impl<'s, S: ReadAt + ?Sized> Stream<'s, S> {
    /// Sections that hold no records of a known kind, or none of the span, are
    /// left out. `cores` gives index and clocks of a core's number.
    pub(crate) fn new(
        source: &'s S,
        sections: &[Section],
        blobs: u64,
        arch: u64,
        span: Span,
        cores: impl Fn(u32) -> Option<(usize, Calibration)>,
    ) -> Result<Self, Error> {
        let mut stream = Self {
            source,
            cursors: Vec::new(),
            heads: Heads::default(),
            counts: ReadCounts::default(),
        };
        for section in sections {
            let Some(kind) = section.trace_type() else { continue };
            let Some((core, calibration)) = cores(section.core) else { continue };
            if section.size == 0 || kind == TraceType::Explicit {
                continue;
            }
            let start = blobs.saturating_add(section.offset);
            let whole = || Cursor {
                core,
                dma: kind == TraceType::Dma,
                class: None,
                span,
                decoder: Decoder::new(kind, arch),
                calibration: calibration.clone(),
                next: start,
                end: start.saturating_add(section.size),
                window: Vec::new(),
                used: 0,
                ready: VecDeque::with_capacity(LAG),
                last: 0,
            };
            match look_through(source, whole(), &mut stream.counts)? {
                None => {}
                Some(Looked::InOrder(next, end)) => {
                    stream.cursors.push(Cursor { next, end, ..whole() });
                }
                Some(Looked::Classes(classes)) => {
                    for (class, part) in classes.into_iter().enumerate() {
                        if let Some((next, end)) = part {
                            let class = Some(class);
                            stream.cursors.push(Cursor { class, next, end, ..whole() });
                        }
                    }
                }
            }
        }
        for cursor in &mut stream.cursors {
            cursor.fill(source, &mut stream.counts)?;
        }
        stream.heads = Heads::new(stream.cursors.iter().map(Cursor::head));
        Ok(stream)
    }

    pub(crate) const fn counts(&self) -> ReadCounts {
        self.counts
    }

    /// The next record; sections with equal times in the order of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Error> {
        let Some(index) = self.heads.first() else { return Ok(None) };
        let Some(cursor) = self.cursors.get_mut(index) else { return Ok(None) };
        let event = cursor.pop(self.source, &mut self.counts)?;
        self.heads.set(index, cursor.head());
        Ok(event)
    }
}
