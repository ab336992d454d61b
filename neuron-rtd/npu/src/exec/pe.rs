//! The systolic array: LDWEIGHTS and MATMUL (isa-layouts.md §3.1, §3.2).
//!
//! Products and sums are fp32, as [`super::product`] says: over the partitions from
//! the first up, each step one fused multiply-add. The sum of an instruction is
//! added to PSUM as one number, instruction by instruction. An fp32 product
//! takes two passes on the device, with a low and a high part of the weights,
//! whose split is not published. Here the LOW pass has the whole product and
//! the HIGH pass adds nothing (our choice, the sheet's functional model).

use neuron_core::isa::Engine;
use neuron_core::isa::body::pe::{ArrayGroup, LoadWeights, MatMul};
use neuron_core::isa::code::{Dtype, Fp32Mode, TransposeMode};

use super::State;
use super::product::{Factors, Host, PANEL, Room, Target, Weights};
use crate::errors::Errors;
use crate::fault::Fault;
use crate::geometry::ARRAY;
use crate::memory::{OnChip, Operand, Region};
use crate::number::Element;

/// Rows from a panel of weights to the next: some more than there are, as the
/// same row of all panels would compete for one set of the host's caches.
const BETWEEN: usize = ARRAY + 2;

/// What the array holds, and room for one product.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    /// By panel of [`PANEL`] columns, [`BETWEEN`] apart, then by row.
    weights: Vec<Weights>,
    /// The last load was a HIGH pass, so that the products of its rows are in
    /// the LOW pass before it.
    high: [bool; ARRAY],
    host: Host,
    /// Room of a product.
    room: Room,
    /// One row of an operand.
    row: Vec<f32>,
    /// Weights of the rows that count, where not all of them do.
    picked: Vec<Weights>,
    /// Moving data that does not lie side by side.
    moving: Vec<u8>,
    /// Results that go to PSUM one by one.
    sums: Vec<u8>,
}

impl Default for Array {
    fn default() -> Self {
        Self {
            weights: vec![[0.0; PANEL]; BETWEEN * ARRAY / PANEL],
            high: [false; ARRAY],
            host: Host::default(),
            room: Room::default(),
            row: Vec::new(),
            picked: Vec::new(),
            moving: Vec::new(),
            sums: Vec::new(),
        }
    }
}

impl Array {
    /// Puts the weights of these rows side by side into `picked`.
    fn pick(&mut self, active: &[(usize, usize)]) {
        self.picked.clear();
        for panel in self.weights.chunks_exact(BETWEEN) {
            self.picked.extend(active.iter().filter_map(|(row, _)| panel.get(*row)));
        }
    }
}

/// First row or column of a group, of which `count` are used.
fn first(group: ArrayGroup, count: u8) -> Result<usize, Fault> {
    let first = 32 * group.0.trailing_zeros() as usize;
    if group.0 == 0 || count == 0 || first + usize::from(count) > ARRAY {
        return Err(Fault::shape(format!("{count} rows or columns in group {group}")));
    }
    Ok(first)
}

/// LDWEIGHTS: element k of the walk becomes column M - 1 - k.
pub(super) fn load(state: &mut State, body: &LoadWeights) -> Result<(), Fault> {
    let src = state.reach(Engine::Pe).find(&body.src, body.rows, body.src_type)?;
    if src.region() != Region::Sbuf {
        return Err(Fault::Reach("PE reads SBUF only"));
    }
    check_mode(body.fp32_mode, body.src_type, &[Fp32Mode::LOW, Fp32Mode::HIGH])?;
    let columns = usize::from(body.columns);
    let (row, column) =
        (first(body.row_group, body.rows)?, first(body.column_group, body.columns)?);
    if src.elements() != columns {
        return Err(Fault::shape(format!("{} elements for {columns} columns", src.elements())));
    }
    if !state.computes {
        return Ok(());
    }
    let array = &mut state.array;
    let high = body.fp32_mode == Fp32Mode::HIGH;
    for flag in array.high.iter_mut().skip(row).take(src.partitions()) {
        *flag = high;
    }
    // nothing reads the weights of a HIGH pass
    if !high {
        set(array, &state.memory, &src, row, column);
    }
    Ok(())
}

