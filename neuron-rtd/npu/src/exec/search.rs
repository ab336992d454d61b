//! The largest numbers of a row, and where given numbers stand (neuroncore.md
//! §2.4; order and marks: public notes on the vendor's headers, which agree
//! with what the documentation says of equal numbers).
//!
//! * MAX8 writes from the smallest of the eight to the largest; a program that
//!   wants them from the largest on walks its destination backwards.
//! * MATCH_VALUE_LOAD puts the first element of its walk into key 7 and the
//!   last one into key 0, so that key 0 is the largest number of a MAX8.
//! * A search looks at the elements in walk order. An element that equals keys
//!   goes to the lowest one that has not matched yet. Marks last for one
//!   instruction (our choice).

use neuron_core::isa::Engine;
use neuron_core::isa::body::tensor::{MatchReplace, Memset, Statistics, ValueLoad};
use neuron_core::isa::code::{Dtype, ImmSource};

use super::State;
use super::operands::{fixed, has_elements, read_all, same_size, write_all, write_bits};
use super::statistics::no_counts;
use crate::fault::Fault;
use crate::memory::Operand;

/// Elements that a search takes.
const MOST: usize = 16384;
const KEYS: usize = 8;

fn searched(src: &Operand) -> Result<(), Fault> {
    if !(KEYS..=MOST).contains(&src.elements()) {
        return Err(Fault::shape(format!("{} elements, not 8 to {MOST}", src.elements())));
    }
    Ok(())
}

/// MAX8.
pub(super) fn max8(state: &mut State, engine: Engine, body: &Statistics) -> Result<(), Fault> {
    no_counts(body)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    searched(&src)?;
    has_elements(&dst, KEYS)?;
    if !state.computes {
        return Ok(());
    }
    let results: Vec<Vec<f32>> = read_all(&state.memory, &src)
        .into_iter()
        .map(|mut row| {
            // NaN never wins against a number
            row.sort_by(|a, b| match (a.is_nan(), b.is_nan()) {
                (false, false) => a.total_cmp(b),
                (a, b) => b.cmp(&a),
            });
            row.split_off(row.len().saturating_sub(KEYS))
        })
        .collect();
    write_all(state, &dst, &results);
    Ok(())
}

/// MATCH_VALUE_LOAD.
pub(super) fn load_keys(state: &mut State, engine: Engine, body: &ValueLoad) -> Result<(), Fault> {
    no_immediates(body)?;
    let src = state.reach(engine).find(&body.src, body.channels, body.src_type)?;
    has_elements(&src, KEYS)?;
    if !state.computes {
        return Ok(());
    }
    let rows = read_all(&state.memory, &src);
    for (keys, row) in state.vector.keys.iter_mut().skip(src.first()).zip(rows) {
        for (key, value) in keys.iter_mut().rev().zip(row) {
            *key = value;
        }
    }
    Ok(())
}

/// The loads of keys and scalars have no immediates.
pub(super) fn no_immediates(body: &ValueLoad) -> Result<(), Fault> {
    fixed("an immediate", body.imm0, 0)?;
    fixed("an immediate", body.imm1, 0)?;
    fixed("an immediate from", body.imm0_source, ImmSource::INSTRUCTION)
}

/// Where each key stands in a row; calls `found` with each position.
fn search(keys: &[f32; KEYS], row: &[f32], mut found: impl FnMut(usize)) -> [u32; KEYS] {
    let mut positions = [u32::MAX; KEYS];
    for (at, value) in row.iter().enumerate() {
        let mut free = keys.iter().zip(&mut positions);
        let hit = free.find(|(key, position)| *key == value && **position == u32::MAX);
        if let Some((_, position)) = hit {
            *position = u32::try_from(at).unwrap_or(u32::MAX);
            found(at);
        }
    }
    positions
}

/// FIND_INDEX8: positions in walk order, all ones for a key that is not there.
pub(super) fn find_index8(
    state: &mut State,
    engine: Engine,
    body: &Statistics,
) -> Result<(), Fault> {
    no_counts(body)?;
    index_type(body.dst_type)?;
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    searched(&src)?;
    has_elements(&dst, KEYS)?;
    if !state.computes {
        return Ok(());
    }
    let rows = read_all(&state.memory, &src);
    let keys = state.vector.keys.iter().skip(src.first());
    let found: Vec<[u32; KEYS]> =
        keys.zip(&rows).map(|(keys, row)| search(keys, row, |_| {})).collect();
    keep(state, &src, &found);
    let found: Vec<Vec<u32>> = found.into_iter().map(Vec::from).collect();
    write_bits(&mut state.memory, &dst, &found);
    Ok(())
}

fn index_type(dtype: Dtype) -> Result<(), Fault> {
    if [Dtype::UINT16, Dtype::UINT32].contains(&dtype) {
        return Ok(());
    }
    Err(Fault::Type(dtype))
}

fn keep(state: &mut State, src: &Operand, found: &[[u32; KEYS]]) {
    for (kept, found) in state.vector.indices.iter_mut().skip(src.first()).zip(found) {
        *kept = *found;
    }
}

/// MATCH_REPLACE8: one number in the place of each match.
pub(super) fn match_replace8(
    state: &mut State,
    engine: Engine,
    body: &MatchReplace,
) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    if src.elements() > MOST {
        return Err(Fault::shape(format!("{} elements, at most {MOST}", src.elements())));
    }
    if !state.computes {
        return Ok(());
    }
    let mut rows = read_all(&state.memory, &src);
    let keys = state.vector.keys.iter().skip(src.first());
    let mut found = Vec::with_capacity(rows.len());
    for (keys, row) in keys.zip(&mut rows) {
        let mut hits = Vec::with_capacity(KEYS);
        found.push(search(keys, row, |at| hits.push(at)));
        for at in hits {
            if let Some(value) = row.get_mut(at) {
                *value = body.replacement.get();
            }
        }
    }
    keep(state, &src, &found);
    write_all(state, &dst, &rows);
    Ok(())
}

/// DVE_READ_INDICES: the positions of the last search, key 0 first.
pub(super) fn read_indices(state: &mut State, engine: Engine, body: &Memset) -> Result<(), Fault> {
    index_type(body.dst_type)?;
    fixed("serial mode", body.serial_mode, 0)?;
    fixed("value", body.value, 0)?;
    let dst = state.reach(engine).find(&body.dst, body.channels, body.dst_type)?;
    has_elements(&dst, KEYS)?;
    if usize::try_from(body.count) != Ok(KEYS) {
        return Err(Fault::shape(format!("{} positions", body.count)));
    }
    if !state.computes {
        return Ok(());
    }
    let rows: Vec<Vec<u32>> =
        state.vector.indices.iter().skip(dst.first()).map(|row| row.to_vec()).collect();
    let rows = rows.get(..dst.partitions()).unwrap_or_default();
    write_bits(&mut state.memory, &dst, rows);
    Ok(())
}
