//! Across partitions: shuffles and transposes of 32 partitions, and folds over
//! partitions (neuroncore.md §2.4, §2.5).

use neuron_core::isa::body::select::{LaneReduce, MaskLoad};
use neuron_core::isa::body::tensor::Unary;
use neuron_core::isa::code::{AluOp, LaneAxis, LaneOp};
use neuron_core::isa::{Engine, Opcode};

use super::State;
use super::operands::{read_all, read_bits, same_size, write_all, write_bits};
use super::vector::{ends, one_width, same_type};
use crate::alu::{bits, float};
use crate::fault::Fault;
use crate::memory::{Operand, Region};

/// Partitions of a quadrant.
const QUADRANT: usize = 32;

/// Whether [`turn`] can turn an operand.
pub(super) fn whole_tiles(operand: &Operand) -> Result<(), Fault> {
    quadrants(operand.partitions())?;
    let count = operand.elements();
    if !count.is_multiple_of(QUADRANT) {
        return Err(Fault::shape(format!("{count} elements are no whole tiles of 32")));
    }
    Ok(())
}

fn quadrants(partitions: usize) -> Result<(), Fault> {
    if partitions.is_multiple_of(QUADRANT) {
        return Ok(());
    }
    Err(Fault::shape(format!("{partitions} partitions are no whole quadrants")))
}

/// Turns tiles of 32 elements by 32 partitions: element j of partition i of a
/// tile becomes element i of partition j. The tiles are [`whole_tiles`].
pub(super) fn turn<T: Copy>(rows: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut out = Vec::with_capacity(rows.len());
    for quadrant in rows.chunks(QUADRANT) {
        let count = quadrant.first().map_or(0, Vec::len);
        for lane in 0..QUADRANT {
            let tiles = (0..count).step_by(QUADRANT);
            let column = |tile: usize| quadrant.iter().filter_map(move |row| row.get(tile + lane));
            out.push(tiles.flat_map(column).copied().collect());
        }
    }
    out
}

/// STREAM_TRANSPOSE: the bits, tile by tile.
pub(super) fn stream_transpose(
    state: &mut State,
    engine: Engine,
    body: &Unary,
) -> Result<(), Fault> {
    same_type(body.src_type, body.dst_type)?;
    let (src, dst) = ends(state, engine, body)?;
    same_size(&src, &dst)?;
    whole_tiles(&src)?;
    if !state.computes {
        return Ok(());
    }
    let rows = turn(&read_bits(&state.memory, &src));
    write_bits(&mut state.memory, &dst, &rows);
    Ok(())
}

/// LOAD_MASK_SELECT: the map of the shuffle that follows.
pub(super) fn load_mask(state: &mut State, body: &MaskLoad) {
    state.vector.map = Some(body.map.0);
}

/// STREAM_SHUFFLE: partition i of each quadrant gets the bits of partition
/// `map[i]`. An entry from 32 on keeps what is there: real code has 32 (public
/// test code), the documentation 255.
pub(super) fn stream_shuffle(state: &mut State, engine: Engine, body: &Unary) -> Result<(), Fault> {
    same_type(body.src_type, body.dst_type)?;
    let (src, dst) = ends(state, engine, body)?;
    same_size(&src, &dst)?;
    quadrants(src.partitions())?;
    let map = state.vector.map.ok_or_else(|| Fault::unknown("a shuffle before its map"))?;
    if !state.computes {
        return Ok(());
    }
    let rows = read_bits(&state.memory, &src);
    for (index, from) in map.iter().cycle().enumerate().take(rows.len()) {
        let from = usize::from(*from);
        if from < QUADRANT
            && let Some(row) = rows.get(index / QUADRANT * QUADRANT + from)
        {
            dst.put_bits(&mut state.memory, index, row);
        }
    }
    Ok(())
}

/// CROSS_LANE_REDUCE and its bitwise form: folds the partitions in order into
/// one; over all, elements run fastest. Sums are fp32.
pub(super) fn lane_reduce(
    state: &mut State,
    engine: Engine,
    opcode: Opcode,
    body: &LaneReduce,
) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, 1, body.dst_type)?;
    if src.region() != Region::Sbuf || dst.region() != Region::Sbuf {
        return Err(Fault::Reach("a fold over partitions is in SBUF"));
    }
    let results = match body.axis {
        LaneAxis::ALL => 1,
        LaneAxis::PARTITIONS => src.elements(),
        other => return Err(Fault::unknown(format!("axis {other}"))),
    };
    super::operands::has_elements(&dst, results)?;
    if body.op != LaneOp::AVERAGE && body.scale.get() != 0.0 {
        return Err(Fault::unknown(format!("the factor {}", body.scale.get())));
    }
    let unit = state.unit(engine);
    let numbers = opcode == Opcode::CROSS_LANE_REDUCE;
    match body.op {
        LaneOp::ADD | LaneOp::AVERAGE | LaneOp::MAX if numbers => {
            let op = if body.op == LaneOp::MAX { AluOp::MAX } else { AluOp::ADD };
            let op = float::binary(op, unit)?;
            if !state.computes {
                return Ok(());
            }
            let mut rows = read_all(&state.memory, &src);
            if body.op == LaneOp::AVERAGE {
                rows.iter_mut().flatten().for_each(|value| *value *= body.scale.get());
            }
            let row = fold(rows, results, op);
            write_all(state, &dst, &[row]);
        }
        LaneOp::OR | LaneOp::AND | LaneOp::XOR if !numbers => {
            let op = match body.op {
                LaneOp::OR => AluOp::OR,
                LaneOp::AND => AluOp::AND,
                _ => AluOp::XOR,
            };
            let bytes = one_width(&[src.element(), dst.element()])?;
            let op = bits::binary(op, bytes, unit)?;
            if !state.computes {
                return Ok(());
            }
            let rows = read_bits(&state.memory, &src);
            let row = fold(rows, results, op);
            write_bits(&mut state.memory, &dst, &[row]);
        }
        other => return Err(Fault::unknown(format!("fold {other} of this opcode"))),
    }
    Ok(())
}

/// Folds rows into one, or into one element.
fn fold<T: Copy>(rows: Vec<Vec<T>>, results: usize, op: fn(T, T) -> T) -> Vec<T> {
    if results == 1 {
        return rows.into_iter().flatten().reduce(op).into_iter().collect();
    }
    let merge = |mut sums: Vec<T>, row: Vec<T>| {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum = op(*sum, value);
        }
        sums
    };
    rows.into_iter().reduce(merge).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OnChip;
    use crate::number::Element;
    use neuron_core::instance::Arch;
    use neuron_core::isa::address::{Addr4, Pattern};

    #[test]
    fn tiles_are_turned_one_by_one() {
        let rows: Vec<Vec<usize>> =
            (0..64).map(|lane| (0..96).map(|at| lane * 1000 + at).collect()).collect();
        let turned = turn(&rows);
        assert_eq!(turned[3][5], rows[5][3]);
        assert_eq!(turned[3][32 + 5], rows[5][32 + 3]);
        assert_eq!(turned[40][64 + 1], rows[33][64 + 8]);
        let memory = OnChip::new(Arch::V3);
        let whole = |partitions, elements| {
            let pattern =
                Pattern { start: Addr4::sbuf(0, 0).unwrap(), steps: [1], counts: [elements] };
            whole_tiles(&Operand::find(&memory, &pattern, partitions, Element::Fp32).unwrap())
        };
        assert!(whole(64, 96).is_ok());
        assert!(whole(33, 96).is_err());
        assert!(whole(32, 33).is_err());
    }
}
