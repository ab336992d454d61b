//! Tiles: parts of a tensor in SBUF that an instruction can take, and those
//! that it makes.

use std::ops::Range;

use neuron_core::isa::address::Pattern;
use neuron_core::isa::body::pe::ArrayGroup;

use super::place::{Form, Layout, View, tiles};
use super::{Lower, PARTITIONS, address};
use crate::array::ElementType;
use crate::emit::{PSUM, Touches};
use crate::error::Result;
use crate::graph::TensorId;

/// Partitions, and rows of the array, that can be used by themselves.
pub(super) const QUARTER: usize = 32;

/// Up to 128 partitions with a run of elements each.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// First byte: of SBUF, or from `PSUM` on of PSUM.
    pub(super) at: u32,
    /// First partition: 0 but for parts of a tile along its partitions.
    pub(super) first: usize,
    /// Partitions.
    pub(super) parts: usize,
    /// Elements of a partition.
    pub(super) free: usize,
    pub(super) element: ElementType,
    /// What to give back when nothing uses it any more.
    scratch: Option<u32>,
}

impl Tile {
    /// A tile that gives nothing back.
    pub(super) fn at(at: u32, element: ElementType, parts: usize, free: usize) -> Self {
        Self { at, first: 0, parts, free, element, scratch: None }
    }

    /// A part of it along the partitions' elements.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let start = range.start.min(self.free);
        Self {
            at: self.at + (start * self.element.bytes()) as u32,
            free: range.len().min(self.free - start),
            scratch: None,
            ..self.clone()
        }
    }

    /// Its first partitions.
    pub(super) fn top(&self, parts: usize) -> Self {
        Self { parts: parts.min(self.parts), scratch: None, ..self.clone() }
    }

    /// Some of its partitions, from a quarter of them on: the array takes them
    /// in its own rows (isa-layouts.md §3.1).
    pub(super) fn partitions(&self, range: Range<usize>) -> Self {
        let first = self.first + range.start;
        Self { first, parts: range.len(), scratch: None, ..self.clone() }
    }

    /// The rows of the array that stand at its partitions.
    pub(super) fn rows(&self) -> ArrayGroup {
        let end = (self.first + self.parts).div_ceil(QUARTER);
        let quarters = (self.first / QUARTER..end).filter(|_| self.first > 0);
        match quarters.fold(0, |bits, quarter| bits | 1 << quarter) {
            0 => ArrayGroup::default(),
            bits => ArrayGroup(bits),
        }
    }

    /// Bytes of a partition.
    pub(super) fn bytes(&self) -> Range<u32> {
        self.at..self.at + (self.free * self.element.bytes()) as u32
    }
}

