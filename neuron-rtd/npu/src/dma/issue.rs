//! From records to jobs: dynamic transfers (DMA_DIRECT2D and its pseudo form)
//! and blocks of the engine's JSON (PSEUDO_DMA_TRIGGER).
//!
//! Records stand as in the NEFF: the addresses that a loader would patch are
//! looked up here (isa-layouts.md §5.1 to §5.3).

use neuron_core::isa::Opcode;
use neuron_core::isa::address::Addr8;
use neuron_core::isa::body::Body;
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::body::pseudo::DmaTrigger;
use neuron_core::isa::code::{DgeKind, DmaCompute, Dtype};
use neuron_core::neff::doc;

use super::{Change, Job, Side, Transfer, accumulate};
use crate::device;
use crate::exec::{Site, State};
use crate::fault::Fault;
use crate::number::Element;

/// What the completion of a block adds to its semaphore: 16 DMA engines add 1
/// each (isa-layouts.md §5.3).
const BLOCK_INCREMENT: u8 = 16;

/// Conversion between two types; none when they are equal.
pub(super) fn change(from: Dtype, to: Dtype) -> Result<Change, Fault> {
    if from == to {
        return Ok(Change::None);
    }
    Ok(Change::Convert(Element::of(from)?, Element::of(to)?))
}

/// A sum of two types.
pub(super) fn sum(from: Dtype, to: Dtype) -> Result<Change, Fault> {
    let (from, to) = (Element::of(from)?, Element::of(to)?);
    accumulate::types(from, to)?;
    Ok(Change::Add(from, to))
}

/// DMA_DIRECT2D.
pub(crate) fn direct(
    state: &State,
    site: Site<'_>,
    opcode: Opcode,
    body: &DmaDirect,
) -> Result<Job, Fault> {
    // byte 15 of the pseudo form is the kind of the record
    let adds = match opcode {
        Opcode::PSEUDO_DMA_DIRECT2D if body.kind() == DgeKind::DIRECT2D => false,
        Opcode::DMA_DIRECT2D if body.compute() == DmaCompute::NONE => false,
        Opcode::DMA_DIRECT2D if body.compute() == DmaCompute::ADD => true,
        _ => return Err(Fault::unknown(format!("DMA operation {:#04x}", body.operation))),
    };
    let side = |address: Addr8, steps: [i32; 2], counts: [u16; 2], element: u16| {
        let (place, offset) = device::place(state, site, address)?;
        let run = usize::from(element);
        let (steps, counts) = (steps.map(i64::from).to_vec(), counts.map(u64::from).to_vec());
        Ok(Side { place, offset, run, steps, counts })
    };
    let from = side(body.src, body.src_steps, body.src_counts, body.src_elem_size)?;
    let to = side(body.dst, body.dst_steps, body.dst_counts, body.dst_elem_size)?;
    check_bound(site, body, &from)?;
    let change = if adds {
        sum(body.src_type, body.dst_type)?
    } else {
        change(body.src_type, body.dst_type)?
    };
    Ok(Job {
        queue: format!("{} dynamic", site.engine.key()),
        transfers: vec![Transfer { from, to, change }],
        semaphore: Some(body.semaphore),
        increment: body.increment,
        event: None,
    })
}

/// The bound of an offset in a register: the size of the tensor, which
/// PSEUDO_EXTENSION has, less the extent of the walk (isa-layouts.md §5.2).
fn check_bound(site: Site<'_>, body: &DmaDirect, from: &Side) -> Result<(), Fault> {
    if body.dst_bound != 0 {
        return Err(Fault::unknown("a bound of the destination"));
    }
    if body.src_bound == 0 {
        return Ok(());
    }
    let next = site.next.and_then(|record| record.instruction()).map(|next| next.body);
    let Some(Body::Extension(extension)) = next else {
        return Err(Fault::unknown("a bound without the record that holds it"));
    };
    let steps = body.src_counts.iter().zip(body.src_steps);
    let extent: i64 =
        steps.map(|(count, step)| (i64::from(*count) - 1) * i64::from(step)).sum::<i64>()
            + i64::from(body.src_elem_size);
    if from.offset + extent > i64::from(extension.size) {
        let size = extension.size;
        let text = format!("offset {} and extent {extent} in {size} bytes", from.offset);
        return Err(Fault::address(text));
    }
    Ok(())
}

