//! Records as a device queues them (ntff.md §6).

use neuron_core::isa::Engine;
use neuron_core::ntff::messages::NotificationTraceType as Ring;
use neuron_core::ntff::notification::{
    Direction, Dma, DmaStep, End, Engine as Source, Explicit, ExplicitBody, PC_MASK, Start,
    Throttle, Update,
};
use neuron_core::ntff::{Notification, Ticks};

use super::parameters::{DmaCost, Ps};
use super::sink::{Packet, Sink};
use crate::observer::At;

/// Update modes at completion and at reading show as E0 + mode (ntff.md §6.3).
const UPDATE: u8 = 0xe0;
/// Increment over the bus.
const BUS_INCREMENT: u8 = 0xf3;
/// Set over the bus.
const BUS_SET: u8 = 0xf1;
/// Write, as a range clear shows.
const WRITE: u8 = 0xf9;
/// No checksum (ntff.md §6.3).
const NO_CRC: u16 = 0xffff;
/// Waits are told in cycles of 1.2 GHz on every engine (ntff.md §6.3).
const WAIT_MHZ: u64 = 1200;

/// Times of records begin here, so that no record has time 0.
pub const EPOCH: Ps = 1_000_000_000;

/// Device address of an engine's program: each core and engine has room for
/// every slot that a program counter can tell (our choice).
pub(super) fn program_address(core: usize, engine: Engine) -> u64 {
    (core as u64 * 5 + u64::from(engine.number()) + 1) << 26
}

fn source(engine: Engine) -> Source {
    match engine {
        Engine::Pe => Source::Pe,
        Engine::Act => Source::Act,
        Engine::Pool => Source::Pool,
        Engine::Dve => Source::Dve,
        Engine::Sp => Source::Sp,
    }
}

fn pc(at: At) -> u32 {
    let pc = (program_address(at.core, at.engine) >> 6).wrapping_add(at.slot as u64);
    u32::try_from(pc & u64::from(PC_MASK)).unwrap_or_default()
}

/// Emits records into a sink, if it wants any.
pub(super) struct Emitter<'s> {
    pub(super) sink: &'s mut dyn Sink,
    pub(super) wanted: bool,
}

impl Emitter<'_> {
    fn put(&mut self, core: usize, ring: Ring, time: Ps, notification: Notification) {
        self.sink.record(core, ring, notification.encode(Ticks(EPOCH + time)));
    }

    pub(super) fn start(&mut self, at: At, hint: u8, start: Ps, waited: Ps) {
        if self.wanted {
            let cycles = waited.saturating_mul(WAIT_MHZ) / 1_000_000;
            let wait_cycles = u16::try_from(cycles).unwrap_or(u16::MAX);
            let engine = source(at.engine);
            let body = Start { engine, pc: pc(at), hint, soft_reset: 0, wait_cycles };
            self.put(at.core, Ring::Instruction, start, Notification::Start(body));
        }
    }

    pub(super) fn end(&mut self, at: At, hint: u8, end: Ps) {
        if self.wanted {
            let engine = source(at.engine);
            let body = End { engine, pc: pc(at), hint, crc_in: NO_CRC, crc_out: NO_CRC };
            self.put(at.core, Ring::Instruction, end, Notification::End(body));
        }
    }

    /// Descriptors are made: packets of each engine.
    pub(super) fn descriptors(&mut self, at: At, time: Ps, packets: u64) {
        if self.wanted {
            let body = ExplicitBody::DescriptorsDone {
                engines: u16::MAX,
                upper_engines: at.core % 2 == 1,
                packets_per_engine: u16::try_from(packets).unwrap_or(u16::MAX),
                infer_pc: false,
            };
            let body = Explicit { engine: source(at.engine), pc: pc(at), hint: 1, body };
            self.put(at.core, Ring::Instruction, time, Notification::Explicit(body));
        }
    }

    fn change(&mut self, core: usize, time: Ps, update: Update) {
        if self.wanted {
            self.put(core, Ring::Event, time, Notification::Update(update));
        }
    }

    /// A change that an instruction makes, by its update or wait mode.
    pub(super) fn update(&mut self, at: At, time: Ps, mode: u8, id: u8, value: Value) {
        let mode = match value {
            Value::Passed(_) => mode,
            _ => UPDATE.wrapping_add(mode),
        };
        let engine = Some(source(at.engine));
        self.change(at.core, time, value.update(engine, id, mode));
    }

    pub(super) fn cleared(&mut self, at: At, time: Ps, first: u8, last: u8) {
        for id in first..=last {
            let engine = Some(source(at.engine));
            self.change(at.core, time, Value::Semaphore(0).update(engine, id, WRITE));
        }
    }

    pub(super) fn bus(&mut self, core: usize, time: Ps, id: u8, value: Value) {
        let mode = if matches!(value, Value::Semaphore(_)) { BUS_INCREMENT } else { BUS_SET };
        self.change(core, time, value.update(None, id, mode));
    }

    pub(super) fn throttle(&mut self, core: usize, time: Ps, body: Throttle) {
        if self.wanted {
            self.put(core, Ring::Throttle, time, Notification::Throttle(body));
        }
    }

    pub(super) fn packet(&mut self, cost: &DmaCost, packet: &Packet) {
        self.sink.packet(packet);
        if !self.wanted {
            return;
        }
        // cores in pairs: 16 engines each, of 32 numbers
        let engine = packet.engine + if packet.core % 2 == 1 { 16 } else { 0 };
        let queue = u8::try_from(packet.ring % 16).unwrap_or_default();
        let (read, write) = (Direction::Read, Direction::Write);
        let bytes = packet.bytes.min(0xff_ffff);
        let steps = [
            (packet.start, DmaStep::Start { direction: read, queue, metadata: 0 }),
            (packet.end, DmaStep::End { direction: write, queue, bytes, crc: 0 }),
            (packet.end + cost.completion, DmaStep::Completion { direction: write, queue }),
        ];
        for (time, step) in steps {
            self.put(packet.core, Ring::Dma, time, Notification::Dma(Dma { engine, step }));
        }
    }
}

/// What a semaphore or event has become.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Semaphore(u32),
    Event(bool),
    /// An event that a wait changed.
    Passed(bool),
}

impl Value {
    fn update(self, engine: Option<Source>, id: u8, mode: u8) -> Update {
        let (is_semaphore, value) = match self {
            Self::Semaphore(value) => (true, value),
            Self::Event(set) | Self::Passed(set) => (false, u32::from(set)),
        };
        Update { engine, id, is_semaphore, double_set_or_clear: false, mode, value }
    }
}