impl Lower<'_> {
    /// A part of a tensor: `parts` of its numbers on partitions from `first`,
    /// a multiple of 128, and a range of the others. The tensor is brought on
    /// chip whole if it may stay there.
    pub(super) fn tile(
        &mut self,
        id: TensorId,
        form: Form,
        batch: usize,
        first: usize,
        range: Range<usize>,
    ) -> Result<Tile> {
        let element = self.value(id).element;
        let base = match self.find(id, form) {
            Some(base) => Some(base),
            None if self.may_stay(element, form) => self.bring(id, form)?,
            None => None,
        };
        match base {
            Some(base) => Ok(Self::within(base, element, form, batch, first, range)),
            None => self.stream(id, form, batch, first, range),
        }
    }

    /// The place of a part of a tensor that is on chip.
    fn within(
        base: u32,
        element: ElementType,
        form: Form,
        batch: usize,
        first: usize,
        range: Range<usize>,
    ) -> Tile {
        let parts = (form.extent().0 - first).min(PARTITIONS);
        let index = batch * form.tiles() + first / PARTITIONS;
        let element_here = form.element(element);
        let at = index * form.pitch(element) + range.start * element_here.bytes();
        let at = base + at as u32;
        Tile::at(at, element_here, parts, range.len())
    }

    /// Brings a whole tensor on chip; `None` when there is no room.
    fn bring(&mut self, id: TensorId, form: Form) -> Result<Option<u32>> {
        let element = self.value(id).element;
        // what it is made from stays where it is
        for chip in &mut self.value_mut(id).chips {
            chip.used = usize::MAX;
        }
        let kept = self.keep(id, form);
        let now = self.now;
        for chip in &mut self.value_mut(id).chips {
            chip.used = now;
        }
        let Ok(base) = kept else {
            return Ok(None);
        };
        // it is not a source of itself
        let own = self.value_mut(id).chips.pop();
        for (b, p, _) in tiles(form) {
            let tile = Self::within(base, element, form, b, p, 0..form.extent().1);
            self.fill(id, form, b, p, 0..form.extent().1, &tile)?;
        }
        self.value_mut(id).chips.extend(own);
        Ok(Some(base))
    }

    /// A part of a tensor in room of its own.
    pub(super) fn stream(
        &mut self,
        id: TensorId,
        form: Form,
        batch: usize,
        first: usize,
        range: Range<usize>,
    ) -> Result<Tile> {
        let element = form.element(self.value(id).element);
        let parts = (form.extent().0 - first).min(PARTITIONS);
        let tile = self.scratch(element, parts, range.len())?;
        self.fill(id, form, batch, first, range, &tile)?;
        Ok(tile)
    }

    /// Fills a tile with a part of a tensor.
    fn fill(
        &mut self,
        id: TensorId,
        form: Form,
        batch: usize,
        first: usize,
        range: Range<usize>,
        into: &Tile,
    ) -> Result<()> {
        let turned = match form.layout {
            Layout::Rows => Form::columns(form.view),
            Layout::Columns => Form::rows(form.view),
            Layout::Spread | Layout::Column => {
                let variable = self.hbm_variable(id)?;
                return self.load_parameter(variable, form, first, range, into);
            }
        };
        if form.layout == Layout::Rows && self.find(id, turned).is_none() {
            let variable = self.hbm_variable(id)?;
            return self.load(variable, form.view, batch, first, range, into);
        }
        for block in super::place::pieces(range.len(), PARTITIONS) {
            let rows = range.start + block.start;
            let columns = first..first + into.parts;
            // blocks of the other layout start at its tiles
            let aligned = rows / PARTITIONS * PARTITIONS;
            let source = match self.find(id, turned) {
                Some(base) => {
                    let element = self.value(id).element;
                    Self::within(base, element, turned, batch, aligned, columns)
                }
                None => self.stream(id, turned, batch, aligned, columns)?,
            };
            self.transpose(&source, &into.part(block))?;
            self.drop_tile(&source);
        }
        Ok(())
    }

    /// Room for a part of a tensor, which [`Lower::finish`] makes its data.
    pub(super) fn result(
        &mut self,
        id: TensorId,
        form: Form,
        batch: usize,
        first: usize,
        range: Range<usize>,
    ) -> Result<Tile> {
        let element = self.value(id).element;
        if let Some(base) = self.find(id, form) {
            return Ok(Self::within(base, element, form, batch, first, range));
        }
        let parts = (form.extent().0 - first).min(PARTITIONS);
        self.scratch(element, parts, range.len())
    }

    /// A part of a tensor is made: it is stored if it does not stay, or is an
    /// output. Its first element is `column` of row `first`.
    pub(super) fn finish(
        &mut self,
        id: TensorId,
        form: Form,
        tile: &Tile,
        batch: usize,
        first: usize,
        column: usize,
    ) -> Result<()> {
        if let Some(variable) = self.value(id).hbm {
            if form.layout == Layout::Rows {
                self.store(variable, form.view, tile, batch, first, column)?;
            } else {
                return Err(self.refuse("a tensor by columns cannot go to HBM"));
            }
        }
        self.drop_tile(tile);
        Ok(())
    }

    /// Room for a tile that is no tensor's.
    pub(super) fn scratch(
        &mut self,
        element: ElementType,
        parts: usize,
        free: usize,
    ) -> Result<Tile> {
        let at = self.room(free * element.bytes())?;
        Ok(Tile { scratch: Some(at), ..Tile::at(at, element, parts, free) })
    }

    /// A bank of PSUM as a tile.
    pub(super) fn bank(&mut self, element: ElementType, parts: usize, free: usize) -> Result<Tile> {
        let bank = self.psum.place((free * element.bytes()) as u32);
        let bank = bank.ok_or_else(|| self.refuse("more than 8 banks of PSUM"))?;
        let at = PSUM + bank;
        Ok(Tile { scratch: Some(at), ..Tile::at(at, element, parts, free) })
    }

    /// Gives room of its own back.
    pub(super) fn drop_tile(&mut self, tile: &Tile) {
        match tile.scratch {
            Some(at) if at >= PSUM => self.psum.release(at - PSUM),
            Some(at) => self.sbuf.release(at),
            None => {}
        }
    }
}

/// The pattern of a tile's elements in order.
pub(super) fn pattern<const N: usize>(tile: &Tile) -> Pattern<N> {
    let mut pattern =
        Pattern { start: address(tile.at, tile.first), steps: [1; N], counts: [1; N] };
    if let Some(count) = pattern.counts.first_mut() {
        // tiles of instructions are cut to 2048 elements
        *count = tile.free as u16;
    }
    pattern
}

/// The same as records of the array have it: steps of other dimensions are 0
/// (isa-layouts.md §2.5).
pub(super) fn stream(tile: &Tile) -> Pattern<3> {
    Pattern { steps: [1, 0, 0], ..pattern(tile) }
}

/// What an instruction touches.
pub(super) fn touches(reads: &[&Tile], writes: &[&Tile]) -> Touches {
    let bytes = |tiles: &[&Tile]| tiles.iter().map(|tile| tile.bytes()).collect();
    Touches { reads: bytes(reads), writes: bytes(writes), ..Touches::default() }
}

/// The view of a parameter along the last index.
pub(super) fn parameter(layout: Layout, length: usize) -> Form {
    Form { view: View { batch: 1, rows: 1, columns: length }, layout }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::place::pieces;
    use super::*;

    proptest! {
        /// Tiles of a form lie apart and within its footprint, and together
        /// they have each number once.
        #[test]
        fn tiles_of_a_form_lie_apart(
            (batch, rows, columns) in (1usize..5, 1usize..700, 1usize..700),
            layout in 0usize..2,
            element in 0usize..2,
            start in 0u32..100,
        ) {
            let view = View { batch, rows, columns };
            let layout = [Layout::Rows, Layout::Columns][layout];
            let element = [ElementType::F32, ElementType::Bf16][element];
            let (form, base) = (Form { view, layout }, start * 64);
            let end = base + form.footprint(element) as u32;
            let mut taken: Vec<Range<u32>> = Vec::new();
            let mut numbers = 0;
            for (b, p, parts) in tiles(form) {
                for range in pieces(form.extent().1, 250) {
                    let tile = Lower::within(base, element, form, b, p, range);
                    let bytes = tile.bytes();
                    prop_assert_eq!(tile.parts, parts);
                    prop_assert!(parts <= PARTITIONS && bytes.start >= base && bytes.end <= end);
                    for other in &taken {
                        prop_assert!(bytes.end <= other.start || other.end <= bytes.start);
                    }
                    numbers += tile.parts * tile.free;
                    taken.push(bytes);
                }
            }
            prop_assert_eq!(numbers, batch * rows * columns);
        }
    }
}
