//! What each instruction does to the state of its core.
//!
//! An instruction acts at once: it reads all of its operands, then writes all
//! of its results. Time, pipelines and the order of parts of one instruction
//! are left out; waits and updates are the scheduler's.

mod accumulate;
mod act;
mod awake;
mod control;
mod gather;
mod kernel;
mod operands;
mod pe;
mod permute;
mod predicate;
mod product;
mod reduce;
mod rows;
mod search;
mod select;
mod state;
mod statistics;
mod vector;

use neuron_core::isa::body::Body;
use neuron_core::isa::code::ImmSource;
use neuron_core::isa::{Engine, Instruction, Opcode, Record};

use crate::collective::{self, Post};
use crate::dma::Job;
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::observer::At;
use crate::program::CoreProgram;
pub(crate) use state::State;

/// Where an instruction stands, and what surrounds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    /// Number of the core, and of all cores.
    pub(crate) core: usize,
    pub(crate) cores: usize,
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
    /// The next slot, after a part was posted. The update of the record comes
    /// with the collective.
    Post(Post),
}

/// Whether only the run itself can tell if an instruction that makes numbers is
/// legal: it takes an address from a register, or needs what another one loaded.
pub(crate) fn checked_late(instruction: &Instruction) -> bool {
    let register = |sources: &[ImmSource]| sources.contains(&ImmSource::REG_PTR);
    match &instruction.body {
        Body::Activate(body) => register(&[body.scale_source]),
        Body::TensorScalar(body) => register(&[body.imm0_source, body.imm1_source]),
        Body::ScalarTensorTensor(body) => register(&[body.imm0_source]),
        Body::RangeSelect(body) => register(&[body.bound0_source, body.bound1_source]),
        Body::ScalarSelect(body) => register(&[body.scalar_source, body.predicate_source]),
        Body::PredicatedScalar(body) => register(&[body.scalar_source]),
        Body::Unary(_) => instruction.header.opcode == Opcode::STREAM_SHUFFLE,
        Body::BufferLoad(_) | Body::Gather(_) => true,
        _ => false,
    }
}

/// Runs one instruction, without its waits and updates. Where the state does not
/// compute, one that makes numbers is checked and makes none.
pub(crate) fn execute(
    state: &mut State,
    hbm: &mut Hbm,
    site: Site<'_>,
    instruction: &Instruction,
) -> Result<Flow, Fault> {
    let opcode = instruction.header.opcode;
    let engines = opcode.info().map(|info| info.engines);
    if !engines.is_some_and(|engines| engines.contains(site.engine)) {
        return Err(Fault::Engine);
    }
    let engine = site.engine;
    match (&instruction.body, opcode) {
        (Body::LoadWeights(body), _) => pe::load(state, body)?,
        (Body::MatMul(body), _) => pe::multiply(state, body)?,
        (Body::Activate(body), _) => act::activate(state, body)?,
        (Body::ActivateQuantize(body), _) => act::quantize(state, body)?,
        (Body::ReadAccumulator(body), _) => accumulate::read(state, engine, body)?,
        (Body::Unary(body), _) => unary(state, engine, opcode, body)?,
        (Body::TensorTensor(body), _) => tensor_tensor(state, engine, opcode, body)?,
        (Body::TensorScalar(body), _) => tensor_scalar(state, engine, opcode, body)?,
        (Body::ScalarTensorTensor(body), _) => match opcode {
            Opcode::TENSOR_TENSOR_SCAN => reduce::scan(state, engine, body)?,
            Opcode::SELECT_REDUCE => accumulate::select_reduce(state, engine, body)?,
            _ => vector::scalar_tensor_tensor(state, engine, opcode, body)?,
        },
        (Body::Statistics(body), _) => match opcode {
            Opcode::BATCH_NORM_AGGREGATE => statistics::aggregate(state, engine, body)?,
            Opcode::MAX8 => search::max8(state, engine, body)?,
            Opcode::FIND_INDEX8 => search::find_index8(state, engine, body)?,
            _ => statistics::stats(state, engine, opcode, body)?,
        },
        (Body::ValueLoad(body), Opcode::MATCH_VALUE_LOAD) => {
            search::load_keys(state, engine, body)?;
        }
        (Body::MatchReplace(body), _) => search::match_replace8(state, engine, body)?,
        (Body::Memset(body), Opcode::MEMSET) => select::memset(state, engine, body)?,
        (Body::Memset(body), Opcode::DVE_READ_INDICES) => {
            search::read_indices(state, engine, body)?;
        }
        (Body::AffineSelect(body), _) => select::affine_select(state, engine, body)?,
        (Body::Iota(body), _) => select::iota(state, engine, body)?,
        (Body::RangeSelect(body), _) => accumulate::range_select(state, engine, body)?,
        (Body::ScalarSelect(body), _) => predicate::select(state, engine, body)?,
        (Body::PredicatedScalar(body), _) => predicate::scalar(state, engine, body)?,
        (Body::LaneReduce(body), _) => permute::lane_reduce(state, engine, opcode, body)?,
        (Body::MaskLoad(body), _) => permute::load_mask(state, body),
        (Body::BufferLoad(body), _) => gather::load(state, engine, body)?,
        (Body::Gather(body), _) => gather::gather(state, engine, body)?,
        // The functions are computed, so that no table is needed.
        (Body::TableLoad(_) | Body::EventSemaphore(_) | Body::Drain(_) | Body::Nop(_), _)
        | (Body::Notify(_) | Body::SetOrdering(_) | Body::BranchLabel(_), _) => {}
        // Its size was used by the transfer before it.
        (Body::Extension(_), _) => {}
        (Body::Halt(_), _) => return Ok(Flow::Halt),
        (Body::Pseudo(body), _) => return control::pseudo(*body),
        (Body::Move(body), _) => control::move_number(state, site.engine, body)?,
        (Body::Alu(body), _) => control::alu(state, site.engine, body)?,
        (Body::Branch(body), _) => return control::branch(state, site, body),
        (Body::RangeClear(body), _) => control::range_clear(&mut state.sync, body)?,
        (Body::PseudoTensorLoad(body), _) => control::tensor_load(state, hbm, site, body)?,
        (Body::TensorLoad(body), _) => control::load(state, hbm, site, body)?,
        (Body::TensorStore(body), _) => control::store(state, hbm, site, body)?,
        (Body::Write(body), _) => control::write(state, hbm, site, body)?,
        (Body::PollSemaphore(body), _) => control::poll(state, hbm, site, body)?,
        (Body::DmaIndirect(body), _) => {
            return crate::dma::indirect(state, site, body).map(Flow::Queue);
        }
        (Body::DmaDirect(body), _) => {
            return crate::dma::direct(state, site, opcode, body).map(Flow::Queue);
        }
        (Body::Collective(body), _) => {
            let at = At { core: site.core, engine, slot: site.slot };
            let update = instruction.header.events();
            let post = collective::post(at, body, update, site.program, site.cores)?;
            return Ok(Flow::Post(post));
        }
        (Body::DmaTrigger(body), _) => return crate::dma::triggered(site, body).map(Flow::Queue),
        _ => return Err(Fault::Opcode),
    }
    Ok(Flow::Next)
}

