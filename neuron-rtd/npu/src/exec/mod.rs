//! What each instruction does to the state of its core.
//!
//! An instruction acts at once: it reads all of its operands, then writes all
//! of its results. Time, pipelines and the order of parts of one instruction
//! are left out; waits and updates are the scheduler's.

mod act;
mod control;
mod pe;
mod product;
mod select;
mod vector;

use neuron_core::instance::Arch;
use neuron_core::isa::address::Pattern;
use neuron_core::isa::body::Body;
use neuron_core::isa::code::Dtype;
use neuron_core::isa::{Engine, Instruction, Opcode, Record};

use crate::dma::Job;
use crate::fault::Fault;
use crate::geometry::PARTITIONS;
use crate::hbm::Hbm;
use crate::memory::{OnChip, Operand, Region};
use crate::number::Element;
use crate::program::CoreProgram;
use crate::sync::{Registers, Sync};

/// Everything that one core holds while it runs.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) memory: OnChip,
    pub(crate) sync: Sync,
    pub(crate) array: pe::Array,
    /// Running sums of ACT, one a partition.
    pub(crate) sums: [f32; PARTITIONS],
    pub(crate) registers: [Registers; 5],
}

impl State {
    pub(crate) fn new(arch: Arch) -> Self {
        Self {
            memory: OnChip::new(arch),
            sync: Sync::default(),
            array: pe::Array::default(),
            sums: [0.0; PARTITIONS],
            registers: [[0; 256]; 5],
        }
    }

    pub(crate) fn registers(&self, engine: Engine) -> &Registers {
        let [pe, act, pool, dve, sp] = &self.registers;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
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
}

/// Where an instruction stands, and what surrounds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) engine: Engine,
    pub(crate) slot: usize,
    /// The record after it.
    pub(crate) next: Option<&'a Record>,
    pub(crate) program: &'a CoreProgram,
}

/// What follows an instruction.
#[derive(Debug)]
pub(crate) enum Flow {
    /// The next slot.
    Next,
    /// Another slot.
    Jump(usize),
    /// The engine stops.
    Halt,
    /// The next slot, after a transfer was queued.
    Queue(Job),
}

/// Runs one instruction, without its waits and updates.
pub(crate) fn execute(
    state: &mut State,
    hbm: &Hbm,
    site: Site<'_>,
    instruction: &Instruction,
) -> Result<Flow, Fault> {
    let opcode = instruction.header.opcode;
    let engines = opcode.info().map(|info| info.engines);
    if !engines.is_some_and(|engines| engines.contains(site.engine)) {
        return Err(Fault::Reach("the engine does not have this opcode"));
    }
    let reach = Reach { memory: &state.memory, engine: site.engine };
    match (&instruction.body, opcode) {
        (Body::LoadWeights(body), _) => pe::load(&mut state.array, reach, body)?,
        (Body::MatMul(body), _) => pe::multiply(&mut state.array, &mut state.memory, body)?,
        (Body::Activate(body), _) => {
            act::activate(&mut state.memory, &mut state.sums, body)?;
        }
        (Body::ReadAccumulator(body), Opcode::ACTIVATION_READ_ACCUMULATOR) => {
            act::read_accumulator(&mut state.memory, &state.sums, body)?;
        }
        (Body::Unary(body), Opcode::COPY) => vector::copy(state, site.engine, body)?,
        (Body::Unary(body), Opcode::CAST) => vector::cast(state, site.engine, body)?,
        (Body::Unary(body), Opcode::RECIPROCAL) => vector::reciprocal(state, site.engine, body)?,
        (Body::Unary(body), Opcode::TENSOR_REDUCE | Opcode::TENSOR_REDUCE_ADD_BF16) => {
            vector::reduce(state, site.engine, body)?;
        }
        (Body::TensorTensor(body), Opcode::TENSOR_TENSOR) => {
            vector::tensor_tensor(state, site.engine, body)?;
        }
        (Body::TensorScalar(body), Opcode::TENSOR_SCALAR) => {
            vector::tensor_scalar(state, site.engine, body)?;
        }
        (Body::TensorTensor(body), Opcode::COPY_PREDICATED) => {
            vector::copy_predicated(state, site.engine, body)?;
        }
        (Body::ScalarTensorTensor(body), Opcode::SCALAR_TENSOR_TENSOR) => {
            vector::scalar_tensor_tensor(state, site.engine, body)?;
        }
        (Body::Memset(body), Opcode::MEMSET) => select::memset(state, site.engine, body)?,
        (Body::AffineSelect(body), _) => select::affine_select(state, site.engine, body)?,
        (Body::Iota(body), _) => select::iota(state, site.engine, body)?,
        // The functions are computed, so that no table is needed.
        (Body::TableLoad(_) | Body::EventSemaphore(_) | Body::Drain(_) | Body::Nop(_), _)
        | (Body::Notify(_) | Body::SetOrdering(_) | Body::BranchLabel(_), _) => {}
        // Its size was used by the transfer before it.
        (Body::Extension(_), _) => {}
        (Body::Halt(_), _) => return Ok(Flow::Halt),
        (Body::Move(body), _) => control::move_number(state, site.engine, body)?,
        (Body::Alu(body), _) => control::alu(state, site.engine, body)?,
        (Body::Branch(body), _) => return control::branch(state, site, body),
        (Body::RangeClear(body), _) => control::range_clear(&mut state.sync, body)?,
        (Body::PseudoTensorLoad(body), _) => control::tensor_load(state, hbm, site, body)?,
        (Body::DmaDirect(body), _) => {
            return crate::dma::direct(state, site, opcode, body).map(Flow::Queue);
        }
        (Body::DmaTrigger(body), _) => return crate::dma::triggered(site, body).map(Flow::Queue),
        _ => return Err(Fault::Opcode),
    }
    Ok(Flow::Next)
}

