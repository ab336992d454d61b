//! DMA_INDIRECT: gather, scatter or both, by a column of indices in SBUF
//! (public notes on the vendor's headers: the layout and the meaning of the
//! flags).
//!
//! Index i lies in partition i mod 128, word i / 128 from the start of the
//! column; it counts steps of its side. An index beyond the bound is a fault or
//! is passed over, as the flags say. Both are our choice.

use neuron_core::isa::address::{Addr4, Place as OnChipPlace, SBUF_PARTITION_STRIDE};
use neuron_core::isa::body::dma::DmaIndirect;
use neuron_core::isa::code::DmaCompute;

use super::issue::{change, sum};
use super::{Job, Side, Transfer};
use crate::device;
use crate::exec::{Site, State};
use crate::fault::Fault;
use crate::geometry::PARTITIONS;

/// Most elements of one record (our choice).
const MOST: u16 = 4096;

/// DMA_INDIRECT. Each element is a transfer of its own.
pub(crate) fn indirect(state: &State, site: Site<'_>, body: &DmaIndirect) -> Result<Job, Fault> {
    let (gathers, scatters) = match body.flags & 3 {
        0 => (true, false),
        1 => (false, true),
        2 => (true, true),
        mode => return Err(Fault::unknown(format!("indirect mode {mode}"))),
    };
    if body.flags >> 4 != 0
        || ![DmaCompute::NONE, DmaCompute::ADD].contains(&body.compute)
        || body.config > 7
    {
        let (flags, compute, config) = (body.flags, body.compute, body.config);
        let text = format!("flags {flags:#04x}, {compute}, configuration {config:#04x}");
        return Err(Fault::unknown(text));
    }
    if usize::from(body.index_channels) != PARTITIONS {
        return Err(Fault::unknown(format!("indices in {} partitions", body.index_channels)));
    }
    let count = body.src_count;
    if count == 0 || count > MOST || count != body.dst_count {
        return Err(Fault::shape(format!("{count} elements to {}", body.dst_count)));
    }
    let change = match body.compute {
        DmaCompute::ADD => sum(body.src_type, body.dst_type)?,
        _ => change(body.src_type, body.dst_type)?,
    };
    let fails = body.flags & 4 != 0;
    let from = Indices::of(state, site, gathers, body.src_index, body.src_bound, fails);
    let to = Indices::of(state, site, scatters, body.dst_index, body.dst_bound, fails);
    let source = device::place(state, site, body.src)?;
    let target = device::place(state, site, body.dst)?;
    let mut transfers = Vec::with_capacity(usize::from(count));
    for element in 0..usize::from(count) {
        let (Some(from), Some(to)) = (from.step(element)?, to.step(element)?) else { continue };
        let side = |(place, offset): (_, i64), step: i32, times: i64, run: u16| Side {
            place,
            offset: offset.saturating_add(i64::from(step).saturating_mul(times)),
            run: usize::from(run),
            steps: Vec::new(),
            counts: Vec::new(),
        };
        transfers.push(Transfer {
            from: side(source, body.src_step, from, body.src_elem_size),
            to: side(target, body.dst_step, to, body.dst_elem_size),
            change,
        });
    }
    Ok(Job {
        queue: format!("{} dynamic", site.engine.key()),
        transfers,
        semaphore: Some(body.semaphore),
        increment: body.increment,
        event: None,
    })
}

/// Where the steps of a side come from.
struct Indices<'a> {
    state: &'a State,
    /// Start of the column; `None` counts up.
    column: Option<Addr4>,
    /// Largest index.
    bound: Option<u32>,
    /// Whether a larger one is a fault.
    fails: bool,
}

impl<'a> Indices<'a> {
    fn of(
        state: &'a State,
        site: Site<'_>,
        used: bool,
        column: Addr4,
        bound: u8,
        fails: bool,
    ) -> Self {
        // bit 7 turns the check on, bit 6 would hold back a notification
        let bound = (bound & 0x80 != 0).then(|| state.register(site.engine, bound & 0x3f));
        Self { state, column: used.then_some(column), bound, fails }
    }

    /// Steps of an element; `None` when it is passed over.
    fn step(&self, element: usize) -> Result<Option<i64>, Fault> {
        let lost = || Fault::address(format!("index {element} of {:?}", self.column));
        let Some(column) = self.column else {
            return Ok(i64::try_from(element).ok());
        };
        let OnChipPlace::Sbuf { partition: 0, byte } = column.place() else {
            return Err(Fault::unknown(format!("an index column at {column:?}")));
        };
        let partition = i64::try_from(element % PARTITIONS).map_err(|_| lost())?;
        let word = i64::try_from(element / PARTITIONS).map_err(|_| lost())?;
        let at = partition * i64::from(SBUF_PARTITION_STRIDE) + i64::from(byte) + 4 * word;
        let word = self.state.memory.sbuf_run(at, 4)?;
        let index = u32::from_le_bytes(*word.first_chunk().ok_or_else(lost)?);
        match self.bound {
            Some(bound) if index > bound && self.fails => {
                Err(Fault::address(format!("index {index} beyond {bound}, element {element}")))
            }
            Some(bound) if index > bound => Ok(None),
            _ => Ok(Some(i64::from(index))),
        }
    }
}
