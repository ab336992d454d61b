//! Embedding: rows of a table by indices, as a product with a matrix of ones
//! and zeros. Indices are fp32 on chip, exact below 2^24; one outside of the
//! table gives a row of zeros.

use neuron_core::isa::body::tensor::{Iota, Ramp};
use neuron_core::isa::code::{AluOp, Dtype};
use neuron_core::isa::{Engine, Opcode};

use super::matmul::Pass;
use super::operand::Scalar;
use super::place::{Form, Layout, View, pieces};
use super::tile::{Tile, parameter, pattern, touches};
use super::{Lower, MOVING, PARTITIONS};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::TensorId;

impl Lower<'_> {
    pub(super) fn embedding(
        &mut self,
        table: TensorId,
        ids: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let table_form = Form::rows(View::flat(&self.shape(table)));
        let View { rows: entries, columns: size, .. } = table_form.view;
        if entries >= 1 << 24 {
            return Err(self.refuse(format!("a table of {entries} rows, the most is 2^24 - 1")));
        }
        let count: usize = self.shape(ids).iter().product();
        let form = Form::rows(View { batch: 1, rows: count, columns: size });
        let element = self.value(table).element;
        self.begin(output, form)?;
        for rows in pieces(count, PARTITIONS) {
            let spread = parameter(Layout::Spread, count);
            let wanted = self.tile(ids, spread, 0, 0, rows.clone())?;
            for columns in pieces(size, MOVING) {
                let bank = self.bank(ElementType::F32, rows.len(), columns.len())?;
                for part in pieces(entries, PARTITIONS) {
                    let ones = self.ones(&wanted.top(part.len()), part.start, element)?;
                    let tile = self.tile(table, table_form, 0, part.start, columns.clone())?;
                    let pass = Pass::Term { first: part.start == 0, last: part.end == entries };
                    self.multiply(&ones, &tile, &bank, pass)?;
                    self.drop_tile(&ones);
                    self.drop_tile(&tile);
                }
                let into = self.result(output, form, 0, rows.start, columns.clone())?;
                self.copy(&bank, &into, "result")?;
                self.drop_tile(&bank);
                self.finish(output, form, &into, 0, rows.start, columns.start)?;
            }
            self.drop_tile(&wanted);
        }
        Ok(())
    }

    /// 1 where the index of a column is the row of the table on the partition.
    fn ones(&mut self, wanted: &Tile, first: usize, element: ElementType) -> Result<Tile> {
        let row = self.scratch(ElementType::F32, wanted.parts, 1)?;
        let body = Iota {
            ramp: Ramp { base: self.field(first)?, steps: [1; 4], counts: [1; 4] },
            dst_type: Dtype::FP32,
            channels: self.field(wanted.parts)?,
            channel_multiplier: 1,
            dst: pattern(&row),
        };
        self.emit.compute(Engine::Pool, Opcode::IOTA, body, "rows", &touches(&[], &[&row]))?;
        let ones = self.scratch(element, wanted.parts, wanted.free)?;
        self.scalars(wanted, &ones, (AluOp::IS_EQ, Scalar::Column(&row)), None)?;
        self.drop_tile(&row);
        Ok(ones)
    }
}
