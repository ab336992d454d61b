//! Softmax, layer norm and RMS norm along the last index, rows on partitions
//! (neuroncore.md §5.3). Sums of a row are one instruction, so a row must fit
//! an instruction.

use neuron_core::isa::code::{AccumulatorCmd, AluOp};

use super::Lower;
use super::operand::{Bias, Scalar};
use super::place::{Form, Layout, View, tiles};
use super::tile::{Tile, parameter};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{TensorId, TwoTensors};

/// Most elements of a row: what ACT and DVE take from SBUF is 65536
/// (neuroncore.md §1.3); three rows of so many must fit SBUF too.
const ROW: usize = 16_384;

/// Columns of numbers for each row.
struct Columns(Vec<Tile>);

impl Lower<'_> {
    fn row_form(&self, x: TensorId) -> Result<Form> {
        let shape = self.shape(x);
        let form = self.form_of(x, &shape);
        let last = shape.last().copied().unwrap_or(1);
        if last > ROW {
            return Err(self.refuse(format!("rows of {last} elements, the most is {ROW}")));
        }
        let fits = form.layout == Layout::Rows && form.view.columns == last;
        Ok(if fits { form } else { Form::rows(View::flat(&shape)) })
    }

    /// Columns of fp32, one number a partition.
    fn columns<const N: usize>(&mut self, parts: usize) -> Result<[Tile; N]> {
        let mut made = Columns(Vec::new());
        for _ in 0..N {
            made.0.push(self.scratch(ElementType::F32, parts, 1)?);
        }
        made.0.try_into().map_err(|_| self.refuse("columns"))
    }

    fn drop_all(&mut self, tiles: &[Tile]) {
        for tile in tiles {
            self.drop_tile(tile);
        }
    }

    /// e^(scale (x - max)) and 1 / its sum, by rows. `into` may be `from`.
    pub(super) fn exponentials(
        &mut self,
        from: &Tile,
        into: &Tile,
        scale: f32,
        inverse: &Tile,
    ) -> Result<()> {
        let [most, sum] = self.columns(from.parts)?;
        self.fold(AluOp::MAX, from, &most, true)?;
        if scale != 1.0 {
            let by = (AluOp::MULTIPLY, Scalar::Number(scale));
            self.scalars(&most, &most, by, None)?;
        }
        let add = AccumulatorCmd::ZERO_ACCUMULATE;
        self.activate("EXP", from, into, scale, Bias::Column(&most), add)?;
        self.sums(&sum)?;
        self.reciprocal(&sum, inverse)?;
        self.drop_all(&[most, sum]);
        Ok(())
    }

    pub(super) fn softmax(&mut self, x: TensorId, output: TensorId) -> Result<()> {
        let form = self.row_form(x)?;
        let all = 0..form.extent().1;
        self.begin(output, form)?;
        for (b, p, parts) in tiles(form) {
            let from = self.tile(x, form, b, p, all.clone())?;
            let power = self.scratch(ElementType::F32, parts, all.len())?;
            let [inverse] = self.columns(parts)?;
            self.exponentials(&from, &power, 1.0, &inverse)?;
            let into = self.result(output, form, b, p, all.clone())?;
            self.scalars(&power, &into, (AluOp::MULTIPLY, Scalar::Column(&inverse)), None)?;
            self.drop_all(&[from, power, inverse]);
            self.finish(output, form, &into, b, p, 0)?;
        }
        Ok(())
    }

    /// 1 / sqrt(sum of squares / length + eps), by rows.
    fn inverse_root(&mut self, from: &Tile, eps: f32, scratch: &Tile, into: &Tile) -> Result<()> {
        let add = AccumulatorCmd::ZERO_ACCUMULATE;
        self.activate("SQUARE", from, scratch, 1.0, Bias::Number(0.0), add)?;
        self.sums(into)?;
        let scale = 1.0 / from.free as f32;
        let idle = AccumulatorCmd::IDLE;
        self.activate("RECIPROCAL_SQRT", into, into, scale, Bias::Number(eps), idle)
    }

    pub(super) fn layer_norm(
        &mut self,
        eps: f32,
        x: TensorId,
        gamma: TensorId,
        beta: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let form = self.row_form(x)?;
        let length = form.extent().1;
        let row = parameter(Layout::Spread, length);
        self.begin(output, form)?;
        for (b, p, parts) in tiles(form) {
            let from = self.tile(x, form, b, p, 0..length)?;
            let centred = self.scratch(ElementType::F32, parts, length)?;
            let other = self.scratch(ElementType::F32, parts, length)?;
            let [mean, inverse] = self.columns(parts)?;
            self.fold(AluOp::ADD, &from, &mean, false)?;
            let by = (AluOp::MULTIPLY, Scalar::Number(1.0 / length as f32));
            self.scalars(&mean, &mean, by, None)?;
            let less = (AluOp::SUBTRACT, Scalar::Column(&mean));
            self.scalars(&from, &centred, less, None)?;
            self.inverse_root(&centred, eps, &other, &inverse)?;
            let by = (AluOp::MULTIPLY, Scalar::Column(&inverse));
            self.scalars(&centred, &centred, by, None)?;
            let into = self.result(output, form, b, p, 0..length)?;
            let gamma = self.tile(gamma, row, 0, 0, 0..length)?;
            self.two_tiles(TwoTensors::Multiply, &centred, &gamma.top(parts), &centred)?;
            let beta = self.tile(beta, row, 0, 0, 0..length)?;
            self.two_tiles(TwoTensors::Add, &centred, &beta.top(parts), &into)?;
            self.drop_all(&[from, centred, other, mean, inverse, gamma, beta]);
            self.finish(output, form, &into, b, p, 0)?;
        }
        Ok(())
    }

    pub(super) fn rms_norm(
        &mut self,
        eps: f32,
        x: TensorId,
        gamma: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let form = self.row_form(x)?;
        let length = form.extent().1;
        let row = parameter(Layout::Spread, length);
        self.begin(output, form)?;
        for (b, p, parts) in tiles(form) {
            let from = self.tile(x, form, b, p, 0..length)?;
            let scaled = self.scratch(ElementType::F32, parts, length)?;
            let [inverse] = self.columns(parts)?;
            self.inverse_root(&from, eps, &scaled, &inverse)?;
            let by = (AluOp::MULTIPLY, Scalar::Column(&inverse));
            self.scalars(&from, &scaled, by, None)?;
            let into = self.result(output, form, b, p, 0..length)?;
            let gamma = self.tile(gamma, row, 0, 0, 0..length)?;
            self.two_tiles(TwoTensors::Multiply, &scaled, &gamma.top(parts), &into)?;
            self.drop_all(&[from, scaled, inverse, gamma]);
            self.finish(output, form, &into, b, p, 0)?;
        }
        Ok(())
    }
}
