//! Folds, running folds and scans along the free dimensions (isa-layouts.md
//! §3.3; neuroncore.md §2.4).

use neuron_core::isa::body::tensor::{ScalarTensorTensor, Unary};
use neuron_core::isa::code::{AccumulatorCmd, AluOp, Dtype, ReduceDims};
use neuron_core::isa::{Engine, Opcode};

use super::State;
use super::operands::{
    apply, fixed, flag, has_elements, read_all, read_bits, reversed, same_size, scalars, write_all,
    write_bits,
};
use super::permute::{turn, whole_tiles};
use super::vector::{by_zero, one_width, whole};
use crate::alu::rows::fold_runs;
use crate::alu::{bits, float, integer};
use crate::fault::Fault;
use crate::memory::Operand;

fn operands(
    state: &State,
    engine: Engine,
    body: &Unary,
) -> Result<(Operand, Operand, usize), Fault> {
    fixed("a mask", body.mask_enable, 0)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    let dimensions = match body.dims {
        ReduceDims::X => 1,
        ReduceDims::XY => 2,
        ReduceDims::XYZ => 3,
        ReduceDims::XYZW => 4,
        other => return Err(Fault::unknown(format!("reduction over {other}"))),
    };
    // a pattern has no count of 0 and few elements, or it was not found
    let group = body.src.counts.iter().take(dimensions).map(|count| usize::from(*count)).product();
    Ok((src, dst, group))
}

/// TENSOR_REDUCE and its other forms: folds the inner dimensions, in walk
/// order. The TRANSPOSE forms turn the source first.
pub(super) fn reduce(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &Unary,
) -> Result<(), Fault> {
    let (src, dst, group) = operands(state, engine, body)?;
    let op = match opcode {
        Opcode::TENSOR_REDUCE_MAX_BF16 => AluOp::MAX,
        _ => body.op,
    };
    if opcode == Opcode::TENSOR_REDUCE_MAX_BF16 && ![op, AluOp::BYPASS].contains(&body.op) {
        return Err(Fault::Operation { op: body.op, reason: "is not that of the opcode" });
    }
    has_elements(&dst, src.elements().checked_div(group).unwrap_or_default())?;
    let negated = flag("negation", body.negated)?;
    let unit = state.unit(engine);
    let turned =
        [Opcode::TRANSPOSE_TENSOR_REDUCE, Opcode::TRANSPOSE_TENSOR_REDUCE_BITVEC].contains(&opcode);
    let bitwise = [Opcode::TENSOR_REDUCE_BITVEC, Opcode::TRANSPOSE_TENSOR_REDUCE_BITVEC];
    let whole =
        if bitwise.contains(&opcode) { None } else { whole_fold(state, engine, op, &src, &dst)? };
    if turned {
        whole_tiles(&src)?;
    }
    if bitwise.contains(&opcode) || whole.is_some() {
        if negated {
            return Err(Fault::unknown("the negation of a fold of integers or bits"));
        }
        let fold = match whole {
            Some(fold) => fold,
            None => {
                let bytes = one_width(&[src.element(), dst.element()])?;
                Fold::Bits(bits::binary(op, bytes, unit)?)
            }
        };
        if !state.computes {
            return Ok(());
        }
        let mut rows = read_bits(&state.memory, &src);
        if turned {
            rows = turn(&rows);
        }
        let rows: Result<Vec<Vec<u32>>, Fault> = rows
            .iter()
            .map(|row| row.chunks(group).map(|group| fold.of(op, group, &src, &dst)).collect())
            .collect();
        write_bits(&mut state.memory, &dst, &rows?);
        return Ok(());
    }
    float::binary(op, unit)?;
    if !state.computes {
        return Ok(());
    }
    let fold = |rows: &[f32], results: &mut [f32]| {
        fold_runs(op, rows, group, results);
        if negated {
            results.iter_mut().for_each(|result| *result = -*result);
        }
    };
    if turned {
        let rows = turn(&read_all(&state.memory, &src));
        let mut folded = vec![vec![0.0; dst.elements()]; rows.len()];
        for (row, results) in rows.iter().zip(&mut folded) {
            fold(row, results);
        }
        write_all(state, &dst, &folded);
    } else {
        super::rows::fold(state, &src, &dst, fold);
    }
    Ok(())
}

/// A fold that stays in integers or bits.
enum Fold {
    Bits(bits::Binary),
    Whole(integer::Binary),
    /// Position of the number that no other one replaces.
    Position(integer::Better),
}

impl Fold {
    fn of(&self, op: AluOp, group: &[u32], src: &Operand, dst: &Operand) -> Result<u32, Fault> {
        let mut numbers = group.iter().map(|bits| src.element().widen(*bits));
        Ok(match self {
            Self::Bits(function) => group.iter().copied().reduce(*function).unwrap_or_default(),
            Self::Whole(function) => {
                let first = numbers.next().unwrap_or_default();
                let folded = numbers.try_fold(first, function);
                dst.element().wrap(folded.ok_or_else(|| by_zero(op))?)
            }
            Self::Position(replaces) => {
                let better = |(at, best), (index, new)| {
                    if replaces(best, new) { (index, new) } else { (at, best) }
                };
                let (position, _) = (0..).zip(numbers).reduce(better).unwrap_or_default();
                dst.element().wrap(position)
            }
        })
    }
}

