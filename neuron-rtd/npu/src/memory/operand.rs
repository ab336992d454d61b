//! An operand of an engine: an access pattern found in a memory, with every
//! byte position checked before the first element moves.

use neuron_core::isa::address::{Pattern, Place};

use super::onchip::{OnChip, Partitioned, Region};
use super::walk::Walk;
use crate::fault::Fault;
use crate::geometry::PARTITIONS;
use crate::number::Element;

/// Most elements per partition of one operand: the bytes of the largest
/// partition (our choice: 4 times what the engines take, neuroncore.md §1.3; it
/// bounds the work of a bad record).
pub const MOST_ELEMENTS: u64 = 1 << 18;

/// A checked operand. Element `i` of a partition, in walk order, is at the same
/// byte in each of its partitions (isa-layouts.md §2.5).
#[derive(Debug, Clone)]
pub struct Operand {
    region: Region,
    first: usize,
    partitions: usize,
    walk: Walk,
    element: Element,
}

impl Operand {
    /// Finds a pattern in a memory.
    ///
    /// # Errors
    ///
    /// For an address that no sheet explains, a count of 0, and any element
    /// outside of the memory.
    pub fn find<const N: usize>(
        memory: &OnChip,
        pattern: &Pattern<N>,
        partitions: usize,
        element: Element,
    ) -> Result<Self, Fault> {
        let (region, first, byte) = match pattern.start.place() {
            Place::Sbuf { partition, byte } => (Region::Sbuf, usize::from(partition), byte),
            Place::Psum { partition, byte } => (Region::Psum, usize::from(partition), byte),
            Place::Other(address) => {
                return Err(Fault::unknown(format!("address form {address:#010x}")));
            }
        };
        let count = pattern.elements();
        if count == 0 || count > MOST_ELEMENTS {
            return Err(Fault::shape(format!("{pattern} has {count} elements per partition")));
        }
        if partitions == 0 || first + partitions > PARTITIONS {
            let text = format!("{partitions} partitions from partition {first} at {pattern}");
            return Err(Fault::shape(text));
        }
        let live = memory.region(region).partition_bytes();
        let walk = Walk::find(pattern, byte, element.bytes(), live).ok_or_else(|| {
            Fault::address(format!("{pattern} leaves a partition of {live} bytes"))
        })?;
        Ok(Self { region, first, partitions, walk, element })
    }

    /// The memory it is in.
    pub const fn region(&self) -> Region {
        self.region
    }

    /// Its data type.
    pub const fn element(&self) -> Element {
        self.element
    }

    /// Partitions.
    pub const fn partitions(&self) -> usize {
        self.partitions
    }

    /// Its first partition.
    pub const fn first(&self) -> usize {
        self.first
    }

    /// Elements per partition.
    pub const fn elements(&self) -> usize {
        self.walk.elements()
    }

    /// The bits of the elements of its `index`th partition, in walk order.
    pub fn bits(&self, memory: &OnChip, index: usize) -> Vec<u32> {
        let bytes = memory.region(self.region).partition(self.first + index);
        let mut row = vec![0; self.elements()];
        for (at, run) in self.walk.runs().zip(row.chunks_mut(self.walk.count())) {
            self.element.load_run(bytes, at, self.walk.step(), run);
        }
        row
    }

    /// The elements of its `index`th partition as fp32, in walk order.
    pub fn read(&self, memory: &OnChip, index: usize) -> Vec<f32> {
        let mut row = vec![0.0; self.elements()];
        self.read_into(memory, index, &mut row);
        row
    }

    /// As [`Operand::read`], into as many numbers.
    pub fn read_into(&self, memory: &OnChip, index: usize, row: &mut [f32]) {
        let bytes = memory.region(self.region).partition(self.first + index);
        for (at, run) in self.walk.runs().zip(row.chunks_mut(self.walk.count())) {
            self.element.decode_run(bytes, at, self.walk.step(), run);
        }
    }

    /// The elements of its partitions from the `index`th on as fp32, a row
    /// each.
    pub(crate) fn read_rows(&self, memory: &OnChip, index: usize, rows: &mut [f32]) {
        let width = self.elements();
        let region = memory.region(self.region);
        if let Some(start) = self.walk.side_by_side(self.element.bytes() as isize) {
            let bytes = region.onwards(self.first + index).get(start..).unwrap_or_default();
            return self.element.decode_rows(bytes, region.stride(), width, rows);
        }
        for (index, row) in (index..).zip(rows.chunks_exact_mut(width)) {
            self.read_into(memory, index, row);
        }
    }

