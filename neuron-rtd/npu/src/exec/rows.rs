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
