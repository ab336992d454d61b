//! One pass over the records: rows to a taker, sums to the totals.
//!
//! Memory: what is under way, the programs, and a few bounded windows; it does
//! not grow with the records. The one exception is [`Parts::usage`].

use neuron_core::engine::Engine;
use neuron_core::ntff::Notification;

use crate::capture::Capture;
use crate::dram::TensorUse;
use crate::error::Error;
use crate::instructions::{Instructions, Whole};
use crate::layer::Layers;
use crate::packets::Packets;
use crate::row::{
    ActiveRow, LossRow, NoticeRow, PacketRow, PendingRow, Sink, ThrottleRow, ThroughputRow,
    UpdateRow,
};
use crate::source::ReadAt;
use crate::stream::Event;
use crate::totals::Totals;
use crate::union::Union;
use crate::usage::{Allocation, Usage, UsageRow};

/// Which costly parts are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// Samples of SBUF and PSUM, which are kept until the end: 16 bytes for
    /// each write and for each end of a use.
    pub usage: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { usage: true }
    }
}

/// What is known when the last record was seen.
#[derive(Debug)]
pub struct Outcome {
    /// Sums.
    pub totals: Totals,
    /// Samples of the memories of each core; empty when left out.
    pub usage: Vec<Vec<UsageRow>>,
    /// Lives in SBUF of each core, by partition and time; empty in the same way.
    pub allocations: Vec<Vec<Allocation>>,
    /// What was done to the tensors of each core, as [`crate::Core::tensors`]
    /// lists them.
    pub tensors: Vec<Vec<TensorUse>>,
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The trace.
    #[error(transparent)]
    Trace(#[from] Error),
    /// The taker.
    #[error("{0}")]
    Taker(E),
}

/// State of one core.
struct CoreState {
    instructions: Instructions,
    packets: Packets,
    active: [Union; 5],
    layers: Layers,
    tensors: Vec<TensorUse>,
    usage: Option<Usage>,
    pending: u64,
    throttle: Option<ThrottleRow>,
}

struct Run<'a, 's, S: ?Sized, K> {
    capture: &'a Capture<'s, S>,
    sink: &'a mut K,
    states: Vec<CoreState>,
    totals: Totals,
    instructions: u64,
    packets: u64,
}

/// Reads the records of an execution once.
///
/// # Errors
///
/// A trace that cannot be read, and whatever the taker fails with.
pub fn run<S: ReadAt + ?Sized, K: Sink>(
    capture: &Capture<'_, S>,
    parts: Parts,
    sink: &mut K,
) -> Result<Outcome, RunError<K::Error>> {
    let states = (0..)
        .zip(&capture.cores)
        .map(|(index, core)| CoreState {
            instructions: Instructions::new(index, core),
            packets: Packets::new(index),
            active: Default::default(),
            layers: Layers::new(index, &core.name, &core.layers),
            tensors: core.tensors.unused(),
            usage: parts.usage.then(Usage::default),
            pending: 0,
            throttle: None,
        })
        .collect();
    let totals = Totals::new(capture.cores.len());
    let mut run = Run { capture, sink, states, totals, instructions: 0, packets: 0 };
    let mut stream = capture.stream()?;
    while let Some(event) = stream.next()? {
        run.event(event).map_err(RunError::Taker)?;
    }
    run.totals.unmatched.read = stream.counts();
    run.finish().map_err(RunError::Taker)
}

impl<S: ReadAt + ?Sized, K: Sink> Run<'_, '_, S, K> {
    fn event(&mut self, event: Event) -> Result<(), K::Error> {
        let Event { core, time, what, lossy } = event;
        let (from, to) = (self.capture.start, self.capture.end);
        let Some(of) = self.capture.cores.get(core) else { return Ok(()) };
        let Some(state) = self.states.get_mut(core) else { return Ok(()) };
        let inside = (from..=to).contains(&time);
        if lossy && inside {
            self.sink.loss(&LossRow { core, time: time - from })?;
        }
        match what {
            Notification::Start(start) => {
                let id = inside.then(|| {
                    self.instructions += 1;
                    self.instructions
                });
                state.instructions.begin(of, start, time, id);
                let place = of.program(start.engine).slot_of(start.pc);
                let slot = place.and_then(|slot| of.slot(start.engine, slot));
                if let (Some(usage), Some(slot)) = (&mut state.usage, slot)
                    && inside
                {
                    let by = (start.engine, place.unwrap_or(u32::MAX));
                    usage.begin(&slot.writes, time - from, by);
                }
                if inside && slot.is_some_and(|slot| slot.role.triggers_dma) {
                    state.pending += 1;
                    let row = PendingRow { core, time: time - from, value: state.pending };
                    self.sink.pending(&row)?;
                }
                Ok(())
            }
            Notification::End(end) => {
                let Some(whole) = state.instructions.end(of, end, time, from) else {
                    return Ok(());
                };
                let row = &whole.row;
                let slot = row.slot.and_then(|slot| of.slot(row.engine, slot));
                if let (Some(usage), Some(slot)) = (&mut state.usage, slot)
                    && row.id > 0
                {
                    let times = (row.start, row.end);
                    usage.end(&slot.reads, &slot.writes, times, time <= to);
                }
                if whole.row.id > 0 && time <= to {
                    return self.instruction(whole);
                }
                state.instructions.reuse(whole.edges);
                Ok(())
            }
            Notification::Dma(dma) => {
                let Some(row) = state.packets.note(of, dma, time, (from, to)) else {
                    return Ok(());
                };
                self.packets += 1;
                let row = PacketRow { id: self.packets, ..row };
                self.totals.packet(&row);
                self.sink.packet(&row)?;
                self.samples(core)
            }
            _ if !inside => Ok(()),
            Notification::Update(update) => {
                state.instructions.update(&update);
                let row = UpdateRow { core, time: time - from, update };
                self.totals.update(core, row.time);
                self.sink.update(&row)
            }
            Notification::Throttle(throttle) => {
                let time = time - from;
                let row = ThrottleRow {
                    core,
                    time,
                    duration: 0,
                    k: throttle.k,
                    n: throttle.n,
                    activity: throttle.activity,
                };
                match state.throttle.replace(row) {
                    Some(before) => self.throttle(before, time),
                    None => Ok(()),
                }
            }
            Notification::Explicit(_) | Notification::Fault(_) | Notification::Error(_) => {
                if let Notification::Explicit(explicit) = what {
                    self.totals.descriptor_notices += u64::from(explicit.packets().is_some());
                }
                self.sink.notice(&NoticeRow { core, time: time - from, what })
            }
            Notification::Unknown { .. } => {
                self.totals.unmatched.unknown_records += 1;
                Ok(())
            }
        }
    }

