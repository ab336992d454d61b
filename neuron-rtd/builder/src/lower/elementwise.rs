//! Functions of elements, and operations on two tensors. They take the layout
//! in which their tensors are.

use neuron_core::isa::code::AluOp;

use super::Lower;
use super::operand::Scalar;
use super::place::{Form, Layout, pieces, tiles};
use super::tile::parameter;
use crate::error::Result;
use crate::graph::{Activation, TensorId, TwoTensors};

/// Elements of a partition that go through SBUF at a time.
const PIECE: usize = 4096;

impl Lower<'_> {
    /// The form for a result that takes elements as they come: that of the
    /// operand on chip, unless the result must go to HBM by rows.
    fn shared_form(&self, operand: TensorId, output: TensorId) -> Form {
        let shape = self.shape(operand);
        let form = self.form_of(operand, &shape);
        let stays =
            self.value(output).hbm.is_none() && self.may_stay(self.value(output).element, form);
        if form.layout == Layout::Columns && !stays { Form::rows(form.view) } else { form }
    }

    pub(super) fn activation(
        &mut self,
        f: Activation,
        x: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let form = self.shared_form(x, output);
        self.begin(output, form)?;
        for (b, p, _) in tiles(form) {
            for range in pieces(form.extent().1, PIECE) {
                let from = self.tile(x, form, b, p, range.clone())?;
                let into = self.result(output, form, b, p, range.clone())?;
                self.function(f, &from, &into, 1.0, None)?;
                self.drop_tile(&from);
                self.finish(output, form, &into, b, p, range.start)?;
            }
        }
        Ok(())
    }

    pub(super) fn two(
        &mut self,
        op: TwoTensors,
        a: TensorId,
        b: TensorId,
        output: TensorId,
    ) -> Result<()> {
        if self.shape(a) != self.shape(b) {
            return self.with_row(op, a, b, output);
        }
        let operand = if self.value(a).chips.is_empty() { b } else { a };
        let form = self.shared_form(operand, output);
        self.begin(output, form)?;
        for (batch, p, _) in tiles(form) {
            for range in pieces(form.extent().1, PIECE) {
                let first = self.tile(a, form, batch, p, range.clone())?;
                let second = self.tile(b, form, batch, p, range.clone())?;
                let into = self.result(output, form, batch, p, range.clone())?;
                self.two_tiles(op, &first, &second, &into)?;
                self.drop_tile(&first);
                self.drop_tile(&second);
                self.finish(output, form, &into, batch, p, range.start)?;
            }
        }
        Ok(())
    }

    /// a op b with b along the last index.
    fn with_row(
        &mut self,
        op: TwoTensors,
        a: TensorId,
        b: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let length = self.shape(b).iter().product();
        let mut form = self.shared_form(a, output);
        // ACT and DVE take one fp32 scalar a partition, but no quotient of it
        if form.view.columns != length
            || form.layout == Layout::Columns && op.alu() == AluOp::DIVIDE
        {
            form = Form::rows(super::View::flat(&self.shape(a)));
        }
        self.begin(output, form)?;
        for (batch, p, _) in tiles(form) {
            for range in pieces(form.extent().1, PIECE) {
                let from = self.tile(a, form, batch, p, range.clone())?;
                let into = self.result(output, form, batch, p, range.clone())?;
                if form.layout == Layout::Columns {
                    let column = self.tile(b, parameter(Layout::Column, length), 0, p, 0..1)?;
                    self.scalars(&from, &into, (op.alu(), Scalar::Column(&column)), None)?;
                    self.drop_tile(&column);
                } else {
                    let row = parameter(Layout::Spread, length);
                    let row = self.tile(b, row, 0, 0, range.clone())?;
                    self.two_tiles(op, &from, &row.top(from.parts), &into)?;
                    self.drop_tile(&row);
                }
                self.drop_tile(&from);
                self.finish(output, form, &into, batch, p, range.start)?;
            }
        }
        Ok(())
    }
}