    /// Writes numbers where [`Operand::read_rows`] takes them from, rounded to
    /// its type.
    pub(crate) fn write_rows(&self, memory: &mut OnChip, index: usize, rows: &[f32]) {
        let width = self.elements();
        if let Some(start) = self.walk.side_by_side(self.element.bytes() as isize) {
            let region = memory.region_mut(self.region);
            let (stride, count) = (region.stride(), rows.len() / width);
            let bytes = region.onwards_mut(self.first + index, count, self.walk.span());
            let bytes = bytes.get_mut(start..).unwrap_or_default();
            return self.element.encode_rows(rows, bytes, stride, width);
        }
        for (index, row) in (index..).zip(rows.chunks_exact(width)) {
            self.write(memory, index, row);
        }
    }

    /// The bytes of the elements of its partitions from the `index`th on, a row
    /// each.
    pub(crate) fn read_bytes(&self, memory: &OnChip, index: usize, rows: &mut [u8]) {
        let size = self.element.bytes();
        let rows = rows.chunks_exact_mut(self.elements() * size);
        if let Some((bytes, stride)) = self.rows(memory) {
            for (row, bytes) in rows.zip(bytes.chunks(stride).skip(index)) {
                if let Some(bytes) = bytes.get(..row.len()) {
                    row.copy_from_slice(bytes);
                }
            }
            return;
        }
        for (index, row) in (index..).zip(rows) {
            for (bits, bytes) in
                self.bits(memory, index).into_iter().zip(row.chunks_exact_mut(size))
            {
                self.element.store(bits, bytes);
            }
        }
    }

    /// Writes bytes where [`Operand::read_bytes`] takes them from.
    pub(crate) fn write_bytes(&self, memory: &mut OnChip, index: usize, rows: &[u8]) {
        let size = self.element.bytes();
        let rows = rows.chunks_exact(self.elements() * size);
        if let Some(start) = self.walk.side_by_side(size as isize) {
            let region = memory.region_mut(self.region);
            let stride = region.stride();
            let bytes = region.onwards_mut(self.first + index, rows.len(), self.walk.span());
            let bytes = bytes.get_mut(start..).unwrap_or_default();
            for (row, bytes) in rows.zip(bytes.chunks_mut(stride)) {
                if let Some(bytes) = bytes.get_mut(..row.len()) {
                    bytes.copy_from_slice(row);
                }
            }
            return;
        }
        let mut bits = vec![0; self.elements()];
        for (index, row) in (index..).zip(rows) {
            for (bits, bytes) in bits.iter_mut().zip(row.chunks_exact(size)) {
                *bits = self.element.load(bytes);
            }
            self.put_bits(memory, index, &bits);
        }
    }

