//! Transfers between HBM and SBUF, and within HBM.

use std::ops::Range;

use neuron_core::isa::Opcode;
use neuron_core::isa::address::{Addr8, Location, SBUF_PARTITION_STRIDE};
use neuron_core::isa::body::dma::DmaDirect;

use super::place::{Form, Layout, View};
use super::tile::Tile;
use super::{Lower, PARTITIONS};
use crate::array::ElementType;
use crate::emit::{Queue, Touches};
use crate::error::Result;

/// Most bytes of a run (our choice, below the 65535 of the record's field).
const RUN: usize = 32 << 10;

/// A walk over runs of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    /// Variable, 0 for SBUF.
    pub(super) variable: u32,
    pub(super) offset: usize,
    pub(super) steps: [usize; 2],
    pub(super) counts: [usize; 2],
    pub(super) run: usize,
    pub(super) element: ElementType,
}

impl Walk {
    /// Runs of a tile, one a partition.
    fn of(tile: &Tile) -> Self {
        Self {
            variable: 0,
            offset: tile.at as usize,
            steps: [SBUF_PARTITION_STRIDE as usize, 0],
            counts: [tile.parts, 1],
            run: tile.free * tile.element.bytes(),
            element: tile.element,
        }
    }
}

impl Lower<'_> {
    /// One transfer.
    pub(super) fn transfer(
        &mut self,
        queue: Queue,
        from: Walk,
        to: Walk,
        what: &'static str,
        touches: &Touches,
    ) -> Result<()> {
        let address = |walk: &Walk| {
            let offset = u32::try_from(walk.offset).ok();
            offset.and_then(|offset| Addr8::of(Location::Variable { id: walk.variable, offset }))
        };
        let far = || self.refuse("a variable beyond 4 GiB or 2^24 variables");
        let mut body = DmaDirect {
            increment: 16,
            src: address(&from).ok_or_else(far)?,
            dst: address(&to).ok_or_else(far)?,
            src_elem_size: self.field(from.run)?,
            dst_elem_size: self.field(to.run)?,
            src_type: from.element.dtype(),
            dst_type: to.element.dtype(),
            ..DmaDirect::default()
        };
        for (walk, steps, counts) in [
            (&from, &mut body.src_steps, &mut body.src_counts),
            (&to, &mut body.dst_steps, &mut body.dst_counts),
        ] {
            let [inner, outer] = walk.steps;
            *steps = [self.field(inner)?, self.field(outer)?];
            let [inner, outer] = walk.counts;
            *counts = [self.field(inner)?, self.field(outer)?];
        }
        let body = |semaphore| DmaDirect { semaphore, ..body };
        self.emit.queue(queue, Opcode::PSEUDO_DMA_DIRECT2D, body, what, touches)
    }

    /// Rows of a tensor in HBM into a tile.
    pub(super) fn load(
        &mut self,
        variable: u32,
        view: View,
        batch: usize,
        first: usize,
        range: Range<usize>,
        into: &Tile,
    ) -> Result<()> {
        for (hbm, tile) in Self::runs(variable, view, into, batch, first, range.start) {
            let touches =
                Touches { writes: vec![tile.bytes()], loads: vec![variable], ..Touches::default() };
            self.transfer(Queue::Load, hbm, Walk::of(&tile), "load", &touches)?;
        }
        Ok(())
    }

    /// A tile into rows of a tensor in HBM.
    pub(super) fn store(
        &mut self,
        variable: u32,
        view: View,
        tile: &Tile,
        batch: usize,
        first: usize,
        column: usize,
    ) -> Result<()> {
        for (hbm, tile) in Self::runs(variable, view, tile, batch, first, column) {
            let touches =
                Touches { reads: vec![tile.bytes()], stores: vec![variable], ..Touches::default() };
            self.transfer(Queue::Store, Walk::of(&tile), hbm, "store", &touches)?;
        }
        Ok(())
    }

    /// The rows of a tile in HBM, in pieces whose runs fit a record.
    fn runs(
        variable: u32,
        view: View,
        tile: &Tile,
        batch: usize,
        first: usize,
        column: usize,
    ) -> Vec<(Walk, Tile)> {
        let size = tile.element.bytes();
        let row = view.columns * size;
        let start = (batch * view.rows + first) * row + column * size;
        super::place::pieces(tile.free, RUN / size)
            .map(|piece| {
                let hbm = Walk {
                    variable,
                    offset: start + piece.start * size,
                    steps: [row, 0],
                    counts: [tile.parts, 1],
                    run: piece.len() * size,
                    element: tile.element,
                };
                (hbm, tile.part(piece))
            })
            .collect()
    }

    /// A parameter along the last index into every partition, or one element
    /// into each, as fp32.
    pub(super) fn load_parameter(
        &mut self,
        variable: u32,
        form: Form,
        first: usize,
        range: Range<usize>,
        into: &Tile,
    ) -> Result<()> {
        let index = variable.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        let known = index.and_then(|index| self.variables.get(index));
        let element = known.map_or(into.element, |variable| variable.element);
        let size = element.bytes();
        let spread = form.layout == Layout::Spread;
        for piece in super::place::pieces(into.free, RUN / 4) {
            let offset = (range.start + piece.start + if spread { 0 } else { first }) * size;
            let from = Walk {
                variable,
                offset,
                steps: [if spread { 0 } else { size }, 0],
                counts: [if spread { PARTITIONS } else { into.parts }, 1],
                run: piece.len() * size,
                element,
            };
            let tile = into.part(piece);
            let touches =
                Touches { writes: vec![tile.bytes()], loads: vec![variable], ..Touches::default() };
            self.transfer(Queue::Load, from, Walk::of(&tile), "load", &touches)?;
        }
        Ok(())
    }
}
