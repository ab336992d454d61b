//! Attention, head by head and 128 rows of queries at a time
//! (neuroncore.md §5.3).
//!
//! Queries and keys are turned, so that the size of a head is on partitions;
//! the scores of a block of rows are whole, so that their softmax is one pass;
//! its division comes last, on the result. With a causal mask keys that no row
//! of the block may see are left out.

use neuron_core::isa::code::AluOp;

use super::matmul::Pass;
use super::operand::Scalar;
use super::place::{Form, View, pieces};
use super::tile::{QUARTER, Tile};
use super::{CHUNK, Lower, MOVING, PARTITIONS};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Attention, TensorId};

/// Score of what a row may not see: its exponential is zero beside any other.
const NEVER: f32 = -1.0e30;

/// A head of one of the tensors.
#[derive(Debug, Clone, Copy)]
struct Head {
    id: TensorId,
    view: View,
    batch: usize,
    /// First column, and how many.
    column: usize,
    size: usize,
}

impl Attention {
    /// Whether each head of so many columns lies in whole quarters of one tile,
    /// when the columns are on partitions.
    pub(super) fn by_columns(self, columns: usize) -> bool {
        let size = columns.checked_div(self.heads).unwrap_or_default();
        size > 0 && size.is_multiple_of(QUARTER) && PARTITIONS.is_multiple_of(size)
    }
}

impl Lower<'_> {
    pub(super) fn attention(
        &mut self,
        attention: Attention,
        [q, k, v]: [TensorId; 3],
        output: TensorId,
    ) -> Result<()> {
        let view = |lower: &Self, id| {
            let shape = lower.shape(id);
            View::batched(&shape, shape.len() - 2)
        };
        let (q_view, k_view) = (view(self, q), view(self, k));
        let form = Form::rows(q_view);
        let size = q_view.columns / attention.heads;
        self.begin(output, form)?;
        for batch in 0..q_view.batch {
            for head in 0..attention.heads {
                let column = head * size;
                let head = |id, view| Head { id, view, batch, column, size };
                // both stand at the same rows of the array
                let both = attention.by_columns(q_view.columns)
                    && self.find(k, Form::columns(k_view)).is_some()
                    && self.find(q, Form::columns(q_view)).is_some();
                let [keys, queries] = if both {
                    [self.standing(head(k, k_view))?, self.standing(head(q, q_view))?]
                } else {
                    [self.turned(head(k, k_view))?, self.turned(head(q, q_view))?]
                };
                for rows in pieces(q_view.rows, PARTITIONS) {
                    let queries = queries.part(rows.clone());
                    let seen = attention
                        .causal
                        .map_or(k_view.rows, |more| rows.end.saturating_add(more).min(k_view.rows));
                    let mask = attention.causal.map(|more| rows.start.saturating_add(more));
                    let range = column..column + size;
                    let into = self.result(output, form, batch, rows.start, range)?;
                    let values = head(v, k_view);
                    let scale = attention.scale;
                    self.attention_rows(&queries, &keys.part(0..seen), values, scale, mask, &into)?;
                    self.finish(output, form, &into, batch, rows.start, column)?;
                }
                self.drop_tile(&keys);
                self.drop_tile(&queries);
            }
        }
        Ok(())
    }

    /// A head of a tensor that has its columns on partitions.
    fn standing(&mut self, head: Head) -> Result<Tile> {
        let (inside, rows) = (head.column % PARTITIONS, 0..head.view.rows);
        let form = Form::columns(head.view);
        let tile = self.tile(head.id, form, head.batch, head.column - inside, rows)?;
        Ok(tile.partitions(inside..inside + head.size))
    }

    /// A head with its size on partitions.
    fn turned(&mut self, head: Head) -> Result<Tile> {
        let element = self.value(head.id).element;
        let tile = self.scratch(element, head.size, head.view.rows)?;
        for rows in pieces(head.view.rows, PARTITIONS) {
            let columns = head.column..head.column + head.size;
            let form = Form::rows(head.view);
            let source = self.tile(head.id, form, head.batch, rows.start, columns)?;
            self.transpose(&source, &tile.part(rows))?;
            self.drop_tile(&source);
        }
        Ok(tile)
    }

    /// A block of rows of a head.
    fn attention_rows(
        &mut self,
        queries: &Tile,
        keys: &Tile,
        values: Head,
        scale: f32,
        mask: Option<usize>,
        into: &Tile,
    ) -> Result<()> {
        let rows = queries.free;
        let scores = self.scratch(ElementType::F32, rows, keys.free)?;
        for range in pieces(keys.free, MOVING) {
            let bank = self.bank(ElementType::F32, rows, range.len())?;
            let pass = Pass::Term { first: true, last: true };
            self.multiply(queries, &keys.part(range.clone()), &bank, pass)?;
            self.copy(&bank, &scores.part(range), "result")?;
            self.drop_tile(&bank);
        }
        if let Some(first) = mask {
            self.fill_register(NEVER)?;
            // row 0 sees the keys up to `first`; those before need no mask
            for range in pieces(keys.free, CHUNK).filter(|range| range.end > first) {
                let (first, column) = (self.field(first)?, self.field(range.start)?);
                self.keep_below(&scores.part(range), first, column)?;
            }
        }
        let inverse = self.scratch(ElementType::F32, rows, 1)?;
        let element = self.value(values.id).element;
        // powers in the type of the values, which the array takes
        let powers = self.scratch(element, rows, keys.free)?;
        self.exponentials(&scores, &powers, scale, &inverse)?;
        self.drop_tile(&scores);
        let bank = self.bank(ElementType::F32, rows, values.size)?;
        for range in pieces(keys.free, PARTITIONS) {
            let turned = self.scratch(element, range.len(), rows)?;
            self.transpose(&powers.part(range.clone()), &turned)?;
            let columns = values.column..values.column + values.size;
            let form = Form::rows(values.view);
            let tile = self.tile(values.id, form, values.batch, range.start, columns)?;
            let last = range.end == keys.free;
            let pass = Pass::Term { first: range.start == 0, last };
            self.multiply(&turned, &tile.top(range.len()), &bank, pass)?;
            self.drop_tile(&turned);
            self.drop_tile(&tile);
        }
        self.scalars(&bank, into, (AluOp::MULTIPLY, Scalar::Column(&inverse)), None)?;
        for tile in [bank, powers, inverse] {
            self.drop_tile(&tile);
        }
        Ok(())
    }
}
