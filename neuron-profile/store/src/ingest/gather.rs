//! Takes rows from the engine and gathers them by lane.

use std::sync::mpsc::SyncSender;

use neuron_core::engine::Engine;
use neuron_core::ntff::Notification;
use profile_engine::cores::Core;
use profile_engine::row::{
    ActiveRow, Edge, InstructionRow, LossRow, NoticeRow, PacketRow, PendingRow, Sink, ThrottleRow,
    ThroughputRow, UpdateRow,
};

use super::tables::{Note, Part, Parts};
use super::{Job, Progress};

/// Rows of a lane that are handed over at once, and become a row group: the
/// texts of a program are in each row group once, those of packets are few.
const RAN: usize = 1 << 19;
const MOVED: usize = 1 << 17;

/// Lanes that fill alike would all be handed over at one moment, and the two
/// threads wait for each other: the first rows of a lane are fewer, by its place
/// among so many, but half a block at least.
const STAGGER: usize = 16;

/// Bytes of rows that wait in all lanes together (our choice).
const WAITING: usize = 256 << 20;

/// Lanes of a core that show an engine: one more than engines, for products.
pub(super) const TRACKS: usize = 6;

/// The writer is gone; its error says why.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopped;

/// An executed instruction; times in ps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) id: u64,
    /// `u32::MAX` for none.
    pub(super) slot: u32,
    pub(super) pc: u32,
    pub(super) wait: u16,
    pub(super) crc_in: u16,
    pub(super) crc_out: u16,
}

/// A packet; times in ps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) id: u64,
    pub(super) index: u64,
    pub(super) bytes: u32,
    pub(super) rate: f32,
    pub(super) crc: u16,
    pub(super) queue: u8,
}

/// Rows of a lane, and how many are handed over next.
struct Waiting<T> {
    rows: Vec<T>,
    next: usize,
}

impl<T> Waiting<T> {
    /// Of the lane `at`, of which blocks have `usual` rows.
    fn new(at: usize, usual: usize) -> Self {
        Self { rows: Vec::new(), next: usual / 2 + usual / 2 / STAGGER * (at % STAGGER + 1) }
    }

    /// Takes the rows and leaves room for a block.
    fn take(&mut self, usual: usize) -> Vec<T> {
        self.next = usual;
        let room = Vec::with_capacity(self.rows.len());
        std::mem::replace(&mut self.rows, room)
    }

    fn bytes(&self) -> usize {
        self.rows.len() * size_of::<T>()
    }
}

/// See the module.
pub(super) struct Gather<'a> {
    cores: &'a [Core],
    send: SyncSender<Job>,
    progress: &'a mut dyn FnMut(Progress),
    told: Progress,
    ran: Vec<Waiting<Ran>>,
    /// By core and engine.
    moved: Vec<((usize, u32), Waiting<Moved>)>,
    last_moved: usize,
    parts: Parts,
    waiting: usize,
}

impl<'a> Gather<'a> {
    pub(super) fn new(
        cores: &'a [Core],
        send: SyncSender<Job>,
        progress: &'a mut dyn FnMut(Progress),
        total_ns: u64,
    ) -> Self {
        Self {
            cores,
            send,
            progress,
            told: Progress { total_ns, ..Progress::default() },
            ran: (0..cores.len() * TRACKS).map(|at| Waiting::new(at, RAN)).collect(),
            moved: Vec::new(),
            last_moved: 0,
            parts: Parts::new(cores.len()),
            waiting: 0,
        }
    }

    fn hand(&self, job: Job) -> Result<(), Stopped> {
        self.send.send(job).map_err(|_| Stopped)
    }

    fn part(&self, part: Option<Part>) -> Result<(), Stopped> {
        part.map_or(Ok(()), |part| self.hand(Job::Part(part)))
    }

    fn hand_ran(&mut self, lane: usize) -> Result<(), Stopped> {
        let Some(rows) = self.ran.get_mut(lane).map(|rows| rows.take(RAN)) else { return Ok(()) };
        self.waiting = self.waiting.saturating_sub(rows.len() * size_of::<Ran>());
        if rows.is_empty() { Ok(()) } else { self.hand(Job::Ran(lane, rows)) }
    }

    fn hand_moved(&mut self, at: usize) -> Result<(), Stopped> {
        let Some(((core, engine), rows)) = self.moved.get_mut(at) else { return Ok(()) };
        let lane = (*core << 32) | usize::try_from(*engine).unwrap_or(0);
        let rows = rows.take(MOVED);
        self.waiting = self.waiting.saturating_sub(rows.len() * size_of::<Moved>());
        if rows.is_empty() { Ok(()) } else { self.hand(Job::Moved(lane, rows)) }
    }

