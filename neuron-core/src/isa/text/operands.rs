//! Text of each payload: items, words and order.
//!
//! Item order and words are the viewer's for opcodes settled by capture, the
//! published text's for C1 and C8, those of public test code and public notes
//! on profiles for 41, 92, 9D, A7, A8 and offsets in registers
//! (isa-layouts.md §3.4, §3.9, §4.2); all others are ours in the same manner.

use super::{Outcome, Text, control, dma, select, tensor};
use crate::isa::body::Body;
use crate::isa::code::{AluOp, Dtype};
use crate::isa::header::Header;

/// Writes or reads the items of a payload.
pub(crate) fn visit<T: Text>(header: &Header, body: &mut Body, t: &mut T) -> Outcome {
    match body {
        Body::LoadWeights(b) => tensor::load_weights(b, t),
        Body::MatMul(b) => tensor::matmul(b, t),
        Body::Activate(b) => tensor::activate(b, t),
        Body::ActivateQuantize(b) => tensor::activate_quantize(b, t),
        Body::TableLoad(b) => t.item("table_sel", &mut b.table),
        Body::ReadAccumulator(b) => tensor::read_accumulator(b, t),
        Body::TensorTensor(b) => tensor::tensor_tensor(b, t),
        Body::TensorScalar(b) => tensor::tensor_scalar(header.opcode, b, t),
        Body::Unary(b) => tensor::unary(b, t),
        Body::ScalarTensorTensor(b) => tensor::scalar_tensor_tensor(b, t),
        Body::Statistics(b) => tensor::statistics(b, t),
        Body::ValueLoad(b) => tensor::value_load(b, t),
        Body::MatchReplace(b) => tensor::match_replace(b, t),
        Body::Iota(b) => tensor::iota(b, t),
        Body::Memset(b) => tensor::memset(b, t),
        Body::AffineSelect(b) => tensor::affine_select(b, t),
        Body::RangeSelect(b) => select::range_select(b, t),
        Body::ScalarSelect(b) => select::scalar_select(b, t),
        Body::PredicatedScalar(b) => select::predicated_scalar(b, t),
        Body::LaneReduce(b) => select::lane_reduce(b, t),
        Body::MaskLoad(b) => t.item("masks", &mut b.map),
        Body::BufferLoad(b) => select::buffer_load(b, t),
        Body::Gather(b) => select::gather(b, t),
        Body::PoolConfig(b) => {
            t.item("command", &mut b.command)?;
            t.item_as("mask", &mut b.mask, |v| super::value::Hex(*v), |v| v.0)?;
            t.item_as("addr", &mut b.address, |v| super::value::Hex(*v), |v| v.0)?;
            t.item("size", &mut b.size)
        }
        Body::EventSemaphore(b) => control::event_semaphore(b, t),
        Body::Halt(b) => {
            t.hidden("code", &mut b.code, 0)?;
            t.hidden("kind", &mut b.kind, 0)
        }
        Body::Drain(b) => t.hidden("flag", &mut b.flag, 0),
        Body::Nop(b) => t.item("cycle", &mut b.cycles),
        Body::Write(b) => control::write(b, t),
        Body::Notify(b) => control::notify(header, b, t),
        Body::Move(b) => control::mov(b, t),
        Body::Alu(b) => control::alu(b, t),
        Body::Branch(b) => control::branch(b, t),
        Body::TensorLoad(b) => control::tensor_load(b, t),
        Body::TensorStore(b) => control::tensor_store(b, t),
        Body::PseudoTensorLoad(b) => control::pseudo_tensor_load(b, t),
        Body::RangeClear(b) => {
            t.item("mode", &mut b.mode)?;
            t.item("first", &mut b.first)?;
            t.item("last", &mut b.last)
        }
        Body::SetOrdering(b) => t.item("ordering_mode", &mut b.mode),
        Body::PollSemaphore(b) => control::poll_semaphore(b, t),
        Body::DmaDirect(b) => dma::direct(header.opcode, b, t),
        Body::DmaIndirect(b) => dma::indirect(b, t),
        Body::DmaTrigger(b) => {
            t.bare("the queue", &mut b.queue)?;
            t.item("block_id", &mut b.block_id)?;
            t.hidden("use_raw_count", &mut b.use_raw_count, 0)
        }
        Body::Collective(b) => {
            t.item("ctype", &mut b.kind)?;
            t.item("input_tensor_id", &mut b.input_tensor_id)?;
            t.item("output_tensor_id", &mut b.output_tensor_id)?;
            t.item("num_elements", &mut b.num_elements)?;
            t.item::<Dtype>("dtype", &mut b.dtype)?;
            t.item::<AluOp>("op", &mut b.op)?;
            t.item("group_id", &mut b.group_id)?;
            t.hidden("src_offset", &mut b.src_offset, 0)?;
            t.hidden("dst_offset", &mut b.dst_offset, 0)
        }
        Body::ActFunctionSet(b) => t.bare("the name", &mut b.name),
        Body::FunctionBegin(b) => {
            t.bare("the name", &mut b.name)?;
            t.item("reset_semaphores", &mut b.reset_semaphores)?;
            t.item("return", &mut b.return_registers)
        }
        Body::FunctionCall(b) => {
            t.bare("the name", &mut b.name)?;
            t.item("args_var_id", &mut b.args_var_id)
        }
        Body::Extension(b) => t.item("size", &mut b.size),
        Body::Pseudo(b) => t.item("kind", &mut b.kind),
        Body::BranchLabel(_) | Body::HeaderOnly => Ok(()),
    }
}
