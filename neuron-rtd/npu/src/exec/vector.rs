//! Element by element: copies, conversions, one or two operations
//! (isa-layouts.md §3.3 to §3.5; neuroncore.md §2.3).

use neuron_core::instance::Arch;
use neuron_core::isa::body::tensor::{ScalarTensorTensor, TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{AccumulatorCmd, AluOp, Dtype, ReduceDims};
use neuron_core::isa::{Engine, Opcode};

use super::operands::{
    fixed, patterns, read_all, read_bits, reversed, same_size, scalars, write_all, write_bits,
};
use super::permute::{turn, whole_tiles};
use super::{State, rows};
use crate::alu::rows::{with_rows, with_scalars};
use crate::alu::{self, bits, float, integer};
use crate::fault::Fault;
use crate::memory::Operand;
use crate::number::Element;

/// Source and destination of a record that is no reduction.
pub(super) fn ends(
    state: &State,
    engine: Engine,
    body: &Unary,
) -> Result<(Operand, Operand), Fault> {
    let plain = matches!(body.dims, ReduceDims::NONE | ReduceDims::X);
    if body.negated != 0 || body.op != AluOp::BYPASS || !plain {
        return Err(Fault::unknown("a reduction's fields are set"));
    }
    fixed("a mask", body.mask_enable, 0)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    Ok((src, dst))
}

/// Copies keep the type.
pub(super) fn same_type(src: Dtype, dst: Dtype) -> Result<(), Fault> {
    if src == dst {
        return Ok(());
    }
    Err(Fault::unknown(format!("a copy of {src} to {dst}")))
}

/// COPY: the bits.
pub(super) fn copy(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    same_type(body.src_type, body.dst_type)?;
    let (src, dst) = ends(state, engine, body)?;
    same_size(&src, &dst)?;
    if !state.computes {
        return Ok(());
    }
    rows::copy(state, &src, &dst);
    Ok(())
}

/// CAST: the numbers, through fp32.
pub(super) fn cast(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    let (src, dst) = ends(state, engine, body)?;
    same_size(&src, &dst)?;
    if !state.computes {
        return Ok(());
    }
    rows::map(state, &src, &dst, |_, _| {});
    Ok(())
}

/// RECIPROCAL: 1 / x.
pub(super) fn reciprocal(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    let (src, dst) = ends(state, engine, body)?;
    same_size(&src, &dst)?;
    if !state.computes {
        return Ok(());
    }
    rows::map(state, &src, &dst, |_, rows| {
        let ones = [1.0];
        with_scalars(AluOp::DIVIDE, true, rows, rows.len(), &ones);
    });
    Ok(())
}

/// TENSOR_TENSOR and its bitwise form: dst = src0 op src1. The bf16 forms of v2
/// are the same with the operation in the opcode.
pub(super) fn tensor_tensor(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &TensorTensor,
) -> Result<(), Fault> {
    let op = match opcode {
        Opcode::TENSOR_TENSOR_ADD_BF16 => bf16(body, AluOp::ADD)?,
        Opcode::TENSOR_TENSOR_MULT_BF16 => bf16(body, AluOp::MULTIPLY)?,
        Opcode::TENSOR_TENSOR_SUB_BF16 => bf16(body, AluOp::SUBTRACT)?,
        _ => body.op,
    };
    let reach = state.reach(engine);
    let src0 = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src1 = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src0, &dst)?;
    same_size(&src1, &dst)?;
    let unit = state.unit(engine);
    if opcode == Opcode::TENSOR_TENSOR_BITVEC {
        let types = [src0.element(), src1.element(), dst.element()];
        let function = bits::binary(op, one_width(&types)?, unit)?;
        if !state.computes {
            return Ok(());
        }
        let mut rows = read_bits(&state.memory, &src0);
        for (row, other) in rows.iter_mut().zip(read_bits(&state.memory, &src1)) {
            for (value, other) in row.iter_mut().zip(other) {
                *value = function(*value, other);
            }
        }
        write_bits(&mut state.memory, &dst, &rows);
        return Ok(());
    }
    let types = [src0.element(), src1.element(), dst.element()];
    if let Some(function) = whole(op, unit, &types)? {
        if !state.computes {
            return Ok(());
        }
        let mut rows = read_bits(&state.memory, &src0);
        for (row, other) in rows.iter_mut().zip(read_bits(&state.memory, &src1)) {
            for (value, other) in row.iter_mut().zip(other) {
                let result = function(src0.element().widen(*value), src1.element().widen(other));
                *value = dst.element().wrap(result.ok_or_else(|| by_zero(op))?);
            }
        }
        write_bits(&mut state.memory, &dst, &rows);
        return Ok(());
    }
    float::binary(op, unit)?;
    if !state.computes {
        return Ok(());
    }
    rows::map_two(state, [&src0, &src1], &dst, |_, rows, others| {
        with_rows(op, false, rows, others);
    });
    Ok(())
}

