//! Operands of an engine: found in a memory that it reaches, read as numbers or
//! as bits, and written back.

use neuron_core::isa::Engine;
use neuron_core::isa::address::{Addr4, Pattern};
use neuron_core::isa::code::{Dtype, ImmSource, Reverse};

use super::State;
use crate::alu::float::Binary;
use crate::fault::Fault;
use crate::memory::{OnChip, Operand, Region};
use crate::number::Element;

/// Numbers by partition.
pub(super) type Rows = Vec<Vec<f32>>;
/// Bits by partition.
pub(super) type BitRows = Vec<Vec<u32>>;

/// An engine's view of the memories.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach<'a> {
    pub(super) memory: &'a OnChip,
    pub(super) engine: Engine,
}

impl Reach<'_> {
    /// Finds an operand where the engine can reach it (neuroncore.md §1.1).
    pub(super) fn find<const N: usize>(
        self,
        pattern: &Pattern<N>,
        partitions: u8,
        dtype: Dtype,
    ) -> Result<Operand, Fault> {
        let element = Element::of(dtype)?;
        let operand = Operand::find(self.memory, pattern, usize::from(partitions), element)?;
        if self.engine == Engine::Pool && operand.region() == Region::Psum {
            return Err(Fault::Psum("POOL cannot reach PSUM"));
        }
        Ok(operand)
    }
}

impl State {
    /// The memories as an engine sees them.
    pub(super) const fn reach(&self, engine: Engine) -> Reach<'_> {
        Reach { memory: &self.memory, engine }
    }
}

/// Operands of one operation have as many elements and partitions.
pub(super) fn same_size(a: &Operand, b: &Operand) -> Result<(), Fault> {
    if a.elements() != b.elements() || a.partitions() != b.partitions() {
        let (a, b) = ((a.partitions(), a.elements()), (b.partitions(), b.elements()));
        return Err(Fault::shape(format!("{a:?} against {b:?} partitions and elements")));
    }
    Ok(())
}

/// An operand must have so many elements in each partition.
pub(super) fn has_elements(operand: &Operand, count: usize) -> Result<(), Fault> {
    if operand.elements() != count {
        return Err(Fault::shape(format!("{} elements, not {count}", operand.elements())));
    }
    Ok(())
}

/// Reads every partition of an operand.
pub(super) fn read_all(memory: &OnChip, operand: &Operand) -> Rows {
    (0..operand.partitions()).map(|index| operand.read(memory, index)).collect()
}

/// Writes results to every partition of an operand, and counts those that are
/// numerical errors.
pub(super) fn write_all(state: &mut State, operand: &Operand, rows: &[Vec<f32>]) {
    if rows.iter().all(|row| row.len() == operand.elements()) {
        let rows = rows.concat();
        state.errors.look(&rows, operand.element());
        return operand.write_rows(&mut state.memory, 0, &rows);
    }
    for (index, row) in rows.iter().enumerate() {
        state.errors.look(row, operand.element());
        operand.write(&mut state.memory, index, row);
    }
}

/// Reads the bits of every partition of an operand.
pub(super) fn read_bits(memory: &OnChip, operand: &Operand) -> BitRows {
    (0..operand.partitions()).map(|index| operand.bits(memory, index)).collect()
}

/// Writes bits to every partition of an operand.
pub(super) fn write_bits(memory: &mut OnChip, operand: &Operand, rows: &[Vec<u32>]) {
    for (index, row) in rows.iter().enumerate() {
        operand.put_bits(memory, index, row);
    }
}

/// A column of one element a partition, at an address in a record.
fn column_at(
    state: &State,
    engine: Engine,
    address: u32,
    partitions: u8,
    dtype: Dtype,
) -> Result<Operand, Fault> {
    let pattern = Pattern { start: Addr4(address), steps: [1], counts: [1] };
    state.reach(engine).find(&pattern, partitions, dtype)
}

/// A column of numbers, one a partition, at an address in a record.
pub(super) fn column(
    state: &State,
    engine: Engine,
    address: u32,
    partitions: u8,
    dtype: Dtype,
) -> Result<Vec<f32>, Fault> {
    let operand = column_at(state, engine, address, partitions, dtype)?;
    let mut column = vec![0.0; operand.partitions()];
    operand.read_rows(&state.memory, 0, &mut column);
    Ok(column)
}

/// The address of a column, of an immediate that has one.
fn address(
    state: &State,
    engine: Engine,
    source: ImmSource,
    bits: u32,
) -> Result<Option<u32>, Fault> {
    match source {
        ImmSource::INSTRUCTION => Ok(None),
        ImmSource::PTR => Ok(Some(bits)),
        // the register that holds the address (neuroncore.md §3.4)
        ImmSource::REG_PTR => {
            let register = u8::try_from(bits)
                .map_err(|_| Fault::unknown(format!("the register of an immediate {bits:#x}")))?;
            Ok(Some(state.register(engine, register)))
        }
        other => Err(Fault::unknown(format!("immediate from {other}"))),
    }
}

/// One fp32 scalar a partition: a number in the record, or a column.
pub(super) fn scalars(
    state: &State,
    engine: Engine,
    source: ImmSource,
    bits: u32,
    channels: u8,
) -> Result<Vec<f32>, Fault> {
    match address(state, engine, source, bits)? {
        None => Ok(vec![f32::from_bits(bits); usize::from(channels)]),
        Some(address) => column(state, engine, address, channels, Dtype::FP32),
    }
}

/// One pattern a partition: the low bits of the record's number, or a column of
/// a type.
pub(super) fn patterns(
    state: &State,
    engine: Engine,
    source: ImmSource,
    bits: u32,
    channels: u8,
    dtype: Dtype,
) -> Result<Vec<u32>, Fault> {
    match address(state, engine, source, bits)? {
        None => {
            let low = Element::of(dtype)?.wrap(i64::from(bits));
            Ok(vec![low; usize::from(channels)])
        }
        Some(address) => {
            let operand = column_at(state, engine, address, channels, dtype)?;
            Ok(read_bits(&state.memory, &operand).into_iter().flatten().collect())
        }
    }
}

/// Whether the operands of the first and of the second operation are swapped.
pub(super) fn reversed(reverse: Reverse) -> Result<(bool, bool), Fault> {
    if reverse.0 > Reverse::BOTH.0 {
        return Err(Fault::unknown(format!("operand order {reverse}")));
    }
    Ok((reverse.0 & 1 != 0, reverse.0 & 2 != 0))
}

/// An operation with its operands in the order that a record asks for.
pub(super) fn apply(op: Binary, reversed: bool, value: f32, other: f32) -> f32 {
    if reversed { op(other, value) } else { op(value, other) }
}

/// A flag of a record: 0 or 1.
pub(super) fn flag(name: &str, value: u8) -> Result<bool, Fault> {
    match value {
        0 | 1 => Ok(value == 1),
        other => Err(Fault::unknown(format!("{name} {other}"))),
    }
}

/// A field that has one meaning alone.
pub(super) fn fixed<T: PartialEq + std::fmt::Display>(
    name: &str,
    value: T,
    usual: T,
) -> Result<(), Fault> {
    if value == usual {
        return Ok(());
    }
    Err(Fault::unknown(format!("{name} {value}")))
}