fn unary(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &neuron_core::isa::body::tensor::Unary,
) -> Result<(), Fault> {
    match opcode {
        Opcode::COPY => vector::copy(state, engine, body),
        Opcode::CAST => vector::cast(state, engine, body),
        Opcode::RECIPROCAL => vector::reciprocal(state, engine, body),
        Opcode::STREAM_SHUFFLE => permute::stream_shuffle(state, engine, body),
        Opcode::STREAM_TRANSPOSE => permute::stream_transpose(state, engine, body),
        Opcode::TENSOR_CUMULATIVE | Opcode::TENSOR_CUMULATIVE_BITVEC => {
            reduce::cumulative(state, engine, opcode, body)
        }
        _ => reduce::reduce(state, engine, opcode, body),
    }
}

fn tensor_tensor(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &neuron_core::isa::body::tensor::TensorTensor,
) -> Result<(), Fault> {
    match opcode {
        Opcode::COPY_PREDICATED | Opcode::CAST_PREDICATED => {
            predicate::copy(state, engine, opcode, body)
        }
        Opcode::BATCH_NORM_BACK_PROP => Err(Fault::Opcode),
        _ => vector::tensor_tensor(state, engine, opcode, body),
    }
}

fn tensor_scalar(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &neuron_core::isa::body::tensor::TensorScalar,
) -> Result<(), Fault> {
    match opcode {
        Opcode::EXPONENTIAL => accumulate::exponential(state, engine, body),
        Opcode::TENSOR_SCALAR_CACHE_REDUCE | Opcode::TENSOR_SCALAR_CACHE_CUMULATIVE => {
            accumulate::cache(state, engine, opcode, body)
        }
        _ => vector::tensor_scalar(state, engine, opcode, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::instance::Arch;
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
        let site = Site { core: 0, cores: 1, engine, slot: 0, next: None, program: &program };
        let result = execute(&mut state, &mut Hbm::default(), site, &instruction);
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
        let engine = Engine::Sp;
        let site = Site { core: 0, cores: 1, engine, slot: 0, next: None, program: &program };
        let mut instruction = instruction.unwrap();
        assert!(execute(&mut state, &mut Hbm::default(), site, &instruction).is_ok());
        instruction.header.opcode = Opcode::MATMUL;
        let error = execute(&mut state, &mut Hbm::default(), site, &instruction).unwrap_err();
        assert_eq!(error, Fault::Engine);
    }
}
