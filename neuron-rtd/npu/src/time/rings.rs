//! The DMA engines of a core: 16 engines, each with rings that it serves in
//! turns, a packet at a time; each ring is first in, first out.

use std::collections::VecDeque;

use super::parameters::Ps;
use super::split::{ENGINES, Packets, Share};
use crate::dma::Job;

/// Bytes of the write that changes a semaphore.
pub(super) const SEMAPHORE_BYTES: u32 = 4;

/// A job on its way.
#[derive(Debug, Clone)]
pub(super) struct Moving {
    pub(super) job: Job,
    pub(super) ring: usize,
    pub(super) shares: Vec<Share>,
    /// Engines that still move data.
    pub(super) data_left: usize,
    /// Engines whose semaphore write is not there yet.
    pub(super) writes_left: usize,
}

/// What an engine still does for a job.
#[derive(Debug, Clone)]
struct Work {
    job: usize,
    packets: VecDeque<Packets>,
}

#[derive(Debug, Clone, Default)]
struct Unit {
    /// By ring.
    queues: Vec<VecDeque<Work>>,
    /// Ring that was served last.
    last: usize,
    moving: bool,
}

/// What an engine does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A packet of data.
    Data { ring: usize, packets: Packets },
    /// The write of the semaphore.
    Semaphore { job: usize, ring: usize },
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Rings {
    units: [Unit; ENGINES],
    names: Vec<String>,
    jobs: Vec<Option<Moving>>,
    free: Vec<usize>,
    /// When each ring's generator is free.
    pub(super) generators: Vec<Ps>,
    pub(super) bus_free: Ps,
}

impl Rings {
    /// Number of a ring.
    pub(super) fn ring(&mut self, name: &str) -> usize {
        if let Some(ring) = self.names.iter().position(|known| known == name) {
            return ring;
        }
        self.names.push(name.to_owned());
        self.generators.push(0);
        self.names.len() - 1
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Keeps a job until its doorbell.
    pub(super) fn add(&mut self, moving: Moving) -> usize {
        if let Some(index) = self.free.pop() {
            if let Some(place) = self.jobs.get_mut(index) {
                *place = Some(moving);
            }
            return index;
        }
        self.jobs.push(Some(moving));
        self.jobs.len() - 1
    }

    pub(super) fn job(&mut self, index: usize) -> Option<&mut Moving> {
        self.jobs.get_mut(index)?.as_mut()
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Moving> {
        let moving = self.jobs.get_mut(index)?.take();
        if moving.is_some() {
            self.free.push(index);
        }
        moving
    }

    /// Hands the shares of a job to the engines; gives those that idled.
    pub(super) fn start(&mut self, index: usize) -> u16 {
        let Some(moving) = self.jobs.get(index).and_then(Option::as_ref) else { return 0 };
        let (ring, mut idle) = (moving.ring, 0);
        for (number, (unit, share)) in self.units.iter_mut().zip(&moving.shares).enumerate() {
            if unit.queues.len() <= ring {
                unit.queues.resize_with(ring + 1, VecDeque::new);
            }
            if let Some(queue) = unit.queues.get_mut(ring) {
                let packets = share.packets.iter().copied().collect();
                queue.push_back(Work { job: index, packets });
            }
            if !unit.moving {
                unit.moving = true;
                idle |= 1 << number;
            }
        }
        idle
    }

    /// The next packet of an engine; `None` when it has none and idles.
    pub(super) fn next(&mut self, engine: u8) -> Option<Next> {
        let unit = self.units.get_mut(usize::from(engine))?;
        let rings = unit.queues.len();
        let mut turns = (1..=rings).map(|turn| (unit.last + turn) % rings.max(1));
        let ring = turns.find(|ring| unit.queues.get(*ring).is_some_and(|queue| !queue.is_empty()));
        let Some(ring) = ring else {
            unit.moving = false;
            return None;
        };
        unit.last = ring;
        let queue = unit.queues.get_mut(ring)?;
        let work = queue.front_mut()?;
        let job = work.job;
        let Some(first) = work.packets.front_mut() else {
            queue.pop_front();
            return Some(Next::Semaphore { job, ring });
        };
        let packets = *first;
        first.count -= 1;
        if first.count == 0 {
            work.packets.pop_front();
        }
        Some(Next::Data { ring, packets })
    }
}
