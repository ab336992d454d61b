//! Jobs on their way: from the record that makes or rings for descriptors to
//! the last change of its semaphore.

use neuron_core::isa::Engine;

use super::emit::Value;
use super::events::Event;
use super::lane::Span;
use super::machine::Machine;
use super::parameters::Ps;
use super::plan::{Kind, Plan};
use super::rings::{Moving, Next, SEMAPHORE_BYTES};
use super::sink::Packet;
use super::split::{self, ENGINES};
use crate::dma::Job;
use crate::observer::At;
use crate::stop::Stop;

/// Bits of the engines of a job.
const ALL_ENGINES: u64 = ENGINES as u64;

impl Machine<'_, '_> {
    /// An instruction gave a job: how long it takes, and when its ring starts.
    pub(super) fn queue(&mut self, at: At, plan: &Plan<'_>, span: &mut Span, job: Job) {
        let parameters = &self.timing.parameters;
        let Some(core) = self.cores.get_mut(at.core) else { return };
        let (cost, descriptors) = (&parameters.dma, &parameters.descriptors);
        let generated = matches!(plan.kind, Kind::Descriptors);
        let hardware = generated && descriptors.hardware && at.engine != Engine::Pool;
        let shares = split::shares(cost, &job, !hardware).to_vec();
        let packets: u64 = shares.iter().map(|share| share.count()).max().unwrap_or_default();
        let (read, written) = split::hbm_bytes(&job);
        core.counts.hbm_read += read;
        core.counts.hbm_written += written;
        let ring = core.rings.ring(&job.queue);
        let dispatched = span.start;
        let mut first = span.end + cost.ring_start;
        if hardware {
            let free = core.rings.generators.get(ring).copied().unwrap_or_default();
            let made = packets * ALL_ENGINES * descriptors.hardware_descriptor;
            span.end = dispatched + descriptors.hardware_length;
            span.ready =
                span.end + super::parameters::by_engine(&parameters.control_gap, at.engine);
            first = (dispatched + descriptors.hardware_start).max(free);
            if let Some(free) = core.rings.generators.get_mut(ring) {
                *free = first + made;
            }
        } else if generated {
            span.start = dispatched + descriptors.software_lead;
            span.end = (span.start + descriptors.software_length)
                .max(core.software + descriptors.software_interval);
            core.software = span.end;
            span.ready = dispatched + descriptors.software_dispatch;
            first = span.end + descriptors.software_start;
        }
        span.read = span.end;
        if generated {
            self.emitter.descriptors(at, span.end, packets + 1);
        }
        let moving = Moving { job, ring, shares, data_left: ENGINES, writes_left: ENGINES };
        let Some(core) = self.cores.get_mut(at.core) else { return };
        let index = core.rings.add(moving);
        self.agenda.push(first, at.core, Event::Doorbell { job: index as u32 });
    }

    pub(super) fn doorbell(&mut self, now: Ps, index: usize, job: usize) {
        let Some(core) = self.cores.get_mut(index) else { return };
        let idle = core.rings.start(job);
        for engine in (0..16u8).filter(|engine| idle >> engine & 1 == 1) {
            self.agenda.push(now, index, Event::Packet { engine });
        }
    }

    /// The bytes of a job are there.
    fn move_data(&mut self, index: usize, job: usize) -> Result<(), Stop> {
        let Some(core) = self.cores.get_mut(index) else { return Ok(()) };
        let Some(moving) = core.rings.job(job) else { return Ok(()) };
        self.moved_bytes = self.moved_bytes.saturating_add(moving.job.bytes());
        if self.moved_bytes > self.timing.limits.moved_bytes {
            return Err(Stop::MovedBytes(self.timing.limits.moved_bytes));
        }
        for transfer in &moving.job.transfers {
            let done = if self.moves {
                transfer.perform(&mut core.state.memory, &mut self.hbm)
            } else {
                transfer.check(&core.state.memory, &self.hbm)
            };
            done.map_err(|fault| {
                let queue = moving.job.queue.clone();
                Stop::Transfer { core: index, queue, fault }
            })?;
        }
        Ok(())
    }

    /// A DMA engine takes its next packet.
    pub(super) fn packet(&mut self, now: Ps, index: usize, engine: u8) -> Result<(), Stop> {
        let cost = &self.timing.parameters.dma;
        let Some(core) = self.cores.get_mut(index) else { return Ok(()) };
        let Some(next) = core.rings.next(engine) else { return Ok(()) };
        core.counts.packets += 1;
        self.packets += 1;
        if self.packets > self.timing.limits.packets {
            return Err(Stop::Packets(self.timing.limits.packets));
        }
        match next {
            Next::Data { ring, packets } => {
                let share = packets.hbm * cost.hbm_fs_per_byte / 1000;
                self.hbm_free = self.hbm_free.max(now) + share;
                let free = (now + packets.length).max(self.hbm_free);
                let end = free + cost.tail;
                let bytes = packets.bytes;
                self.emitter
                    .packet(cost, &Packet { core: index, engine, ring, start: now, end, bytes });
                self.last = self.last.max(end);
                self.agenda.push(free, index, Event::Packet { engine });
            }
            Next::Semaphore { job, ring } => {
                let free = now + cost.descriptor + cost.run;
                let end = free + cost.tail;
                let bytes = SEMAPHORE_BYTES;
                self.emitter
                    .packet(cost, &Packet { core: index, engine, ring, start: now, end, bytes });
                let Some(core) = self.cores.get_mut(index) else { return Ok(()) };
                let time = (end + cost.semaphore).max(core.rings.bus_free);
                core.rings.bus_free = time + cost.bus;
                self.agenda.push(time, index, Event::Semaphore { job: job as u32, share: engine });
                self.agenda.push(free, index, Event::Packet { engine });
                let Some(moving) = core.rings.job(job) else { return Ok(()) };
                moving.data_left = moving.data_left.saturating_sub(1);
                if moving.data_left == 0 {
                    return self.move_data(index, job);
                }
            }
        }
        Ok(())
    }

    /// A write of a DMA engine reached its semaphore.
    pub(super) fn semaphore(&mut self, now: Ps, index: usize, job: usize) -> Result<(), Stop> {
        let Some(core) = self.cores.get_mut(index) else { return Ok(()) };
        let Some(moving) = core.rings.job(job) else { return Ok(()) };
        let done = ENGINES - moving.writes_left;
        moving.writes_left -= 1;
        let (semaphore, event, over) =
            (moving.job.semaphore, moving.job.event, moving.writes_left == 0);
        // each engine adds its part of the whole, 1 of the usual 16
        let part = |engines: usize| usize::from(moving.job.increment) * engines / ENGINES;
        let by = part(done + 1) - part(done);
        let queue = moving.job.queue.clone();
        if over {
            core.rings.remove(job);
        }
        if let Some(id) = semaphore.filter(|_| by > 0) {
            let added = core.state.sync.add(id, i64::try_from(by).unwrap_or(i64::MAX));
            added.map_err(|fault| Stop::Transfer { core: index, queue, fault })?;
            let value = Value::Semaphore(core.state.sync.semaphore(id));
            self.emitter.bus(index, now, id, value);
            self.call(now, index, id);
        }
        let Some(core) = self.cores.get_mut(index) else { return Ok(()) };
        if let Some(id) = event.filter(|_| over) {
            core.state.sync.put_event(id, true);
            self.emitter.bus(index, now, id, Value::Event(true));
            self.call(now, index, id);
        }
        self.last = self.last.max(now);
        Ok(())
    }
}
