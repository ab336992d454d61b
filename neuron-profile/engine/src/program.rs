//! The captured program of one engine: what is the same for every execution of
//! a slot.

use neuron_core::engine::Engine;
use neuron_core::instance::Arch;
use neuron_core::isa::asm::viewer_operands;
use neuron_core::isa::body::Body;
use neuron_core::isa::event::UpdateMode;
use neuron_core::isa::field::RecordBytes;
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::{Opcode, Record};
use neuron_core::ntff::program::{self, PatchMap};

use crate::debug::{Dependence, Purpose};
use crate::operand::{Span, Traffic};
use crate::waits::SemaphoreWait;

/// What an instruction counts as in the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Role {
    /// Waiting is all it does: no active time. Settled on active_time of the
    /// exports: EVENT_SEMAPHORE alone.
    pub waits: bool,
    /// A product.
    pub product: bool,
    /// ACTIVATE or ACTIVATE_QUANTIZE.
    pub activates: bool,
    /// It starts a DMA.
    pub triggers_dma: bool,
    /// Nothing of the model: left out of `total_exec_time` (profiler.md §2.6).
    pub setup: bool,
}

impl Role {
    fn of(opcode: Opcode) -> Self {
        const ACTIVATE: u8 = 0x21;
        const ACTIVATE_QUANTIZE: u8 = 0x22;
        let name = opcode.to_string();
        Self {
            waits: opcode == Opcode::EVENT_SEMAPHORE,
            product: opcode == Opcode::MATMUL,
            activates: matches!(opcode.0, ACTIVATE | ACTIVATE_QUANTIZE),
            triggers_dma: matches!(opcode, Opcode::DMA_DIRECT2D | Opcode::PSEUDO_DMA_DIRECT2D),
            setup: matches!(
                name.as_str(),
                "NOP"
                    | "SET_ORDERING_MODE"
                    | "EVENT_SEMAPHORE"
                    | "EVENT_SEMAPHORE_RANGE_CLEAR"
                    | "NOTIFY"
                    | "COMPARE_BRANCH"
                    | "DRAIN"
                    | "WRITE"
                    | "TENSOR_LOAD"
                    | "MODIFY_POOL_CONFIG"
            ),
        }
    }
}

/// One instruction slot.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The record as it was loaded.
    pub bytes: RecordBytes,
    /// The record in the NEFF where it is another instruction.
    pub compiled: Option<RecordBytes>,
    /// Its slot in the NEFF; `None` for one that the runtime inserted.
    pub neff_slot: Option<u64>,
    /// Index in [`crate::Core::origins`].
    pub origin: Option<usize>,
    /// Index in [`crate::Core::layers`].
    pub layer: Option<usize>,
    /// Why the compiler made it.
    pub purpose: Purpose,
    /// What it counts as.
    pub role: Role,
    /// What it waits for before it starts.
    pub start_wait: Option<SemaphoreWait>,
    /// What it waits for before it ends (EVENT_SEMAPHORE).
    pub end_wait: Option<SemaphoreWait>,
    /// Semaphores that it changes, by its header and by its second block.
    pub raises: [Option<u8>; 2],
    /// Bytes per execution.
    pub traffic: Traffic,
    /// It loads or stores a tensor in device memory ([`crate::dram`]).
    pub moves_tensors: bool,
    /// Ranges read.
    pub reads: Vec<Span>,
    /// Ranges written.
    pub writes: Vec<Span>,
    /// Slots it takes data from, with the kind.
    pub predecessors: Vec<(Engine, u32, Dependence)>,
}

impl Slot {
    pub(crate) fn new(bytes: RecordBytes, arch: Arch) -> Self {
        let record = Record::decode(arch, &bytes);
        let instruction = record.instruction();
        let second = instruction.and_then(|instruction| match &instruction.body {
            Body::EventSemaphore(body) => Some(body.events),
            _ => None,
        });
        let first = instruction.map(|instruction| instruction.header.events());
        let raises = [first, second].map(|events| {
            let events = events.filter(|events| events.update_mode != UpdateMode(0));
            events.map(|events| events.update_index)
        });
        Self {
            bytes,
            start_wait: first.as_ref().and_then(SemaphoreWait::of),
            end_wait: second.as_ref().and_then(SemaphoreWait::of),
            raises,
            compiled: None,
            neff_slot: None,
            origin: None,
            layer: None,
            purpose: Purpose::default(),
            role: Role::of(record.opcode()),
            traffic: Traffic::default(),
            moves_tensors: false,
            reads: Vec::new(),
            writes: Vec::new(),
            predecessors: Vec::new(),
        }
    }

    /// Opcode and operands as the viewer prints them.
    pub fn text(&self, arch: Arch, names: &SemaphoreNames) -> (String, String) {
        text(arch, &self.bytes, names)
    }

    /// The same for the record of the NEFF, where it is another one.
    pub fn compiled_text(&self, arch: Arch, names: &SemaphoreNames) -> Option<(String, String)> {
        self.compiled.as_ref().map(|bytes| text(arch, bytes, names))
    }
}

fn text(arch: Arch, bytes: &RecordBytes, names: &SemaphoreNames) -> (String, String) {
    let record = Record::decode(arch, bytes);
    (record.opcode().to_string(), viewer_operands(&record, names))
}

/// A captured program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Device address of slot 0.
    pub start_address: u64,
    /// Its slots.
    pub slots: Vec<Slot>,
    /// How they map to the NEFF; `None` where the list cannot be followed.
    pub patch: Option<PatchMap>,
}

impl Program {
    /// The slot of a program counter; `None` for resident code of the runtime.
    pub fn slot_of(&self, pc: u32) -> Option<u32> {
        let slots = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        program::slot(pc, self.start_address, slots).and_then(|slot| u32::try_from(slot).ok())
    }

    /// A slot.
    pub fn slot(&self, index: u32) -> Option<&Slot> {
        self.slots.get(usize::try_from(index).ok()?)
    }
}
