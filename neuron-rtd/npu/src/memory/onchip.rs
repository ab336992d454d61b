//! SBUF and PSUM: 128 partitions each.

use std::ops::Range;

use neuron_core::instance::Arch;

use super::store::Store;
use crate::fault::Fault;
use crate::geometry::{PARTITIONS, PSUM_PARTITION_BYTES, sbuf_partition_bytes};

/// Which memory of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Region {
    /// The state buffer.
    Sbuf,
    /// The accumulation buffer.
    Psum,
}

/// Bytes between two partitions that are no memory. Sizes of partitions are
/// multiples of large powers of two, so that without a gap the same byte of all
/// partitions would compete for a few sets of the host's caches: an instruction
/// reads 2 KiB of each of 128.
const GAP: usize = 2 << 10;

/// A memory of 128 partitions of the same size.
#[derive(Debug, Clone)]
pub struct Partitioned {
    bytes: Store,
    size: usize,
}

impl Partitioned {
    fn new(size: usize) -> Self {
        Self { bytes: Store::zeros(PARTITIONS * (size + GAP)), size }
    }

    /// Bytes from a partition to the next.
    pub(crate) const fn stride(&self) -> usize {
        self.size + GAP
    }

    /// Live bytes of a partition.
    pub const fn partition_bytes(&self) -> usize {
        self.size
    }

    /// The bytes of a partition; none from partition 128 on.
    pub fn partition(&self, partition: usize) -> &[u8] {
        self.onwards(partition).get(..self.size).unwrap_or_default()
    }

    /// The bytes of a partition, to write.
    pub fn partition_mut(&mut self, partition: usize) -> &mut [u8] {
        self.span_mut(partition, 0..self.size)
    }

    /// The bytes of a partition, to write those of the span only.
    pub(crate) fn span_mut(&mut self, partition: usize, span: Range<usize>) -> &mut [u8] {
        let size = self.size;
        self.onwards_mut(partition, 1, span).get_mut(..size).unwrap_or_default()
    }

    /// The bytes of a partition and of all after it, [`Partitioned::stride`]
    /// apart.
    pub(crate) fn onwards(&self, partition: usize) -> &[u8] {
        let start = partition.saturating_mul(self.stride());
        self.bytes.bytes().get(start..).unwrap_or_default()
    }

    /// The same, to write the span of so many partitions only.
    pub(crate) fn onwards_mut(
        &mut self,
        partition: usize,
        partitions: usize,
        span: Range<usize>,
    ) -> &mut [u8] {
        let stride = self.stride();
        let start = partition.saturating_mul(stride);
        for row in (0..partitions).map(|index| start.saturating_add(index * stride)) {
            self.bytes.note(row.saturating_add(span.start)..row.saturating_add(span.end));
        }
        self.bytes.bytes_mut().get_mut(start..).unwrap_or_default()
    }
}

/// The memories of one core.
#[derive(Debug, Clone)]
pub struct OnChip {
    sbuf: Partitioned,
    psum: Partitioned,
}

impl OnChip {
    /// The memories of a generation, all zero.
    pub fn new(arch: Arch) -> Self {
        Self {
            sbuf: Partitioned::new(sbuf_partition_bytes(arch)),
            psum: Partitioned::new(PSUM_PARTITION_BYTES),
        }
    }

    /// One of the memories.
    pub const fn region(&self, region: Region) -> &Partitioned {
        match region {
            Region::Sbuf => &self.sbuf,
            Region::Psum => &self.psum,
        }
    }

    /// One of the memories, to write.
    pub const fn region_mut(&mut self, region: Region) -> &mut Partitioned {
        match region {
            Region::Sbuf => &mut self.sbuf,
            Region::Psum => &mut self.psum,
        }
    }

    /// SBUF to read and PSUM to write.
    pub(crate) const fn both(&mut self) -> (&Partitioned, &mut Partitioned) {
        (&self.sbuf, &mut self.psum)
    }

    /// A run of bytes of SBUF by the linear address of DMA: partition x
    /// 0x40000 + byte (isa-layouts.md §2.4). A run lies in one partition.
    ///
    /// # Errors
    ///
    /// When the run leaves its partition.
    pub fn sbuf_run(&self, address: i64, length: usize) -> Result<&[u8], Fault> {
        let (partition, byte) = sbuf_place(address)?;
        let end = byte.saturating_add(length);
        let run = self.sbuf.partition(partition).get(byte..end);
        run.ok_or_else(|| outside(address, length))
    }

    /// The same run, to write.
    ///
    /// # Errors
    ///
    /// When the run leaves its partition.
    pub fn sbuf_run_mut(&mut self, address: i64, length: usize) -> Result<&mut [u8], Fault> {
        let (partition, byte) = sbuf_place(address)?;
        let end = byte.saturating_add(length);
        let run = self.sbuf.span_mut(partition, byte..end).get_mut(byte..end);
        run.ok_or_else(|| outside(address, length))
    }
}

fn outside(address: i64, length: usize) -> Fault {
    Fault::address(format!("{length} bytes at SBUF {address:#x} leave the partition"))
}

fn sbuf_place(address: i64) -> Result<(usize, usize), Fault> {
    let address = usize::try_from(address)
        .map_err(|_| Fault::address(format!("SBUF address {address} is below zero")))?;
    Ok((address >> 18, address & 0x3_ffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_generation() {
        for (arch, bytes) in [(Arch::V2, 192 << 10), (Arch::V3, 224 << 10), (Arch::V4, 256 << 10)] {
            let memory = OnChip::new(arch);
            assert_eq!(memory.region(Region::Sbuf).partition(127).len(), bytes);
            assert_eq!(memory.region(Region::Psum).partition(0).len(), 8 * 2048);
            assert!(memory.region(Region::Sbuf).partition(128).is_empty());
        }
    }

    #[test]
    fn a_run_stays_in_its_partition() {
        let mut memory = OnChip::new(Arch::V3);
        let end = (224 << 10) as i64;
        let at = 3 * 0x4_0000 + end - 4;
        memory.sbuf_run_mut(at, 4).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(&memory.region(Region::Sbuf).partition(3)[(224 << 10) - 4..], [1, 2, 3, 4]);
        assert!(memory.sbuf_run(at, 5).is_err());
        assert!(memory.sbuf_run(-1, 1).is_err());
        assert!(memory.sbuf_run(128 * 0x4_0000, 1).is_err());
        assert!(memory.sbuf_run_mut(at, 5).is_err() && memory.sbuf_run_mut(0, 0).is_ok());
    }
}