    /// Whether each of its partitions may be written before the next one of
    /// `source` is read: no row of it lies over a later row of the source.
    pub(crate) fn may_follow(&self, source: &Self) -> bool {
        let (own, other) = (self.walk.span(), source.walk.span());
        let partitions = |operand: &Self| operand.first..operand.first + operand.partitions;
        let apart = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
            a.end <= b.start || b.end <= a.start
        };
        self.region != source.region
            || self.first <= source.first
            || apart(own, other)
            || apart(partitions(self), partitions(source))
    }

    /// Writes bits to its `index`th partition, in walk order.
    pub fn put_bits(&self, memory: &mut OnChip, index: usize, row: &[u32]) {
        let bytes = memory.region_mut(self.region).span_mut(self.first + index, self.walk.span());
        for (at, run) in self.walk.runs().zip(row.chunks(self.walk.count())) {
            self.element.store_run(run, bytes, at, self.walk.step());
        }
    }

    /// The bytes from its first element on, and the bytes between its
    /// partitions, where the elements of a partition lie side by side.
    pub(crate) fn rows<'m>(&self, memory: &'m OnChip) -> Option<(&'m [u8], usize)> {
        self.rows_of(memory.region(self.region))
    }

    /// As [`Operand::rows`], of its memory.
    pub(crate) fn rows_of<'m>(&self, region: &'m Partitioned) -> Option<(&'m [u8], usize)> {
        let start = self.walk.side_by_side(self.element.bytes() as isize)?;
        Some((region.onwards(self.first).get(start..)?, region.stride()))
    }

    /// As [`Operand::rows`], where they lie side by side in reverse: from the
    /// last element on.
    pub(crate) fn rows_backwards<'m>(&self, memory: &'m OnChip) -> Option<(&'m [u8], usize)> {
        let start = self.walk.backwards(self.element.bytes() as isize)?;
        let region = memory.region(self.region);
        Some((region.onwards(self.first).get(start..)?, region.stride()))
    }

    /// As [`Operand::rows_of`], to write, where it is fp32.
    pub(crate) fn rows_mut_of<'m>(
        &self,
        region: &'m mut Partitioned,
    ) -> Option<(&'m mut [u8], usize)> {
        if self.element != Element::Fp32 {
            return None;
        }
        let start = self.walk.side_by_side(4)?;
        let stride = region.stride();
        let bytes = region.onwards_mut(self.first, self.partitions, self.walk.span());
        Some((bytes.get_mut(start..)?, stride))
    }

    /// Adds numbers to those of its `index`th partition, in fp32, and rounds
    /// the sums to its type.
    pub fn add(&self, memory: &mut OnChip, index: usize, row: &[f32]) {
        let bytes = memory.region_mut(self.region).span_mut(self.first + index, self.walk.span());
        for (at, run) in self.walk.runs().zip(row.chunks(self.walk.count())) {
            self.element.add_run(run, bytes, at, self.walk.step());
        }
    }

    /// Writes numbers to its `index`th partition, rounded to its type.
    pub fn write(&self, memory: &mut OnChip, index: usize, row: &[f32]) {
        let bytes = memory.region_mut(self.region).span_mut(self.first + index, self.walk.span());
        for (at, run) in self.walk.runs().zip(row.chunks(self.walk.count())) {
            self.element.encode_run(run, bytes, at, self.walk.step());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::instance::Arch;
    use neuron_core::isa::address::Addr4;

    fn pattern<const N: usize>(start: Addr4, steps: [i16; N], counts: [u16; N]) -> Pattern<N> {
        Pattern { start, steps, counts }
    }

    #[test]
    fn elements_follow_the_walk_in_every_partition() {
        let mut memory = OnChip::new(Arch::V3);
        let start = Addr4::sbuf(32, 0x100).unwrap();
        let flat = pattern(start, [1, 0], [12, 1]);
        let flat = Operand::find(&memory, &flat, 2, Element::Bf16).unwrap();
        let row: Vec<f32> = (0..12u8).map(f32::from).collect();
        flat.write(&mut memory, 1, &row);
        // columns of a 3 x 4 tile, each one backwards
        let last = Addr4::sbuf(32, 0x100 + 2 * 8).unwrap();
        let walk = pattern(last, [-4, 1, 0], [3, 4, 2]);
        let walk = Operand::find(&memory, &walk, 2, Element::Bf16).unwrap();
        let once = [8., 4., 0., 9., 5., 1., 10., 6., 2., 11., 7., 3.];
        assert_eq!(walk.read(&memory, 1), [once, once].concat());
        assert_eq!(walk.read(&memory, 0), [0.0; 24]);
        assert_eq!(flat.bits(&memory, 1)[3], 0x4040);
    }

    #[test]
    fn psum_is_addressed_by_its_own_stride() {
        let mut memory = OnChip::new(Arch::V2);
        let bank = pattern(Addr4::psum(1, 2048).unwrap(), [1], [512]);
        let bank = Operand::find(&memory, &bank, 1, Element::Fp32).unwrap();
        bank.write(&mut memory, 0, &[2.5; 512]);
        let bytes = memory.region(Region::Psum).partition(1);
        assert_eq!(bytes[2048..2052], 2.5f32.to_le_bytes());
        assert_eq!(bytes[4092..4096], 2.5f32.to_le_bytes());
        assert_eq!(bytes[4096..4100], [0; 4]);
    }

    #[test]
    fn what_leaves_the_memory_is_refused() {
        let memory = OnChip::new(Arch::V3);
        let find = |start, steps, counts, partitions| {
            Operand::find(&memory, &pattern(start, steps, counts), partitions, Element::Fp32)
        };
        let origin = Addr4::sbuf(0, 0).unwrap();
        assert!(find(origin, [1, 0], [64, 1], 128).is_ok());
        assert!(find(origin, [-1, 0], [2, 1], 128).is_err());
        assert!(find(origin, [1, 0], [0, 1], 128).is_err());
        assert!(find(origin, [0, 0], [u16::MAX, u16::MAX], 1).is_err());
        assert!(find(Addr4::sbuf(1, 0).unwrap(), [1, 0], [1, 1], 128).is_err());
        assert!(find(Addr4::sbuf(0, 0x3_8000).unwrap(), [1, 0], [1, 1], 1).is_err());
        assert!(find(Addr4::psum(0, 0x4000).unwrap(), [1, 0], [1, 1], 1).is_err());
        assert!(find(Addr4(0x8000_0001), [1, 0], [1, 1], 1).is_err());
    }
}