/// The operation of a bf16 record: both sources are bfloat16, and the field
/// repeats the opcode or is BYPASS.
fn bf16(body: &TensorTensor, op: AluOp) -> Result<AluOp, Fault> {
    for dtype in [body.src_types.low(), body.src_types.high()] {
        if dtype != Dtype::BFLOAT16 {
            return Err(Fault::Type(dtype));
        }
    }
    if body.op != op && body.op != AluOp::BYPASS {
        return Err(Fault::Operation { op: body.op, reason: "is not that of the opcode" });
    }
    Ok(op)
}

/// The function on integers, where the operation or the unit takes whole
/// numbers: the integer band on POOL, MOD, and the plain operations of POOL on
/// one 32-bit type (neuroncore.md §1.4, §2.5).
pub(super) fn whole(
    op: AluOp,
    unit: alu::Unit,
    types: &[Element],
) -> Result<Option<integer::Binary>, Fault> {
    if alu::is_integer(op) {
        if unit.engine != Engine::Pool {
            return Err(Fault::Operation { op, reason: "is of the integer engine, in POOL" });
        }
        return integer::binary(op, unit, types).map(Some);
    }
    if op == AluOp::MOD {
        return integer::binary(op, unit, types).map(Some);
    }
    let one_type = types.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    let wide = matches!(types.first(), Some(Element::Int32 | Element::Uint32));
    Ok(if unit.engine == Engine::Pool && one_type && wide { integer::native(op) } else { None })
}

pub(super) fn by_zero(op: AluOp) -> Fault {
    Fault::Operation { op, reason: "divides by zero" }
}

/// Operands of a bitwise operation are integers of one width; gives its bytes.
pub(super) fn one_width(types: &[Element]) -> Result<usize, Fault> {
    let bytes = types.first().map_or(0, |element| element.bytes());
    let fits = |element: &Element| element.is_signed().is_some() && element.bytes() == bytes;
    if types.iter().all(fits) {
        return Ok(bytes);
    }
    Err(Fault::unknown(format!("a bitwise operation on {types:?}")))
}

/// TENSOR_SCALAR and its other forms: dst = (src op0 imm0) op1 imm1, each order
/// reversible. The PTR forms take columns only; the TRANSPOSE form turns the
/// source first.
pub(super) fn tensor_scalar(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &TensorScalar,
) -> Result<(), Fault> {
    fixed("accumulator command", body.accumulator, AccumulatorCmd::IDLE)?;
    if engine == Engine::Act {
        on_act(state.arch, body)?;
    }
    let pointers = matches!(opcode, Opcode::TENSOR_SCALAR_PTR | Opcode::TENSOR_SCALAR_PTR_BITVEC);
    for (op, source) in [(body.op0, body.imm0_source), (body.op1, body.imm1_source)] {
        if pointers && op != AluOp::BYPASS {
            fixed("an immediate from", source, neuron_core::isa::code::ImmSource::PTR)?;
        }
    }
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    let bitwise = matches!(opcode, Opcode::TENSOR_SCALAR_BITVEC | Opcode::TENSOR_SCALAR_PTR_BITVEC);
    if bitwise {
        return scalar_bits(state, engine, body, &src, &dst);
    }
    let channels = body.channels;
    let first = scalars(state, engine, body.imm0_source, body.imm0, channels)?;
    let second = scalars(state, engine, body.imm1_source, body.imm1, channels)?;
    let unit = state.unit(engine);
    float::binary(body.op0, unit)?;
    float::binary(body.op1, unit)?;
    let (reverse0, reverse1) = reversed(body.reverse)?;
    let turned = opcode == Opcode::TRANSPOSE_TENSOR_SCALAR;
    if turned {
        whole_tiles(&src)?;
    }
    if !state.computes {
        return Ok(());
    }
    let width = src.elements();
    let act = |at: usize, rows: &mut [f32]| {
        for (op, reversed, scalars) in [(body.op0, reverse0, &first), (body.op1, reverse1, &second)]
        {
            with_scalars(op, reversed, rows, width, scalars.get(at..).unwrap_or_default());
        }
    };
    if turned {
        let mut rows = turn(&read_all(&state.memory, &src));
        for (index, row) in rows.iter_mut().enumerate() {
            act(index, row);
        }
        write_all(state, &dst, &rows);
    } else {
        rows::map(state, &src, &dst, act);
    }
    Ok(())
}

