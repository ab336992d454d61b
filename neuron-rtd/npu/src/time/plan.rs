//! An instruction made ready for the clock: what it waits for, what it costs
//! and what it touches. A loop pays for this once.

use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::EventSemaphore;
use neuron_core::isa::code::{ImmSource, TransposeMode};
use neuron_core::isa::event::{Events, Update, Wait};
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::operands::{Area, Common, Extent, Operands};
use super::parameters::{Class, Parameters, Ps, TRIGGER_LEAD, by_engine};
use super::stream;
use super::summary::half_weights;
use crate::exec;
use crate::fault::Fault;
use crate::memory::{MOST_ELEMENTS, Region};
use crate::sync;

/// How an instruction goes through its engine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// LDWEIGHTS: the load at full rate.
    Load(Ps),
    /// MATMUL.
    MatMul {
        /// Its stream at full rate.
        full: Ps,
        /// 2 for each multiplication with an addition, and whether they
        /// transpose.
        flops: u64,
        transposes: bool,
        /// Halves of what they count in the adjusted sum, for each.
        weight: u8,
    },
    /// ACT, DVE and POOL.
    Pipe {
        class: Class,
        /// From begin to end.
        length: Ps,
        /// From begin to the next begin.
        interval: Ps,
        /// The stream alone.
        stream: Ps,
    },
    /// The sequencer alone.
    Control(Ps),
    /// PSEUDO_DMA_TRIGGER: what goes before it, and its own length.
    Trigger(Ps, Ps),
    /// A record that makes descriptors.
    Descriptors,
}

/// A wait, ready to be looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitOn {
    pub(super) wait: Wait,
    pub(super) mode: u8,
    pub(super) index: u8,
    pub(super) value: u32,
}

/// An update, ready to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateOn {
    pub(super) update: Update,
    pub(super) mode: u8,
    pub(super) index: u8,
    pub(super) value: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'p> {
    pub(super) instruction: &'p Instruction,
    pub(super) kind: Kind,
    pub(super) waits: [Option<WaitOn>; 2],
    pub(super) updates: [Option<UpdateOn>; 2],
    pub(super) reads: [Option<Extent>; 2],
    pub(super) write: Option<Extent>,
    /// Banks of PSUM that it touches.
    pub(super) banks: u8,
    pub(super) touches_sbuf: bool,
    /// Numbers only, and whether it is legal was known before the run.
    pub(super) known: bool,
}

fn waits(events: &Events) -> Result<Option<WaitOn>, Fault> {
    let (mode, index, value) = (events.wait_mode, events.wait_index, events.wait_value);
    let wait = sync::wait_of(mode)?;
    let none = matches!(wait, Wait::None | Wait::Unordered);
    Ok((!none).then_some(WaitOn { wait, mode: mode.0, index, value }))
}

fn updates(events: &Events) -> Result<Option<UpdateOn>, Fault> {
    let (mode, index, value) = (events.update_mode, events.update_index, events.update_value);
    let update = sync::update_of(mode)?;
    Ok(update.map(|update| UpdateOn { update, mode: mode.0, index, value }))
}

/// Both blocks of events of an instruction.
fn blocks(instruction: &Instruction) -> [Events; 2] {
    let second = match &instruction.body {
        Body::EventSemaphore(EventSemaphore { events, .. }) => *events,
        _ => Events::default(),
    };
    [instruction.header.events(), second]
}

/// The updates of an instruction.
pub(super) fn all_updates(instruction: &Instruction) -> Result<[Option<UpdateOn>; 2], Fault> {
    let [first, second] = blocks(instruction);
    Ok([updates(&first)?, updates(&second)?])
}

/// Whether it posts to a collective.
pub(super) const fn posts(instruction: &Instruction) -> bool {
    matches!(instruction.body, Body::Collective(_))
}

impl<'p> Plan<'p> {
    pub(super) fn new(
        parameters: &Parameters,
        engine: Engine,
        instruction: &'p Instruction,
    ) -> Result<Self, Fault> {
        let [first, second] = blocks(instruction);
        let operands = Operands::of(instruction);
        let common = Common::of(&operands);
        if common.least == 0 || common.elements > MOST_ELEMENTS {
            let count = if common.least == 0 { 0 } else { common.elements };
            return Err(Fault::shape(format!("{count} elements per partition")));
        }
        let kind = kind(parameters, engine, instruction, &operands, &common);
        let arithmetic = matches!(kind, Kind::Load(_) | Kind::MatMul { .. } | Kind::Pipe { .. });
        Ok(Self {
            instruction,
            kind,
            waits: [waits(&first)?, waits(&second)?],
            updates: [updates(&first)?, updates(&second)?],
            reads: operands.reads.map(|area| area.as_ref().map(Area::extent)),
            write: operands.write.as_ref().map(Area::extent),
            banks: common.banks,
            touches_sbuf: common.touches_sbuf,
            known: arithmetic && !exec::checked_late(instruction),
        })
    }

    /// Whether it posts to a collective.
    pub(super) const fn posts(&self) -> bool {
        posts(self.instruction)
    }