/// An engine's view of the memories.
#[derive(Debug, Clone, Copy)]
struct Reach<'a> {
    memory: &'a OnChip,
    engine: Engine,
}

impl Reach<'_> {
    /// Finds an operand where the engine can reach it (neuroncore.md §1.1).
    fn find<const N: usize>(
        self,
        pattern: &Pattern<N>,
        partitions: u8,
        dtype: Dtype,
    ) -> Result<Operand, Fault> {
        let element = Element::of(dtype)?;
        let operand = Operand::find(self.memory, pattern, usize::from(partitions), element)?;
        if self.engine == Engine::Pool && operand.region() == Region::Psum {
            return Err(Fault::Reach("POOL cannot reach PSUM"));
        }
        Ok(operand)
    }
}

/// Operands of one operation have as many elements and partitions.
fn same_size(a: &Operand, b: &Operand) -> Result<(), Fault> {
    if a.elements() != b.elements() || a.partitions() != b.partitions() {
        let (a, b) = ((a.partitions(), a.elements()), (b.partitions(), b.elements()));
        return Err(Fault::shape(format!("{a:?} against {b:?} partitions and elements")));
    }
    Ok(())
}

/// Reads every partition of an operand.
fn read_all(memory: &OnChip, operand: &Operand) -> Vec<Vec<f32>> {
    (0..operand.partitions()).map(|index| operand.read(memory, index)).collect()
}

/// Writes every partition of an operand.
fn write_all(memory: &mut OnChip, operand: &Operand, rows: &[Vec<f32>]) {
    for (index, row) in rows.iter().enumerate() {
        operand.write(memory, index, row);
    }
}

/// A column of fp32, one number a partition, at an address in a record.
fn column(memory: &OnChip, address: u32, partitions: u8, dtype: Dtype) -> Result<Vec<f32>, Fault> {
    let start = neuron_core::isa::address::Addr4(address);
    let pattern = Pattern { start, steps: [1], counts: [1] };
    let operand = Operand::find(memory, &pattern, usize::from(partitions), Element::of(dtype)?)?;
    Ok(read_all(memory, &operand).into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::isa::field::Rest;
    use neuron_core::isa::header::Header;
    use neuron_core::isa::opcode_table::TABLE;

    /// Whether an engine does something with the opcode, rather than refusing
    /// it as such.
    fn runs(opcode: Opcode) -> bool {
        let info = opcode.info().unwrap();
        let (header, body) = (Header::new(opcode), Body::empty(info.kind));
        let instruction = Instruction { header, body, rest: Rest::NONE };
        let mut state = State::new(info.until);
        let program = CoreProgram::default();
        let engine = info.engines.iter().next().unwrap();
        let site = Site { engine, slot: 0, next: None, program: &program };
        let result = execute(&mut state, &Hbm::default(), site, &instruction);
        !matches!(result, Err(Fault::Opcode))
    }

    #[test]
    fn the_table_of_the_docs_is_true() {
        let mut table = String::from("| opcode | name | here |\n|---|---|---|\n");
        for row in TABLE {
            let here = match (runs(row.opcode), row.status) {
                (true, _) => "runs",
                (false, neuron_core::isa::opcode::Status::HeaderOnly) => "unknown layout",
                (false, _) => "decodes only",
            };
            table += &format!("| {:02X} | {} | {here} |\n", row.opcode.0, row.name);
        }
        table += "| others | | unknown |\n";
        let docs = include_str!("../opcodes.md");
        assert_eq!(docs, table, "put this into src/opcodes.md:\n{table}");
    }

    #[test]
    fn an_engine_runs_its_own_opcodes_only() {
        let instruction =
            Instruction::new(Opcode::DRAIN, Body::empty(neuron_core::isa::opcode::Kind::Drain));
        let mut state = State::new(Arch::V3);
        let program = CoreProgram::default();
        let site = Site { engine: Engine::Sp, slot: 0, next: None, program: &program };
        let mut instruction = instruction.unwrap();
        assert!(execute(&mut state, &Hbm::default(), site, &instruction).is_ok());
        instruction.header.opcode = Opcode::MATMUL;
        let error = execute(&mut state, &Hbm::default(), site, &instruction).unwrap_err();
        assert!(matches!(error, Fault::Reach(_)));
    }
}
