//! Small programs in time: what each instruction and each packet took.

use neuron_core::isa::activation::Activation;
use neuron_core::isa::address::{Addr8, Location, Pattern};
use neuron_core::isa::body::act::{Activate, ReadAccumulator};
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::body::pe::{LoadWeights, MatMul};
use neuron_core::isa::body::tensor::{Memset, TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{
    AluOp, BiasSource, Dtype, DtypePair, Fp32Mode, ReduceDims, TransposeMode,
};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::time::{Executed, Packet, Sink, Timed, Timing};
use npu::{Program, Tensors};

use super::neff::{Small, changed, plain, whole};

/// Generations as targets of a NEFF.
pub(crate) const V2: &str = "sunda";
pub(crate) const V3: &str = "cayman";
pub(crate) const V4: &str = "mariana";

/// What a run did.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) instructions: Vec<Executed>,
    pub(crate) packets: Vec<Packet>,
}

impl Sink for Seen {
    fn instruction(&mut self, executed: &Executed) {
        self.instructions.push(*executed);
    }
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(*packet);
    }
}

impl Seen {
    /// Instructions of an engine, in order.
    pub(crate) fn of(&self, engine: Engine) -> Vec<Executed> {
        self.instructions.iter().filter(|one| one.at.engine == engine).copied().collect()
    }
}

pub(crate) fn program(target: &str, small: &Small) -> Program {
    let file = changed(&small.build(), "kelf-0.json", |kelf| {
        *kelf = String::from_utf8(kelf.clone()).unwrap().replace(V3, target).into_bytes();
    });
    Program::from_neff(&file).unwrap()
}

pub(crate) fn run(program: &Program) -> (Timed, Seen) {
    let mut seen = Seen::default();
    let timed = program.run_timed(&Tensors::new(), &Timing::only(program), &mut seen).unwrap();
    (timed, seen)
}

/// Runs instructions on one engine, nothing else.
pub(crate) fn on(target: &str, engine: Engine, work: Vec<Instruction>) -> Vec<Executed> {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    *small.on(engine) = work;
    run(&program(target, &small)).1.of(engine)
}

/// Picoseconds between the begins of the last two instructions.
pub(crate) fn interval(executed: &[Executed]) -> f64 {
    let [.., before, last] = executed else { panic!("{executed:?}") };
    (last.start - before.start) as f64
}

/// Picoseconds of the last instruction.
pub(crate) fn length(executed: &[Executed]) -> f64 {
    let last = executed.last().unwrap();
    (last.end - last.start) as f64
}

fn psum<const N: usize>(bank: u32, count: u16) -> Pattern<N> {
    let mut pattern = whole(0, count);
    pattern.start.0 = neuron_core::isa::address::PSUM_BASE + 2048 * bank;
    pattern
}

/// An operand: a variable in SBUF, or a bank of PSUM.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    Sbuf(u32),
    Psum(u32),
}

pub(crate) fn pattern<const N: usize>(at: At, count: u16) -> Pattern<N> {
    match at {
        At::Sbuf(index) => whole(index, count),
        At::Psum(bank) => psum(bank, count),
    }
}

pub(crate) fn load(dtype: Dtype, mode: Fp32Mode, columns: u8) -> Instruction {
    let body = LoadWeights {
        src: whole(0, u16::from(columns)),
        src_type: dtype,
        fp32_mode: mode,
        transpose_mode: TransposeMode::DISABLED,
        rows: 128,
        columns,
        ..LoadWeights::default()
    };
    plain(Opcode::LDWEIGHTS, body)
}

pub(crate) fn matmul(dtype: Dtype, mode: Fp32Mode, n: u16) -> Instruction {
    let body = MatMul {
        src: whole(1, n),
        src_type: dtype,
        fp32_mode: mode,
        rows: 128,
        columns: 128,
        dst: psum(0, n),
        ..MatMul::default()
    };
    plain(Opcode::MATMUL, body)
}

/// Pairs of LDWEIGHTS and MATMUL.
pub(crate) fn products(count: usize, n: u16) -> Vec<Instruction> {
    let (dtype, mode) = (Dtype::BFLOAT16, Fp32Mode::NONE);
    (0..count).flat_map(|_| [load(dtype, mode, 128), matmul(dtype, mode, n)]).collect()
}

pub(crate) fn activate(src: At, dst: At, n: u16) -> Instruction {
    let fp32 = Dtype::FP32;
    let body = Activate {
        function: Activation(1),
        bias_source: BiasSource::INSTRUCTION,
        src: pattern(src, n),
        types: DtypePair::new(fp32, fp32).unwrap(),
        dst_type: fp32,
        channels: 128,
        dst: pattern(dst, n),
        ..Activate::default()
    };
    plain(Opcode::ACTIVATE, body)
}

pub(crate) fn read_accumulator() -> Instruction {
    let body = ReadAccumulator {
        count: 1,
        dst_type: Dtype::FP32,
        channels: 128,
        dst: whole(2, 1),
        ..ReadAccumulator::default()
    };
    plain(Opcode::ACTIVATION_READ_ACCUMULATOR, body)
}

pub(crate) fn unary(opcode: Opcode, dtype: Dtype, src: At, dst: At, n: u16) -> Instruction {
    let reduces = opcode == Opcode::TENSOR_REDUCE;
    let body = Unary {
        src: pattern(src, n),
        src_type: dtype,
        dst_type: dtype,
        channels: 128,
        op: if reduces { AluOp::ADD } else { AluOp::BYPASS },
        dims: if reduces { ReduceDims::X } else { ReduceDims::NONE },
        dst: pattern(dst, if reduces { 1 } else { n }),
        ..Unary::default()
    };
    plain(opcode, body)
}

pub(crate) fn two(opcode: Opcode, dtype: Dtype, op: AluOp, src0: At, n: u16) -> Instruction {
    let body = TensorTensor {
        src_types: DtypePair::new(dtype, dtype).unwrap(),
        dst_type: dtype,
        op,
        channels: 128,
        src0: pattern(src0, n),
        src1: pattern(At::Sbuf(1), n),
        dst: pattern(At::Sbuf(2), n),
    };
    plain(opcode, body)
}

pub(crate) fn scalar(opcode: Opcode, dtype: Dtype, n: u16) -> Instruction {
    let body = TensorScalar {
        src: whole(0, n),
        src_type: dtype,
        dst_type: dtype,
        channels: 128,
        op0: AluOp::MULTIPLY,
        dst: whole(1, n),
        ..TensorScalar::default()
    };
    plain(opcode, body)
}

pub(crate) fn fill(dtype: Dtype, n: u16) -> Instruction {
    let body = Memset {
        count: u32::from(n),
        dst_type: dtype,
        channels: 128,
        dst: whole(0, n),
        ..Memset::default()
    };
    plain(Opcode::MEMSET, body)
}

/// Loads `rows` of so many bytes by a record of an engine.
pub(crate) fn rows_of(rows: u16, bytes: u16) -> Instruction {
    let body = DmaDirect {
        semaphore: 8,
        increment: 16,
        src: Addr8::of(Location::Variable { id: 1, offset: 0 }).unwrap(),
        src_steps: [i32::from(bytes), 0],
        src_counts: [rows, 1],
        src_elem_size: bytes,
        dst: Addr8::of(Location::Variable { id: 0, offset: 0 }).unwrap(),
        dst_steps: [0x4_0000, 0],
        dst_counts: [rows, 1],
        dst_elem_size: bytes,
        ..DmaDirect::default()
    };
    plain(Opcode::PSEUDO_DMA_DIRECT2D, body)
}
