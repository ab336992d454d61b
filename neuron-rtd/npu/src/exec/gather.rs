//! GATHER on POOL: elements of a window of a table, by an index for each
//! element of the result (public notes on the vendor's headers). A table of
//! more than 512 elements is gathered window by window.

use neuron_core::isa::Engine;
use neuron_core::isa::body::select::{BufferLoad, Gather};
use neuron_core::isa::code::IndexMiss;

use super::State;
use super::operands::{flag, read_bits, same_size, write_bits};
use super::state::Window;
use crate::fault::Fault;
use crate::number::Element;

/// Elements that the buffer holds for a partition.
const MOST: usize = 512;

/// POOL_BUFFER_LOAD: raw bits.
pub(super) fn load(state: &mut State, engine: Engine, body: &BufferLoad) -> Result<(), Fault> {
    let src = state.reach(engine).find(&body.src, body.channels, body.src_type)?;
    if src.elements() > MOST {
        return Err(Fault::shape(format!("{} elements, at most {MOST}", src.elements())));
    }
    let rows = if state.computes {
        read_bits(&state.memory, &src)
    } else {
        vec![Vec::new(); src.partitions()]
    };
    let bytes = src.element().bytes();
    state.window = Some(Window { rows, start: body.start_index, mask: body.mask, bytes });
    Ok(())
}

/// GATHER. Partition i of the result takes from partition i of the buffer.
pub(super) fn gather(state: &mut State, engine: Engine, body: &Gather) -> Result<(), Fault> {
    let reach = state.reach(engine);
    let src = reach.find(&body.src, body.channels, body.src_type)?;
    let dst = reach.find(&body.dst, body.channels, body.dst_type)?;
    same_size(&src, &dst)?;
    if src.element().is_signed() != Some(false) {
        return Err(Fault::Type(body.src_type));
    }
    let skip = match body.miss {
        IndexMiss::IMMEDIATE_WRITE => false,
        IndexMiss::SKIP_WRITE if body.immediate == 0 => true,
        other => return Err(Fault::unknown(format!("{other} with {:#x}", body.immediate))),
    };
    let free = flag("freeing", body.free_buffer)?;
    let window = state.window.as_ref().ok_or_else(|| Fault::unknown("a gather before its load"))?;
    if window.bytes != dst.element().bytes() || window.rows.len() < dst.partitions() {
        let (rows, bytes) = (window.rows.len(), window.bytes);
        return Err(Fault::shape(format!("a buffer of {rows} partitions, {bytes} bytes each")));
    }
    if !state.computes {
        if free {
            state.window = None;
        }
        return Ok(());
    }
    let mut rows = read_bits(&state.memory, &dst);
    let fill = Element::wrap(dst.element(), i64::from(body.immediate));
    for ((row, indices), table) in
        rows.iter_mut().zip(read_bits(&state.memory, &src)).zip(&window.rows)
    {
        for (value, index) in row.iter_mut().zip(indices) {
            let inside = (index & !window.mask == window.start)
                .then(|| usize::try_from(index & window.mask).ok())
                .flatten();
            match inside.and_then(|offset| table.get(offset)) {
                Some(found) => *value = *found,
                None if skip => {}
                None => *value = fill,
            }
        }
    }
    if free {
        state.window = None;
    }
    write_bits(&mut state.memory, &dst, &rows);
    Ok(())
}