/// Puts weights into the array, the elements of each row in reverse.
fn set(array: &mut Array, memory: &OnChip, src: &Operand, row: usize, column: usize) {
    let (columns, element) = (src.elements(), src.element());
    let panels = array.weights.get_mut(column / PANEL * BETWEEN + row..).unwrap_or_default();
    if let (Some((bytes, stride)), true) = (src.rows_backwards(memory), Host::packs(element)) {
        let size = columns * element.bytes();
        let rows: Vec<&[u8]> = (0..src.partitions())
            .map(|index| {
                let start = index * stride;
                bytes.get(start..start + size).unwrap_or_default()
            })
            .collect();
        return array.host.load(element, &rows, panels, BETWEEN);
    }
    let mut values = vec![0.0; columns];
    let mut bytes = vec![0; 4 * columns * src.partitions()];
    for (index, bytes) in bytes.chunks_exact_mut(4 * columns).enumerate() {
        src.read_into(memory, index, &mut values);
        values.reverse();
        Element::Fp32.encode_slice(&values, bytes);
    }
    let rows: Vec<&[u8]> = bytes.chunks_exact(4 * columns).collect();
    array.host.load(Element::Fp32, &rows, panels, BETWEEN);
}

/// The mode of a pass: none for types that need none.
fn check_mode(mode: Fp32Mode, dtype: Dtype, fp32: &[Fp32Mode]) -> Result<(), Fault> {
    let fits = if dtype == Dtype::FP32 { fp32.contains(&mode) } else { mode == Fp32Mode::NONE };
    if fits {
        return Ok(());
    }
    Err(Fault::unknown(format!("fp32 mode {mode} with type {dtype}")))
}

/// MATMUL: dst\[m, n\] (+)= sum over k of weights\[k, m\] x src\[k, n\].
pub(super) fn multiply(state: &mut State, body: &MatMul) -> Result<(), Fault> {
    let reach = state.reach(Engine::Pe);
    let src = reach.find(&body.src, body.rows, body.src_type)?;
    let transpose = match body.transpose_mode {
        TransposeMode::DISABLED => false,
        TransposeMode::ENABLED => true,
        other => return Err(Fault::unknown(format!("transpose mode {other}"))),
    };
    // PSUM holds fp32, but for exact transposes, which keep the source type.
    let dst_type = if transpose { body.src_type } else { Dtype::FP32 };
    let dst = reach.find(&body.dst, body.columns, dst_type)?;
    if src.region() != Region::Sbuf || dst.region() != Region::Psum {
        return Err(Fault::Reach("PE reads SBUF and writes PSUM"));
    }
    check_mode(body.fp32_mode, body.src_type, &[Fp32Mode::HIGH, Fp32Mode::LOW_HIGH])?;
    if body.zero_region != 0 {
        return Err(Fault::unknown(format!("zero region {}", body.zero_region)));
    }
    if body.accumulate.0 > 3 {
        return Err(Fault::unknown(format!("accumulate flags {:#04x}", body.accumulate.0)));
    }
    if src.elements() != dst.elements() {
        let (src, dst) = (src.elements(), dst.elements());
        return Err(Fault::shape(format!("{src} moving elements, {dst} results")));
    }
    let rows = first(body.row_group, body.rows)?;
    let columns = first(body.column_group, body.columns)?;
    if !state.computes {
        return Ok(());
    }
    let State { array, memory, errors, .. } = state;
    // rows of which this pass has the products: array row, partition of src
    let active: Vec<(usize, usize)> = (0..src.partitions())
        .map(|index| (rows + index, index))
        .filter(|(row, _)| array.high.get(*row) == Some(&false))
        .collect();
    if transpose {
        turn(array, memory, (&src, &active), (&dst, columns), body.accumulate.overwrites());
        return Ok(());
    }
    if active.is_empty() {
        // a HIGH pass adds nothing, or leaves nothing
        let zeros = vec![0.0; dst.elements()];
        for index in 0..if body.accumulate.overwrites() { dst.partitions() } else { 0 } {
            dst.write(memory, index, &zeros);
        }
        return Ok(());
    }
    if active.len() < src.partitions() {
        array.pick(&active);
    }
    // moving data as it lies in memory, or as fp32 side by side
    let direct = Host::packs(src.element()) && src.rows(memory).is_some();
    let element = if direct { src.element() } else { Element::Fp32 };
    if !direct {
        gather(array, memory, &src, &active);
    }
    let (sbuf, psum) = memory.both();
    let size = src.elements() * element.bytes();
    let moving: Vec<&[u8]> = match src.rows_of(sbuf).filter(|_| direct) {
        Some((bytes, stride)) => active
            .iter()
            .map(|(_, index)| bytes.get(index * stride..index * stride + size).unwrap_or_default())
            .collect(),
        None => array.moving.chunks_exact(size).collect(),
    };
    let depth = active.len();
    let (weights, between, row) = if depth == src.partitions() {
        (&array.weights, BETWEEN, rows)
    } else {
        (&array.picked, depth, 0)
    };
    let weights = weights.get(columns / PANEL * between + row..).unwrap_or_default();
    let factors = Factors { weights, between, rows: &moving, element };
    let (count, add) = (dst.elements(), !body.accumulate.overwrites());
    if let Some((bytes, stride)) = dst.rows_mut_of(psum) {
        let rows = bytes.chunks_mut(stride).take(dst.partitions());
        let rows = rows.map(|row| row.get_mut(..4 * count).unwrap_or_default()).collect();
        errors.add(&array.host.share(factors, Target { rows, count, add }, &mut array.room));
        return Ok(());
    }
    array.sums.resize(dst.partitions() * 4 * count, 0);
    let rows = array.sums.chunks_exact_mut(4 * count).collect();
    array.host.share(factors, Target { rows, count, add: false }, &mut array.room);
    array.row.resize(count, 0.0);
    for (index, sums) in array.sums.chunks_exact(4 * count).enumerate() {
        Element::Fp32.decode_slice(sums, &mut array.row);
        store(memory, &dst, index, &array.row, !add);
    }
    look(array, memory, &dst, errors);
    Ok(())
}

