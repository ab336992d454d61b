//! Transfers that add: each element of the destination becomes its sum with
//! the one that arrives, in fp32 (NKI's `dst_rmw_op=add` of `dma_copy` and its
//! `dma_compute`; operation 1 in the public notes on the vendor's headers). A
//! place that occurs twice gets both. The other operations of the notes
//! (multiply, maximum, minimum) are documented nowhere and refused.

use super::{Transfer, read};
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::memory::OnChip;
use crate::number::Element;

/// The types of a sum: floats, as documented.
pub(super) fn types(from: Element, to: Element) -> Result<(), Fault> {
    let whole = |element| {
        matches!(
            element,
            Element::Int8
                | Element::Uint8
                | Element::Int16
                | Element::Uint16
                | Element::Int32
                | Element::Uint32
        )
    };
    if whole(from) || whole(to) {
        return Err(Fault::unknown(format!("a sum of {from:?} and {to:?} by DMA")));
    }
    Ok(())
}

/// Adds the source to the destination, run by run. The transfer was checked.
pub(super) fn add(
    transfer: &Transfer,
    (from, to): (Element, Element),
    memory: &mut OnChip,
    hbm: &mut Hbm,
) -> Result<(), Fault> {
    let stream = read(&transfer.from, memory, hbm)?;
    let run = transfer.to.run;
    let stream = from.convert(&stream, Element::Fp32);
    let mut there = vec![0; run];
    for (offset, new) in transfer.to.offsets().zip(stream.chunks_exact(run / to.bytes() * 4)) {
        transfer.to.place.read(memory, hbm, offset, &mut there)?;
        let old = to.convert(&there, Element::Fp32);
        let pairs = old.as_chunks().0.iter().zip(new.as_chunks().0);
        let sums = pairs.flat_map(|(old, new)| {
            (f32::from_le_bytes(*old) + f32::from_le_bytes(*new)).to_le_bytes()
        });
        let sums = Element::Fp32.convert(&sums.collect::<Vec<u8>>(), to);
        transfer.to.place.write(memory, hbm, offset, &sums)?;
    }
    Ok(())
}
