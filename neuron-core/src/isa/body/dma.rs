//! Payloads of dynamic DMA (isa-layouts.md §5.1; neuroncore.md §3.6).

use crate::isa::address::{Addr4, Addr8};
use crate::isa::code::{DgeKind, DmaCompute, Dtype};
use crate::isa::field::layout;

layout! {
    /// DMA_DIRECT2D, and PSEUDO_DMA_DIRECT2D before loading: bytes of the
    /// source walk become the bytes of the destination walk.
    DmaDirect {
        /// Priority in the low 3 bits, 0 in real files (public notes).
        12 config: u8,
        /// Semaphore that rises when the transfer is done.
        13 semaphore: u8,
        /// By how much, 16 in real files.
        14 increment: u8,
        /// A [`DmaCompute`], or in the pseudo record the [`DgeKind`].
        15 operation: u8,
        /// Source.
        16 src: Addr8,
        /// Steps in bytes, inner and outer.
        24 src_steps: [i32; 2],
        /// Counts, inner and outer.
        32 src_counts: [u16; 2],
        /// Bytes of one element, which is a run of bytes.
        36 src_elem_size: u16,
        /// 0, or 0x80 + the register with the upper bound of the offset.
        38 src_bound: u8,
        /// The same for the destination.
        39 dst_bound: u8,
        /// Destination.
        40 dst: Addr8,
        /// Steps in bytes, inner and outer.
        48 dst_steps: [i32; 2],
        /// Counts, inner and outer.
        56 dst_counts: [u16; 2],
        /// Bytes of one element.
        60 dst_elem_size: u16,
        /// Type of the source.
        62 src_type: Dtype,
        /// Type of the destination; another one means a conversion.
        63 dst_type: Dtype,
    }
}

impl DmaDirect {
    /// The arithmetic of DMA_DIRECT2D.
    pub const fn compute(&self) -> DmaCompute {
        DmaCompute(self.operation)
    }

    /// What PSEUDO_DMA_DIRECT2D becomes.
    pub const fn kind(&self) -> DgeKind {
        DgeKind(self.operation)
    }

    /// Bytes that the source walk reads.
    pub fn src_bytes(&self) -> u64 {
        walk_bytes(self.src_counts, self.src_elem_size)
    }

    /// Bytes that the destination walk writes.
    pub fn dst_bytes(&self) -> u64 {
        walk_bytes(self.dst_counts, self.dst_elem_size)
    }
}

fn walk_bytes([inner, outer]: [u16; 2], element: u16) -> u64 {
    u64::from(inner) * u64::from(outer) * u64::from(element)
}

layout! {
    /// DMA_INDIRECT: gather and scatter by an index column.
    DmaIndirect {
        /// Semaphore that rises when the transfer is done.
        12 semaphore: u8,
        /// By how much.
        13 increment: u8,
        /// Partitions of the index columns.
        14 index_channels: u8,
        /// Bits 1:0 gather, scatter or both; 2 out of bounds is an error; 3
        /// not unique; 5:4 and 7:6 dimensions of gather and scatter.
        15 flags: u8,
        /// Source.
        16 src: Addr8,
        /// Step in bytes.
        24 src_step: i32,
        /// Count.
        28 src_count: u16,
        /// Bytes of one element.
        30 src_elem_size: u16,
        /// Destination.
        32 dst: Addr8,
        /// Step in bytes.
        40 dst_step: i32,
        /// Count.
        44 dst_count: u16,
        /// Bytes of one element.
        46 dst_elem_size: u16,
        /// Index column of the source.
        48 src_index: Addr4,
        /// Index column of the destination.
        52 dst_index: Addr4,
        /// Type of the source.
        56 src_type: Dtype,
        /// Type of the destination.
        57 dst_type: Dtype,
        /// Register with the bound of the source index.
        58 src_bound: u8,
        /// Register with the bound of the destination index.
        59 dst_bound: u8,
        /// Arithmetic.
        60 compute: DmaCompute,
        /// Priority in the low 3 bits.
        61 config: u8,
    }
}