/// Counts what is wrong with the numbers that now stand in PSUM, where the
/// product went there by another way. An exact transpose moves numbers and
/// counts nothing.
fn look(array: &mut Array, memory: &OnChip, dst: &Operand, errors: &mut Errors) {
    array.row.resize(dst.elements(), 0.0);
    for index in 0..dst.partitions() {
        dst.read_into(memory, index, &mut array.row);
        errors.look(&array.row, dst.element());
    }
}

/// Reads the moving data of these rows as fp32.
fn gather(array: &mut Array, memory: &OnChip, src: &Operand, active: &[(usize, usize)]) {
    let count = src.elements();
    array.row.resize(count, 0.0);
    array.moving.resize(4 * count * active.len(), 0);
    for ((_, index), bytes) in active.iter().zip(array.moving.chunks_exact_mut(4 * count)) {
        src.read_into(memory, *index, &mut array.row);
        Element::Fp32.encode_slice(&array.row, bytes);
    }
}

/// An exact transpose: the moving data is a permutation, of which the zeros
/// contribute nothing, so that NaN, infinities and the sign of a zero pass as
/// they are (neuroncore.md §2.1).
fn turn(
    array: &mut Array,
    memory: &mut OnChip,
    (src, active): (&Operand, &[(usize, usize)]),
    (dst, columns): (&Operand, usize),
    overwrite: bool,
) {
    // by column of the moving data, what is not zero in it: row and number;
    // a permutation has one, what else there is comes after it in order
    let count = src.elements();
    let mut firsts: Vec<Option<(usize, f32)>> = vec![None; count];
    let mut others = Vec::new();
    array.row.resize(count, 0.0);
    for (row, index) in active {
        src.read_into(memory, *index, &mut array.row);
        let runs = firsts.chunks_mut(RUN).zip(array.row.chunks(RUN));
        for (first, (firsts, values)) in (0..).step_by(RUN).zip(runs) {
            // zeros of either sign, most of them without a look at each
            if values.iter().fold(0, |bits, value| bits | value.to_bits() << 1) == 0 {
                continue;
            }
            for (at, (first_of, value)) in firsts.iter_mut().zip(values).enumerate() {
                match first_of {
                    _ if *value == 0.0 => {}
                    None => *first_of = Some((*row, *value)),
                    Some(_) => others.push((first + at, *row, *value)),
                }
            }
        }
    }
    // a panel of results at a time: its weights lie side by side
    let mut results = vec![0.0; count * PANEL];
    let panels = array.weights.chunks_exact(BETWEEN).skip(columns / PANEL);
    for (first, panel) in (0..dst.partitions()).step_by(PANEL).zip(panels) {
        for (column, found) in firsts.iter().enumerate() {
            let found = found.and_then(|(row, value)| Some((panel.get(row)?, value)));
            let terms = found.map_or([0.0; PANEL], |(row, value)| row.map(|w| w * value));
            for (result, term) in results.iter_mut().skip(column).step_by(count).zip(terms) {
                *result = term;
            }
        }
        for (column, row, value) in &others {
            let row = panel.get(*row).into_iter().flatten();
            for (result, weight) in results.iter_mut().skip(*column).step_by(count).zip(row) {
                *result += weight * value;
            }
        }
        for (index, row) in (first..dst.partitions()).zip(results.chunks_exact(count)) {
            store(memory, dst, index, row, overwrite);
        }
    }
}

/// Moving numbers of a transpose that are looked at together.
const RUN: usize = 16;

fn store(memory: &mut OnChip, dst: &Operand, index: usize, sums: &[f32], overwrite: bool) {
    if overwrite {
        dst.write(memory, index, sums);
    } else {
        dst.add(memory, index, sums);
    }
}
