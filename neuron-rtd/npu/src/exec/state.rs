//! Everything that one core holds while it runs.

use neuron_core::instance::Arch;
use neuron_core::isa::Engine;
use neuron_core::isa::event::Events;

use super::pe;
use crate::alu::Unit;
use crate::errors::Errors;
use crate::fault::Fault;
use crate::geometry::PARTITIONS;
use crate::memory::OnChip;
use crate::sync::{Registers, Sync, wait_of};

/// What the vector engine keeps between instructions. All of it is zero at the
/// start of a run (our choice).
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    /// The accumulator, one number a partition.
    pub(crate) accumulator: [f32; PARTITIONS],
    /// Map of STREAM_SHUFFLE, if one was loaded.
    pub(crate) map: Option<[u8; 32]>,
    /// Keys of FIND_INDEX8 and MATCH_REPLACE8.
    pub(crate) keys: [[f32; 8]; PARTITIONS],
    /// Positions that the last search found for each key.
    pub(crate) indices: [[u32; 8]; PARTITIONS],
}

impl Default for Vector {
    fn default() -> Self {
        Self {
            accumulator: [0.0; PARTITIONS],
            map: None,
            keys: [[0.0; 8]; PARTITIONS],
            indices: [[u32::MAX; 8]; PARTITIONS],
        }
    }
}

/// The buffer of POOL for GATHER: a window of a table, as bits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    pub(crate) rows: Vec<Vec<u32>>,
    pub(crate) start: u32,
    pub(crate) mask: u32,
    /// Bytes of an element.
    pub(crate) bytes: usize,
}

/// Everything that one core holds while it runs.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) arch: Arch,
    /// Whether instructions compute. Otherwise those that make numbers are
    /// checked alone, as far as no number decides.
    pub(crate) computes: bool,
    pub(crate) memory: OnChip,
    pub(crate) sync: Sync,
    pub(crate) array: pe::Array,
    /// Running sums of ACT, one a partition.
    pub(crate) sums: [f32; PARTITIONS],
    pub(crate) vector: Vector,
    pub(crate) window: Option<Window>,
    pub(crate) registers: [Registers; 5],
    /// Numerical errors since they were last taken.
    pub(crate) errors: Errors,
    /// Room for rows of operands while an instruction acts.
    pub(crate) rooms: [Vec<f32>; 2],
}

impl State {
    pub(crate) fn new(arch: Arch) -> Self {
        Self {
            arch,
            computes: true,
            memory: OnChip::new(arch),
            sync: Sync::default(),
            array: pe::Array::default(),
            sums: [0.0; PARTITIONS],
            vector: Vector::default(),
            window: None,
            registers: [[0; 256]; 5],
            errors: Errors::default(),
            rooms: Default::default(),
        }
    }

    /// Whether the wait of a block holds for an engine.
    pub(crate) fn holds(&self, engine: Engine, block: &Events) -> Result<bool, Fault> {
        let wait = wait_of(block.wait_mode)?;
        self.sync.holds(wait, block.wait_index, block.wait_value, self.registers(engine))
    }

    /// The update of a block by an engine.
    pub(crate) fn update(&mut self, engine: Engine, block: &Events) -> Result<(), Fault> {
        self.sync.update(block, of(&self.registers, engine))
    }

    pub(crate) fn registers(&self, engine: Engine) -> &Registers {
        of(&self.registers, engine)
    }

    pub(crate) fn registers_mut(&mut self, engine: Engine) -> &mut Registers {
        let [pe, act, pool, dve, sp] = &mut self.registers;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
    }

    pub(crate) fn register(&self, engine: Engine, index: u8) -> u32 {
        self.registers(engine).get(usize::from(index)).copied().unwrap_or_default()
    }

    pub(crate) fn set_register(&mut self, engine: Engine, index: u8, value: u32) {
        if let Some(register) = self.registers_mut(engine).get_mut(usize::from(index)) {
            *register = value;
        }
    }

    /// An engine as the carrier of operations.
    pub(crate) const fn unit(&self, engine: Engine) -> Unit {
        Unit { engine, arch: self.arch }
    }
}

/// The registers of an engine.
const fn of(registers: &[Registers; 5], engine: Engine) -> &Registers {
    let [pe, act, pool, dve, sp] = registers;
    match engine {
        Engine::Pe => pe,
        Engine::Act => act,
        Engine::Pool => pool,
        Engine::Dve => dve,
        Engine::Sp => sp,
    }
}
