//! Instructions that make each row of their result of the same row of their
//! operands: they go over the partitions a few at a time, so that numbers stay
//! in the caches of the host between the steps.
//!
//! Where a row of the result lies over a later row of an operand, all rows are
//! read first: an instruction reads its operands before it writes.

use super::State;
use crate::memory::Operand;

/// Numbers that are read at a time.
const NUMBERS: usize = 2048;

/// Rows that are read before any is written.
fn step(sources: &[&Operand], dst: &Operand) -> usize {
    if sources.iter().all(|source| dst.may_follow(source)) {
        let width = sources.iter().map(|source| source.elements()).max().unwrap_or_default();
        return (NUMBERS / width.max(1)).max(1);
    }
    dst.partitions()
}

/// Room for so many numbers.
fn room(room: &mut Vec<f32>, count: usize) -> &mut [f32] {
    if room.len() < count {
        room.resize(count, 0.0);
    }
    room.get_mut(..count).unwrap_or_default()
}

/// Writes what `act` makes of the rows of a source. It is given the number of
/// the first row, and the rows one after the other, and changes them.
pub(super) fn map(
    state: &mut State,
    src: &Operand,
    dst: &Operand,
    mut act: impl FnMut(usize, &mut [f32]),
) {
    let (step, width) = (step(&[src], dst), src.elements());
    let mut rooms = std::mem::take(&mut state.rooms);
    let [own, _] = &mut rooms;
    for first in (0..dst.partitions()).step_by(step) {
        let rows = room(own, step.min(dst.partitions() - first) * width);
        src.read_rows(&state.memory, first, rows);
        act(first, rows);
        state.errors.look(rows, dst.element());
        dst.write_rows(&mut state.memory, first, rows);
    }
    state.rooms = rooms;
}

/// As [`map`], of two sources: `act` changes the rows of the first.
pub(super) fn map_two(
    state: &mut State,
    [src, other]: [&Operand; 2],
    dst: &Operand,
    mut act: impl FnMut(usize, &mut [f32], &[f32]),
) {
    let (step, width) = (step(&[src, other], dst), src.elements());
    let mut rooms = std::mem::take(&mut state.rooms);
    let [own, others] = &mut rooms;
    for first in (0..dst.partitions()).step_by(step) {
        let count = step.min(dst.partitions() - first) * width;
        let (rows, others) = (room(own, count), room(others, count));
        src.read_rows(&state.memory, first, rows);
        other.read_rows(&state.memory, first, others);
        act(first, rows, others);
        state.errors.look(rows, dst.element());
        dst.write_rows(&mut state.memory, first, rows);
    }
    state.rooms = rooms;
}

/// As [`map`], with other rows as the result: `act` fills its second rows.
pub(super) fn fold(
    state: &mut State,
    src: &Operand,
    dst: &Operand,
    mut act: impl FnMut(&[f32], &mut [f32]),
) {
    let step = step(&[src], dst);
    let mut rooms = std::mem::take(&mut state.rooms);
    let [own, results] = &mut rooms;
    for first in (0..dst.partitions()).step_by(step) {
        let count = step.min(dst.partitions() - first);
        let rows = room(own, count * src.elements());
        let results = room(results, count * dst.elements());
        src.read_rows(&state.memory, first, rows);
        act(rows, results);
        state.errors.look(results, dst.element());
        dst.write_rows(&mut state.memory, first, results);
    }
    state.rooms = rooms;
}

/// Copies the bits of a source to a destination of the same type.
pub(super) fn copy(state: &mut State, src: &Operand, dst: &Operand) {
    let step = step(&[src], dst);
    let size = src.elements() * src.element().bytes();
    let mut bytes = vec![0; step.min(dst.partitions()) * size];
    for first in (0..dst.partitions()).step_by(step) {
        let rows = bytes.get_mut(..step.min(dst.partitions() - first) * size).unwrap_or_default();
        src.read_bytes(&state.memory, first, rows);
        dst.write_bytes(&mut state.memory, first, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Element;
    use neuron_core::instance::Arch;
    use neuron_core::isa::address::{Addr4, Pattern};

    const PARTS: usize = 40;
    const WIDTH: u16 = 130;

    fn operand(state: &State, partition: u8, step: i16, element: Element) -> Operand {
        let byte = if step < 0 { 8 * u32::from(WIDTH) } else { 64 };
        let start = Addr4::sbuf(partition, byte).unwrap();
        let pattern = Pattern { start, steps: [step], counts: [WIDTH] };
        Operand::find(&state.memory, &pattern, PARTS, element).unwrap()
    }

    /// A result may lie over its operand, in the same or in other partitions.
    #[test]
    fn operands_are_read_before_results_are_written() {
        for element in [Element::Fp32, Element::Bf16, Element::Int32, Element::Uint8] {
            for (from, to, step) in
                [(0, 0, 1), (0, 1, 1), (1, 0, 1), (0, 17, 1), (3, 4, -1), (0, 60, 2)]
            {
                let mut state = State::new(Arch::V3);
                let src = operand(&state, from, 1, element);
                let dst = operand(&state, to, step, element);
                let number = |index: usize, at: usize| ((index * 7 + at * 3) % 97) as f32;
                let rows: Vec<Vec<f32>> = (0..PARTS)
                    .map(|index| (0..usize::from(WIDTH)).map(|at| number(index, at)).collect())
                    .collect();
                src.write_rows(&mut state.memory, 0, &rows.concat());
                let before = state.clone();
                let read = |state: &State| -> Vec<Vec<f32>> {
                    (0..PARTS).map(|index| dst.read(&state.memory, index)).collect()
                };
                copy(&mut state, &src, &dst);
                assert_eq!(read(&state), rows, "{element:?} {from} {to} {step}");
                let mut state = before.clone();
                map(&mut state, &src, &dst, |first, rows| {
                    for (index, row) in (first..).zip(rows.chunks_mut(usize::from(WIDTH))) {
                        row.iter_mut().for_each(|value| *value += index as f32);
                    }
                });
                let sum = |index: usize, row: &[f32]| -> Vec<f32> {
                    row.iter().map(|value| value + index as f32).collect()
                };
                let sums: Vec<_> = rows.iter().enumerate().map(|(i, row)| sum(i, row)).collect();
                assert_eq!(read(&state), sums, "{element:?} {from} {to} {step}");
                let mut state = before.clone();
                map_two(&mut state, [&src, &src], &dst, |_, rows, others| {
                    rows.iter_mut().zip(others).for_each(|(value, other)| *value += other);
                });
                let twice: Vec<Vec<f32>> =
                    rows.iter().map(|row| row.iter().map(|value| value * 2.0).collect()).collect();
                assert_eq!(read(&state), twice, "{element:?} {from} {to} {step}");
            }
        }
    }
}