    /// Hands over the largest lane when too much waits.
    fn relieve(&mut self) -> Result<(), Stopped> {
        if self.waiting < WAITING {
            return Ok(());
        }
        let ran = (0..).zip(&self.ran).map(|(at, rows)| (rows.bytes(), at)).max();
        let moved = (0..).zip(&self.moved);
        let moved = moved.map(|(at, (_, rows))| (rows.bytes(), at)).max();
        match (ran, moved) {
            (Some((bytes, at)), other) if other.is_none_or(|(more, _)| bytes >= more) => {
                self.hand_ran(at)
            }
            (_, Some((_, at))) => self.hand_moved(at),
            _ => Ok(()),
        }
    }

    fn tell(&mut self, time: u64) {
        self.told.events += 1;
        if self.told.events.is_multiple_of(1 << 16) {
            self.told.time_ns = time / 1000;
            (self.progress)(self.told);
        }
    }

    /// Hands over what is left.
    pub(super) fn finish(&mut self) -> Result<(), Stopped> {
        for lane in 0..self.ran.len() {
            self.hand_ran(lane)?;
        }
        for at in 0..self.moved.len() {
            self.hand_moved(at)?;
        }
        for part in self.parts.finish() {
            self.hand(Job::Part(part))?;
        }
        self.told.time_ns = self.told.total_ns;
        (self.progress)(self.told);
        Ok(())
    }
}

/// The track of an instruction within its core: products of Tensor have one of
/// their own, as in the viewer.
pub(super) fn track(core: &Core, engine: Engine, slot: Option<u32>) -> usize {
    let product = slot
        .and_then(|slot| core.slot(engine, slot))
        .is_some_and(|slot| slot.role.product && engine == Engine::Pe);
    if product { TRACKS - 1 } else { engine.index() }
}

impl Sink for Gather<'_> {
    type Error = Stopped;

    fn instruction(&mut self, row: &InstructionRow, edges: &[Edge]) -> Result<(), Stopped> {
        let Some(core) = self.cores.get(row.core) else { return Ok(()) };
        let lane = row.core * TRACKS + track(core, row.engine, row.slot);
        if let Some(waiting) = self.ran.get_mut(lane) {
            waiting.rows.push(Ran {
                start: row.start,
                end: row.end,
                id: row.id,
                slot: row.slot.unwrap_or(u32::MAX),
                pc: row.pc,
                wait: row.wait_cycles,
                crc_in: row.crc_in,
                crc_out: row.crc_out,
            });
            self.waiting += size_of::<Ran>();
            if waiting.rows.len() >= waiting.next {
                self.hand_ran(lane)?;
            }
        }
        for edge in edges {
            let part = self.parts.edge(row.core, edge, row.id);
            self.part(part)?;
        }
        self.tell(row.end);
        self.relieve()
    }

    fn packet(&mut self, row: &PacketRow) -> Result<(), Stopped> {
        let key = (row.core, row.engine);
        let at = match self.moved.get(self.last_moved) {
            Some((known, _)) if *known == key => self.last_moved,
            _ => match self.moved.iter().position(|(known, _)| *known == key) {
                Some(at) => at,
                None => {
                    self.moved.push((key, Waiting::new(self.moved.len(), MOVED)));
                    self.moved.len() - 1
                }
            },
        };
        self.last_moved = at;
        if let Some((_, waiting)) = self.moved.get_mut(at) {
            waiting.rows.push(Moved {
                start: row.start,
                end: row.end,
                id: row.id,
                index: row.index,
                bytes: row.bytes,
                rate: row.rate(),
                crc: row.crc,
                queue: row.queue,
            });
            self.waiting += size_of::<Moved>();
            if waiting.rows.len() >= waiting.next {
                self.hand_moved(at)?;
            }
        }
        self.tell(row.end);
        self.relieve()
    }

    fn update(&mut self, row: &UpdateRow) -> Result<(), Stopped> {
        if !row.update.is_semaphore {
            return Ok(());
        }
        let part = self.parts.update(row);
        self.part(part)
    }

    fn throttle(&mut self, row: &ThrottleRow) -> Result<(), Stopped> {
        let part = self.parts.throttle(row);
        self.part(part)
    }

    fn active(&mut self, row: &ActiveRow) -> Result<(), Stopped> {
        let part = self.parts.active(row);
        self.part(part)
    }

    fn throughput(&mut self, row: &ThroughputRow) -> Result<(), Stopped> {
        let part = self.parts.traffic(row);
        self.part(part)
    }

    fn pending(&mut self, row: &PendingRow) -> Result<(), Stopped> {
        let part = self.parts.pending(row);
        self.part(part)
    }

    fn notice(&mut self, row: &NoticeRow) -> Result<(), Stopped> {
        let note = match row.what {
            Notification::Fault(fault) => Note::new(row, 0, &format!("{fault:?}")),
            Notification::Error(report) => Note::new(row, 1, &format!("{report:?}")),
            _ => return Ok(()),
        };
        let part = self.parts.note(note);
        self.part(part)
    }

    fn loss(&mut self, row: &LossRow) -> Result<(), Stopped> {
        let part = self.parts.note(Note::loss(row));
        self.part(part)
    }
}