    fn instruction(&mut self, whole: Whole) -> Result<(), K::Error> {
        let Whole { row, edges } = whole;
        let Some(core) = self.capture.cores.get(row.core) else { return Ok(()) };
        let Some(state) = self.states.get_mut(row.core) else { return Ok(()) };
        let slot = row.slot.and_then(|slot| core.slot(row.engine, slot));
        self.totals.instruction(&row, slot);
        self.totals.unmatched.resident += u64::from(slot.is_none());
        state.layers.note(&row, slot);
        if let Some(at) = row.slot.filter(|_| slot.is_some_and(|slot| slot.moves_tensors)) {
            core.tensors.note(&mut state.tensors, (row.engine, at), (row.start, row.end));
        }
        self.sink.instruction(&row, &edges)?;
        state.instructions.reuse(edges);
        if !slot.is_some_and(|slot| slot.role.waits)
            && let Some(active) = state.active.get_mut(row.engine.index())
        {
            let sink = &mut *self.sink;
            active.add(row.start, row.end, |start, end| {
                sink.active(&ActiveRow { core: row.core, engine: row.engine, start, end })
            })?;
        }
        Ok(())
    }

    /// A limit ended.
    fn throttle(&mut self, row: ThrottleRow, end: u64) -> Result<(), K::Error> {
        let row = ThrottleRow { duration: end.saturating_sub(row.time), ..row };
        self.totals.throttle(&row);
        self.sink.throttle(&row)
    }

    /// Traffic that is ready.
    fn samples(&mut self, core: usize) -> Result<(), K::Error> {
        let Some(state) = self.states.get_mut(core) else { return Ok(()) };
        for (time, rate, total) in state.packets.traffic.ready() {
            self.sink.throughput(&ThroughputRow { core, time, rate, total })?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Outcome, K::Error> {
        let last = self.totals.last;
        for core in 0..self.states.len() {
            let Some(state) = self.states.get_mut(core) else { break };
            state.packets.traffic.finish();
            let unmatched = &mut self.totals.unmatched;
            unmatched.instruction_ends += state.instructions.orphans;
            unmatched.instruction_starts += state.instructions.open();
            unmatched.packet_ends += state.packets.orphans;
            unmatched.packet_starts += state.packets.open();
            unmatched.packets_left_out += state.packets.left_out;
            unmatched.overflow += state.instructions.overflow + state.packets.overflow;
            for (engine, active) in Engine::ALL.into_iter().zip(&mut state.active) {
                let sink = &mut *self.sink;
                active.finish(|start, end| sink.active(&ActiveRow { core, engine, start, end }))?;
            }
            // The viewer ends the last limit with the last record.
            if let Some(row) = state.throttle.take() {
                self.throttle(row, last)?;
            }
            self.samples(core)?;
        }
        let Self { capture, states, mut totals, .. } = self;
        let (mut usage, mut allocations, mut tensors) = (Vec::new(), Vec::new(), Vec::new());
        for state in states {
            tensors.push(state.tensors);
            totals
                .layers
                .extend(state.layers.into_nodes().into_iter().filter(|node| !node.is_empty()));
            if let Some(of) = state.usage {
                let (rows, lives) = of.finish(capture.chip.sbuf_bytes);
                usage.push(rows);
                allocations.push(lives);
            }
        }
        Ok(Outcome { totals, usage, allocations, tensors })
    }
}
