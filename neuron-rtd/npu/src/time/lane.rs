//! An engine in time: when its next instruction may begin, and what the one
//! that begins takes.
//!
//! Begin and end are those that a device reports. Everything about the array is
//! reckoned as if its data stood ready when a record begins; see
//! [`ArrayState`].

use neuron_core::isa::{Engine, Opcode};

use super::operands::Extent;
use super::parameters::{Class, Parameters, Ps, by_engine};
use super::plan::{Kind, Plan};
use super::throttle::Throttle;

/// Times of the array, out of its cycles.
#[derive(Debug, Clone, Copy)]
struct ArrayTimes {
    load_fixed: Ps,
    matmul_fixed: Ps,
    load_overlap: Ps,
    buffer: Ps,
    issue: Ps,
    min_stream: Ps,
}

/// Results in flight that a later instruction may need.
const IN_FLIGHT: usize = 4;

/// An engine that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) since: Ps,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastWork {
    class: Option<Class>,
    end: Ps,
    next: Ps,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Port {
    /// Until when the stream uses its memories.
    pub(super) until: Ps,
    pub(super) banks: u8,
    pub(super) sbuf: bool,
}

/// The array between two records.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArrayState {
    /// The front may read the next moving data.
    read: Ps,
    /// The last stream ends.
    free: Ps,
    /// The last stream began, so that the weights behind it may load.
    shadow: Ps,
    /// The last weights are there.
    loaded: Ps,
}

/// One engine of a core.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) engine: Engine,
    /// When it looks at its next instruction; [`Ps::MAX`] for not at all.
    pub(super) next: Ps,
    times: ArrayTimes,
    dependent: Ps,
    gap: Ps,
    /// Least time between two ends of compute instructions.
    least: Ps,
    pub(super) slot: usize,
    /// When the sequencer may look at the next instruction.
    pub(super) ready: Ps,
    pub(super) waiting: Option<Waiting>,
    pub(super) work: LastWork,
    pub(super) port: Port,
    pub(super) array: ArrayState,
    writes: [Option<(Extent, Ps)>; IN_FLIGHT],
    oldest: usize,
    /// Time that instructions took, without overlaps, and until when it is
    /// counted.
    pub(super) busy: Ps,
    counted: Ps,
    pub(super) last_end: Ps,
    pub(super) count: u64,
}

/// What an instruction takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: Ps,
    /// Inputs are read.
    pub(super) read: Ps,
    pub(super) end: Ps,
    /// The sequencer may go on.
    pub(super) ready: Ps,
}

impl Lane {
    pub(super) fn new(parameters: &Parameters, engine: Engine) -> Self {
        let array = &parameters.array;
        let pe = |cycles| parameters.cycles(Engine::Pe, cycles);
        let times = ArrayTimes {
            load_fixed: pe(array.load_fixed),
            matmul_fixed: pe(array.matmul_fixed),
            load_overlap: pe(array.load_overlap),
            buffer: pe(array.buffer),
            issue: pe(array.issue),
            min_stream: pe(array.min_stream),
        };
        let launch = by_engine(&parameters.launch, engine);
        Self {
            engine,
            next: launch,
            times,
            dependent: parameters.cycles(engine, by_engine(&parameters.dependent, engine)),
            gap: by_engine(&parameters.control_gap, engine),
            least: parameters.cycles(engine, parameters.min_interval),
            slot: 0,
            ready: launch,
            waiting: None,
            work: LastWork::default(),
            port: Port::default(),
            array: ArrayState::default(),
            writes: [None; IN_FLIGHT],
            oldest: 0,
            busy: 0,
            counted: 0,
            last_end: 0,
            count: 0,
        }
    }

    /// The first time at which an instruction may begin, by this engine alone.
    pub(super) fn earliest(&self, parameters: &Parameters, plan: &Plan<'_>) -> Ps {
        let dependent = self.dependent;
        let mut time = self.ready;
        match plan.kind {
            Kind::Pipe { class, .. } => {
                time = time.max(self.work.next);
                let other = self.work.class.is_some_and(|last| {
                    last != class && last != Class::Memset && class != Class::Memset
                });
                if parameters.drains && other {
                    time = time.max(self.work.end + dependent);
                }
                for (area, end) in self.writes.iter().flatten() {
                    if *end + dependent > time && plan.depends_on(area) {
                        time = *end + dependent;
                    }
                }
            }
            Kind::MatMul { .. } => time = time.max(self.array.read),
            // a DRAIN waits for everything before it
            Kind::Control(_) if plan.instruction.header.opcode == Opcode::DRAIN => {
                time = time.max(self.last_end);
            }
            _ => {}
        }
        time
    }

    /// Begins an instruction that is no DMA.
    pub(super) fn begin(
        &mut self,
        parameters: &Parameters,
        throttle: &mut Throttle,
        plan: &Plan<'_>,
        start: Ps,
    ) -> Span {
        let (cost, gap) = (self.times, self.gap);
        match plan.kind {
            Kind::Pipe { class, length, interval, stream } => {
                // results leave in order, no faster than instructions come, but
                // those of MEMSET behind MEMSET (C: on DVE and ACT)
                let fills = class == Class::Memset && self.work.class == Some(Class::Memset);
                let least = if fills { 0 } else { self.work.end + self.least };
                let end = (start + length).max(least);
                self.work = LastWork { class: Some(class), end, next: start + interval };
                self.port =
                    Port { until: start + stream, banks: plan.banks, sbuf: plan.touches_sbuf };
                if let Some(area) = plan.write {
                    if let Some(place) = self.writes.get_mut(self.oldest) {
                        *place = Some((area, end));
                    }
                    self.oldest = (self.oldest + 1) % IN_FLIGHT;
                }
                Span { start, read: start + stream, end, ready: start + parameters.issue }
            }
            Kind::Load(full) => {
                let begin = start.max(self.array.shadow);
                // the rate of the array, but loads are no activity of it
                let loaded = begin + throttle.scaled(begin, full);
                self.array.loaded = loaded;
                let end = loaded + cost.load_fixed;
                Span { start, read: loaded, end, ready: start + cost.issue }
            }
            Kind::MatMul { full, .. } => {
                let loaded = self.array.loaded.saturating_sub(cost.load_overlap);
                let begin = start.max(self.array.free).max(loaded);
                let stream = throttle.stream(begin, full);
                let least = begin + cost.min_stream;
                self.array.free = stream.max(least);
                self.array.shadow = begin;
                let ahead = throttle.scaled(begin, cost.buffer);
                let read = start + full;
                self.array.read = read.max(self.array.free.saturating_sub(ahead)).max(least);
                self.port = Port { until: stream, banks: plan.banks, sbuf: true };
                let end = stream + cost.matmul_fixed;
                Span { start, read: stream, end, ready: start + cost.issue }
            }
            Kind::Control(length) => {
                let end = start + length;
                Span { start, read: end, end, ready: end + gap }
            }
            Kind::Trigger(lead, length) => {
                let end = start + lead + length;
                Span { start: start + lead, read: end, end, ready: end + gap }
            }
            Kind::Descriptors => Span { start, read: start, end: start, ready: start },
        }
    }

    /// Counts an instruction. EVENT_SEMAPHORE is no work, as in the active time
    /// of the vendor's exports.
    pub(super) fn account(&mut self, span: &Span, plan: &Plan<'_>) {
        if plan.instruction.header.opcode != Opcode::EVENT_SEMAPHORE {
            self.busy += span.end.saturating_sub(span.start.max(self.counted));
            self.counted = self.counted.max(span.end);
        }
        self.last_end = self.last_end.max(span.end);
        self.count += 1;
    }
}