/// PSEUDO_DMA_TRIGGER: the block of this engine with this queue and number.
pub(crate) fn triggered(site: Site<'_>, body: &DmaTrigger) -> Result<Job, Fault> {
    let Some(queue) = body.queue.text() else {
        return Err(Fault::unknown(format!("queue name {}", body.queue)));
    };
    if body.use_raw_count != 0 {
        return Err(Fault::unknown(format!("raw count {}", body.use_raw_count)));
    }
    let id = u64::from(body.block_id);
    let block = site
        .program
        .block(site.engine, queue, id)
        .ok_or_else(|| Fault::address(format!("no block {id} of queue {queue}")))?;
    let remote = block.remote_semaphores.as_ref();
    if remote.is_some_and(|remote| remote.as_array().is_none_or(|list| !list.is_empty())) {
        return Err(Fault::unknown("semaphores of other cores"));
    }
    if block.instance_name.is_some() || block.function_start.is_some() {
        return Err(Fault::unknown("a ring instance or a function of a block"));
    }
    let transfers: Result<Vec<_>, Fault> =
        block.desc.iter().map(|desc| transfer(site, desc)).collect();
    Ok(Job {
        queue: queue.to_owned(),
        transfers: transfers?,
        semaphore: index(block.semaphore)?,
        increment: BLOCK_INCREMENT,
        event: index(block.event)?,
    })
}

fn index(number: Option<i64>) -> Result<Option<u8>, Fault> {
    let narrow =
        |number| u8::try_from(number).map_err(|_| Fault::unknown(format!("semaphore {number}")));
    number.map(narrow).transpose()
}

fn transfer(site: Site<'_>, desc: &doc::Transfer) -> Result<Transfer, Fault> {
    let others = [desc.from_arr.is_some(), desc.scale.is_some(), desc.constant.is_some()];
    if others.contains(&true) {
        return Err(Fault::unknown("arithmetic of a DMA block"));
    }
    let side =
        |name: &Option<String>, offset, sizes: &Option<Vec<u64>>, steps: &Option<Vec<i64>>| {
            let name = name.as_deref().unwrap_or_default();
            let place = site.program.named(name)?;
            let sizes = sizes.as_deref().and_then(<[u64]>::split_first);
            let steps = steps.as_deref().and_then(<[i64]>::split_first);
            let (Some((run, counts)), Some((1, steps))) = (sizes, steps) else {
                return Err(Fault::unknown(format!("the walk of {name}")));
            };
            let run = usize::try_from(*run).map_err(|_| Fault::shape(format!("a run of {run}")))?;
            if counts.len() != steps.len() {
                return Err(Fault::unknown(format!("the walk of {name}")));
            }
            let (steps, counts) = (steps.to_vec(), counts.to_vec());
            Ok(Side { place, offset: Option::unwrap_or(offset, 0), run, steps, counts })
        };
    let from = side(&desc.from, desc.from_off, &desc.from_sizes, &desc.from_steps)?;
    let to = side(&desc.to, desc.to_off, &desc.to_sizes, &desc.to_steps)?;
    let word = |word: &Option<String>| word.as_deref().unwrap_or("uint8").to_owned();
    let (source, target) = (word(&desc.from_dtype), word(&desc.to_dtype));
    let change = match (desc.op.as_deref(), desc.transpose_shape.as_deref()) {
        (None | Some("copy"), None) if source == target && desc.transpose_op.is_none() => {
            Change::None
        }
        (Some("cast"), None) => {
            Change::Convert(Element::of_word(&source)?, Element::of_word(&target)?)
        }
        // Blocks of real files that turn tiles have no `op`.
        (None, Some([1, 1, rows, columns]))
            if source == target && matches!(desc.transpose_op.as_deref(), None | Some("WZXY")) =>
        {
            let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
            let element = desc.transpose_element_size.map_or(0, size);
            Change::Transpose { rows: size(*rows), columns: size(*columns), element }
        }
        (op, shape) => {
            let text = format!("DMA operation {op:?} of {source} to {target}, shape {shape:?}");
            return Err(Fault::NotUnderstood(text));
        }
    };
    Ok(Transfer { from, to, change })
}