    /// Whether it may write semaphores and events by their address.
    pub(super) const fn touches_any(&self) -> bool {
        let body = &self.instruction.body;
        matches!(body, Body::Write(_) | Body::TensorStore(_) | Body::PollSemaphore(_))
    }

    /// Whether it reads what the other area holds.
    pub(super) fn depends_on(&self, written: &Extent) -> bool {
        self.reads.iter().flatten().any(|area| area.overlaps(written))
    }
}

fn kind(
    parameters: &Parameters,
    engine: Engine,
    instruction: &Instruction,
    operands: &Operands,
    common: &Common,
) -> Kind {
    match &instruction.body {
        Body::LoadWeights(_) => {
            let cycles = stream::load(&parameters.array, instruction);
            return Kind::Load(parameters.cycles(engine, cycles));
        }
        Body::MatMul(body) => {
            let elements = u64::from(body.rows) * u64::from(body.columns) * body.src.elements();
            return Kind::MatMul {
                full: parameters.cycles(engine, stream::matmul(instruction)),
                flops: 2 * elements,
                transposes: body.transpose_mode == TransposeMode::ENABLED,
                weight: half_weights(parameters.arch, body.src_type),
            };
        }
        Body::DmaDirect(_) | Body::DmaIndirect(_) => return Kind::Descriptors,
        Body::DmaTrigger(_) => {
            let length = parameters.control(engine, instruction.header.opcode);
            return Kind::Trigger(by_engine(&TRIGGER_LEAD, engine), length);
        }
        _ => {}
    }
    let Some(class) = class(engine, instruction, common) else {
        return Kind::Control(parameters.control(engine, instruction.header.opcode));
    };
    let work = parameters.work(class);
    let cycles = stream::cycles(parameters.arch, engine, instruction, operands, common);
    let psum = operands.reads.iter().flatten().all(|area| area.region == Region::Psum);
    let mut fixed = if psum { work.from_psum } else { work.from_sbuf };
    if takes_pointer(instruction) {
        fixed += work.pointer;
    }
    // The end of a MEMSET does not wait for the stream where it has a gap (C).
    let posted = class == Class::Memset && work.gap > 0;
    let length = if posted { fixed } else { fixed + cycles };
    let interval =
        if work.gap > 0 { cycles + work.gap } else { cycles.max(parameters.min_interval) };
    Kind::Pipe {
        class,
        length: parameters.cycles(engine, length),
        interval: parameters.cycles(engine, interval),
        stream: parameters.cycles(engine, cycles),
    }
}

/// `None` for what the sequencer does alone.
fn class(engine: Engine, instruction: &Instruction, common: &Common) -> Option<Class> {
    if common.none {
        return None;
    }
    Some(match (&instruction.body, engine) {
        (Body::Memset(_), _) if instruction.header.opcode == Opcode::MEMSET => Class::Memset,
        (_, Engine::Pool) => Class::Pool,
        (Body::Activate(_) | Body::ActivateQuantize(_), _) => Class::Activate,
        (_, Engine::Act) => Class::Copy,
        (Body::Unary(_), _) => match instruction.header.opcode {
            Opcode::TENSOR_REDUCE
            | Opcode::TENSOR_REDUCE_BITVEC
            | Opcode::TENSOR_REDUCE_ADD_BF16
            | Opcode::TENSOR_REDUCE_MAX_BF16 => Class::Reduce,
            _ => Class::Vector,
        },
        _ => Class::Vector,
    })
}

/// A scalar in memory, other than the bias of ACT, which costs nothing (O).
fn takes_pointer(instruction: &Instruction) -> bool {
    match &instruction.body {
        Body::Activate(body) => body.scale_source == ImmSource::PTR,
        Body::TensorScalar(body) => {
            body.imm0_source == ImmSource::PTR || body.imm1_source == ImmSource::PTR
        }
        Body::ScalarTensorTensor(body) => body.imm0_source == ImmSource::PTR,
        _ => false,
    }
}

/// Plans of one stream that ran of late. A loop of up to this many
/// instructions pays for its plans once; a long program keeps few, so that
/// they stay near the processor.
#[derive(Debug, Clone)]
pub(super) struct Plans<'p> {
    recent: Vec<Option<(usize, Plan<'p>)>>,
}

/// Plans that are kept.
const RECENT: usize = 128;

impl<'p> Plans<'p> {
    /// For a stream of so many instructions.
    pub(super) fn new(slots: usize) -> Self {
        Self { recent: vec![None; slots.min(RECENT)] }
    }

    /// The plan of a slot, if it is kept.
    pub(super) fn get(&self, slot: usize) -> Option<&Plan<'p>> {
        let kept = self.recent.get(slot % RECENT)?.as_ref()?;
        (kept.0 == slot).then_some(&kept.1)
    }

    /// The plan of a slot, made if it is not kept.
    pub(super) fn ready(
        &mut self,
        slot: usize,
        make: impl FnOnce() -> Result<Plan<'p>, Fault>,
    ) -> Result<Option<&Plan<'p>>, Fault> {
        let Some(place) = self.recent.get_mut(slot % RECENT) else { return Ok(None) };
        if place.as_ref().is_none_or(|kept| kept.0 != slot) {
            *place = Some((slot, make()?));
        }
        Ok(place.as_ref().map(|kept| &kept.1))
    }
}