fn whole_fold(
    state: &State,
    engine: Engine,
    op: AluOp,
    src: &Operand,
    dst: &Operand,
) -> Result<Option<Fold>, Fault> {
    let unit = state.unit(engine);
    if let Some(replaces) = integer::replaces(op, unit, &[src.element()])? {
        if engine != Engine::Pool {
            return Err(Fault::Operation { op, reason: "is of the integer engine, in POOL" });
        }
        // a position is uint32 (public notes on the vendor's headers)
        fixed("positions of", dst.element() as u8, crate::number::Element::Uint32 as u8)?;
        return Ok(Some(Fold::Position(replaces)));
    }
    Ok(whole(op, unit, &[src.element(), dst.element()])?.map(Fold::Whole))
}

/// TENSOR_CUMULATIVE and its bitwise form: element i is the fold of the
/// elements up to it; each group of the folded dimensions starts anew. The
/// vector engine has the integer band from ADD to MOD here (public notes on the
/// vendor's headers).
pub(super) fn cumulative(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &Unary,
) -> Result<(), Fault> {
    let (src, dst, group) = operands(state, engine, body)?;
    same_size(&src, &dst)?;
    fixed("negation", body.negated, 0)?;
    let (op, unit) = (body.op, state.unit(engine));
    if [AluOp::DIVIDE, AluOp::POW, AluOp::MOD].contains(&op) {
        return Err(Fault::Operation { op, reason: "does not accumulate" });
    }
    let types = [src.element(), dst.element()];
    if opcode == Opcode::TENSOR_CUMULATIVE_BITVEC {
        let function = bits::binary(op, one_width(&types)?, unit)?;
        if !state.computes {
            return Ok(());
        }
        let mut rows = read_bits(&state.memory, &src);
        run(&mut rows, group, |sum, value| Some(function(sum, value)));
        write_bits(&mut state.memory, &dst, &rows);
        return Ok(());
    }
    let band = [
        AluOp::ADD_INT,
        AluOp::MULTIPLY_INT,
        AluOp::SUBTRACT_INT,
        AluOp::DIVIDE_INT,
        AluOp::MOD_INT,
    ];
    if band.contains(&op) {
        let function = integer::binary(op, unit, &types)?;
        if !state.computes {
            return Ok(());
        }
        let (from, to) = (src.element(), dst.element());
        let mut rows: Vec<Vec<i64>> = read_bits(&state.memory, &src)
            .into_iter()
            .map(|row| row.into_iter().map(|bits| from.widen(bits)).collect())
            .collect();
        if !run(&mut rows, group, |sum, value| {
            function(sum, value).map(|sum| to.widen(to.wrap(sum)))
        }) {
            return Err(by_zero(op));
        }
        let rows: Vec<Vec<u32>> =
            rows.iter().map(|row| row.iter().map(|value| to.wrap(*value)).collect()).collect();
        write_bits(&mut state.memory, &dst, &rows);
        return Ok(());
    }
    let function = float::binary(op, unit)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    run(&mut rows, group, |sum, value| Some(function(sum, value)));
    write_all(state, &dst, &rows);
    Ok(())
}

/// Puts the running fold in the place of each element; tells whether every
/// step had a result.
fn run<T: Copy>(rows: &mut [Vec<T>], group: usize, op: impl Fn(T, T) -> Option<T>) -> bool {
    for group in rows.iter_mut().flat_map(|row| row.chunks_mut(group.max(1))) {
        let mut sum: Option<T> = None;
        for value in group {
            let next = match sum {
                None => Some(*value),
                Some(sum) => op(sum, *value),
            };
            let Some(next) = next else { return false };
            (*value, sum) = (next, Some(next));
        }
    }
    true
}

/// TENSOR_TENSOR_SCAN: r = (src0 op0 r) op1 src1, from an initial value, over
/// all elements (neuroncore.md §2.4).
pub(super) fn scan(
    state: &mut State,
    engine: Engine,
    body: &ScalarTensorTensor,
) -> Result<(), Fault> {
    fixed("accumulator command", body.accumulator, AccumulatorCmd::IDLE)?;
    fixed("an initial value of type", body.imm0_type, Dtype::FP32)?;
    let reach = state.reach(engine);
    let src0 = reach.find(&body.src0, body.channels, body.src_types.low())?;
    let src1 = reach.find(&body.src1, body.channels, body.src_types.high())?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src0, &dst)?;
    same_size(&src1, &dst)?;
    let unit = state.unit(engine);
    let initial = scalars(state, engine, body.imm0_source, body.imm0, body.channels)?;
    let (op0, op1) = (float::binary(body.op0, unit)?, float::binary(body.op1, unit)?);
    let (reverse0, reverse1) = reversed(body.reverse)?;
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src0);
    let others = read_all(&state.memory, &src1);
    for ((row, other), initial) in rows.iter_mut().zip(others).zip(initial) {
        let mut last = initial;
        for (value, other) in row.iter_mut().zip(other) {
            let once = apply(op0, reverse0, *value, last);
            last = apply(op1, reverse1, once, other);
            *value = last;
        }
    }
    write_all(state, &dst, &rows);
    Ok(())
}
