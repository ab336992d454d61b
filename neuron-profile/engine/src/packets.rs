//! Starts and ends of DMA packets, matched.
//!
//! Settled on the exports: first in first out by (engine, ring); a packet is
//! listed when it starts and ends inside the execution, but for ring 14 of an
//! engine that had a packet under way when the execution began: of those none
//! is. (The viewer seems to pair what lies inside, so that every pair is off by
//! one and ends before it starts; other rings never had one.) We leave out the
//! same packets, and count them.

use std::collections::VecDeque;

use neuron_core::ntff::notification::{Dma, DmaStep};

use crate::cores::{Core, FETCH_QUEUE};
use crate::row::{PacketRow, rate};
use crate::throughput::Throughput;

/// Engines of a core as a record tells them, and rings.
const RINGS: usize = 32 * 16;

/// Packets of one ring that may be under way (our choice).
const OPEN: usize = 1 << 16;

/// One ring of one engine.
#[derive(Debug, Default)]
struct Ring {
    /// Starts, with the number of the moment in the traffic.
    open: VecDeque<(u64, Option<u64>)>,
    /// None of its packets is listed.
    left_out: bool,
    count: u64,
}

/// Those of one core.
#[derive(Debug)]
pub(crate) struct Packets {
    core: usize,
    rings: Vec<Ring>,
    began: bool,
    pub(crate) traffic: Throughput,
    /// Ends without a start.
    pub(crate) orphans: u64,
    /// Starts given up because too many were under way.
    pub(crate) overflow: u64,
    /// Packets of the execution that are left out as the viewer does.
    pub(crate) left_out: u64,
}

impl Packets {
    pub(crate) fn new(core: usize) -> Self {
        let mut rings = Vec::new();
        rings.resize_with(RINGS, Ring::default);
        Self {
            core,
            rings,
            began: false,
            traffic: Throughput::default(),
            orphans: 0,
            overflow: 0,
            left_out: 0,
        }
    }

    /// A step of an engine. `from` and `to` are the execution.
    pub(crate) fn note(
        &mut self,
        core: &Core,
        dma: Dma,
        time: u64,
        (from, to): (u64, u64),
    ) -> Option<PacketRow> {
        if !self.began && time >= from {
            self.began = true;
            for ring in self.rings.iter_mut().skip(usize::from(FETCH_QUEUE)).step_by(16) {
                ring.left_out = !ring.open.is_empty();
            }
        }
        let inside = time >= from;
        match dma.step {
            DmaStep::Start { queue, .. } => {
                let ring = self.rings.get_mut(place(dma.engine, queue))?;
                if ring.open.len() >= OPEN {
                    ring.open.pop_front();
                    self.overflow += 1;
                }
                let listed = inside && !ring.left_out;
                let moment = listed.then(|| self.traffic.begin(time - from));
                ring.open.push_back((time, moment));
                None
            }
            DmaStep::End { queue, bytes, crc, .. } => {
                let ring = self.rings.get_mut(place(dma.engine, queue))?;
                let Some((start, moment)) = ring.open.pop_front() else {
                    self.orphans += u64::from(inside);
                    return None;
                };
                let Some(moment) = moment else {
                    self.left_out += u64::from(start >= from && time <= to);
                    return None;
                };
                let (start, end) = (start - from, time - from);
                if time > to {
                    self.traffic.end(moment, end, None);
                    return None;
                }
                self.traffic.end(
                    moment,
                    end,
                    Some((rate(bytes, end.saturating_sub(start)), bytes)),
                );
                let index = ring.count;
                ring.count += 1;
                Some(PacketRow {
                    id: 0,
                    core: self.core,
                    engine: dma.device_engine(core.number),
                    queue,
                    kind: core.queue_kinds.get(usize::from(queue)).copied().unwrap_or_default(),
                    index,
                    start,
                    end: end.max(start),
                    bytes,
                    crc,
                })
            }
            _ => None,
        }
    }

    /// Starts without an end.
    pub(crate) fn open(&self) -> u64 {
        self.rings.iter().map(|ring| u64::try_from(ring.open.len()).unwrap_or(0)).sum()
    }
}

fn place(engine: u8, queue: u8) -> usize {
    usize::from(engine & 31) * 16 + usize::from(queue & 15)
}
