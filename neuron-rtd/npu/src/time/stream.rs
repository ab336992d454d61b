//! How long the elements of an instruction pass through its engine, in cycles
//! (neuroncore.md §2.1 to §2.5, scaled by §2.9). N is the number of elements in
//! a partition.

use neuron_core::instance::Arch;
use neuron_core::isa::body::Body;
use neuron_core::isa::code::{AluOp, Dtype, Fp32Mode, TransposeMode};
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::operands::{Area, Common, Operands};
use super::parameters::ArrayCost;
use crate::memory::Region;

/// Cycles of the stream of a compute instruction that is not PE's.
pub(super) fn cycles(
    arch: Arch,
    engine: Engine,
    instruction: &Instruction,
    ops: &Operands,
    all: &Common,
) -> u64 {
    let n = all.elements;
    let cycles = match engine {
        Engine::Dve => vector(arch, instruction, ops, all),
        // D: copies of narrow floats on ACT of v4 run at twice the rate
        Engine::Act if arch == Arch::V4 && all.narrow && is_copy(instruction) => n.div_ceil(2),
        // D: four times as long as a function of ACT
        Engine::Pool if takes_root(instruction) => 4 * n,
        _ => n,
    };
    // D: v2 takes half the bandwidth of a port from 16 bytes on
    if matches!(arch, Arch::V1 | Arch::V2) && all.wide { 2 * cycles } else { cycles }
}

fn is_copy(instruction: &Instruction) -> bool {
    matches!(instruction.header.opcode, Opcode::COPY | Opcode::CAST | Opcode::TENSOR_SCALAR)
}

fn takes_root(instruction: &Instruction) -> bool {
    let Body::TensorScalar(body) = &instruction.body else { return false };
    [body.op0, body.op1].contains(&AluOp::RSQRT)
}

fn in_sbuf(area: &Area) -> bool {
    area.region == Region::Sbuf
}

fn vector(arch: Arch, instruction: &Instruction, ops: &Operands, all: &Common) -> u64 {
    let n = all.elements;
    let old = matches!(arch, Arch::V1 | Arch::V2);
    match (&instruction.body, instruction.header.opcode) {
        (_, Opcode::RECIPROCAL) => 8 * n, // D, O; C at N = 4
        (Body::Statistics(_), Opcode::BATCH_NORM_AGGREGATE) => 13 * n.div_ceil(3), // O
        (_, Opcode::EXPONENTIAL) if arch == Arch::V4 => n.div_ceil(4), // D
        (_, Opcode::TENSOR_TENSOR_SCAN) => 2 * n, // O
        (_, Opcode::SELECT_REDUCE) => 2 * n, // I
        (Body::TensorTensor(_), Opcode::COPY_PREDICATED | Opcode::CAST_PREDICATED) => {
            // O: one pass if a source is in PSUM
            if ops.reads.iter().flatten().all(in_sbuf) { 2 * n } else { n }
        }
        (Body::TensorTensor(body), _) => two_tensors(old, body.op, ops, all),
        (Body::ScalarTensorTensor(body), _) => {
            let pair = body.op0 == AluOp::SUBTRACT && body.op1 == AluOp::MULTIPLY;
            if pair && all.float16 && n.is_multiple_of(2) { n } else { 2 * n } // O
        }
        // O: half for bf16 sums and maxima. C: fp32 on v3 takes N
        (Body::Unary(body), Opcode::TENSOR_REDUCE) => {
            let simple = matches!(body.op, AluOp::ADD | AluOp::MAX);
            let bf16 = body.src_type == Dtype::BFLOAT16 && body.dst_type == Dtype::BFLOAT16;
            if simple && bf16 { n.div_ceil(2) } else { n }
        }
        (Body::Unary(_), Opcode::TENSOR_REDUCE_ADD_BF16 | Opcode::TENSOR_REDUCE_MAX_BF16) => {
            n.div_ceil(2)
        }
        (Body::Memset(body), Opcode::MEMSET) => {
            let short = matches!(body.dst_type, Dtype::BFLOAT16 | Dtype::FP16);
            if short && body.value == 0 { n.div_ceil(2) } else { n } // O
        }
        (_, Opcode::COPY | Opcode::CAST | Opcode::TENSOR_SCALAR) if !old => {
            n.div_ceil(lanes(arch, all))
        }
        _ => n,
    }
}

/// Times the rate of v2 at which v3 and v4 copy and scale (D, §2.9). C: fp32
/// between parts of SBUF takes half, as the width of the engine says (D). D: on
/// v4 floats of 8 bits are as fast as those of 16.
fn lanes(arch: Arch, all: &Common) -> u64 {
    let narrow = if arch == Arch::V4 { all.narrow } else { all.float16 };
    match (narrow, all.inside, all.contiguous) {
        (true, true, true) => 4,
        (true, true, false) | (true, false, true) | (false, true, _) => 2,
        _ => 1,
    }
}

fn two_tensors(old: bool, op: AluOp, ops: &Operands, all: &Common) -> u64 {
    let n = all.elements;
    let inside = ops.reads.iter().flatten().filter(|area| in_sbuf(area)).count();
    let simple = matches!(op, AluOp::ADD | AluOp::MULTIPLY | AluOp::SUBTRACT);
    let once = match inside {
        1 => true,
        2 => simple && all.contiguous && all.float16,
        _ => false,
    };
    match (old, once) {
        (true, true) => n,
        (true, false) => 2 * n,
        // D: twice the rate on v3, with both sources in SBUF. C: fp32 too
        (false, _) if inside == 2 => {
            if all.float16 {
                n.div_ceil(2)
            } else {
                n
            }
        }
        (false, true) => n,
        (false, false) => 2 * n,
    }
}

/// Cycles that a load of weights takes.
pub(super) fn load(cost: &ArrayCost, instruction: &Instruction) -> u64 {
    let Body::LoadWeights(body) = &instruction.body else {
        return 0;
    };
    let columns = u64::from(body.columns).div_ceil(cost.load_width.max(1));
    let [product, transpose] = cost.load_fp32;
    match (body.src_type, body.transpose_mode) {
        (Dtype::FP32, TransposeMode::ENABLED) => columns * transpose,
        (Dtype::FP32, _) => columns * product,
        _ => columns,
    }
}

/// Cycles that moving data of a MATMUL take: two passes for both parts of fp32
/// (O: fp32 takes four times, in two records of two passes).
pub(super) fn matmul(instruction: &Instruction) -> u64 {
    let Body::MatMul(body) = &instruction.body else {
        return 0;
    };
    let passes = if body.fp32_mode == Fp32Mode::LOW_HIGH { 2 } else { 1 };
    passes * body.src.elements()
}