/// What ACT has of TENSOR_SCALAR: multiply and add on v3, all from v4 on
/// (neuroncore.md §2.2).
fn on_act(arch: Arch, body: &TensorScalar) -> Result<(), Fault> {
    let pair = (body.op0, body.op1);
    let small = [
        (AluOp::MULTIPLY, AluOp::ADD),
        (AluOp::MULTIPLY, AluOp::BYPASS),
        (AluOp::ADD, AluOp::BYPASS),
    ];
    if arch >= Arch::V4 || arch == Arch::V3 && small.contains(&pair) {
        return Ok(());
    }
    Err(Fault::Operation { op: body.op0, reason: "with its second one is not of ACT here" })
}

fn scalar_bits(
    state: &mut State,
    engine: Engine,
    body: &TensorScalar,
    src: &Operand,
    dst: &Operand,
) -> Result<(), Fault> {
    let bytes = one_width(&[src.element(), dst.element()])?;
    let unit = state.unit(engine);
    let column = |source, bits| patterns(state, engine, source, bits, body.channels, body.src_type);
    let first = column(body.imm0_source, body.imm0)?;
    let second = column(body.imm1_source, body.imm1)?;
    let (op0, op1) = (bits::binary(body.op0, bytes, unit)?, bits::binary(body.op1, bytes, unit)?);
    let (reverse0, reverse1) = reversed(body.reverse)?;
    let swap = |op: bits::Binary, reversed: bool, a, b| if reversed { op(b, a) } else { op(a, b) };
    if !state.computes {
        return Ok(());
    }
    let low = |bits: u32| src.element().wrap(i64::from(bits));
    let mut rows = read_bits(&state.memory, src);
    for (row, (first, second)) in rows.iter_mut().zip(first.iter().zip(&second)) {
        for value in row {
            let once = low(swap(op0, reverse0, *value, *first));
            *value = swap(op1, reverse1, once, *second);
        }
    }
    write_bits(&mut state.memory, dst, &rows);
    Ok(())
}

/// SCALAR_TENSOR_TENSOR and its bitwise form: dst = (src0 op0 imm0) op1 src1,
/// each order reversible.
pub(super) fn scalar_tensor_tensor(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &ScalarTensorTensor,
) -> Result<(), Fault> {
    fixed("accumulator command", body.accumulator, AccumulatorCmd::IDLE)?;
    let reach = state.reach(engine);
    let src0 = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src1 = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src0, &dst)?;
    same_size(&src1, &dst)?;
    let unit = state.unit(engine);
    let (reverse0, reverse1) = reversed(body.reverse)?;
    if opcode == Opcode::SCALAR_TENSOR_TENSOR_BITVEC {
        let imm = Element::of(body.imm0_type)?;
        let bytes = one_width(&[src0.element(), src1.element(), dst.element(), imm])?;
        let (source, number) = (body.imm0_source, body.imm0);
        let scalars = patterns(state, engine, source, number, body.channels, body.imm0_type)?;
        let op0 = bits::binary(body.op0, bytes, unit)?;
        let op1 = bits::binary(body.op1, bytes, unit)?;
        if !state.computes {
            return Ok(());
        }
        let swap = |op: bits::Binary, reversed, a, b| if reversed { op(b, a) } else { op(a, b) };
        let low = |bits: u32| src0.element().wrap(i64::from(bits));
        let mut rows = read_bits(&state.memory, &src0);
        let others = read_bits(&state.memory, &src1);
        for ((row, other), scalar) in rows.iter_mut().zip(others).zip(&scalars) {
            for (value, other) in row.iter_mut().zip(other) {
                let once = low(swap(op0, reverse0, *value, *scalar));
                *value = swap(op1, reverse1, once, other);
            }
        }
        write_bits(&mut state.memory, &dst, &rows);
        return Ok(());
    }
    fixed("an immediate of type", body.imm0_type, Dtype::FP32)?;
    let scalars = scalars(state, engine, body.imm0_source, body.imm0, body.channels)?;
    float::binary(body.op0, unit)?;
    float::binary(body.op1, unit)?;
    if !state.computes {
        return Ok(());
    }
    let width = src0.elements();
    rows::map_two(state, [&src0, &src1], &dst, |at, rows, others| {
        let scalars = scalars.get(at..).unwrap_or_default();
        with_scalars(body.op0, reverse0, rows, width, scalars);
        with_rows(body.op1, reverse1, rows, others);
    });
    Ok(())
}
